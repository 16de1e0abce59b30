"""Several processes on one store: writers queue, readers see old or new, a killed one leaves nothing half done."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ragstone.store.sqlite import SqliteStore
from ragstone.testing.store_case import prepare
from ragstone.types import CollectionKey, Scope

HERE = Scope("p")
Start = Callable[..., subprocess.Popen[str]]

WRITER = """
from ragstone.types import CollectionKey
import sys
from ragstone.store.sqlite import SqliteStore
from ragstone.testing.store_case import prepare
path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with SqliteStore(path) as store:
    store.ensure_collection(CollectionKey("p", "c"))
    for n in range(count):
        batch = [prepare(f"{name}-{n}-{i}.md", [f"apple {name} {n} {i} {k} " * 5 for k in range(4)]) for i in range(3)]
        store.put(CollectionKey("p", "c"), batch)
        print(n, flush=True)
        if n % 3 == 2:
            store.remove(CollectionKey("p", "c"), [f"{name}-{n - 1}-{i}.md" for i in range(3)])
            print("removed", n - 1, flush=True)
"""


def test_two_writers_queue_and_lose_nothing(tmp_path: Path, start: Start) -> None:
    path = tmp_path / "ragstone.db"
    with SqliteStore(path) as store:
        writers = [start(WRITER, path, name, 12) for name in ("x", "y")]
        for writer in writers:
            _, err = writer.communicate(timeout=120)
            assert writer.returncode == 0, err
        uris = {row.uri for row in store.documents(HERE, limit=1000)}
        stored = {
            f"{name}-{n}-{i}.md"
            for name in "xy"
            for n in range(12)
            if n % 3 != 1
            for i in range(3)
        }
        assert uris == stored
        assert all(finding.ok for finding in store.check())


FLIPPER = """
from ragstone.types import CollectionKey
import os, sys
from ragstone.store.sqlite import SqliteStore
from ragstone.testing.store_case import prepare
n = 0
with SqliteStore(sys.argv[1]) as store:
    while n < 40 or not os.path.exists(sys.argv[2]):  # until the reader has seen enough, however slow it is
        word = ("even", "odd")[n % 2]
        store.put(CollectionKey("p", "c"), [prepare("a.md", [f"{word} {n} {k} " * 30 for k in range(6)])])
        n += 1
print(word, n - 1)
"""


def test_a_reader_sees_the_old_or_the_new_and_needs_no_restart(
    tmp_path: Path, start: Start
) -> None:
    path = tmp_path / "ragstone.db"
    with SqliteStore(path) as store:
        store.ensure_collection(CollectionKey("p", "c"))
        store.put(
            CollectionKey("p", "c"), [prepare("a.md", [f"odd -1 {k} " * 30 for k in range(6)])]
        )
        enough = tmp_path / "enough"
        writer = start(FLIPPER, path, enough)
        seen: set[int] = set()
        try:
            while writer.poll() is None:
                if len(seen) > 3:
                    enough.touch()
                text = store.text(CollectionKey("p", "c"), "a.md")
                assert text is not None
                assert len({tuple(piece.split()[:2]) for piece in text.split("\n\n")}) == 1
                seen.add(store.generation(Scope("p")))
                counts = [
                    len(store.search_words(HERE, [word], limit=99)) for word in ("even", "odd")
                ]
                assert all(count in (0, 6) for count in counts)
                rows = store.document_chunks(CollectionKey("p", "c"), "a.md")
                assert len({row.chunk.text.split()[1] for row in rows}) == 1
        finally:
            enough.touch()
        last, err = writer.communicate()
        assert writer.returncode == 0, err
        assert store.text(CollectionKey("p", "c"), "a.md") == "\n\n".join(
            f"{last.strip()} {k} " * 30 for k in range(6)
        )
        assert len(seen) > 3


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
def test_a_killed_writer_loses_nothing_it_acknowledged(tmp_path: Path, start: Start) -> None:
    path = tmp_path / "ragstone.db"
    chance = random.Random(4)
    with SqliteStore(path) as store:
        store.ensure_collection(CollectionKey("p", "c"))
    for round_ in range(5):
        name = f"r{round_}"
        writer = start(WRITER, path, name, 1000)
        assert writer.stdout is not None
        acknowledged = [writer.stdout.readline()]
        time.sleep(chance.uniform(0, 0.15))
        writer.send_signal(signal.SIGKILL)
        acknowledged += writer.stdout.read().splitlines(keepends=True)
        writer.wait()
        _, err = writer.communicate()
        assert "Error" not in err
        lines = [line.strip() for line in acknowledged if line.endswith("\n")]
        put = {int(line) for line in lines if line.isdigit()}
        removed = {int(line.split()[1]) for line in lines if line.startswith("removed")}
        _look(path, name, put, removed)


def _look(path: Path, name: str, put: set[int], removed: set[int]) -> None:
    with SqliteStore(path, wait=2) as store:
        uris = {
            row.uri for row in store.documents(HERE, limit=100_000) if row.uri.startswith(name)
        }
        batches = {int(uri.split("-")[1]) for uri in uris}
        assert uris == {f"{name}-{n}-{i}.md" for n in batches for i in range(3)}, (
            "a batch is whole or not there"
        )
        in_doubt = {max(put) + 1} if put else {0}
        # The last removal may have happened without having been acknowledged.
        assert put - removed - batches <= ({max(put) - 1} if max(put) % 3 == 2 else set())
        assert batches <= (put | in_doubt) - removed
        assert [finding for finding in store.check() if not finding.ok] == []
