"""The write path: sources → read → chunk → store, then vectors. Words first, vectors follow.

One bad document never stops a run, every item found is accounted for, and what was stored stays
stored whatever happens next. Another process may do the same at the same time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from ragstone.events import CHUNK_INDEXED, Bus
from ragstone.intake.beside import outcomes
from ragstone.intake.one import Cut, Job, Outcome, prepared
from ragstone.protocols import Embedder, Progress, Store
from ragstone.read.choose import BINARY
from ragstone.sources.files import MISSING, FileSource
from ragstone.sources.fingerprint import fingerprint
from ragstone.types import Document, Item, Known, Prepared, PutResult, Scope, Skip, SpaceInfo, Stamp, SyncReport

if TYPE_CHECKING:
    from ragstone.protocols import Matrix

# One transaction holds about this much text: big enough that commits do not count, small enough to be quick to redo.
BATCH_CHARACTERS: Final = 2_000_000
BATCH_DOCUMENTS: Final = 500
# Texts embedded between two commits; a few seconds of work at most are lost to a kill.
EMBED_BATCH: Final = 128
# The same when there is only so much time: a batch cannot be stopped half way.
EMBED_BATCH_TIMED: Final = 32

SECRETS_OFF: Final = "secrets are not looked for (sources.secrets is off): keys and passwords are stored as they stand"

Encode = Callable[["Matrix"], list[bytes]]


@dataclass(slots=True)
class Ledger:
    """The running account of a sync."""

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
    left_out: dict[str, Stamp] = field(default_factory=dict)
    binary: set[str] = field(default_factory=set)
    changed: list[str] = field(default_factory=list)

    def leave_out(self, skip: Skip, known: Mapping[str, Known]) -> None:
        """Account for what the source left out; a path that was named and is not there has failed, or was deleted."""
        if skip.reason != MISSING:
            self.skipped.append(skip)
        elif skip.uri in known or any(uri.startswith(f"{skip.uri}/") for uri in known):
            self.found -= 1  # it was there once: its documents are about to be removed
        else:
            self.failed.append(skip)

    def without(self, outcome: Outcome) -> None:
        """Account for an item that gave no document."""
        if outcome.verdict == "binary":
            self.seen.discard(outcome.uri)
            self.no_text(outcome.uri, outcome.stamp)
        else:
            # The earlier text stays findable: a file that cannot be read now has not been deleted.
            self.failed.append(Skip(outcome.uri, outcome.reason))

    @contextmanager
    def in_order(self) -> Iterator[None]:
        """Put what is left out or fails meanwhile in order of path, whichever was known first."""
        skipped, failed, remarks = len(self.skipped), len(self.failed), len(self.remarks)
        yield
        self.skipped[skipped:] = sorted(self.skipped[skipped:], key=_by_uri)
        self.failed[failed:] = sorted(self.failed[failed:], key=_by_uri)
        self.remarks[remarks:] = sorted(self.remarks[remarks:], key=_by_uri)

    def no_text(self, uri: str, stamp: Stamp | None) -> None:
        """Account for a file that turned out to be no text, and remember it by its stamp."""
        self.skipped.append(Skip(uri, BINARY))
        if stamp is not None:
            self.left_out[uri] = stamp
            self.binary.add(uri)


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes documents of one collection of one project."""

    store: Store
    cut: Cut
    events: Bus
    project: str
    collection: str

    def add(self, documents: Iterable[Document], *, source: str = "") -> list[PutResult]:
        """Store given documents and return what each changed; with a source, its next sync looks at them again."""
        results: list[PutResult] = []
        for batch in _batches(prepared(document, self.cut, source=source) for document in documents):
            said = (one.document.remarks for one in batch)
            results += [replace(one, remarks=remarks) for one, remarks in zip(self._put(batch), said, strict=True)]
        return results

    def remarks(self, results: Iterable[PutResult] = ()) -> tuple[Skip, ...]:
        """Return what there is to say about stored documents, and first of all that secrets are not looked for."""
        off = () if self.cut.secrets else (Skip(".", SECRETS_OFF),)
        return (*off, *(Skip(one.uri, remark) for one in results for remark in one.remarks))

    def sync(
        self,
        source: FileSource,
        *,
        full: bool = False,
        left_out: Mapping[str, Stamp] | None = None,
        progress: Progress | None = None,
    ) -> tuple[SyncReport, dict[str, Stamp]]:
        """Make the collection match the source; return the ledger, and the stamps of files that are no text.

        `left_out` is what an earlier sync returned of those, so that they are not read again; vectors are not touched.
        """
        begun = time.monotonic()
        ledger = Ledger(left_out=dict(left_out or {}))
        known = self.store.known(self.project, self.collection, source.name, uris=source.about, below=True)
        waiting = self._scan(source, ledger, known, full=full, progress=progress)
        self._take_in(source, waiting, ledger, known if not full else {}, progress)
        gone = [uri for uri in known if uri not in ledger.seen and source.covers(uri)]
        for start in range(0, len(gone), BATCH_DOCUMENTS):
            ledger.removed += self.store.remove(self.project, self.collection, gone[start : start + BATCH_DOCUMENTS])
        report = SyncReport(
            found=ledger.found,
            indexed=ledger.indexed,
            unchanged=ledger.unchanged,
            skipped=tuple(ledger.skipped),
            failed=tuple(ledger.failed),
            removed=ledger.removed,
            chunks_added=ledger.added,
            chunks_kept=ledger.kept,
            embedded=0,
            pending=0,
            seconds=time.monotonic() - begun,
            fingerprint=fingerprint(ledger.items),
            remarks=(*self.remarks(), *ledger.remarks),
            changed=tuple(sorted(ledger.changed)),
            gone=tuple(sorted(gone)),
        )
        return report, {uri: ledger.left_out[uri] for uri in sorted(ledger.binary)}

    def _scan(
        self, source: FileSource, ledger: Ledger, known: dict[str, Known], *, full: bool, progress: Progress | None
    ) -> list[Item]:
        """Return the items that must be looked into; the others are accounted for."""
        waiting = []
        current = self.cut.recipe
        for entry in source.scan():
            ledger.found += 1
            if isinstance(entry, Skip):
                ledger.leave_out(entry, known)
                continue
            ledger.items.append(entry)
            before = known.get(entry.uri)
            if not full and before and before.stamp == entry.stamp and before.recipe == current:
                ledger.seen.add(entry.uri)
                ledger.unchanged += 1
            elif ledger.left_out.get(entry.uri) == entry.stamp:
                ledger.no_text(entry.uri, entry.stamp)
            else:
                ledger.seen.add(entry.uri)
                waiting.append(entry)
            if progress and ledger.found % 500 == 0:
                progress("scan", ledger.found, 0)
        return waiting

    def _take_in(
        self,
        source: FileSource,
        waiting: Sequence[Item],
        ledger: Ledger,
        known: dict[str, Known],
        progress: Progress | None,
    ) -> None:
        """Read, cut and store what changed, a batch at a time."""
        touched: dict[str, Stamp | None] = {}
        current = self.cut.recipe
        same = {uri: before.content_hash for uri, before in known.items() if before.recipe == current}
        job = Job(source, self.cut, same)

        def ready(found: Iterable[Outcome]) -> Iterator[Prepared]:
            for done, outcome in enumerate(found, start=1):
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

        with ledger.in_order(), closing(outcomes(job, waiting)) as found:
            for batch in _batches(ready(found)):
                for result in self._put(batch):
                    ledger.indexed += 1
                    ledger.changed.append(result.uri)
                    ledger.added += result.added
                    ledger.kept += result.kept
        if touched:
            self.store.touch(self.project, self.collection, source.name, touched)

    def _put(self, batch: Sequence[Prepared]) -> list[PutResult]:
        results = self.store.put(self.project, self.collection, batch)
        for result in results:
            self.events.emit(
                CHUNK_INDEXED, uri=result.uri, added=result.added, kept=result.kept, removed=result.removed
            )
        return results


@dataclass(frozen=True, slots=True)
class Filler:
    """Gives vectors to stored texts that have none: resumable at any point, safe to run twice at once."""

    store: Store
    project: str
    embedder: Embedder
    encode: Encode

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
        while pending := self.store.pending(scope, info.id, after=after, limit=batch):
            if end is not None and time.monotonic() >= end:
                break
            vectors = self.embedder.embed([text.text for text in pending], "document")
            rows = zip((text.text_id for text in pending), self.encode(vectors), strict=True)
            done += self.store.put_vectors(self.project, info.id, rows)
            after = pending[-1].text_id
            if progress:
                progress("embed", min(done, total), total)
        return done


def _by_uri(skip: Skip) -> str:
    return skip.uri


def _batches(documents: Iterable[Prepared]) -> Iterator[list[Prepared]]:
    """Yield runs of documents that make a good transaction."""
    batch: list[Prepared] = []
    size = 0
    for one in documents:
        batch.append(one)
        size += len(one.document.text)
        if size >= BATCH_CHARACTERS or len(batch) >= BATCH_DOCUMENTS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
