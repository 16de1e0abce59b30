"""What goes in, and how it is cut."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

Scalar = str | int | float | bool | None
Value = Scalar | tuple[Scalar, ...] | list[Scalar]
Metadata = Mapping[str, Value]
Role = Literal["document", "query"]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition in a file: exact characters and lines, the comment above it counted by `start` and `line`."""

    name: str
    qualified: str
    """The name with what it is inside of, as the language writes it, without the file's namespace: `Song.play`."""
    kind: str
    """class, interface, trait, enum, struct, module, function, method, constructor, field, constant, type, macro."""
    start: int
    end: int
    line: int
    """The line of the definition itself, where a person would look: not of its comment, decorators or attributes."""
    line_end: int
    signature: str = ""
    doc: str = ""
    parent: str = ""
    """The qualified name of the symbol it is inside of."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """Hints that a file may have changed; only the content hash decides."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a document's text that has a name outside it: a page, a slide, a sheet."""

    start: int
    number: int
    label: str = ""
    unit: str = ""
    """What is counted: nothing for pages, else the word a citation says: slide, sheet, chapter, cell."""


@dataclass(frozen=True, slots=True)
class Document:
    """A text known by its uri, with what is known about it."""

    uri: str
    text: str
    kind: str = "text"
    language: str = ""
    title: str = ""
    metadata: Metadata = field(default_factory=dict)
    marks: tuple[Mark, ...] = ()
    beside: str = ""
    """What stands beside the text, such as the turn before it: found by words with it, never embedded, never shown."""
    remarks: tuple[str, ...] = ()
    """What a person should know about how it was read; told in the report of a sync, not stored."""
    symbols: tuple[Symbol, ...] | None = None
    """The definitions in it, for the chunker to cut by; None where they were not looked for. Not stored, not hashed."""

    @property
    def hash(self) -> str:
        """Return the SHA-256 of everything that a change of would have to be stored again."""
        marks = [
            (m.start, m.number, m.label, m.unit) if m.unit else (m.start, m.number, m.label)
            for m in self.marks
        ]
        about = [self.kind, self.language, self.title, dict(self.metadata), marks]
        told = json.dumps(
            [*about, self.beside] if self.beside else about, sort_keys=True, ensure_ascii=False
        )
        digest = hashlib.sha256(told.encode("utf-8", "surrogatepass"))
        digest.update(b"\0")
        digest.update(self.text.encode("utf-8", "surrogatepass"))
        return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class FileContent:
    """The bytes of a file, and the stamp that it had before and after they were read."""

    data: bytes
    stamp: Stamp
    is_settled: bool
    """Whether the stamp is old enough to prove later that nothing has changed."""

    @property
    def lasting_stamp(self) -> Stamp | None:
        """Return the stamp if a later change would show in it, else None."""
        return self.stamp if self.is_settled else None


@dataclass(frozen=True, slots=True)
class Item:
    """An entry that a source lists and that is not read yet. Without a stamp it is always read."""

    uri: str
    stamp: Stamp | None

    @property
    def size(self) -> int:
        """Return the size in bytes; 0 if it is unknown."""
        return self.stamp.size if self.stamp else 0


@dataclass(frozen=True, slots=True)
class LoadedItem:
    """The content of an item: bytes for a reader, or a finished document. Or the item is unchanged, or gone."""

    data: bytes = b""
    stamp: Stamp | None = None
    """The stamp of the bytes; None if a later change might not show in it."""
    document: Document | None = None
    state: Literal["content", "unchanged", "gone"] = "content"
    remark: str = ""
    """Why the item is gone."""
    file_name: str = ""
    """The name by which a reader is chosen; the item's uri if empty."""
    uri: str = ""
    """The uri to store the document under; the item's uri if empty."""
    title: str = ""
    """The title if the reader finds none."""
    metadata: Metadata = field(default_factory=dict)
    must_store: bool = False
    """Whether the document is stored although its content is the stored one."""
    no_text_hint: str = ""
    """Set if a document without text is a failure; it says what to do."""


@dataclass(frozen=True, slots=True)
class Skip:
    """One thing a source found and left out, with the reason a person can read."""

    uri: str
    reason: str


@dataclass(frozen=True, slots=True)
class Span:
    """Where a chunk stands in its document: characters, UTF-8 bytes, lines from 1, page."""

    start: int
    end: int
    byte_start: int
    byte_end: int
    line_start: int
    line_end: int
    page: int | None = None
    page_label: str = ""
    unit: str = ""
    """What `page` counts: nothing for pages, else slide, sheet, chapter, cell."""

    def place(self, uri: str) -> str:
        """Return the citation: `path:first-last`, `path p.N` for pages, `path slide 3`, `path sheet Costs`."""
        if self.page is not None:
            return f"{uri} {f'{self.unit} ' if self.unit else 'p.'}{self.page_label or self.page}"
        return (
            f"{uri}:{self.line_start}-{self.line_end}"
            if self.line_end > self.line_start
            else f"{uri}:{self.line_start}"
        )

    def narrowed(self, text: str, start: int, end: int) -> Span:
        """Return the span of a slice of this span's text."""
        before, inside = text[:start], text[start:end]
        byte = self.byte_start + len(before.encode("utf-8", "surrogatepass"))
        line = self.line_start + before.count("\n")
        return replace(
            self,
            start=self.start + start,
            end=self.start + end,
            byte_start=byte,
            byte_end=byte + len(inside.encode("utf-8", "surrogatepass")),
            line_start=line,
            line_end=line + inside.count("\n"),
        )


@dataclass(frozen=True, slots=True)
class Chunk:
    """An exact slice of a document; its header is indexed and embedded with it, never shown as text."""

    text: str
    span: Span
    order: int
    kind: str = "text"
    symbol: str = ""
    header: str = ""

    @property
    def hash(self) -> bytes:
        """Return the SHA-256 that vectors are kept under: header and text."""
        return hashlib.sha256(
            embedding_text(self.header, self.text).encode("utf-8", "surrogatepass")
        ).digest()


def embedding_text(header: str, text: str) -> str:
    """Return what an embedder is given for a chunk."""
    return f"{header}\n{text}" if header else text
