"""Keeps the index of the server's own folder up to date in a thread."""

from __future__ import annotations

import logging
import threading
from typing import Final

from ragstone.engine import Engine
from ragstone.errors import RagstoneError
from ragstone.indexing.watcher import Watcher
from ragstone.sources.folder.roots import is_risky
from ragstone.surfaces.present.index_notes import FIRST_INDEXING, SCANNING
from ragstone.surfaces.rest.engines import Engines
from ragstone.types import WatchStatus

_CLOSE_SECONDS: Final = 5.0
_EMBED_SECONDS: Final = 1.0
_RETRY_SECONDS: Final = 30.0
logger = logging.getLogger(__name__)


class _SyncStopped(Exception):
    """Ends the first sync when the server stops."""


class BackgroundSync:
    """Syncs the folder once, then makes all vectors and follows changes until it is closed."""

    def __init__(self, engines: Engines) -> None:
        """Take the engines; `start` begins the work."""
        self._engines = engines
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._watcher: Watcher | None = None
        self.note = ""
        """The state of the index in words; empty if it is up to date."""

    def start(self) -> None:
        """Start the thread, unless retrieval is off or the folder was never indexed and is risky."""
        engine = self._engines.own
        risk = "" if engine.exists else is_risky(engine.folder)
        if risk:
            self.note = f"this folder is not indexed: {risk}; `ragstone sync --yes` indexes it"
        if risk or not engine.enabled:
            return
        self.note = SCANNING if engine.exists else FIRST_INDEXING
        self._thread = threading.Thread(
            target=self._run, args=(engine,), name="ragstone-sync", daemon=True
        )
        self._thread.start()

    def status(self) -> WatchStatus:
        """Return the work of the watcher; a default one before it has started."""
        if self._watcher is None:
            is_running = self._thread is not None and self._thread.is_alive()
            return WatchStatus(running=is_running, problem=self.note)
        return self._watcher.status()

    def close(self) -> None:
        """Stop the thread; stored work stays."""
        self._closing.set()
        if self._watcher is not None:
            self._watcher.stop(wait=_CLOSE_SECONDS)
        if self._thread is not None:
            self._thread.join(_CLOSE_SECONDS)

    def _run(self, engine: Engine) -> None:
        """Bring the index up to date; after a failure try again later."""
        while not self._closing.is_set():
            try:
                self._bring_up_to_date(engine)
                return
            except _SyncStopped:
                return
            except RagstoneError as error:  # a service that is down, or a full disk
                self.note = f"the index could not be brought up to date: {error}"
            except Exception as error:  # requests are still answered from the index as it is
                logger.warning("the first sync failed", exc_info=True)
                name = type(error).__name__
                self.note = f"the index could not be brought up to date: {name}"
                return
            self._closing.wait(_RETRY_SECONDS)

    def _bring_up_to_date(self, engine: Engine) -> None:
        """Index all words and the code graph, follow changes from then on, and make all vectors."""
        engine.admin.refresh(embed=False, progress=self._check_open)
        engine.graph.update(progress=self._check_open)
        if self._watcher is None and engine.settings.search.watch != "off":
            self._watcher = engine.admin.watcher()
            self._watcher.start()
        self.note = ""
        self._make_vectors(engine)

    def _make_vectors(self, engine: Engine) -> None:
        """Embed all texts, one second at a time, so that requests can embed in between."""
        while engine.admin.lacks_vectors() and not self._closing.is_set():
            names = [collection.name for collection in engine.admin.collections()]
            count = sum(
                engine.admin.embed(collection=name, seconds=_EMBED_SECONDS) for name in names
            )
            if not count:
                return
            self._closing.wait(0.05)

    def _check_open(self, stage: str, done: int, total: int) -> None:
        """Progress callback that ends the sync when the server stops."""
        if self._closing.is_set():
            raise _SyncStopped
