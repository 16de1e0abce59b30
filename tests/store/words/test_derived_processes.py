"""Several processes and one derived word index: killed ones leave it whole, and all agree on the answer."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ragstone.store.sqlite import SqliteStore
from ragstone.store.words import derived_index, tantivy
from ragstone.store.words.derived_index import store_state
from ragstone.store.words.fts5 import Fts5Search
from ragstone.store.words.scope import WordScope
from ragstone.testing.store_case import prepare
from ragstone.types import CollectionKey

pytest.importorskip("tantivy")

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let stores of a few chunks have an index."""
    monkeypatch.setattr(derived_index, "LEAST_CHUNKS", 10)
    monkeypatch.setattr(derived_index, "EXTEND_AT", 50)


def built(store: SqliteStore) -> bool:
    """Return whether the index in force is there."""
    with store.rows() as db:
        name = store_state(db).folder_name
    folder = store._words.derived._folder
    return folder is not None and tantivy.commit_mark(folder / name) is not None


def both(store: SqliteStore) -> tuple[set[int] | None, set[int]]:
    """Return what the derived index, where there is one, and what FTS5 find."""
    with store.rows() as db:
        everywhere = WordScope(None, None)
        quick = None
        if store._words.derived.reader(store_state(db)) is not None:
            quick = store._words.search(db, everywhere, ["appl"], 9999)
        slow = Fts5Search(db).search(everywhere, ["appl"], 9999)
    return None if quick is None else {row.id for row in quick}, {row.id for row in slow}


WRITER = """
import sys
from ragstone.store.words import derived_index
from ragstone.store.sqlite import SqliteStore
from ragstone.testing.store_case import prepare
from ragstone.types import CollectionKey
derived_index.LEAST_CHUNKS, derived_index.EXTEND_AT = 10, 20
with SqliteStore(sys.argv[1]) as store:
    store.ensure_collection(CollectionKey("p", "c"))
    for n in range(30):
        name = f"{sys.argv[2]}-{n}"
        store.put(CollectionKey("p", "c"), [prepare(f"{name}-{i}.md", [f"apple {name} {i}"]) for i in range(4)])
        if n % 3 == 2:
            store.remove(CollectionKey("p", "c"), [f"{sys.argv[2]}-{n - 1}-{i}.md" for i in range(4)])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
def test_a_killed_writer_leaves_an_index_that_is_whole(tmp_path: Path, start: Start) -> None:
    path, chance = tmp_path / "ragstone.db", random.Random(8)
    with SqliteStore(path) as store:
        store.ensure_collection(CollectionKey("p", "c"))
        for round_ in range(5):
            writer = start(WRITER, path, f"r{round_}")
            while writer.poll() is None and not built(store):
                time.sleep(0.01)
            time.sleep(chance.uniform(0.05, 0.4))
            writer.kill()
            writer.communicate()
            quick, slow = both(store)
            assert slow and quick in (None, slow)
        store.put(
            CollectionKey("p", "c"), [prepare(f"{n}.md", [f"apple {n}"]) for n in range(60)]
        )
    with SqliteStore(path) as store:
        quick, slow = both(store)
        assert quick == slow and len(slow) > 60


def test_writers_and_readers_of_several_processes_agree(tmp_path: Path, start: Start) -> None:
    path = tmp_path / "ragstone.db"
    with SqliteStore(path) as store:
        store.ensure_collection(CollectionKey("p", "c"))
        writers = [start(WRITER, path, name) for name in ("x", "y")]
        answered = 0
        while any(writer.poll() is None for writer in writers):
            quick, slow = both(store)
            answered += quick is not None
            assert quick in (None, slow)
        for writer in writers:
            _, err = writer.communicate(timeout=60)
            assert writer.returncode == 0, err
        assert answered
        quick, slow = both(store)
        assert quick in (None, slow) and len(slow) == 160
        findings = [finding for finding in store.check() if not finding.ok]
        assert not findings
