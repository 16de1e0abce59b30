"""Writers and readers in many processes on one PostgreSQL database, and one of them is killed now and then.

A short run is part of `make test`; `make torture-postgres` runs eight writers and eight readers for five minutes.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ragstone.store.postgres.store import PostgresStore
from ragstone.testing.store_case import prepare
from ragstone.types import CollectionKey, Scope

KEY = CollectionKey("p", "c")
HERE = Scope("p")
SECONDS = float(os.environ.get("TORTURE_SECONDS", "4"))
WORKERS = int(os.environ.get("TORTURE_WORKERS", "2"))
CHUNKS = int(os.environ.get("TORTURE_CHUNKS", "500"))
"""Chunks that are stored before the writers start."""
KILL_EVERY = float(os.environ.get("TORTURE_KILL_EVERY", "0.8"))

WRITER = """
import itertools, os, sys
from ragstone.store.postgres.store import PostgresStore
from ragstone.testing.store_case import SPACE, prepare
from ragstone.types import CollectionKey
key = CollectionKey("p", "c")
name = sys.argv[1]
with PostgresStore(os.environ["TORTURE_URL"]) as store:
    store.ensure_collection(key)
    space = store.vectors.ensure_space(key, SPACE).id
    for n in itertools.count():
        shared = f"shared {n} text"
        batch = [prepare(f"{name}-{n}-{i}", [f"apple {name} {n} {i} {k}" for k in range(4)] + [shared]) for i in range(3)]
        store.put(key, batch)
        print("stored", f"{name}-{n}", flush=True)
        pending = store.vectors.pending(key.scope, space, limit=20)
        store.vectors.put("p", space, [(text.text_id, text.text_id.to_bytes(8, "big")) for text in pending])
        if n % 3 == 2:
            print("removing", f"{name}-{n - 1}", flush=True)
            store.remove(key, [f"{name}-{n - 1}-{i}" for i in range(3)])
"""
READER = """
import os
from ragstone.store.postgres.store import PostgresStore
from ragstone.types import CollectionKey, Scope
scope = Scope("p")
with PostgresStore(os.environ["TORTURE_URL"]) as store:
    while True:
        with store.snapshot() as view:
            rows = view.search_words(scope, ["appl"], limit=20)
            chunks = view.chunks("p", [row.id for row in rows])
            assert len(chunks) == len(rows), "a search found a chunk that is not there"
            for chunk in list(chunks.values())[:5]:
                document = view.document(CollectionKey("p", "c"), chunk.uri)
                parts = view.document_chunks(CollectionKey("p", "c"), chunk.uri)
                assert document is not None and document.chunks == len(parts) == 5, "half a document"
        print("searched", len(rows), flush=True)
"""


@dataclass
class Crew:
    """Running programs, and the files that they print to."""

    url: str
    folder: Path
    running: list[tuple[str, subprocess.Popen[bytes]]] = field(default_factory=list)
    started: int = 0

    def start(self, program: str) -> None:
        self.started += 1
        name = f"w{self.started}"
        with (
            open(self.folder / f"{name}.out", "wb") as out,
            open(self.folder / f"{name}.err", "wb") as err,
        ):
            process = subprocess.Popen(
                [sys.executable, "-c", program, name],
                stdout=out,
                stderr=err,
                env={
                    **os.environ,
                    "TORTURE_URL": self.url,
                    "PYTHONPATH": os.pathsep.join(sys.path),
                },
            )
        self.running.append((program, process))

    def kill_one(self) -> None:
        """Kill a process, and start another of its kind."""
        program, process = self.running.pop(random.randrange(len(self.running)))
        process.kill()
        process.wait()
        self.start(program)

    def end(self) -> None:
        for _, process in self.running:
            process.kill()
            process.wait()

    def lines(self, verb: str) -> list[str]:
        """Return what the programs said after a verb."""
        texts = [path.read_text(errors="replace") for path in sorted(self.folder.glob("*.out"))]
        lines = [
            line.split(" ", 1) for text in texts for line in text.splitlines() if " " in line
        ]
        return [rest for first, rest in lines if first == verb]

    def errors(self) -> str:
        return "".join(path.read_text() for path in self.folder.glob("*.err"))


@pytest.mark.torture
def test_killed_writers_lose_nothing_that_was_acknowledged(database_url: str) -> None:
    with tempfile.TemporaryDirectory() as folder, PostgresStore(database_url) as store:
        store.ensure_collection(KEY)
        _fill(store, CHUNKS)
        crew = Crew(database_url, Path(folder))
        try:
            for program in (WRITER, READER):
                for _ in range(WORKERS):
                    crew.start(program)
            _wait_for_first_writes(crew)
            end = time.monotonic() + SECONDS
            while time.monotonic() < end:
                time.sleep(KILL_EVERY)
                crew.kill_one()
        finally:
            crew.end()
        stored = {f"{name}-{i}" for name in crew.lines("stored") for i in range(3)}
        removing = {f"{name}-{i}" for name in crew.lines("removing") for i in range(3)}
        stored |= {f"first-{n}" for n in range(CHUNKS // 5)}
        uris = set(_all_uris(store))
        assert crew.errors() == ""
        assert stored - removing <= uris, "an acknowledged document is lost"
        assert crew.lines("searched")
        assert all(finding.ok for finding in store.check())
        collection = store.collections("p")[0]
        print(
            f"{len(stored):,} documents, {collection.chunks:,} chunks, {crew.started} processes"
        )


def _fill(store: PostgresStore, chunks: int) -> None:
    """Store documents of five chunks, as the writers do."""
    numbers = range(chunks // 5)
    for start in range(0, len(numbers), 200):
        store.put(
            KEY,
            [
                prepare(f"first-{n}", [f"pear first {n} {k}" for k in range(5)])
                for n in numbers[start : start + 200]
            ],
        )


def _wait_for_first_writes(crew: Crew) -> None:
    deadline = time.monotonic() + 60
    while not crew.lines("stored") and time.monotonic() < deadline:
        time.sleep(0.1)


def _all_uris(store: PostgresStore) -> list[str]:
    uris: list[str] = []
    after = None
    while page := store.documents(HERE, after=after, limit=1000):
        uris += [document.uri for document in page]
        after = (page[-1].collection, page[-1].uri)
    return uris
