"""Watching a folder in the background: changes are brought in, with their vectors, until somebody says stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from ragstone.errors import ConfigError, RagstoneError
from ragstone.indexing.changes import Follower
from ragstone.types import SyncReport, WatchStatus

OnSync = Callable[[SyncReport], object]

QUIET_SECONDS: Final = 0.1
"""An editor that saves, a checkout: many changes come together, and are brought in together when it is still."""
LONGEST_SECONDS: Final = 2.0
"""Where it is never still, nobody waits longer than this."""
LOOK_SECONDS: Final = 0.5
"""How long stopping may take."""
VECTOR_SECONDS: Final = 2.0
"""Vectors are made so long at a time: changes that come meanwhile should not wait for all of them."""


class Watcher:
    """Keeps an index level with its folder: `start` and `stop` it, or `run` it here; `status` says how it goes."""

    def __init__(self, follower: Follower, *, on_sync: OnSync | None = None) -> None:
        """Take what follows the folder, and who is told of every ledger in which something changed or failed."""
        if not follower.active:
            raise ConfigError("watching is switched off (search.watch)", hint='set search.watch = "auto"')
        self._follower, self._on_sync = follower, on_sync
        self._drift = follower.keeper.parts.settings.sources.drift_check_seconds
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._last_sync: float | None = None
        self._indexed = self._removed = self._failed = self._pending = 0
        self._problem = ""
        self._running = self._hurry = False

    def start(self) -> None:
        """Begin in a thread of its own; started already, nothing happens."""
        if self._thread is None or not self._thread.is_alive():
            self._stop.clear()
            self._thread = threading.Thread(target=self.run, name="ragstone-watcher", daemon=True)
            self._thread.start()

    def stop(self, *, wait: float = 30.0) -> None:
        """End it, and wait until what it is at is done."""
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(wait)

    def run(self) -> None:
        """Bring in whatever changes, from now on until `stop` is called from elsewhere."""
        self._running = True
        try:
            look_at_all = self._next_look()
            self._bring_in()
            while not self._stop.is_set():
                if self._follower.wait(0.0 if self._hurry and not self._problem else LOOK_SECONDS):
                    self._until_quiet()
                if time.monotonic() >= look_at_all:
                    self._follower.doubt()
                    look_at_all = self._next_look()
                self._bring_in()
        finally:
            self._running = False

    def status(self) -> WatchStatus:
        """Return what was done since it was made, and what is still to be done."""
        return WatchStatus(
            running=self._running,
            way=self._follower.way,
            last_sync=self._last_sync,
            indexed=self._indexed,
            removed=self._removed,
            failed=self._failed,
            waiting=self._follower.waiting,
            pending=self._pending,
            problem=self._problem,
        )

    def _next_look(self) -> float:
        return time.monotonic() + self._drift if self._drift else float("inf")

    def _until_quiet(self) -> None:
        end = time.monotonic() + LONGEST_SECONDS
        while time.monotonic() < end and not self._stop.is_set():
            self._follower.look(())
            if not self._follower.wait(QUIET_SECONDS):
                return

    def _bring_in(self) -> None:
        """Bring in what changed, then make vectors for a while: nobody who searches meanwhile waits for those."""
        try:
            brought = self._follower.catch_up(vectors=False)
            self._problem = "; ".join(brought.notes)
            made = self._vectors() if brought.reports or self._pending else {}
            for name, report in brought.reports:
                if report.indexed or report.removed:
                    self._follower.keeper.note_synced(name)
                embedded, pending = made.get(name, (0, 0))
                self._account(replace(report, embedded=embedded, pending=pending))
            if not brought.notes and not self._follower.waiting:
                self._last_sync = time.time()
        except RagstoneError as error:  # a full disk, a model that cannot be reached: it may be well the next time
            self._problem = str(error)

    def _vectors(self) -> dict[str, tuple[int, int]]:
        """Return for each collection how many vectors were made now, and how many texts still wait for one."""
        keeper = self._follower.keeper
        made = {}
        for name in keeper.followed():
            embedded = keeper.embed(name, seconds=VECTOR_SECONDS)
            made[name] = (embedded, keeper.pending(name))
        self._pending = sum(pending for _, pending in made.values())
        # Texts that cannot be read stay pending: where no vector came of a try, the next one has time.
        self._hurry = self._pending > 0 and any(embedded for embedded, _ in made.values())
        return made

    def _account(self, report: SyncReport) -> None:
        self._indexed += report.indexed
        self._removed += report.removed
        self._failed = len(report.failed)
        if self._on_sync is not None and (report.indexed or report.removed or report.failed):
            self._on_sync(report)
