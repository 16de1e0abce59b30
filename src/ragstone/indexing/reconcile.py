"""The write path: makes a collection match a source. Folder, web pages, help, turns and given text all come this way.

    source.scan → compare with the store → prepare (read, chunk) → store, a batch per transaction → remove the rest

One bad document never stops a run, every item is in the ledger, and another process may do the same at the same time.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from ragstone.errors import QuotaError
from ragstone.protocols.cancellation import check_cancelled
from ragstone.sources.folder.source import MISSING, fingerprint
from ragstone.types import Item, KnownFile, Skip, SyncReport, UnreadFile

if TYPE_CHECKING:
    from ragstone.indexing.collection_writer import DocumentWriter
    from ragstone.indexing.prepare import Outcome
    from ragstone.protocols import Progress, Source
    from ragstone.types import (
        PreparedDocument,
        PutResult,
        Stamp,
    )
    from ragstone.types.code import FileFacts

# One transaction holds about this much text: large enough that commits are cheap, small enough to repeat quickly.
BATCH_CHARACTERS: Final = 2_000_000
BATCH_DOCUMENTS: Final = 250
_ITEMS_PER_PROGRESS: Final = 500


class ParsedFile(NamedTuple):
    """The facts of a code file, and the stored state of the text that they were read from."""

    stored: KnownFile
    facts: FileFacts


class Reconciliation(NamedTuple):
    """The result of one run: the report, the files that gave no text, and the chunk counts per document."""

    report: SyncReport
    unread: Mapping[str, UnreadFile]
    results: Sequence[PutResult]
    parsed: Mapping[str, ParsedFile]
    """The code files that were parsed, by uri; empty unless the run keeps facts."""


@dataclass(slots=True)
class Reconciler:
    """Makes one collection match one source. Use a new one for each run."""

    writer: DocumentWriter
    source: Source
    unread: Mapping[str, UnreadFile] = field(default_factory=dict)
    """Files that gave no text in an earlier run; they are not read again until they change."""
    full: bool = False
    """Whether every item is read, even if its stamp did not change."""
    progress: Progress | None = None
    keep_facts: bool = False
    """Whether the result has the facts of the code files that were stored."""
    stores_what_fits: bool = False
    """Whether a document beyond the plan's limit fails alone; otherwise `QuotaError` ends the run."""
    _ledger: Ledger = field(init=False)
    _touched: dict[str, Stamp | None] = field(default_factory=dict, init=False)
    """The new stamps of documents whose content is the same as before."""
    _results: list[PutResult] = field(default_factory=list, init=False)
    _parsed: dict[str, ParsedFile] = field(default_factory=dict, init=False)

    def run(self) -> Reconciliation:
        """Store new and changed documents, remove the ones that are gone, and return the account."""
        stored = self.writer.stored_files(self.source)
        ledger = self._ledger = Ledger(stored)
        comparable = {} if self.full else stored
        waiting = self._scan(comparable)
        if waiting:
            self._store_changed(waiting, comparable)
        absent = [uri for uri in stored if uri not in ledger.present]
        ledger.gone = [uri for uri in absent if self.source.covers(uri)]
        ledger.removed += self.writer.remove(ledger.gone)
        report = ledger.report()
        report = replace(report, remarks=(*self.writer.remarks(), *report.remarks))
        unread = dict(sorted(ledger.unread.items()))
        return Reconciliation(report, unread, self._results, self._parsed)

    def _scan(self, stored: Mapping[str, KnownFile]) -> list[Item]:
        """Return the items that must be read; all others are entered in the ledger."""
        ledger = self._ledger
        waiting = []
        recipe = self.writer.chunking.recipe
        for entry in self.source.scan():
            check_cancelled()
            ledger.found += 1
            if self.progress and ledger.found % _ITEMS_PER_PROGRESS == 0:
                self.progress("scan", ledger.found, 0)
            if isinstance(entry, Skip):
                ledger.record_skip(entry)
                continue
            ledger.items.append(entry)
            unread = self.unread.get(entry.uri)
            if _is_unchanged(entry, stored.get(entry.uri), recipe):
                ledger.record_unchanged(entry.uri)
            elif unread and unread.stamp == entry.stamp:
                ledger.record_unread(
                    entry.uri, unread.stamp, unread.reason, failed=unread.failed
                )
            else:
                ledger.present.add(entry.uri)
                waiting.append(entry)
        return waiting

    def _store_changed(self, waiting: Sequence[Item], stored: Mapping[str, KnownFile]) -> None:
        """Read, chunk and store the waiting items, a batch at a time."""
        recipe = self.writer.chunking.recipe
        same_recipe = {uri: file for uri, file in stored.items() if file.recipe == recipe}
        with closing(self._prepare(waiting, same_recipe)) as outcomes:
            for batch in _batches(self._ready(outcomes, len(waiting))):
                self._put(batch, same_recipe)
        if self._touched:
            self.writer.store.touch(self.writer.key, self.source.name, self._touched)

    def _prepare(
        self, waiting: Sequence[Item], stored: Mapping[str, KnownFile]
    ) -> Generator[Outcome, None, None]:
        # Readers and chunkers load here, so that a search that finds nothing changed does not import them.
        from ragstone.indexing.prepare import ItemPreparer, prepare_items

        hashes: dict[str, str] = {}
        for item in waiting:
            if item.uri in stored:
                hashes[item.uri] = stored[item.uri].content_hash
        preparer = ItemPreparer(self.source, self.writer.chunking, hashes, self.keep_facts)
        return prepare_items(preparer, waiting)

    def _ready(self, outcomes: Iterable[Outcome], total: int) -> Iterator[PreparedDocument]:
        """Yield the documents to store; every other outcome is entered in the ledger."""
        ledger = self._ledger
        for done, outcome in enumerate(outcomes, start=1):
            check_cancelled()
            if outcome.prepared is not None:
                document = outcome.prepared.document
                ledger.remarks += [Skip(document.uri, remark) for remark in document.remarks]
                if document.uri != outcome.uri:
                    ledger.present.discard(outcome.uri)
                    ledger.present.add(document.uri)
                    ledger.remarks.append(Skip(outcome.uri, f"moved to {document.uri}"))
                self._keep_facts(outcome.prepared, outcome.facts)
                yield outcome.prepared
            else:
                self._record_without_text(outcome)
            if self.progress:
                self.progress("index", done, total)

    def _keep_facts(self, prepared: PreparedDocument, facts: FileFacts | None) -> None:
        if facts is not None:
            stored = KnownFile(prepared.content_hash, prepared.stamp, prepared.recipe)
            self._parsed[prepared.document.uri] = ParsedFile(stored, facts)

    def _record_without_text(self, outcome: Outcome) -> None:
        ledger = self._ledger
        if outcome.verdict == "same":
            ledger.record_unchanged(outcome.uri)
            self._touched[outcome.uri] = outcome.stamp
        elif outcome.verdict == "gone":
            ledger.record_removed(outcome.uri, outcome.reason)
        else:
            has_failed = outcome.verdict == "failed"
            ledger.record_unread(outcome.uri, outcome.stamp, outcome.reason, failed=has_failed)

    def _put(self, batch: Sequence[PreparedDocument], stored: Mapping[str, KnownFile]) -> None:
        """Store a batch in one transaction, and enter its documents in the ledger."""
        ledger = self._ledger
        try:
            results = self.writer.put(batch)
        except QuotaError as error:
            if not self.stores_what_fits:
                raise
            self._put_what_fits(batch, stored, error)
            return
        for prepared, result in zip(batch, results, strict=True):
            self._results.append(replace(result, remarks=prepared.document.remarks))
            before = stored.get(result.uri)
            if before and before.content_hash == prepared.content_hash:
                # Only its metadata differs, such as the validators of a web page.
                ledger.unchanged += 1
                ledger.add_chunks(result)
            else:
                ledger.record_indexed(result)

    def _put_what_fits(
        self,
        batch: Sequence[PreparedDocument],
        stored: Mapping[str, KnownFile],
        error: QuotaError,
    ) -> None:
        """Store the documents of a batch one by one; those beyond the limit are failures of the ledger."""
        if len(batch) == 1:
            uri = batch[0].document.uri
            self._ledger.record_unread(uri, None, str(error), failed=True)
            return
        for prepared in batch:
            self._put([prepared], stored)


