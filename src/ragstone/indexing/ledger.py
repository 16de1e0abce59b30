"""The ledger of a sync: every item that a source lists is indexed, unchanged, skipped or failed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ragstone.types import Item, KnownFile, PutResult, Skip, Stamp, SyncReport, UnreadFile

MISSING = "no such file or folder"
"""The reason of a path that the caller named and that does not exist."""


@dataclass(slots=True)
class Ledger:
    """The running account of a sync."""

    stored: Mapping[str, KnownFile] = field(default_factory=dict)
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
    notes: list[str] = field(default_factory=list)
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

    def report(self, *, fingerprint: str = "") -> SyncReport:
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
            embedded=0,
            pending=0,
            seconds=time.monotonic() - self.started,
            fingerprint=fingerprint,
            notes=tuple(self.notes),
            remarks=_by_uri(self.remarks),
            changed=tuple(sorted(self.changed)),
            gone=tuple(sorted(self.gone)),
        )

    def _was_stored(self, uri: str) -> bool:
        if uri in self.stored:
            return True
        folder = f"{uri}/"
        return any(stored_uri.startswith(folder) for stored_uri in self.stored)


def merge_reports(reports: Sequence[SyncReport]) -> SyncReport | None:
    """Return several reports as one; None if there are none."""
    if not reports:
        return None
    merged = reports[0]
    for report in reports[1:]:
        merged = _add_reports(merged, report)
    return merged


def _add_reports(first: SyncReport, second: SyncReport) -> SyncReport:
    notes = dict.fromkeys((*first.notes, *second.notes))
    remarks = dict.fromkeys((*first.remarks, *second.remarks))
    # The check of a hit may fail at the same file as the sync before it.
    skipped = tuple(dict.fromkeys((*first.skipped, *second.skipped)))
    failed = tuple(dict.fromkeys((*first.failed, *second.failed)))
    repeated = len(first.skipped) + len(second.skipped) - len(skipped)
    repeated += len(first.failed) + len(second.failed) - len(failed)
    return SyncReport(
        found=first.found + second.found - repeated,
        indexed=first.indexed + second.indexed,
        unchanged=first.unchanged + second.unchanged,
        skipped=skipped,
        failed=failed,
        removed=first.removed + second.removed,
        chunks_added=first.chunks_added + second.chunks_added,
        chunks_kept=first.chunks_kept + second.chunks_kept,
        embedded=first.embedded + second.embedded,
        pending=first.pending + second.pending,
        seconds=first.seconds + second.seconds,
        notes=tuple(notes),
        remarks=tuple(remarks),
        changed=first.changed + second.changed,
        gone=first.gone + second.gone,
        usage=first.usage + second.usage,
    )


def _by_uri(skips: Iterable[Skip]) -> tuple[Skip, ...]:
    return tuple(sorted(skips, key=lambda skip: skip.uri))
