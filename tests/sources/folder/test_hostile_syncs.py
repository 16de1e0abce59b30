"""Hostile trees through a sync: every file is indexed or has a reason."""

from __future__ import annotations

import os
import socket
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.errors import ReadError
from ragstone.sources.folder.source import FolderSource
from ragstone.surfaces.cli.app import run
from ragstone.surfaces.present import failures
from ragstone.types import Item, LoadedItem

Plant = Callable[..., Path]
FAKE = {"rag.embedding_provider": "fake"}
FILES = int(os.environ.get("TORTURE_FILES", "2000"))


@pytest.fixture
def wild(plant: Plant, tmp_path: Path) -> Iterator[dict[str, str]]:
    """Make a folder of entries that are not plain files, and return the reason for each."""
    folder = plant(
        {
            "a.md": "granite",
            "d/b.md": "basalt",
            "bytes.txt": bytes(10),
            "large.md": "x" * 2000,
            ".env": "k=v",
        }
    )
    (tmp_path / "outside").mkdir()
    for name, target in (
        ("up", ".."),
        ("loop", "loop"),
        ("out", str(tmp_path / "outside")),
        ("in.md", "a.md"),
    ):
        (folder / name).symlink_to(target)
    os.mkfifo(folder / "pipe.md")
    here = os.getcwd()
    os.chdir(folder)
    with socket.socket(socket.AF_UNIX) as listening:
        try:
            listening.bind("socket.md")
        finally:
            os.chdir(here)
        reasons = {
            ".env": "secret file",
            "bytes.txt": "binary file",
            "in.md": "link to something inside the folder",
            "large.md": "too large: 2,000 bytes (sources.max_file_bytes: 1,000 bytes)",
            "loop": "link that leads nowhere",
            "out": "link out of the folder",
            "pipe.md": "named pipe",
            "socket.md": "socket",
            "up": "link out of the folder",
        }
        try:
            os.mknod(folder / "device.md", 0o600 | stat.S_IFCHR, os.makedev(1, 3))
            reasons["device.md"] = "device"
        except (OSError, AttributeError):
            pass  # only root may make one
        (folder / os.fsdecode(b"bad\xff.md")).write_text("marble")
        yield reasons


def test_a_wild_tree_is_synced_with_a_reason_for_every_skip(
    folder: Path, wild: dict[str, str]
) -> None:
    with Engine.open(folder, config={**FAKE, "sources.max_file_bytes": 1000}) as engine:
        for _ in range(2):
            report = engine.sync()
            assert report.ok
            assert {skip.uri: skip.reason for skip in report.skipped} == wild
        assert {document.uri for document in engine.sources()} == {
            "a.md",
            "d/b.md",
            "bad%FF.md",
        }
        (folder / "pipe.md").unlink()
        (folder / "pipe.md").write_text("granite, at last")
        (folder / "a.md").unlink()
        os.mkfifo(folder / "a.md")
        assert [hit.source_doc_id for hit in engine.search("granite", mode="words")] == [
            "pipe.md"
        ]


def test_the_exit_code_says_whether_something_failed(
    folder: Path,
    wild: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("RAGSTONE_RAG_EMBEDDING_PROVIDER", "fake")
    assert run(["sync", "--folder", str(folder), "--verbose"]) == failures.OK
    out = capfd.readouterr().out
    assert all(
        f"skipped {uri}: {reason}" in out for uri, reason in wild.items() if uri != "large.md"
    )
    real = FolderSource.load

    def load(self: FolderSource, item: Item) -> LoadedItem:
        if item.uri == "a.md":
            raise ReadError("permission denied")
        return real(self, item)

    monkeypatch.setattr(FolderSource, "load", load)
    assert run(["sync", "--folder", str(folder), "--full"]) == failures.PARTIAL
    assert "a.md: permission denied" in capfd.readouterr().err


def test_our_own_database_is_not_opened_under_any_name_while_it_is_followed(
    folder: Path, plant: Plant
) -> None:
    plant({"a.md": "granite"})
    with Engine.open(folder, config=FAKE) as engine:
        engine.sync()
        os.link(engine.home / "ragstone.db", folder / "innocent.md")
        os.link(engine.home / "ragstone.db-wal", folder / "a-log.md")
        (folder / "link.md").symlink_to(engine.home / "ragstone.db")
        opened = _opened_while(lambda: engine.search("granite"))
        assert [hit.source_doc_id for hit in engine.search("granite")] == ["a.md"]
        assert not {"innocent.md", "a-log.md", "link.md"} & opened
        skipped = {skip.uri: skip.reason for skip in engine.sync().skipped}
        assert (
            skipped["innocent.md"]
            == skipped["a-log.md"]
            == "Ragstone's own index, never opened"
        )
        os.replace(folder / "innocent.md", folder / "a.md")
        opened = _opened_while(lambda: engine.search("granite"))
        assert "a.md" not in opened
        assert engine.search("granite") == []


def test_files_that_come_go_and_grow_while_they_are_synced_are_all_accounted_for(
    folder: Path, plant: Plant
) -> None:
    plant({f"{number % 10}/{number}.md": f"granite {number}" for number in range(150)})
    stop = threading.Event()

    def disturb() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            time.sleep(0.001)
            path = folder / f"{number % 10}" / f"{number % 200}.md"
            try:
                if number % 3 == 0:
                    path.unlink(missing_ok=True)
                else:
                    with path.open("a") as file:
                        file.write("\nmore" * (number % 50))
            except FileNotFoundError:
                pass

    thread = threading.Thread(target=disturb)
    with Engine.open(folder, config=FAKE) as engine:
        thread.start()
        try:
            for _ in range(4):
                assert engine.sync(embed=False).closes
                engine.search("granite", mode="words")
        finally:
            stop.set()
            thread.join()
        engine.search("granite", mode="words")
        assert {
            document.uri: engine.admin.text(document.uri) for document in engine.sources()
        } == {
            path.relative_to(folder).as_posix(): path.read_text()
            for path in folder.rglob("*.md")
        }


@pytest.mark.torture
def test_a_tree_of_very_many_files_is_synced_followed_and_synced_again(folder: Path) -> None:
    for number in range(FILES):
        path = folder / f"{number % 97}/{number % 11}/{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"stone {number}\n")
    with Engine.open(folder, config={**FAKE, "sources.max_files": 1_000_000}) as engine:
        report = engine.sync(embed=False)
        assert (report.indexed, report.ok) == (FILES, True)
        report = engine.sync(embed=False)
        assert (report.unchanged, report.indexed, report.embedded) == (FILES, 0, 0)
        (folder / "3/3/new.md").parent.mkdir(parents=True, exist_ok=True)
        (folder / "3/3/new.md").write_text("zeppelin\n")
        assert [hit.citation for hit in engine.search("zeppelin", mode="words")] == [
            "3/3/new.md:1"
        ]


def _opened_while(act: Callable[[], object]) -> set[str]:
    """Return the last names of all files that this process opens while something is done."""
    names: set[str] = set()
    _LISTENERS.append(names)
    try:
        act()
    finally:
        _LISTENERS.remove(names)
    return names


_LISTENERS: list[set[str]] = []


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and _LISTENERS and isinstance(arguments[0], str | bytes):
        _LISTENERS[-1].add(os.path.basename(os.fsdecode(arguments[0])))


sys.addaudithook(_hear)  # a hook cannot be removed; it does nothing without a listener
