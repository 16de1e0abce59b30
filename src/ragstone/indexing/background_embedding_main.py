"""The background process: makes the missing vectors of one project, a batch at a time, and ends.

It ends if all texts have vectors, if nothing can be embedded, after `MAX_SECONDS`, and if the database is gone. Its only
output are lines of a log. A kill loses the current batch.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from ragstone import config
from ragstone.config import Settings
from ragstone.errors import RagstoneError, StaleSpace, StoreBusy, StoreError
from ragstone.indexing.backfill import VectorBackfill
from ragstone.indexing.background_embedding import FAILED, log_line
from ragstone.indexing.components import Components
from ragstone.store.home_folder import BACKGROUND_LOCK, DATABASE
from ragstone.store.lock import FileLock
from ragstone.text.counts import plural

MAX_SECONDS: Final = 1800.0
"""The next command starts another process if this was not enough."""
_NICE: Final = 10
_LOCK_SECONDS: Final = 1.0
"""A command holds the lock for a moment to see if a process runs."""


class _Stopped(Exception):
    """Ends the process before all vectors are made; the message is the reason."""


def main() -> None:
    """Make the vectors that the request in the first argument asks for."""
    if hasattr(os, "nice"):
        os.nice(_NICE)
    request = json.loads(sys.argv[1])
    try:
        settings = config.load(Path(request["folder"]), request["settings"])
        if settings.store.url is None and not (settings.home / DATABASE).exists():
            return
        with FileLock(settings.home / BACKGROUND_LOCK, wait=_LOCK_SECONDS):
            _make_all_vectors(settings, request["project"])
    except StoreBusy:
        return  # another process makes them
    except _Stopped as reason:
        _write_log(f"stopped: {reason}")
    except RagstoneError as error:
        _write_log(f"{FAILED}{error}")
    except Exception as error:
        _write_log(f"{FAILED}{type(error).__name__}: {error}")
        raise


def _make_all_vectors(settings: Settings, project: str) -> None:
    """Embed every collection of a project until no text is left; raise an error if some texts cannot be embedded."""
    _write_log(f"started: process {os.getpid()} for project {project}")
    limits = RunLimits(settings.home / DATABASE)
    components = Components(settings)
    total = 0
    try:
        while count := _embed_collections(components, project, limits):
            total += count
            _write_log(f"{plural(total, 'vector')} made")
    except RagstoneError:
        limits.check()  # an index that is gone is no failure
        raise
    finally:
        with suppress(RagstoneError):
            components.close()
    _write_log("done")


def _embed_collections(components: Components, project: str, limits: RunLimits) -> int:
    """Embed the texts that have no vector now, and return how many vectors were stored."""
    count = pending = 0
    stale: StaleSpace | None = None
    for collection in components.store.collections(project):
        limits.check()
        backfill = VectorBackfill(components, collection.key)
        try:
            count += backfill.run(seconds=limits.seconds_left(), progress=limits.check)
            pending += backfill.pending()
        except StaleSpace as error:
            stale = error
    limits.check()
    if not count and stale is not None:
        raise stale
    if not count and pending:
        raise StoreError(
            f"{plural(pending, 'text gets', 'texts get')} no vector",
            hint="`ragstone doctor` checks them",
        )
    return count


class RunLimits:
    """When the process has to end although texts are left."""

    def __init__(self, database: Path) -> None:
        """Start the time, and note which file the database is."""
        self._deadline = time.monotonic() + MAX_SECONDS
        self._database = database
        self._file = _file_number(database)

    def seconds_left(self) -> float:
        """Return how long the process may still run."""
        return max(0.0, self._deadline - time.monotonic())

    def check(self, stage: str = "", done: int = 0, total: int = 0) -> None:
        """Raise `_Stopped` after the time limit, or if the database was removed or replaced; called for each batch."""
        if not self.seconds_left():
            raise _Stopped(f"the time limit of {MAX_SECONDS:.0f} seconds is over")
        if _file_number(self._database) != self._file:
            raise _Stopped("the index was removed or replaced")


def _file_number(path: Path) -> tuple[int, int] | None:
    """Return the device and inode of a file; None if it is gone."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _write_log(sentence: str) -> None:
    sys.stderr.write(log_line(sentence))
    sys.stderr.flush()
