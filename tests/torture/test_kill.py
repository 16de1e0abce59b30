"""D1: SIGKILL at random points of a sync. Nothing acknowledged is lost, nothing is half visible, it opens at once.

A child syncs a folder whose files keep changing and writes down each document the engine said was stored, after
it was said. The parent kills it at a random moment, opens the store and compares. `TORTURE_KILLS` in the
environment of `make torture` asks for more than the hundred of every change.
"""

from __future__ import annotations

import hashlib
import os
import random
import signal
import sys
import time
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.events import Event

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL and fork are POSIX")

KILLS = int(os.environ.get("TORTURE_KILLS", "100"))
FILES = 40
QUIET = {"rag.embedding_provider": "fake"}


def write_files(folder: Path, version: int, chance: random.Random) -> None:
    for number in range(FILES):
        path = folder / f"doc{number:02}.md"
        if version == 0 or chance.random() < 0.5:
            paragraphs = [f"# Title {number}\n"]
            paragraphs += [
                f"Paragraph {p} of {number} in version {version}: {chance.random()}\n"
                for p in range(chance.randint(1, 60))
            ]
            path.write_text("\n".join(paragraphs), encoding="utf-8")
    if version % 3 == 2:
        (folder / f"doc{chance.randrange(FILES):02}.md").unlink(missing_ok=True)


def child(folder: Path, log: Path, seed: int) -> None:
    """Sync for ever, one version of the folder after another, acknowledging each document to the log."""
    chance = random.Random(seed)
    with open(log, "ab", buffering=0) as acks, Engine.open(folder, config=QUIET) as engine:

        def acknowledge(event: Event) -> None:
            acks.write(f"stored {event.data['uri']}\n".encode())

        engine.events.subscribe(acknowledge, names=["rag_chunk_indexed"])
        version = 0
        while True:
            engine.sync()
            digests = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.glob("*.md")}
            acks.write(f"synced {digests}\n".encode())
            version += 1
            write_files(folder, version, chance)


def last_acknowledged(log: Path) -> tuple[dict[str, str], set[str]]:
    """Return the folder as the last whole sync saw it, and what was stored since."""
    state: dict[str, str] = {}
    since: set[str] = set()
    for line in log.read_text(encoding="utf-8").splitlines():
        word, _, rest = line.partition(" ")
        if word == "synced" and rest.endswith("}"):
            state = dict(item.strip().strip("'").split("': '") for item in rest.strip("{}").split(",") if item.strip())
            since = set()
        elif word == "stored":
            since.add(rest)
    return state, since


def run_and_kill(folder: Path, log: Path, seed: int, seconds: float) -> None:
    pid = os.fork()
    if pid == 0:
        try:
            child(folder, log, seed)
        finally:
            os._exit(1)
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def test_nothing_acknowledged_is_lost_to_a_hundred_kills(tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    folder = tmp_path / "folder"
    folder.mkdir()
    write_files(folder, 0, chance)
    log = tmp_path / "acks"
    log.touch()
    for kill in range(KILLS):
        log.write_bytes(b"")
        run_and_kill(folder, log, seed + kill, chance.uniform(0.01, 0.35))
        begun = time.monotonic()
        with Engine.open(folder, config=QUIET) as engine:
            documents = {document.uri: document for document in engine.sources()}
            opened = time.monotonic() - begun
            assert opened <= 2.0, f"kill {kill}: reopening took {opened:.1f} s"
            state, since = last_acknowledged(log)
            for uri in (set(state) | since) & {p.name for p in folder.glob("*.md")}:
                assert uri in documents, f"kill {kill}: {uri} was acknowledged and is gone"
            if kill % 10 == 9 or kill == KILLS - 1:
                assert [f for f in engine.check() if not f.ok] == [], f"kill {kill}"
                report = engine.sync()
                assert report.ok
                texts = {p.name: p.read_text(encoding="utf-8") for p in folder.glob("*.md")}
                assert {document.uri for document in engine.sources()} == set(texts)
                assert all(engine.text(uri) == text for uri, text in texts.items())
