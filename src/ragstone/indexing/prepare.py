"""Preparing items for the store: open a file, read it, cut it into chunks."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from ragstone.chunk.chunkers import chunker_for, needs_symbols
from ragstone.config import cores
from ragstone.errors import ReadError, Reason
from ragstone.indexing.collection_writer import ChunkingConfig
from ragstone.indexing.parser_process import parse_facts
from ragstone.protocols import Source
from ragstone.read.choose_reader import explain_no_text, reader_for
from ragstone.read.python_command import find_python
from ragstone.sources.folder.source import FolderSource
from ragstone.sources.installed_files import SERVER_NAME, blank_own_text
from ragstone.sources.secrets.redaction import redact, redact_document
from ragstone.text.counts import plural
from ragstone.types import Chunk, Document, Item, LoadedItem, PreparedDocument, Stamp
from ragstone.types.code import FileFacts

Verdict = Literal["ready", "same", "skipped", "failed", "gone"]
_LASTING_REASONS: Final[frozenset[Reason]] = frozenset(
    {"password", "no-text-layer", "damaged", "too-big", "timeout", "memory", "crash"}
)
"""Reasons that depend on the file alone: it fails again until it changes."""
_MAX_BROKEN_SHARE: Final = 10
"""Report a parse failure only if more than 1 line in 10 failed: macros of C break a few."""
MIN_FILES: Final = 20
"""Fewer files are not worth a second process, whatever their size."""
MANY_FILES: Final = 150
MANY_BYTES: Final = 2_000_000
"""From here on a second process saves more time than its start takes."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result for one item: ready to store, same content as before, no text, or failed with a reason.

    A failed item has a stamp if it fails again until the file changes.
    """

    uri: str
    verdict: Verdict
    stamp: Stamp | None = None
    prepared: PreparedDocument | None = None
    reason: str = ""
    facts: FileFacts | None = None
    """The facts of a code file, if the preparer keeps them."""


@dataclass(frozen=True, slots=True)
class ItemPreparer:
    """Prepares the items of a source; an item with a known content hash is not read again."""

    source: Source
    chunking: ChunkingConfig
    known_hashes: Mapping[str, str] = field(default_factory=dict)
    keep_facts: bool = False
    """Whether outcomes carry the facts of code files, so that the graph need not parse them again."""

    def prepare_item(self, item: Item) -> Outcome:
        """Return the outcome for one item."""
        stamp: Stamp | None = None
        try:
            loaded = self.source.load(item)
            stamp = loaded.stamp
            if loaded.state == "gone":
                return Outcome(item.uri, "gone", reason=loaded.remark)
            if loaded.state == "unchanged":
                return Outcome(item.uri, "same", stamp)
            if loaded.document is not None:
                content_hash = _content_hash(loaded.document)
                return self._prepare(item, loaded, loaded.document, content_hash)
            return self._read(item, loaded)
        except ReadError as error:
            return self._fail(item, error, stamp)

    def _read(self, item: Item, loaded: LoadedItem) -> Outcome:
        """Return the outcome for bytes: the reader is chosen by the file name."""
        name = loaded.file_name or item.uri
        reason = explain_no_text(loaded.data, name, self.chunking.ocr)
        if reason is not None:
            return Outcome(item.uri, "skipped", loaded.stamp, reason=reason)
        content_hash = hashlib.sha256(loaded.data).hexdigest()
        if self._is_known(item, loaded, content_hash):
            return Outcome(item.uri, "same", loaded.stamp)
        reader = reader_for(name, loaded.data, self.chunking.ocr)
        document = reader.read(loaded.data, name)
        if loaded.no_text_hint and not document.text.strip():
            raise ReadError("the page has no text", hint=loaded.no_text_hint)
        title = document.title
        if loaded.title and title in ("", name):
            title = loaded.title
        metadata = {**document.metadata, **loaded.metadata}
        document = replace(document, uri=loaded.uri or item.uri, title=title, metadata=metadata)
        return self._prepare(item, loaded, document, content_hash)

    def _prepare(
        self, item: Item, loaded: LoadedItem, document: Document, content_hash: str
    ) -> Outcome:
        if self._is_known(item, loaded, content_hash):
            return Outcome(item.uri, "same", loaded.stamp)
        prepared, facts = prepare_document(
            document,
            self.chunking,
            source=self.source.name,
            content_hash=content_hash,
            definitions_only=not self.keep_facts,
        )
        return Outcome(
            item.uri,
            "ready",
            loaded.stamp,
            replace(prepared, stamp=loaded.stamp),
            facts=facts if self.keep_facts else None,
        )

    def _is_known(self, item: Item, loaded: LoadedItem, content_hash: str) -> bool:
        return not loaded.must_store and self.known_hashes.get(item.uri) == content_hash

    def _fail(self, item: Item, error: ReadError, stamp: Stamp | None) -> Outcome:
        reason = error.message
        if self.chunking.redact_secrets:
            reason, _ = redact(reason)  # a parser may quote the file
        if error.reason not in _LASTING_REASONS:
            stamp = None
        return Outcome(item.uri, "failed", stamp, reason=reason)


def prepare_items(
    preparer: ItemPreparer, items: Sequence[Item]
) -> Generator[Outcome, None, None]:
    """Yield the outcome for every item, in any order. Close the generator to stop early."""
    if not isinstance(preparer.source, FolderSource) or not is_worth_a_worker(items):
        yield from map(preparer.prepare_item, items)
        return
    # The worker process is needed for many files only.
    from ragstone.indexing.worker import BatchWorker, share_items

    pending = deque(items)
    with closing(BatchWorker(preparer, pending)) as worker:
        yield from share_items(preparer, pending, worker)


def is_worth_a_worker(items: Sequence[Item]) -> bool:
    """Return whether there is enough work for a second process, a core for it, and a Python to run it."""
    if len(items) < MIN_FILES or cores() < 2 or find_python() is None:
        return False
    return len(items) >= MANY_FILES or sum(item.size for item in items) >= MANY_BYTES


def prepare_document(
    document: Document,
    chunking: ChunkingConfig,
    *,
    source: str = "",
    content_hash: str = "",
    definitions_only: bool = True,
) -> tuple[PreparedDocument, FileFacts | None]:
    """Return a document with its secrets redacted, cut and ready to store, and the facts of its code.

    Chunks need the definitions only; the code graph needs all facts.
    """
    facts: FileFacts | None = None
    if SERVER_NAME in document.text:
        document = blank_own_text(document)
    if chunking.redact_secrets:
        document = redact_document(document)
    if needs_symbols(document, chunking.chunker):
        facts = parse_facts(
            document.text,
            document.uri,
            document.language,
            definitions_only=definitions_only,
        )
        document = _add_symbols(document, facts)
    chunker = chunker_for(
        document,
        name=chunking.chunker,
        size=chunking.size,
        overlap=chunking.overlap,
    )
    chunks = [_with_header(chunk, document.header) for chunk in chunker.chunk(document)]
    prepared = PreparedDocument(
        document=replace(document, symbols=None),  # only the chunker needs them
        chunks=tuple(chunks),
        source=source,
        recipe=chunking.recipe,
        content_hash=content_hash or document.hash,
    )
    return prepared, facts


def _content_hash(document: Document) -> str:
    """Return the hash of a document and its header; the document is prepared again if it changes."""
    if not document.header:
        return document.hash
    return hashlib.sha256(f"{document.hash}\0{document.header}".encode()).hexdigest()


def _with_header(chunk: Chunk, header: str) -> Chunk:
    """Return a chunk whose header begins with that of its document."""
    if not header:
        return chunk
    return replace(chunk, header="\n".join(part for part in (header, chunk.header) if part))


def _add_symbols(document: Document, facts: FileFacts | None) -> Document:
    """Return a document with its symbols, and with a remark if it could not be parsed."""
    if facts is None:
        remark = "cut by lines: it is too long, or too unlike its language, to be parsed"
        return replace(document, remarks=(*document.remarks, remark))
    lines = document.text.count("\n") + 1
    remark = _describe_broken_lines(facts, lines)
    if not remark:
        return replace(document, symbols=facts.symbols)
    return replace(document, symbols=facts.symbols or None, remarks=(*document.remarks, remark))


def _describe_broken_lines(facts: FileFacts, lines: int) -> str:
    """Return a remark on the lines that the grammar could not parse; empty if they are few."""
    broken = sum(last - first + 1 for first, last in facts.broken)
    if not broken or (facts.symbols and broken * _MAX_BROKEN_SHARE < lines):
        return ""
    first, _ = facts.broken[0]
    share = f"{broken} of {plural(lines, 'line')}"
    return f"not all of it could be parsed: the parser failed on {share}, first on line {first}"