def _is_unchanged(item: Item, stored: KnownFile | None, recipe: str) -> bool:
    """Return whether a stored document has the item's stamp and was cut by the present recipe."""
    if stored is None or item.stamp is None:
        return False
    return stored.recipe == recipe and stored.stamp == item.stamp


def _batches(documents: Iterable[PreparedDocument]) -> Iterator[list[PreparedDocument]]:
    """Yield groups of documents, each the size of one transaction."""
    batch: list[PreparedDocument] = []
    characters = 0
    for prepared in documents:
        batch.append(prepared)
        characters += len(prepared.document.text)
        if characters >= BATCH_CHARACTERS or len(batch) >= BATCH_DOCUMENTS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


@dataclass(slots=True)
class Ledger:
    """The running account of a sync: every item that a source lists is indexed, unchanged, skipped or failed."""

    stored: Mapping[str, KnownFile]
    """The documents of the source that were stored before."""
    started: float = field(default_factory=time.monotonic)
    found: int = 0
    indexed: int = 0
    unchanged: int = 0
    removed: int = 0
    chunks_added: int = 0
    chunks_kept: int = 0
    skipped: list[Skip] = field(default_factory=list)
    failed: list[Skip] = field(default_factory=list)
    remarks: list[Skip] = field(default_factory=list)
    present: set[str] = field(default_factory=set)
    """Uris that still exist, so that their documents are not removed."""
    items: list[Item] = field(default_factory=list)
    unread: dict[str, UnreadFile] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)

    def record_unchanged(self, uri: str) -> None:
        """Count an item whose stored document is still right."""
        self.present.add(uri)
        self.unchanged += 1

    def record_indexed(self, result: PutResult) -> None:
        """Count a document that was stored or replaced."""
        self.indexed += 1
        self.changed.append(result.uri)
        self.add_chunks(result)

    def add_chunks(self, result: PutResult) -> None:
        """Count the chunks of a stored document."""
        self.chunks_added += result.added
        self.chunks_kept += result.kept

    def record_skip(self, skip: Skip) -> None:
        """Count an item that the source left out.

        A path that the caller named and that does not exist has failed, unless its document is about to be removed.
        """
        if skip.reason != MISSING:
            self.skipped.append(skip)
        elif self._was_stored(skip.uri):
            self.found -= 1
        else:
            self.failed.append(skip)

    def record_unread(
        self, uri: str, stamp: Stamp | None, reason: str, *, failed: bool
    ) -> None:
        """Count an item that gave no text; with a stamp, it is not read again until it changes."""
        if stamp is not None:
            self.unread[uri] = UnreadFile(stamp, reason, failed)
        if failed:
            # The stored text stays: a file that cannot be read now was not deleted.
            self.present.add(uri)
            self.failed.append(Skip(uri, reason))
        else:
            self.present.discard(uri)
            self.skipped.append(Skip(uri, reason))

    def record_removed(self, uri: str, remark: str) -> None:
        """Add a remark about a document that is about to be removed, and no longer count its item."""
        self.found -= 1
        self.present.discard(uri)
        self.remarks.append(Skip(uri, remark))

    def report(self) -> SyncReport:
        """Return the finished account."""
        return SyncReport(
            found=self.found,
            indexed=self.indexed,
            unchanged=self.unchanged,
            skipped=_by_uri(self.skipped),
            failed=_by_uri(self.failed),
            removed=self.removed,
            chunks_added=self.chunks_added,
            chunks_kept=self.chunks_kept,
            seconds=time.monotonic() - self.started,
            fingerprint=fingerprint(self.items),
            remarks=_by_uri(self.remarks),
            changed=tuple(sorted(self.changed)),
            gone=tuple(sorted(self.gone)),
        )

    def _was_stored(self, uri: str) -> bool:
        if uri in self.stored:
            return True
        folder = f"{uri}/"
        return any(stored_uri.startswith(folder) for stored_uri in self.stored)


def _by_uri(skips: Iterable[Skip]) -> tuple[Skip, ...]:
    return tuple(sorted(skips, key=lambda skip: skip.uri))
