"""The write path: sources → read → chunk → store, then vectors. Words first, vectors follow.

One bad document never stops a run, every item found is accounted for, and what was stored stays
stored whatever happens next. Another process may do the same at the same time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from ragstone.events import CHUNK_INDEXED, EventBus
from ragstone.read import BINARY
from ragstone.sources.folder.fingerprint import fingerprint
from ragstone.sources.folder.source import MISSING, FolderSource
from ragstone.types import (
    CollectionKey,
    Document,
    Item,
    KnownFile,
    PreparedDocument,
    PutResult,
    Scope,
    Skip,
    SpaceInfo,
    Stamp,
    SyncReport,
    UnreadFile,
)

if TYPE_CHECKING:
    from ragstone.indexing.chunking_config import ChunkingConfig
    from ragstone.indexing.prepare import ItemPreparer, Outcome
    from ragstone.protocols import Codec, DocumentStore, Embedder, Progress

# One transaction holds about this much text: big enough that commits do not count, small enough to be quick to redo.
BATCH_CHARACTERS: Final = 2_000_000
BATCH_DOCUMENTS: Final = 500
LEAST_DOCUMENTS: Final = 16
"""Where two processes read, the last batches are smaller, down to this: what is stored last is waited for by both."""
# Texts embedded between two commits; a few seconds of work at most are lost to a kill.
EMBED_BATCH: Final = 128
# The same when there is only so much time: a batch cannot be stopped half way.
EMBED_BATCH_TIMED: Final = 32

SECRETS_OFF: Final = "secrets are not looked for (sources.secrets is off): keys and passwords are stored as they stand"


@dataclass(slots=True)
class Ledger:
    """The running account of a sync."""

    known: Mapping[str, KnownFile] = field(default_factory=dict)
    """What was stored of the source before."""
    found: int = 0
    indexed: int = 0
    unchanged: int = 0
    removed: int = 0
    added: int = 0
    kept: int = 0
    skipped: list[Skip] = field(default_factory=list)
    failed: list[Skip] = field(default_factory=list)
    remarks: list[Skip] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    items: list[Item] = field(default_factory=list)
    unread: dict[str, UnreadFile] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)

    def closed(self, begun: float, *, notes: Sequence[str] = ()) -> SyncReport:
        """Return the finished account; `begun` is when it was opened, by the monotonic clock."""
        return SyncReport(
            found=self.found,
            indexed=self.indexed,
            unchanged=self.unchanged,
            skipped=_by_uri(self.skipped),
            failed=_by_uri(self.failed),
            removed=self.removed,
            chunks_added=self.added,
            chunks_kept=self.kept,
            embedded=0,
            pending=0,
            seconds=time.monotonic() - begun,
            notes=tuple(notes),
            remarks=_by_uri(self.remarks),
        )

    def leave_out(self, skip: Skip) -> None:
        """Account for what the source left out; a path that was named and is not there has failed, or was deleted."""
        if skip.reason != MISSING:
            self.skipped.append(skip)
        elif skip.uri in self.known or any(uri.startswith(f"{skip.uri}/") for uri in self.known):
            self.found -= 1  # it was there once: its documents are about to be removed
        else:
            self.failed.append(skip)

    def without(self, outcome: Outcome) -> None:
        """Account for an item that gave no document."""
        failed = outcome.verdict != "binary"
        reason = outcome.reason if failed else BINARY
        if outcome.stamp is not None:
            self.leave_unread(outcome.uri, UnreadFile(outcome.stamp, reason, failed))
        else:
            self._no_text(Skip(outcome.uri, reason), failed=failed)

    def leave_unread(self, uri: str, known: UnreadFile) -> None:
        """Account for a file that gives no text as long as it looks like that, and remember it."""
        self.unread[uri] = known
        self._no_text(Skip(uri, known.reason), failed=known.failed)

    def _no_text(self, skip: Skip, *, failed: bool) -> None:
        if failed:
            # The earlier text stays findable: a file that cannot be read now has not been deleted.
            self.seen.add(skip.uri)
            self.failed.append(skip)
        else:
            self.seen.discard(skip.uri)
            self.skipped.append(skip)


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes documents of one collection of one project."""

    store: DocumentStore
    cut: ChunkingConfig
    events: EventBus
    key: CollectionKey

    def add(self, documents: Iterable[Document], *, source: str = "") -> list[PutResult]:
        """Store given documents and return what each changed; with a source, its next sync looks at them again."""
        from ragstone.indexing.prepare import prepare_document

        results: list[PutResult] = []
        for batch in _batches(prepare_document(document, self.cut, source=source) for document in documents):
            said = (one.document.remarks for one in batch)
            results += [replace(one, remarks=remarks) for one, remarks in zip(self._put(batch), said, strict=True)]
        return results

    def remarks(self, results: Iterable[PutResult] = ()) -> tuple[Skip, ...]:
        """Return what there is to say about stored documents, and first of all that secrets are not looked for."""
        off = () if self.cut.redact_secrets else (Skip(".", SECRETS_OFF),)
        return (*off, *(Skip(one.uri, remark) for one in results for remark in one.remarks))

    def sync(
        self,
        source: FolderSource,
        *,
        full: bool = False,
        unread: Mapping[str, UnreadFile] | None = None,
        progress: Progress | None = None,
    ) -> tuple[SyncReport, dict[str, UnreadFile]]:
        """Make the collection match the source; return the ledger, and the files that gave no text.

        `unread` is what an earlier sync returned of those, so that they are not read again; vectors are not touched.
        """
        begun = time.monotonic()
        known = self.store.known_files(self.key, source.name, uris=source.scope, below=True)
        ledger, trusted = Ledger(known), {} if full else known
        waiting = self._scan(source, ledger, trusted, unread or {}, progress)
        self._take_in(source, waiting, ledger, trusted, progress)
        gone = [uri for uri in known if uri not in ledger.seen and source.covers(uri)]
        for start in range(0, len(gone), BATCH_DOCUMENTS):
            ledger.removed += self.store.remove(self.key, gone[start : start + BATCH_DOCUMENTS])
        closed = ledger.closed(begun)
        report = replace(
            closed,
            fingerprint=fingerprint(ledger.items),
            remarks=(*self.remarks(), *closed.remarks),
            changed=tuple(sorted(ledger.changed)),
            gone=tuple(sorted(gone)),
        )
        return report, dict(sorted(ledger.unread.items()))

    def _scan(
        self,
        source: FolderSource,
        ledger: Ledger,
        known: dict[str, KnownFile],
        unread: Mapping[str, UnreadFile],
        progress: Progress | None,
    ) -> list[Item]:
        """Return the items that must be looked into; the others are accounted for."""
        waiting = []
        current = self.cut.recipe
        for entry in source.scan():
            ledger.found += 1
            if isinstance(entry, Skip):
                ledger.leave_out(entry)
                continue
            ledger.items.append(entry)
            before, silent = known.get(entry.uri), unread.get(entry.uri)
            if before and before.stamp == entry.stamp and before.recipe == current:
                ledger.seen.add(entry.uri)
                ledger.unchanged += 1
            elif silent and silent.stamp == entry.stamp:
                ledger.leave_unread(entry.uri, silent)
            else:
                ledger.seen.add(entry.uri)
                waiting.append(entry)
            if progress and ledger.found % 500 == 0:
                progress("scan", ledger.found, 0)
        return waiting

    def _take_in(
        self,
        source: FolderSource,
        waiting: Sequence[Item],
        ledger: Ledger,
        known: dict[str, KnownFile],
        progress: Progress | None,
    ) -> None:
        """Read, cut and store what changed, a batch at a time."""
        if not waiting:
            return  # nothing of what reads and cuts is loaded for that
        from ragstone.indexing.prepare import ItemPreparer

        touched: dict[str, Stamp | None] = {}
        left = len(waiting)
        current = self.cut.recipe
        before = {item.uri: known[item.uri] for item in waiting if item.uri in known}
        same = {uri: one.content_hash for uri, one in before.items() if one.recipe == current}
        work, helped = _prepare(ItemPreparer(source, self.cut, same), waiting)

        def ready(found: Iterable[Outcome]) -> Iterator[PreparedDocument]:
            nonlocal left
            for done, outcome in enumerate(found, start=1):
                left = len(waiting) - done
                if outcome.prepared is not None:
                    ledger.remarks += [Skip(outcome.uri, remark) for remark in outcome.prepared.document.remarks]
                    yield outcome.prepared
                elif outcome.verdict == "same":
                    ledger.unchanged += 1
                    touched[outcome.uri] = outcome.stamp
                else:
                    ledger.without(outcome)
                if progress:
                    progress("index", done, len(waiting))

        with closing(work) as found:
            for batch in _batches(ready(found), (lambda: left) if helped else None):
                for result in self._put(batch):
                    ledger.indexed += 1
                    ledger.changed.append(result.uri)
                    ledger.added += result.added
                    ledger.kept += result.kept
        if touched:
            self.store.touch(self.key, source.name, touched)

    def _put(self, batch: Sequence[PreparedDocument]) -> list[PutResult]:
        results = self.store.put(self.key, batch)
        for result in results:
            self.events.emit(
                CHUNK_INDEXED, uri=result.uri, added=result.added, kept=result.kept, removed=result.removed
            )
        return results


