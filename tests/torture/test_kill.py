"""D1: SIGKILL at random points of a sync. No acknowledged document is lost, none is half visible, the store opens at once.

A child process syncs a folder with changing files, and logs each document after the engine has acknowledged it. The
parent process kills the child at a random moment, opens the store and compares. `TORTURE_KILLS` in the environment of
`make torture` sets the number of kills; the default is a hundred.
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
from ragstone.indexing.events import Event

pytestmark = [
    pytest.mark.torture,
    pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL and fork are POSIX"),
]

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
    """Sync one version of the folder after another, and log each version after it was acknowledged."""
    chance = random.Random(seed)
    with open(log, "ab", buffering=0) as acks, Engine.open(folder, config=QUIET) as engine:

        def acknowledge(event: Event) -> None:
            uri = str(event.data["uri"])
            acks.write(f"stored {uri} {digest((folder / uri).read_bytes())}\n".encode())

        engine.events.subscribe(acknowledge, names=["rag_chunk_indexed"])
        version = 0
        while True:
            engine.sync()
            there = sorted(path.name for path in folder.glob("*.md"))
            acks.write(f"synced {' '.join(there)}\n".encode())
            version += 1
            write_files(folder, version, chance)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def acknowledged(log: Path) -> tuple[dict[str, str], set[str] | None]:
    """Return the content last acknowledged of each document, and the names after the last whole sync."""
    contents: dict[str, str] = {}
    names: set[str] | None = None
    for line in log.read_text(encoding="utf-8").split("\n")[:-1]:
        word, *rest = line.split(" ")
        if word == "stored":
            contents[rest[0]] = rest[1]
        else:
            names = set(rest)
            contents = {uri: content for uri, content in contents.items() if uri in names}
    return contents, names


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


def verify(
    engine: Engine, folder: Path, log: Path, expected: dict[str, str], kill: int
) -> dict[str, str]:
    """Compare the store after a kill with the acknowledged versions, and return its content."""
    stored = {
        document.uri: engine.admin.text(document.uri) or "" for document in engine.sources()
    }
    on_disk = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    contents, names = acknowledged(log)
    if names is not None:
        expected = {uri: content for uri, content in expected.items() if uri in names}
    for uri, content in (expected | contents).items():
        text = stored.get(uri)
        if text is None:
            # A later sync may have removed it, committed and been killed before it could say so.
            assert uri not in on_disk, f"kill {kill}: {uri} was acknowledged and is gone"
        elif digest(text.encode()) != content:
            # Likewise a newer version: then it is what the file says now, never an older one or half of one.
            assert text == on_disk.get(uri), (
                f"kill {kill}: {uri} is neither what was acknowledged nor what is there"
            )
    if names is not None:
        late = set(stored) - names - set(on_disk)
        assert not late, f"kill {kill}: {late} were removed, and that was acknowledged"
    return {uri: digest(text.encode()) for uri, text in stored.items()}


def test_nothing_acknowledged_is_lost_to_a_hundred_kills(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    folder = tmp_path / "folder"
    folder.mkdir()
    write_files(folder, 0, chance)
    log = tmp_path / "acks"
    expected: dict[str, str] = {}
    for kill in range(KILLS):
        log.write_bytes(b"")
        run_and_kill(folder, log, seed + kill, chance.uniform(0.01, 0.35))
        begun = time.monotonic()
        with Engine.open(folder, config=QUIET) as engine:
            engine.is_empty()
            opened = time.monotonic() - begun
            assert opened <= 2.0, f"kill {kill}: reopening took {opened:.1f} s"
            expected = verify(engine, folder, log, expected, kill)
            if kill % 10 == 9 or kill == KILLS - 1:
                assert [finding for finding in engine.admin.check() if not finding.ok] == [], (
                    f"kill {kill}"
                )
                assert engine.sync().ok
                texts = {
                    path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")
                }
                assert {
                    document.uri: engine.admin.text(document.uri)
                    for document in engine.sources()
                } == texts
                expected = {uri: digest(text.encode()) for uri, text in texts.items()}
