"""The work on one item: open it, read it, cut it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal, get_args

from ragstone.chunk.choose import by_symbols, choose
from ragstone.chunk.recipes import recipe
from ragstone.errors import ReadError, Reason
from ragstone.read.formats import READERS
from ragstone.sources.secrets import rules as secret_rules
from ragstone.types import Document, Item, Prepared, Stamp

if TYPE_CHECKING:
    from ragstone.sources.folder.source import FolderSource

Verdict = Literal["ready", "same", "binary", "failed"]
VERDICTS: Final[frozenset[str]] = frozenset(get_args(Verdict))
_LASTING: Final[frozenset[Reason]] = frozenset(
    {"password", "no-text-layer", "damaged", "too-big", "timeout", "memory", "crash"}
)
"""Why a file gives no text for as long as it stays as it is; the others have to do with more than the file."""


FEW_FILES: Final = 20
"""Fewer than these are not worth a second process, whatever their size."""
_LEAST_READ: Final = 10
"""A file is said not to be read where more than one in so many of its lines were not: macros of C break a few."""


@dataclass(frozen=True, slots=True)
class Cut:
    """How documents are cut: a chunker's name and sizes, None for the chunker's own; and whether secrets go first."""

    chunker: str = "auto"
    size: int | None = None
    overlap: int | None = None
    secrets: bool = True
    """Whether secrets are taken out before anything else is done with a text."""

    @property
    def recipe(self) -> str:
        """Return what names this cut and the readers before it: another one means reading and cutting again."""
        looked_for = secret_rules.recipe() if self.secrets else "secrets/off"
        return f"{recipe(self.chunker, self.size, self.overlap)};{READERS};{looked_for}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an item: ready to store, the same content as before, no text, or a failure and its reason.

    A failure has a stamp where the file alone is to blame: as long as it looks like that, it fails again.
    """

    uri: str
    verdict: Verdict
    stamp: Stamp | None = None
    prepared: Prepared | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """A source whose items are taken in, how they are cut, and the content hashes that need no second look."""

    source: FolderSource
    cut: Cut
    unchanged: Mapping[str, str] = field(default_factory=dict)

    def look_into(self, item: Item) -> Outcome:
        """Return what becomes of an item."""
        from ragstone.read.choose import is_binary, reader_for  # what only searches never needs them

        stamp: Stamp | None = None
        try:
            data, stamp = self.source.load_stamped(item)
            if is_binary(data, item.uri):
                return Outcome(item.uri, "binary", stamp)
            content_hash = hashlib.sha256(data).hexdigest()
            if self.unchanged.get(item.uri) == content_hash:
                return Outcome(item.uri, "same", stamp)
            document = reader_for(item.uri, data).read(data, item.uri)
            ready = prepared(document, self.cut, source=self.source.name, stamp=stamp, content_hash=content_hash)
        except ReadError as error:
            lasts = error.reason in _LASTING
            return Outcome(item.uri, "failed", stamp if lasts else None, reason=_sound(error.message, self.cut))
        return Outcome(item.uri, "ready", stamp, ready)


def _sound(message: str, cut: Cut) -> str:
    """Return what went wrong without the secrets that a parser may have quoted: it is remembered with the file."""
    if not cut.secrets:
        return message
    from ragstone.sources.secrets.redaction import redact  # what only searches never needs it

    return redact(message)[0]


def prepared(
    document: Document, cut: Cut, *, source: str = "", stamp: Stamp | None = None, content_hash: str = ""
) -> Prepared:
    """Return a document cut and ready to store, without the secrets that were in it."""
    if cut.secrets:
        from ragstone.sources.secrets.redaction import without_secrets  # what only searches never needs it

        document = without_secrets(document)
    if by_symbols(document, cut.chunker):
        document = _with_symbols(document)
    chunker = choose(document, name=cut.chunker, size=cut.size, overlap=cut.overlap)
    chunks = tuple(chunker.chunk(document))
    return Prepared(
        document=document if document.symbols is None else replace(document, symbols=None),  # they were for the chunker
        chunks=chunks,
        source=source,
        stamp=stamp,
        recipe=cut.recipe,
        content_hash=content_hash or document.hash,
    )


def _with_symbols(document: Document) -> Document:
    """Return a document with what it defines, and with a remark where its grammar could not read it."""
    from ragstone.indexing.parser_process import facts_of  # grammars are loaded for code alone

    facts = facts_of(document.text, document.uri, document.language)
    if facts is None:
        remark = "cut by lines: it is too long, or too unlike its language, to be parsed"
        return replace(document, remarks=(*document.remarks, remark))
    lost = sum(last - first + 1 for first, last in facts.broken)
    if not lost or (facts.symbols and lost * _LEAST_READ < document.text.count("\n") + 1):
        return replace(document, symbols=facts.symbols)
    first, last = facts.broken[0]
    remark = f"not all of it could be parsed: {lost} of its lines, lines {first} to {last} first"
    return replace(document, symbols=facts.symbols or None, remarks=(*document.remarks, remark))
