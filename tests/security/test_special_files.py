"""A FIFO, socket, device or huge file anywhere in a folder stops no call."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from types import FrameType

import pytest

from ragstone import Engine, RagstoneError
from ragstone.config.agents_yaml import load_agents
from ragstone.sources.folder import limited_process
from tests.security.homes import FAKE, git, on_another_machine

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs FIFOs and /proc")
MOST_SECONDS = 20
"""A call that waits for a file never ends; git alone was given 60 seconds."""
READ_BY_GIT = [
    "sub/.gitignore",
    "include.path",
    "core.excludesFile",
    ".git/HEAD",
    ".git/index",
    ".git/config",
    ".git/info/exclude",
    ".ragstone/.gitignore",
]
READ_BY_US = [
    ".gitignore",
    ".ragstoneignore",
    "sub/.ragstoneignore",
    ".git",
    "sub/note.md",
    "documents.yaml",
    "agents.yaml",
    "ragstone.toml",
    "pyproject.toml",
    ".ragstone/events.jsonl",
    ".ragstone/ragstone.db.lock",
    ".ragstone/embed.lock",
    ".ragstone/seal",
]
REFUSED = {"agents.yaml", "ragstone.toml", "documents.yaml"}
OTHER_KINDS = ["socket", "device", "huge"]
PLACES = [*READ_BY_GIT, *READ_BY_US]
CASES = [(place, "fifo") for place in PLACES]
CASES += list(zip(PLACES, cycle(OTHER_KINDS), strict=False))
CASES += list(zip(PLACES[:8], cycle(OTHER_KINDS[1:]), strict=False))


@pytest.fixture
def alarm() -> Iterator[None]:
    """Fail a test that waits for ever."""

    def fail(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"no end after {MOST_SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(MOST_SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with two files."""
    on_another_machine(monkeypatch, tmp_path)
    monkeypatch.setattr(limited_process, "STALL_SECONDS", 0.3)
    root = tmp_path / "project"
    (root / "sub").mkdir(parents=True)
    (root / "a.md").write_text("The quagga sleeps.", encoding="utf-8")
    (root / "sub" / "b.md").write_text("The quagga eats.", encoding="utf-8")
    git(root, "init", "-q")
    return root


def put(root: Path, place: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a special file at a place; a setting of git gets its path."""
    path = root / place
    if place in ("core.excludesFile", "include.path"):
        path = root.parent / "special"
        git(root, "config", place, str(path))
    path.parent.mkdir(exist_ok=True)
    if path.is_dir():
        path.rename(root.parent / "moved")
    path.unlink(missing_ok=True)
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        monkeypatch.chdir(path.parent)  # the path of a socket is short
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(path.name)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        with path.open("wb") as file:
            file.truncate(20_000_000_000)


@pytest.mark.usefixtures("alarm")
@pytest.mark.parametrize(("place", "kind"), sorted(set(CASES)))
def test_a_special_file_stops_no_call(
    project: Path, place: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if place.startswith(".ragstone/"):
        with Engine.open(project, config=FAKE) as engine:
            engine.sync()
    put(project, place, kind, monkeypatch)
    try:
        with Engine.open(project, config=FAKE) as engine:
            report = engine.sync()
            hits = engine.search("quagga", mode="words")
            load_agents(engine.settings)
    except RagstoneError as error:
        refused = place in REFUSED or place.startswith(".ragstone/")
        assert refused and error.message
    else:
        assert report.failed == ()
        assert {hit.source_doc_id for hit in hits} == {"a.md", "sub/b.md"}


@pytest.mark.usefixtures("alarm")
def test_git_is_not_asked_again_in_a_repository_that_stops_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[object] = []
    run = limited_process.run_limited

    def count(command: object, *rest: object) -> object:
        started.append(command)
        return run(command, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(limited_process, "run_limited", count)
    put(project, ".git/config", "fifo", monkeypatch)
    with Engine.open(project, config=FAKE) as engine:
        engine.sync()
        engine.sync()
    assert len(started) == 1


@pytest.mark.usefixtures("alarm")
def test_a_pipe_in_place_of_the_database_is_named_and_not_called_a_broken_disk(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Engine.open(project, config=FAKE) as engine:
        engine.sync()
    put(project, ".ragstone/ragstone.db", "fifo", monkeypatch)
    with pytest.raises(RagstoneError, match="no regular file"):
        Engine.open(project, config=FAKE).search("quagga")
