"""A worker process gives the same outcomes as the process that started it."""

from __future__ import annotations

import os
import shutil
import sys
from collections import deque
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.indexing.collection_writer import ChunkingConfig
from ragstone.indexing.prepare import (
    MANY_FILES,
    ItemPreparer,
)
from ragstone.indexing.worker import BatchWorker
from ragstone.sources.folder.selection import FileLimits
from ragstone.sources.folder.source import FolderSource
from ragstone.types import Item, Stamp, SyncReport
from tests.indexing.mixed_tree import (
    LIMITS,
    prepare_alone,
    prepare_in_worker,
    prepare_with_worker,
    preparer_for,
    scan_items,
    write_tree,
)


@pytest.mark.parametrize("size", [None, 40])
def test_the_worker_gives_the_same_outcome_for_every_file(
    mixed_tree: Path, size: int | None
) -> None:
    preparer = preparer_for(mixed_tree) if size is None else preparer_for(mixed_tree, size=size)
    items = [
        item
        for item in scan_items(preparer)
        if "cp1252" not in str(preparer.prepare_item(item).prepared)
    ]
    expected = prepare_alone(preparer, items)
    assert {outcome.verdict for outcome in expected} == {"ready", "skipped", "failed"}
    assert prepare_in_worker(preparer, items) == expected


def test_two_processes_give_the_same_outcomes_as_one(mixed_tree: Path) -> None:
    preparer = preparer_for(mixed_tree)
    items = scan_items(preparer)
    outcomes, _ = prepare_with_worker(preparer, items)
    assert outcomes == prepare_alone(preparer, items)


def test_known_content_is_not_read_again_by_either_process(mixed_tree: Path) -> None:
    preparer = preparer_for(mixed_tree)
    items = scan_items(preparer)
    hashes = {}
    for outcome in prepare_alone(preparer, items):
        if outcome.prepared:
            hashes[outcome.uri] = outcome.prepared.content_hash
    again = ItemPreparer(preparer.source, preparer.chunking, hashes)
    assert prepare_in_worker(again, items) == prepare_alone(again, items)
    assert {outcome.verdict for outcome in prepare_alone(again, items)} == {
        "same",
        "skipped",
        "failed",
    }


def test_unreadable_files_fail_with_the_same_reason(mixed_tree: Path) -> None:
    preparer = preparer_for(mixed_tree)
    items = scan_items(preparer)
    gone, linked, big, secret = (mixed_tree / item.uri for item in items[:4])
    gone.unlink()
    linked.unlink()
    linked.symlink_to(items[5].uri)
    big.write_text("x" * (LIMITS.max_file_bytes + 1))
    secret.chmod(0)
    items.append(Item("../outside.txt", Stamp(1, 1, 1, 1)))
    expected = prepare_alone(preparer, items)
    assert sum(outcome.verdict == "failed" for outcome in expected) >= 4
    assert prepare_with_worker(preparer, items)[0] == expected
    ascii_only = [
        item for item in items if "cp1252" not in str(preparer.prepare_item(item).prepared)
    ]
    assert prepare_in_worker(preparer, ascii_only) == prepare_alone(preparer, ascii_only)


def test_the_worker_does_not_open_our_own_database(mixed_tree: Path) -> None:
    own = mixed_tree / "own.txt"
    own.write_text("the index")
    preparer = ItemPreparer(
        FolderSource(mixed_tree, limits=LIMITS, git=False, databases=[own]), ChunkingConfig()
    )
    item = Item("own.txt", Stamp(1, 1, 1, 1))
    [outcome] = prepare_in_worker(preparer, [item])
    assert outcome == preparer.prepare_item(item)
    assert "never opened" in outcome.reason


def test_a_big_document_is_left_to_the_parent(mixed_tree: Path) -> None:
    preparer = ItemPreparer(
        FolderSource(mixed_tree, limits=FileLimits(10, 100, 1000, {"html"}), git=False),
        ChunkingConfig(),
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
    items = scan_items(preparer)
    assert len(items) == 3
    assert prepare_in_worker(preparer, items) == prepare_alone(preparer, items)
    assert all(outcome.verdict == "ready" for outcome in prepare_alone(preparer, items))


def test_a_sync_stores_and_reports_the_same_on_one_core_and_on_two(
    mixed_tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(mixed_tree, 3, count=MANY_FILES * 2)
    seen = []
    for cores in ({0}, {0, 1}):
        monkeypatch.setattr(
            os, "sched_getaffinity", lambda _, cores=cores: cores, raising=False
        )
        steps: list[tuple[str, int, int]] = []
        with Engine.open(mixed_tree) as engine:
            first = engine.sync(embed=False, progress=partial(_note, steps))
            # A file written within the last seconds has no stamp that could be trusted.
            documents = [
                replace(document, added_at=0.0, stamp=None) for document in engine.sources()
            ]
            texts = [engine.admin.text(document.uri) for document in documents]
            hits = engine.search(
                "C112", top_k=1, mode="words"
            )  # further hits may have equal scores
            reports = [first, engine.sync(embed=False), engine.sync(embed=False, full=True)]
        seen.append(
            ([_comparable(report) for report in reports], steps, documents, texts, hits[0].text)
        )
        shutil.rmtree(mixed_tree / ".ragstone")
    for on_one_core, on_two_cores in zip(*seen, strict=True):
        assert on_one_core == on_two_cores
    first = seen[0][0][0]
    assert list(first.failed) == sorted(first.failed, key=lambda skip: skip.uri)
    assert first.indexed > MANY_FILES
    assert min(len(first.failed), len(first.skipped)) > 9
    assert "C112" in seen[0][4]


def _comparable(report: SyncReport) -> SyncReport:
    """Return a report without its times, and with its skipped files in one order."""
    graph = report.graph and replace(report.graph, seconds=0.0)
    return replace(
        report,
        seconds=0.0,
        graph=graph,
        skipped=tuple(sorted(report.skipped, key=lambda skip: skip.uri)),
    )


def _note(steps: list[tuple[str, int, int]], phase: str, done: int, total: int) -> None:
    steps.append((phase, done, total))
