"""The process beside: is told a job and slices of its items, and answers what became of each."""

from __future__ import annotations

import gc
import signal
import sys
from contextlib import suppress
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Final

from ragstone.indexing.worker_protocol import hear_items, hear_job, tell_outcomes
from ragstone.read.wire import receive, send

if TYPE_CHECKING:
    from ragstone.indexing.prepare import Job, Outcome
    from ragstone.types import Item

HELLO: Final = "ragstone intake 1"


def main() -> None:
    """Answer until there is nothing more to do, or nobody left to answer to."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever started this, and ends it
    gc.set_threshold(100_000, 20, 20)  # what is made here is let go by counting; looking for circles finds none
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    with suppress(BrokenPipeError):
        _serve(requests, answers)


def _serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    send(answers, HELLO)
    first = receive(requests)
    if first is None:
        return
    job = hear_job(first[0])
    while (told := receive(requests)) is not None:
        items, unchanged = hear_items(told[0])
        at_hand = replace(job, unchanged=unchanged)
        send(answers, *tell_outcomes([_look_into(at_hand, item) for item in items]))


def _look_into(job: Job, item: Item) -> Outcome | None:
    """Return what becomes of an item, None where this process lacks what the other may have: a package, memory.

    Big ones are left to the other too, which has one at a time: here several could wait to be taken.
    """
    if item.stamp.size > job.source.max_file_bytes:
        return None
    try:
        return job.look_into(item)
    except (ImportError, MemoryError):
        return None
