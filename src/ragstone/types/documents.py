"""Documents, the chunks they are cut into, and the items that sources list."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypedDict

Scalar = str | int | float | bool | None
Value = Scalar | tuple[Scalar, ...] | list[Scalar]
Metadata = Mapping[str, Value]
Role = Literal["document", "query"]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition in a file. `start` includes the comment above it."""

    name: str
    qualified: str
    """The name with its enclosing definitions, without the file's namespace: `Song.play`."""
    kind: str
    """class, interface, trait, enum, struct, module, function, method, constructor, field, constant, type, macro."""
    start: int
    end: int
    line: int
    """The line of the definition itself, not of its comment, decorators or attributes."""
    line_end: int
    signature: str = ""
    doc: str = ""
    parent: str = ""
    """The qualified name of the enclosing symbol."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """Hints that a file may have changed; only the content hash decides."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class Mark:
    """The start of a numbered part of a document, such as a page, a slide or a sheet."""

    start: int
    number: int
    label: str = ""
    unit: str = ""
    """The word for a part in citations: slide, sheet, chapter, cell; empty for pages."""

    def hashed_fields(self) -> tuple[int | str, ...]:
        """Return the fields for the document's hash. An empty unit is left out, so that old hashes stay valid."""
        if self.unit:
            return (self.start, self.number, self.label, self.unit)
        return (self.start, self.number, self.label)


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its uri and its properties."""

    uri: str
    text: str
    kind: str = "text"
    language: str = ""
    title: str = ""
    metadata: Metadata = field(default_factory=dict)
    marks: tuple[Mark, ...] = ()
    beside: str = ""
    """Extra words for the word search, such as the previous turn; never embedded, never shown."""
    header: str = ""
    """Words that the header of each chunk begins with: embedded and indexed, never shown. Not hashed."""
    remarks: tuple[str, ...] = ()
    """Remarks of the reader for the report of a sync; not stored."""
    symbols: tuple[Symbol, ...] | None = None
    """The definitions for the chunker; None if the file was not parsed. Not stored, not hashed."""

    @property
    def hash(self) -> str:
        """Return the SHA-256 of all stored fields but the uri; the document is stored again if it changes."""
        marks = [mark.hashed_fields() for mark in self.marks]
        properties = [self.kind, self.language, self.title, dict(self.metadata), marks]
        if self.beside:
            properties.append(self.beside)
        header = json.dumps(properties, sort_keys=True, ensure_ascii=False)
        digest = hashlib.sha256(_utf8(header))
        digest.update(b"\0")
        digest.update(_utf8(self.text))
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
        if self.is_settled:
            return self.stamp
        return None


@dataclass(frozen=True, slots=True)
class Item:
    """An entry that a source lists and that is not read yet. Without a stamp it is always read."""

    uri: str
    stamp: Stamp | None

    @property
    def size(self) -> int:
        """Return the size in bytes; 0 if it is unknown."""
        if self.stamp is None:
            return 0
        return self.stamp.size


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
    """Set if a document without text is a failure; the hint for the user."""


@dataclass(frozen=True, slots=True)
class Skip:
    """An item that a source left out, with the reason in words."""

    uri: str
    reason: str


def cite_lines(uri: str, first: int, last: int) -> str:
    """Return the citation of some lines: `path:first-last`."""
    if last > first:
        return f"{uri}:{first}-{last}"
    return f"{uri}:{first}"


def cite_page(uri: str, page: int, page_label: str, unit: str) -> str:
    """Return the citation of a page, slide, sheet or chapter; `unit` is empty for pages."""
    label = page_label or str(page)
    if unit:
        return f"{uri} {unit} {label}"
    if label != str(page):
        return f"{uri} p.{label} (page {page})"
    return f"{uri} p.{label}"


_LONG_UNITS: Final = frozenset({"section", "chapter"})
"""Places with many passages. So that citations distinguish them, the lines of the extracted text follow."""


def cite_text_lines(unit: str, first: int, last: int) -> str:
    """Return the end of a citation of a section or chapter: `, text lines 3-9`; empty for other units."""
    if unit not in _LONG_UNITS:
        return ""
    if last > first:
        return f", text lines {first}-{last}"
    return f", text line {first}"


@dataclass(frozen=True, slots=True)
class Span:
    """The position of a chunk in its document's stored text: characters, UTF-8 bytes, lines from 1, page."""

    start: int
    end: int
    byte_start: int
    byte_end: int
    line_start: int
    line_end: int
    page: int | None = None
    page_label: str = ""
    unit: str = ""
    """The unit of `page`: slide, sheet, chapter, cell; empty for pages."""

    def citation(self, uri: str) -> str:
        """Return the citation: `path:first-last`, `path p.N` for pages, `path slide 3`, `path sheet Costs`.

        If the printed number of a page is another one than its place in the file, both are named: `p.9 (page 11)`. A
        section or chapter is followed by lines of the extracted text: `path section Costs, text lines 3-9`.
        """
        if self.page is None:
            return cite_lines(uri, self.line_start, self.line_end)
        lines = cite_text_lines(self.unit, self.line_start, self.line_end)
        return self.cite_place(uri) + lines

    def cite_place(self, uri: str) -> str:
        """Return the citation of the whole page, slide, sheet, section or chapter; `uri` itself without one."""
        if self.page is None:
            return uri
        return cite_page(uri, self.page, self.page_label, self.unit)

    def extended_to(self, last: Span) -> Span:
        """Return the span from the start of this span to the end of another."""
        return replace(self, end=last.end, byte_end=last.byte_end, line_end=last.line_end)

    def narrowed(self, text: str, start: int, end: int) -> Span:
        """Return the span of a slice of this span's text."""
        before = text[:start]
        inside = text[start:end]
        byte = self.byte_start + len(_utf8(before))
        line = self.line_start + before.count("\n")
        return replace(
            self,
            start=self.start + start,
            end=self.start + end,
            byte_start=byte,
            byte_end=byte + len(_utf8(inside)),
            line_start=line,
            line_end=line + inside.count("\n"),
        )


