"""The worker process of a sync: prepares the items of each request."""

from __future__ import annotations

from ragstone.indexing.prepare import ItemPreparer, Outcome
from ragstone.indexing.worker_protocol import BatchReply, BatchRequest, build_preparer
from ragstone.read.messages import Message, decode
from ragstone.read.worker_loop import WorkerLoop
from ragstone.types import Item


def main() -> None:
    """Answer requests until the parent process closes the pipe."""
    WorkerLoop().run(_prepare_batch)


def _prepare_batch(header: object, payload: bytes) -> Message:
    request = decode(BatchRequest, header)
    preparer = build_preparer(request)
    outcomes = tuple(_prepare(preparer, item, request.limits[0]) for item in request.items)
    return BatchReply(outcomes), b""


def _prepare(preparer: ItemPreparer, item: Item, max_bytes: int) -> Outcome | None:
    """Return the outcome for an item; None if only the parent can prepare it.

    The parent may have a package or memory that this process lacks. It also takes big files, because
    several of them could wait in its queue.
    """
    if item.size > max_bytes:
        return None
    try:
        return preparer.prepare_item(item)
    except (ImportError, MemoryError):
        return None
