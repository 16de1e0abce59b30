"""Preparing items with a worker process: the outcomes are the same with it, without it, and if it fails."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.errors import InputError
from ragstone.indexing.chunking_config import ChunkingConfig
from ragstone.indexing.prepare import ItemPreparer, Outcome
from ragstone.indexing.worker import (
    MANY_BYTES,
    MANY_FILES,
    MIN_FILES,
    BatchWorker,
    is_worth_a_worker,
    prepare_items,
    share_items,
)
from ragstone.sources.folder.limits import FileLimits
from ragstone.sources.folder.source import FolderSource
from ragstone.types import Item, Stamp, SyncReport

LIMITS = FileLimits(50_000, 10_000)
PYTHON = """def f{0}(x):
    return x + {0}


class C{0}:
    def m(self):
        return 'é{0}'
"""


def fill(folder: Path, seed: int, count: int = 60) -> None:
    """Write a tree of every kind of file that can be met."""
    rng = random.Random(seed)
    for number in range(count):
        path = folder / rng.choice(("src", "docs/deep", ".")) / f"f{number:03}"
        path.parent.mkdir(parents=True, exist_ok=True)
        kind = number % 7
        if kind == 0:
            path.with_suffix(".py").write_text(
                PYTHON.format(number) * rng.randrange(1, 60), encoding="utf-8"
            )
        elif kind == 1:
            path.with_suffix(".md").write_text(
                f"# Title {number}\n\n" + "Some words. " * rng.randrange(300), "utf-8"
            )
        elif kind == 2:
            path.with_suffix(".dat").write_bytes(
                bytes(rng.randrange(256) for _ in range(500)) + b"\0\1\2"
            )
        elif kind == 3:
            path.with_suffix(".txt").write_bytes(
                "caf\xe9 \xfcber na\xefve\r\n".encode("cp1252") * 9
            )
        elif kind == 4:
            path.with_suffix(".txt").write_bytes(
                "wide \ud83d alone \U0001f600".encode("utf-16", "surrogatepass")
            )
        elif kind == 5:
            path.with_suffix(".txt").write_bytes(b"\xff\xfea\0b")  # half a character at the end
        else:
            path.with_suffix(".py").write_bytes(b"x = (\n" * rng.randrange(200))


def preparer_for(folder: Path, **sizes: int) -> ItemPreparer:
    return ItemPreparer(FolderSource(folder, limits=LIMITS, git=False), ChunkingConfig(**sizes))  # type: ignore[arg-type]  # only sizes


def found_in(preparer: ItemPreparer) -> list[Item]:
    return [one for one in preparer.source.scan() if isinstance(one, Item)]


def alone(preparer: ItemPreparer, items: Sequence[Item]) -> list[Outcome]:
    return sorted(map(preparer.prepare_item, items), key=lambda outcome: outcome.uri)


def together(
    preparer: ItemPreparer,
    items: Sequence[Item],
    *,
    command: Sequence[str] | None = None,
    seconds: float = 30.0,
) -> tuple[list[Outcome], BatchWorker]:
    work = deque(items)
    with closing(BatchWorker(preparer, work, command=command, seconds=seconds)) as worker:
        found = list(share_items(preparer, work, worker))
    return sorted(found, key=lambda outcome: outcome.uri), worker


def by_the_worker(preparer: ItemPreparer, items: Sequence[Item]) -> list[Outcome]:
    """Return what only the worker process makes of items; fails if it leaves any out."""
    work = deque(items)
    found: list[Outcome] = []
    with closing(BatchWorker(preparer, work)) as worker:
        while not worker.is_finished:
            for item, outcome in worker.take_batch(wait=True) or ():
                assert outcome is not None, item
                found.append(outcome)
    assert not work
    return sorted(found, key=lambda outcome: outcome.uri)


@pytest.fixture
def tree(tmp_path: Path, seed: int) -> Path:
    fill(tmp_path, seed)
    return tmp_path


# ── the same comes out ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("size", [None, 40])
def test_the_worker_gives_the_same_outcome_for_every_file(tree: Path, size: int | None) -> None:
    preparer = preparer_for(tree) if size is None else preparer_for(tree, size=size)
    items = [
        item
        for item in found_in(preparer)
        if "cp1252" not in str(preparer.prepare_item(item).prepared)
    ]
    expected = alone(preparer, items)
    assert {outcome.verdict for outcome in expected} == {"ready", "binary", "failed"}
    assert by_the_worker(preparer, items) == expected


def test_two_processes_give_the_same_outcomes_as_one(tree: Path) -> None:
    preparer = preparer_for(tree)
    items = found_in(preparer)
    found, _ = together(preparer, items)
    assert found == alone(preparer, items)


def test_known_content_is_not_read_again_by_either_process(tree: Path) -> None:
    preparer = preparer_for(tree)
    items = found_in(preparer)
    hashes = {one.uri: one.prepared.content_hash for one in alone(preparer, items) if one.prepared}
    again = ItemPreparer(preparer.source, preparer.chunking, hashes)
    assert by_the_worker(again, items) == alone(again, items)
    assert {outcome.verdict for outcome in alone(again, items)} == {"same", "binary", "failed"}


def test_unreadable_files_fail_with_the_same_reason(tree: Path) -> None:
    preparer = preparer_for(tree)
    items = found_in(preparer)
    gone, linked, big, secret = (tree / item.uri for item in items[:4])
    gone.unlink()
    linked.unlink()
    linked.symlink_to(items[5].uri)
    big.write_text("x" * (LIMITS.max_file_bytes + 1))
    secret.chmod(0)
    items.append(Item("../outside.txt", Stamp(1, 1, 1, 1)))
    expected = alone(preparer, items)
    assert sum(outcome.verdict == "failed" for outcome in expected) >= 4
    assert together(preparer, items)[0] == expected
    ascii_only = [
        item for item in items if "cp1252" not in str(preparer.prepare_item(item).prepared)
    ]
    assert by_the_worker(preparer, ascii_only) == alone(preparer, ascii_only)


def test_the_worker_does_not_open_our_own_database(tree: Path) -> None:
    own = tree / "own.txt"
    own.write_text("the index")
    preparer = ItemPreparer(
        FolderSource(tree, limits=LIMITS, git=False, never_open=[own]), ChunkingConfig()
    )
    item = Item("own.txt", Stamp(1, 1, 1, 1))
    [outcome] = by_the_worker(preparer, [item])
    assert outcome == preparer.prepare_item(item)
    assert "never opened" in outcome.reason


def test_a_big_document_is_left_to_the_parent(tree: Path) -> None:
    preparer = ItemPreparer(
        FolderSource(tree, limits=FileLimits(10, 100, 1000, {"html"}), git=False), ChunkingConfig()
    )
    item = Item("a.html", Stamp(11, 1, 1, 1))
    work = deque([item])
    with closing(BatchWorker(preparer, work)) as worker:
        assert worker.take_batch(wait=True) == [(item, None)]


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names there are Unicode")
def test_file_names_that_are_not_utf_8_reach_the_worker(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/na\xefve"))
    folder.mkdir()
    for name in (b"caf\xe9.py", b"100%.py", b"a%E9.py"):
        (folder / os.fsdecode(name)).write_text("x = 1\n")
    preparer = preparer_for(folder)
    items = found_in(preparer)
    assert len(items) == 3
    assert by_the_worker(preparer, items) == alone(preparer, items)
    assert all(outcome.verdict == "ready" for outcome in alone(preparer, items))


def test_a_sync_stores_and_reports_the_same_on_one_core_and_on_two(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tree, 3, count=MANY_FILES * 2)
    seen = []
    for cores in ({0}, {0, 1}):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, cores=cores: cores, raising=False)
        steps: list[tuple[str, int, int]] = []
        with Engine.open(tree) as engine:
            first = engine.sync(embed=False, progress=partial(_note, steps))
            # A file written within the last seconds has no stamp that could be trusted.
            documents = [replace(one, added_at=0.0, stamp=None) for one in engine.sources()]
            texts = [engine.admin.text(one.uri) for one in documents]
            best = engine.search("C112", top_k=1, mode="words")[
                0
            ].text  # those behind it may stand level
            reports = [first, engine.sync(embed=False), engine.sync(embed=False, full=True)]
        seen.append(([_comparable(report) for report in reports], steps, documents, texts, best))
        shutil.rmtree(tree / ".ragstone")
    for one, other in zip(*seen, strict=True):
        assert one == other
    first = seen[0][0][0]
    assert list(first.failed) == sorted(first.failed, key=lambda skip: skip.uri)
    assert first.indexed > MANY_FILES
    assert min(len(first.failed), len(first.skipped)) > 9
    assert "C112" in seen[0][4]


def _comparable(report: SyncReport) -> SyncReport:
    """Return a report without what depends on the time: how long it took, which files a stamp could prove binary."""
    graph = report.graph and replace(report.graph, seconds=0.0)
    return replace(
        report,
        seconds=0.0,
        graph=graph,
        skipped=tuple(sorted(report.skipped, key=lambda skip: skip.uri)),
    )


def _note(steps: list[tuple[str, int, int]], phase: str, done: int, total: int) -> None:
    steps.append((phase, done, total))


# ── a hand that cannot be trusted ─────────────────────────────────────────────────────────────────

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
def test_an_invalid_worker_does_not_change_the_outcomes(tree: Path, program: str) -> None:
    preparer = preparer_for(tree)
    items = found_in(preparer)
    found, worker = together(
        preparer, items, command=[sys.executable, "-I", "-c", program], seconds=0.5
    )
    assert found == alone(preparer, items)
    assert worker.process.pid is None


def test_a_worker_that_does_not_start_does_not_change_the_outcomes(tree: Path) -> None:
    preparer = preparer_for(tree)
    items = found_in(preparer)
    found, worker = together(preparer, items, command=[str(tree / "no such program")])
    assert found == alone(preparer, items)
    assert worker.process.pid is None


@pytest.mark.parametrize("after", [0, 1, 7, 30])
def test_a_killed_worker_does_not_change_the_outcomes(tree: Path, after: int) -> None:
    preparer = preparer_for(tree)
    items = found_in(preparer)
    work = deque(items)
    found: list[Outcome] = []
    with closing(BatchWorker(preparer, work)) as worker:
        going = share_items(preparer, work, worker)
        for _ in range(after):
            found.append(next(going))
        worker.process.kill()
        found += going
    assert sorted(found, key=lambda outcome: outcome.uri) == alone(preparer, items)


@pytest.mark.skipif(sys.platform == "win32", reason="processes are not stopped there")
def test_the_parent_prepares_the_batch_of_a_stopped_worker(tree: Path) -> None:
    preparer = preparer_for(tree)
    items = found_in(preparer)
    work = deque(items)
    with closing(BatchWorker(preparer, work, seconds=2.0)) as worker:
        batch = worker.take_batch(wait=True)
        assert batch is not None
        assert worker.process.pid is not None
        os.kill(worker.process.pid, signal.SIGSTOP)
        found = [outcome or preparer.prepare_item(item) for item, outcome in batch]
        found += share_items(preparer, work, worker)
    # The stamps differ: a file gets one only some seconds after it was written.
    expected = {outcome.uri: outcome.verdict for outcome in alone(preparer, items)}
    assert len(found) == len(items)
    assert {outcome.uri: outcome.verdict for outcome in found} == expected


def test_invalid_chunking_settings_raise_as_without_a_worker(tree: Path) -> None:
    preparer = ItemPreparer(
        FolderSource(tree, limits=LIMITS, git=False), ChunkingConfig("code", 100, 10)
    )
    with pytest.raises(InputError):
        together(preparer, found_in(preparer))


# ── when it is started, and that it ends ──────────────────────────────────────────────────────────


def test_only_much_work_on_two_cores_is_worth_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    items = [Item(f"f{number}", Stamp(10, 1, 1, 1)) for number in range(MANY_FILES)]
    big = [
        Item(f"f{number}", Stamp(MANY_BYTES // MIN_FILES, 1, 1, 1)) for number in range(MIN_FILES)
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


def test_closing_the_generator_ends_the_worker(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    fill(tree, 1, count=MANY_FILES * 2)
    preparer = preparer_for(tree)
    before = children()  # a parser may be waiting there from another test
    with closing(prepare_items(preparer, found_in(preparer))) as found:
        for _ in range(5):  # a thread starts the process
            next(found)
            time.sleep(0.1)
        assert len(children()) > len(before) or sys.platform != "linux"
    assert children() == before


def test_a_module_in_the_folder_being_read_is_never_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ragstone", "json", "gc", "struct", "sitecustomize", "usercustomize"):
        (tmp_path / f"{name}.py").write_text("open('trace', 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    preparer = preparer_for(tmp_path)
    assert len(by_the_worker(preparer, found_in(preparer))) == 6
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
def test_an_interrupted_sync_leaves_no_process_behind(tree: Path, how: signal.Signals) -> None:
    fill(tree, 2, count=MANY_FILES * 2)
    source = Path(__file__).resolve().parents[2] / "src"
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(tree)],
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
    """Return the worker processes that a process has started; none where that cannot be looked up."""
    return list(_children(of or os.getpid()))


def _children(of: int) -> Iterator[int]:
    for tasks in Path(f"/proc/{of}/task").glob("*/children"):
        for pid in map(int, tasks.read_text().split()):
            if b"ragstone.indexing" in Path(f"/proc/{pid}/cmdline").read_bytes():
                yield pid
