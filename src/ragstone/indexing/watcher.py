"""Keeps an index up to date with its folder in a background thread."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import replace
from typing import Final

from ragstone.errors import ConfigError, ProviderError, RagstoneError
from ragstone.indexing.repeat_pause import RepeatPause
from ragstone.indexing.sync import Changes, CollectionSync, OnSync
from ragstone.types import SyncReport, WatchStatus

_QUIET_SECONDS: Final = 0.1
"""Changes that come together, as in a checkout, are indexed together once it is quiet for this long."""
_MAX_QUIET_WAIT: Final = 2.0
_POLL_SECONDS: Final = 0.5
"""How long stopping may take."""
_EMBED_SECONDS: Final = 2.0
"""Vectors are made in slices of this length, so that new changes do not wait for all of them."""


class Watcher:
    """`start` and `stop` it, or `run` it in the calling thread; `status` says how it goes."""

    def __init__(self, sync: CollectionSync, *, on_sync: OnSync | None = None) -> None:
        """Take the sync to run; `on_sync` is called with every report in which something changed or failed."""
        if not sync.tracker.enabled:
            raise ConfigError(
                "watching is switched off (search.watch)", hint='set search.watch = "auto"'
            )
        self._sync = sync
        self._on_sync = on_sync
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._status = WatchStatus(running=False)
        self._makes_vectors = False
        self._pause = RepeatPause()

    def start(self) -> None:
        """Run in a thread; nothing happens if it runs already."""
        if self._thread is None or not self._thread.is_alive():
            self._stop.clear()
            self._thread = threading.Thread(
                target=self.run, name="ragstone-watcher", daemon=True
            )
            self._thread.start()

    def stop(self, *, wait: float = 30.0) -> None:
        """Stop the thread and wait for its present work."""
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(wait)

    def run(self) -> None:
        """Index changes until `stop` is called from another thread."""
        self._update_status(running=True)
        try:
            next_scan = self._next_scan()
            self._index_changes()
            while not self._stop.is_set():
                if not self._makes_vectors and self._stop.wait(self._pause.seconds):
                    break
                if self._sync.tracker.wait(self._poll_seconds()):
                    self._wait_until_quiet()
                if time.monotonic() >= next_scan:
                    self._sync.tracker.request_scan()
                    next_scan = self._next_scan()
                self._index_changes()
        finally:
            self._update_status(running=False)

    def status(self) -> WatchStatus:
        """Return the counts since the start, and how many changes are waiting."""
        tracker = self._sync.tracker
        return replace(self._status, way=tracker.method, waiting=tracker.waiting)

    def _poll_seconds(self) -> float:
        if self._makes_vectors and not self._status.problem:
            return 0.0
        return _POLL_SECONDS

    def _next_scan(self) -> float:
        """Return when the whole folder is scanned next, in case an event was lost."""
        seconds = self._sync.settings.sources.drift_check_seconds
        if not seconds:
            return math.inf
        return time.monotonic() + seconds

    def _wait_until_quiet(self) -> None:
        deadline = time.monotonic() + _MAX_QUIET_WAIT
        while time.monotonic() < deadline and not self._stop.is_set():
            self._sync.tracker.collect()
            if not self._sync.tracker.wait(_QUIET_SECONDS):
                return

    def _index_changes(self) -> None:
        """Index changes, then make vectors for a while; searches do not wait for the vectors."""
        try:
            self._index_and_embed()
        except RagstoneError as error:
            # A full disk or a missing model may be mended at the next try.
            self._update_status(problem=str(error))

    def _index_and_embed(self) -> None:
        outcome = self._sync.ensure_current(Changes(embed=False))
        self._update_status(problem="; ".join(outcome.notes))
        counts: dict[str, tuple[int, int]] = {}
        files: set[str] = set()
        if outcome.reports or self._status.pending:
            counts = self._make_vectors()
        for name, report in outcome.reports:
            if report.indexed or report.removed:
                self._sync.collection(name).mark_synced()
            files.update(report.changed, report.gone)
            embedded, pending = counts.get(name, (0, 0))
            self._record(replace(report, embedded=embedded, pending=pending))
        self._pause.note_round(files)
        if not outcome.notes and not self._sync.tracker.waiting:
            self._update_status(last_sync=time.time())

    def _make_vectors(self) -> dict[str, tuple[int, int]]:
        """Return for each collection how many vectors were made, and how many texts still have none."""
        counts = {}
        for name in self._sync.followers():
            embedded = 0
            try:
                embedded = self._sync.embed(name, seconds=_EMBED_SECONDS)
            except ProviderError as error:
                # The texts stay pending, and the next round tries the service again.
                self._update_status(problem=str(error))
            pending = self._sync.collection(name).backfill().pending()
            counts[name] = (embedded, pending)
        total_embedded = sum(embedded for embedded, _ in counts.values())
        total_pending = sum(pending for _, pending in counts.values())
        self._update_status(pending=total_pending)
        # Texts that cannot be embedded stay pending: if a try made no vector, the next one is not urgent.
        self._makes_vectors = total_pending > 0 and total_embedded > 0
        return counts

    def _record(self, report: SyncReport) -> None:
        self._update_status(
            indexed=self._status.indexed + report.indexed,
            removed=self._status.removed + report.removed,
            failed=len(report.failed),
        )
        has_news = report.indexed or report.removed or report.failed
        if self._on_sync is not None and has_news:
            self._on_sync(report)

    def _update_status(self, **changes: object) -> None:
        self._status = replace(self._status, **changes)  # type: ignore[arg-type]  # fields by name