@dataclass(frozen=True, slots=True)
class Filler:
    """Gives vectors to stored texts that have none: resumable at any point, safe to run twice at once."""

    store: DocumentStore
    project: str
    embedder: Embedder
    codec: Callable[[], Codec]
    """Returns the codec of the space; called only if a text is pending, because loading it takes time."""

    def fill(
        self, scope: Scope, info: SpaceInfo, *, seconds: float | None = None, progress: Progress | None = None
    ) -> int:
        """Embed what is pending, as far as the time goes, and return how many vectors were stored."""
        end = time.monotonic() + seconds if seconds is not None else None
        done, after = 0, 0
        total = info.texts - info.embedded
        batch = EMBED_BATCH if end is None else EMBED_BATCH_TIMED
        if progress and total:
            progress("embed", 0, total)
        while pending := self.store.vectors.pending(scope, info.id, after=after, limit=batch):
            if end is not None and time.monotonic() >= end:
                break
            vectors = self.embedder.embed([text.text for text in pending], "document")
            texts = [text.text_id for text in pending]
            rows = self.codec().encode(vectors)
            done += self.store.vectors.put(self.project, info.id, zip(texts, rows, strict=True))
            after = pending[-1].text_id
            if progress:
                progress("embed", min(done, total), total)
        return done


def _prepare(preparer: ItemPreparer, items: Sequence[Item]) -> tuple[Generator[Outcome, None, None], bool]:
    """Return the outcomes for all items, and whether a second process helps to prepare them."""
    from ragstone.indexing.worker import is_worth_a_worker, prepare_items  # loads readers and chunkers

    return prepare_items(preparer, items), is_worth_a_worker(items)


def _by_uri(skips: Iterable[Skip]) -> tuple[Skip, ...]:
    """Return what was told of files in order of their paths, whichever was known first."""
    return tuple(sorted(skips, key=lambda skip: skip.uri))


def _batches(
    documents: Iterable[PreparedDocument], left: Callable[[], int] | None = None
) -> Iterator[list[PreparedDocument]]:
    """Yield runs of documents that make a good transaction; where it is told how many are left, half of those each."""
    batch: list[PreparedDocument] = []
    size = 0
    for one in documents:
        batch.append(one)
        size += len(one.document.text)
        most = BATCH_DOCUMENTS if left is None else min(BATCH_DOCUMENTS, max(LEAST_DOCUMENTS, left() // 2))
        if size >= BATCH_CHARACTERS or len(batch) >= most:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
