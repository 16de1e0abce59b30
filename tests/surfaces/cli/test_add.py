"""`ragstone add`: files are opened safely and have one uri."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
Ran = Any

WATCH = """
import os, sys

WATCHED = os.environ.get("WATCHED_NAMES", "").split(",")

def tell(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        if os.path.basename(os.fsdecode(arguments[0])) in WATCHED:
            os.write(2, b"OPENED\\n")

sys.addaudithook(tell)
"""


@pytest.fixture
def watched(command: Command, tmp_path: Path, environment: dict[str, str]) -> Command:
    """Return a function that runs the command and says on stderr whenever one of some names is opened."""
    (tmp_path / "watch").mkdir()
    (tmp_path / "watch" / "sitecustomize.py").write_text(WATCH, encoding="utf-8")
    path = os.pathsep.join((str(tmp_path / "watch"), environment["PYTHONPATH"]))

    def run(names: str, *arguments: str) -> Ran:
        return command(*arguments, env={"PYTHONPATH": path, "WATCHED_NAMES": names})

    return run


def uris(quick: Command, *flags: str) -> list[str]:
    return [
        document["uri"] for document in quick("sources", "--json", *flags).json["documents"]
    ]


def test_the_database_is_never_opened_as_a_document(
    watched: Command, quick: Command, project: Path
) -> None:
    quick("sync")
    os.link(project / ".ragstone" / "ragstone.db", project / "notes.md")
    assert "OPENED" in watched("README.md", "add", "README.md").err  # the watch works
    for arguments in (
        ("add", ".ragstone/ragstone.db"),
        ("add", ".ragstone/ragstone.db", "--name", "x.md"),
        ("add", "notes.md"),
        ("import", ".ragstone/ragstone.db"),
        ("import", "notes.md"),
        ("export", "notes.md", "--force"),
    ):
        ran = watched("ragstone.db,notes.md", *arguments)
        assert ran.code in (2, 3), (arguments, ran.err)
        assert "OPENED" not in ran.err, arguments
        assert ran.err.count("\n") == 1, ran.err
    assert quick("doctor").code == 0
    assert uris(quick) == ["README.md", "docs/storage.md", "src/upload.py", "src/weigh.py"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_named_pipe_is_refused_at_once(command: Command, project: Path) -> None:
    os.mkfifo(project / "pipe.txt")
    ran = command("add", "pipe.txt", "README.md", "--json")
    assert (ran.code, ran.json["documents"]) == (3, 1)
    assert ran.json["failed"] == [{"uri": "pipe.txt", "reason": "not a regular file"}]
    assert "not a regular file" in command("import", "pipe.txt").err


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_is_refused_but_a_linked_parent_folder_is_followed(
    quick: Command, project: Path, tmp_path: Path
) -> None:
    (project / "link.md").symlink_to(project / "README.md")
    assert "it is a link" in quick("add", "link.md").err
    (tmp_path / "way").symlink_to(project)
    assert quick("add", str(tmp_path / "way" / "docs" / "storage.md")).code == 0
    assert uris(quick) == ["docs/storage.md"]


def test_a_file_of_an_unsupported_type_is_not_opened(watched: Command, project: Path) -> None:
    (project / "picture.png").write_bytes(b"just text, really\n")
    ran = watched("picture.png", "add", "picture.png")
    assert (ran.code, "OPENED" in ran.err) == (3, False), ran.err


def test_a_file_has_the_same_uri_from_every_folder(
    quick: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick("sync")
    before = uris(quick)
    monkeypatch.chdir(project / "src")
    for way in (
        "../README.md",
        "./../docs/../docs/storage.md",
        "weigh.py",
        str(project / "src" / "upload.py"),
    ):
        assert quick("add", way).code == 0
    assert uris(quick) == before
    assert (
        quick("remove", "../README.md", "./weigh.py").out
        == "2 documents removed from the index.\n"
    )
    assert uris(quick) == ["docs/storage.md", "src/upload.py"]
    assert quick("remove", "../nowhere.md").code == 4


def test_add_and_remove_use_uris_relative_to_the_sources_base(
    quick: Command, project: Path
) -> None:
    (project / "ragstone.toml").write_text('[sources]\nbase = "docs"\n', encoding="utf-8")
    quick("sync")
    assert uris(quick) == ["storage.md"]
    assert quick("add", "docs/storage.md", "README.md").code == 0
    assert uris(quick) == sorted([(project / "README.md").resolve().as_posix(), "storage.md"])
    ran = quick("remove", "docs/storage.md", "README.md")
    assert ran.out == "2 documents removed from the index.\n", ran.err
    assert "still exists" in ran.err
    assert uris(quick) == []


def test_a_removed_file_outside_of_the_folder_is_not_said_to_come_back(
    quick: Command, project: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("The gondola is black.\n", encoding="utf-8")
    quick("sync")
    quick("add", str(outside))
    ran = quick("remove", str(outside))
    assert (ran.out, ran.err) == ("1 document removed from the index.\n", "")
    quick("sync")
    assert outside.as_posix() not in uris(quick)