@dataclass(frozen=True, slots=True)
class OcrLimits:
    """How many pages of a file are recognised (OCR), and for how many seconds."""

    pages: int = 50
    seconds: int = 120


@dataclass(frozen=True, slots=True)
class Slice:
    """An exact slice of a document with its position."""

    text: str
    span: Span


def cite_slices(uri: str, slices: Sequence[Slice]) -> str:
    """Return the citation of slices of one document: `path:3,7-9`, or the page that all of them are on."""
    first = slices[0].span
    if first.page is not None:
        return first.extended_to(slices[-1].span).citation(uri)
    ranges = dict.fromkeys(part.span.citation("") for part in slices)
    lines = [lines.removeprefix(":") for lines in ranges]
    return f"{uri}:{','.join(lines)}"


@dataclass(frozen=True, slots=True)
class Chunk:
    """An exact slice of a document. Its header is indexed and embedded with it, but never shown."""

    text: str
    span: Span
    order: int
    kind: str = "text"
    symbol: str = ""
    header: str = ""

    @property
    def hash(self) -> bytes:
        """Return the SHA-256 of header and text. It identifies the chunk's vector."""
        embedded = embedding_text(self.header, self.text)
        return hashlib.sha256(_utf8(embedded)).digest()


def embedding_text(header: str, text: str) -> str:
    """Return the text that an embedder gets for a chunk."""
    if header:
        return f"{header}\n{text}"
    return text


def _utf8(text: str) -> bytes:
    """Return a text as bytes; a lone surrogate is no error."""
    return text.encode("utf-8", "surrogatepass")


class AddOptions(TypedDict, total=False):
    """Options of `add` besides the documents."""

    uri: str | None
    """The name of a given text; a document has its own."""
    metadata: Metadata | None
    """The metadata of a given text."""
    collection: str | None
    embed: bool
    """False stores the words now and leaves the vectors for later."""


# ── kinds that belong together ────────────────────────────────────────────────────────────────────

CODE: Final = "code"
GENERATED: Final = "generated"
"""Files that a program wrote for programs: minified code, encoded keys, tables of hashes."""
FRAMEWORK_KINDS: Final = frozenset(
    {
        *("controller", "event", "job", "listener", "middleware", "migration", "model"),
        *("policy", "request", "resource", "route", "service", "test", "view"),
    }
)
"""Kinds of code files that a plug-in may propose by their path and their text."""
PROPOSED_KINDS: Final = FRAMEWORK_KINDS | {"config"}
KNOWN_KINDS: Final = tuple(
    sorted(
        PROPOSED_KINDS
        | {
            CODE,
            GENERATED,
            "adr",
            "agent_rule",
            "claude_rule",
            "cursor_rule",
            "data",
            "doc",
            "known_bug",
        }
        | {"notebook", "openapi", "package", "readme", "text"}
    )
)
"""The kinds that files get. A document that is added by hand may have any other."""
API_ENDPOINT: Final = "api_endpoint"
"""The kind of a chunk that describes an endpoint; its document is of the kind `openapi`."""
OTHER_KINDS: Final = frozenset(
    {
        *(API_ENDPOINT, "manifest", "route_group", "table"),
        *("file_change", "help", "run_summary", "turn"),
    }
)
"""Kinds of chunks, of texts from the code graph, of recorded runs, of captured help and of conversations."""
SUMMARY_PREFIX: Final = "graph:"
"""Beginning of the uris of texts that Ragstone writes about nodes of the code graph."""
_MEMBERS: Final = {
    CODE: (CODE, *sorted(FRAMEWORK_KINDS)),
    "manifest": ("package",),
    "openapi": ("openapi", API_ENDPOINT),
}
"""Kinds that include others. `manifest` is an earlier name of `package`."""


def is_summary(uri: str, metadata: Metadata) -> bool:
    """Return whether Ragstone wrote a text, about a node of the code graph; no file contains it."""
    return uri.startswith(SUMMARY_PREFIX) and bool(metadata.get("file"))


def is_code(kind: str) -> bool:
    """Return whether documents of a kind are code files."""
    return kind == CODE or kind in FRAMEWORK_KINDS


def kinds_of_documents(kinds: Iterable[str]) -> tuple[str, ...]:
    """Return the kinds of the documents that a filter for these kinds must look at."""
    names: dict[str, None] = {}
    for kind in kinds:
        members = ("openapi",) if kind == API_ENDPOINT else _MEMBERS.get(kind, (kind,))
        names.update(dict.fromkeys(members))
    return tuple(names)


def matches_kind(kind: str, wanted: Iterable[str]) -> bool:
    """Return whether a chunk of a kind is of one of the wanted kinds."""
    return any(kind in _MEMBERS.get(name, (name,)) for name in wanted)
