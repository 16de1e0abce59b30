"""Preparing many items with two processes: this one takes items from the front of a list, a worker from its end.

If the worker is slow, dies or sends an invalid reply, this process prepares the items itself. The
outcomes are the same either way.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from queue import Empty, Queue
from typing import Final

from ragstone.indexing.prepare import ItemPreparer, Outcome
from ragstone.indexing.worker_protocol import build_request, decode_outcomes
from ragstone.read.worker_process import WorkerFailed, WorkerProcess
from ragstone.types import Item

BATCH_SECONDS: Final = 60.0
"""For one batch; reading one file takes at most half of it."""
_GRACE_SECONDS: Final = 5.0
_BATCH_FILES: Final = 20
_BATCH_BYTES: Final = 500_000
_MAX_WAITING_REPLIES: Final = 10
"""Bounds the memory if this process is slower than the worker."""

Batch = list[tuple[Item, Outcome | None]]


def share_items(
    preparer: ItemPreparer, pending: deque[Item], worker: BatchWorker
) -> Iterator[Outcome]:
    """Yield the outcome for every pending item; a worker takes items from the same list."""
    while pending or not worker.is_finished:
        batch = worker.take_batch(wait=not pending)
        if batch is not None:
            for item, outcome in batch:
                yield outcome or preparer.prepare_item(item)
            continue
        try:
            item = pending.popleft()
        except IndexError:  # the worker took the last item
            continue
        yield preparer.prepare_item(item)


class BatchWorker:
    """A worker process, and the thread that sends it batches from the end of a list."""

    def __init__(
        self,
        preparer: ItemPreparer,
        pending: deque[Item],
        *,
        command: Sequence[str] | None = None,
        seconds: float = BATCH_SECONDS,
    ) -> None:
        """Start the thread, which starts the process."""
        self.is_finished = False
        self.process = WorkerProcess(
            "ragstone.indexing.worker_main", seconds=seconds, command=command
        )
        self._preparer = preparer
        self._pending = pending
        self._seconds = seconds
        self._current: list[Item] = []
        self._is_closing = False
        self._replies: Queue[tuple[list[Item], object] | None] = Queue(_MAX_WAITING_REPLIES)
        self._thread = threading.Thread(
            target=self._send_batches, name="ragstone-worker", daemon=True
        )
        try:
            self._thread.start()
        except RuntimeError:  # no more threads
            self.is_finished = True

    def take_batch(self, *, wait: bool) -> Batch | None:
        """Return a finished batch; None if there is none yet, or there will be none.

        An item without an outcome has to be prepared by the caller.
        """
        if self.is_finished:
            return None
        try:
            reply = self._replies.get(block=wait, timeout=self._seconds + _GRACE_SECONDS)
        except Empty:
            if wait:  # even killed, the process did not end: its disk does not respond
                self._finish()
            return None
        if reply is None:
            self._finish()
            return None
        items, header = reply
        try:
            outcomes = decode_outcomes(header, items)
        except ValueError:
            self._is_closing = True
            outcomes = [None] * len(items)
        return list(zip(items, outcomes, strict=True))

    def close(self) -> None:
        """End the process and the thread."""
        self.is_finished = True
        self._is_closing = True
        deadline = time.monotonic() + _GRACE_SECONDS
        while self._thread.is_alive() and time.monotonic() < deadline:
            self.process.kill()
            with contextlib.suppress(Empty):
                self._replies.get_nowait()  # the thread may wait for room in the queue
            self._thread.join(0.02)

    def _finish(self) -> None:
        """Close the worker and put its current batch back into the list."""
        self.close()
        self._pending.extend(self._current)

    def _send_batches(self) -> None:
        try:
            while not self._is_closing and (items := self._next_items()):
                self._current = items
                header, _ = self.process.call(build_request(self._preparer, items))
                self._current = []
                self._replies.put((items, header))
        except WorkerFailed:
            pass  # the caller prepares the current batch
        finally:
            self._replies.put(None)
            self.process.close()

    def _next_items(self) -> list[Item]:
        """Take items from the end of the list; fewer near the end, so that both processes finish together."""
        max_files = min(_BATCH_FILES, max(1, len(self._pending) // 6))
        items: list[Item] = []
        size = 0
        with contextlib.suppress(IndexError):
            while len(items) < max_files and size < _BATCH_BYTES:
                items.append(self._pending.pop())
                size += items[-1].size
        return items
