"""A worker process starts only for much work, and ends with its parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ragstone.indexing.prepare import (
    MANY_BYTES,
    MANY_FILES,
    MIN_FILES,
    is_worth_a_worker,
    prepare_items,
)
from ragstone.types import Item, Stamp
from tests.indexing.mixed_tree import (
    prepare_in_worker,
    preparer_for,
    scan_items,
    write_tree,
)


def test_only_much_work_on_two_cores_is_worth_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    items = [Item(f"f{number}", Stamp(10, 1, 1, 1)) for number in range(MANY_FILES)]
    big = [
        Item(f"f{number}", Stamp(MANY_BYTES // MIN_FILES, 1, 1, 1))
        for number in range(MIN_FILES)
    ]
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    assert is_worth_a_worker(items)
    assert is_worth_a_worker(big)
    assert not is_worth_a_worker(items[1:])
    assert not is_worth_a_worker(big[1:])
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    assert not is_worth_a_worker(items)


def test_a_frozen_program_starts_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    items = [Item(f"f{number}", Stamp(10, 1, 1, 1)) for number in range(MANY_FILES)]
    monkeypatch.setattr(sys, "executable", "/opt/app/server")
    assert not is_worth_a_worker(items)
    monkeypatch.setattr(sys, "executable", "")
    assert not is_worth_a_worker(items)


def test_closing_the_generator_ends_the_worker(
    mixed_tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    write_tree(mixed_tree, 1, count=MANY_FILES * 2)
    preparer = preparer_for(mixed_tree)
    before = set(children())  # a parser may be waiting there from another test
    with closing(prepare_items(preparer, scan_items(preparer))) as outcomes:
        for _ in range(5):  # a thread starts the process
            next(outcomes)
            time.sleep(0.1)
        started = set(children()) - before
        assert started or sys.platform != "linux"
    assert not started & set(children())


def test_a_module_in_the_folder_being_read_is_never_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ragstone", "json", "gc", "struct", "sitecustomize", "usercustomize"):
        (tmp_path / f"{name}.py").write_text("open('trace', 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    preparer = preparer_for(tmp_path)
    assert len(prepare_in_worker(preparer, scan_items(preparer))) == 6
    assert not (tmp_path / "trace").exists()


INTERRUPTED = """
import sys
from pathlib import Path
from ragstone import Engine
def progress(phase, done, total):
    if phase == "index" and done == 40:
        print("here", flush=True)
        while True:
            pass
with Engine.open(Path(sys.argv[1])) as engine:
    engine.sync(embed=False, progress=progress)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_sync_leaves_no_process_behind(
    mixed_tree: Path, how: signal.Signals
) -> None:
    write_tree(mixed_tree, 2, count=MANY_FILES * 2)
    source = Path(__file__).resolve().parents[2] / "src"
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(mixed_tree)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"PYTHONPATH": str(source)},
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"here\n"
        started = children(parent.pid)
        assert started or len(os.sched_getaffinity(0)) == 1
        parent.send_signal(how)
        parent.wait(60)
    for _ in range(600):
        if not any(os.path.exists(f"/proc/{pid}") for pid in started):
            break
        time.sleep(0.1)
    assert not [pid for pid in started if os.path.exists(f"/proc/{pid}")]


def children(of: int | None = None) -> list[int]:
    """Return the worker processes of a process; none if the system cannot list them."""
    return list(_children(of or os.getpid()))


def _children(of: int) -> Iterator[int]:
    for tasks in Path(f"/proc/{of}/task").glob("*/children"):
        for pid in map(int, tasks.read_text().split()):
            if b"ragstone.indexing" in Path(f"/proc/{pid}/cmdline").read_bytes():
                yield pid
