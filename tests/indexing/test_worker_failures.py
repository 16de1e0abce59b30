"""A worker process that fails, stops or sends wrong replies does not change the outcomes."""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from contextlib import closing
from pathlib import Path

import pytest

from ragstone.errors import InputError
from ragstone.indexing.collection_writer import ChunkingConfig
from ragstone.indexing.prepare import ItemPreparer, Outcome
from ragstone.indexing.worker import (
    BatchWorker,
    share_items,
)
from ragstone.sources.folder.source import FolderSource
from tests.indexing.mixed_tree import (
    LIMITS,
    by_uri,
    prepare_alone,
    prepare_with_worker,
    preparer_for,
    scan_items,
)

INVALID = "import sys; sys.stdout.buffer.write(bytes(range(256)) * 99)"
SILENT = "import time; time.sleep(600)"
TRUNCATED = "import sys, struct; o = sys.stdout.buffer; o.write(struct.pack('>QQ', 50, 9) + b'[nul'); o.flush()"
WRONG = """
import sys, struct
def reply(number, header):
    text = b'[%d,false,%s]' % (number, header)
    sys.stdout.buffer.write(struct.pack('>QQ', len(text), 0) + text); sys.stdout.buffer.flush()
for number in range(1, 100): reply(number, {!r})
"""


@pytest.mark.parametrize(
    "program",
    [
        "raise SystemExit(3)",
        INVALID,
        SILENT,
        TRUNCATED,
        WRONG.format(b"[[]]"),
        WRONG.format(b"7"),
        WRONG.format(b'[[["other.txt", "failed", null, null, ""]]]'),
        WRONG.format(b'[[["f000.py", "odd", null, null, ""]]]'),
    ],
    ids=[
        "dies",
        "invalid",
        "silent",
        "truncated",
        "too few",
        "no list",
        "another file",
        "odd verdict",
    ],
)
def test_an_invalid_worker_does_not_change_the_outcomes(mixed_tree: Path, program: str) -> None:
    preparer = preparer_for(mixed_tree)
    items = scan_items(preparer)
    command = [sys.executable, "-I", "-c", program]
    outcomes, worker = prepare_with_worker(preparer, items, command=command, seconds=0.5)
    assert outcomes == prepare_alone(preparer, items)
    assert worker.process.pid is None


def test_a_worker_that_does_not_start_does_not_change_the_outcomes(mixed_tree: Path) -> None:
    preparer = preparer_for(mixed_tree)
    items = scan_items(preparer)
    command = [str(mixed_tree / "no such program")]
    outcomes, worker = prepare_with_worker(preparer, items, command=command)
    assert outcomes == prepare_alone(preparer, items)
    assert worker.process.pid is None


@pytest.mark.parametrize("after", [0, 1, 7, 30])
def test_a_killed_worker_does_not_change_the_outcomes(mixed_tree: Path, after: int) -> None:
    preparer = preparer_for(mixed_tree)
    items = scan_items(preparer)
    pending = deque(items)
    outcomes: list[Outcome] = []
    with closing(BatchWorker(preparer, pending)) as worker:
        shared = share_items(preparer, pending, worker)
        for _ in range(after):
            outcomes.append(next(shared))
        worker.process.kill()
        outcomes += shared
    assert by_uri(outcomes) == prepare_alone(preparer, items)


@pytest.mark.skipif(sys.platform == "win32", reason="processes are not stopped there")
def test_the_parent_prepares_the_batch_of_a_stopped_worker(mixed_tree: Path) -> None:
    preparer = preparer_for(mixed_tree)
    items = scan_items(preparer)
    pending = deque(items)
    with closing(BatchWorker(preparer, pending, seconds=2.0)) as worker:
        batch = worker.take_batch(wait=True)
        assert batch is not None
        assert worker.process.pid is not None
        os.kill(worker.process.pid, signal.SIGSTOP)
        outcomes = [outcome or preparer.prepare_item(item) for item, outcome in batch]
        outcomes += share_items(preparer, pending, worker)
    # The stamps differ: a file gets one only some seconds after it was written.
    expected = {outcome.uri: outcome.verdict for outcome in prepare_alone(preparer, items)}
    assert len(outcomes) == len(items)
    assert {outcome.uri: outcome.verdict for outcome in outcomes} == expected


def test_invalid_chunking_settings_raise_as_without_a_worker(mixed_tree: Path) -> None:
    preparer = ItemPreparer(
        FolderSource(mixed_tree, limits=LIMITS, git=False), ChunkingConfig("code", 100, 10)
    )
    with pytest.raises(InputError):
        prepare_with_worker(preparer, scan_items(preparer))
