"""Real folders and real git repositories for the tests of this room."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ragstone.sources.folder.selection import FileLimits
from ragstone.sources.folder.source import FolderSource
from ragstone.types import Item, Skip

Plant = Callable[[Mapping[str, str | bytes]], Path]
Scan = Callable[..., tuple[list[str], dict[str, str]]]
Git = Callable[..., bytes]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return an empty folder that is in no repository."""
    place = tmp_path / "project"
    place.mkdir()
    return place


@pytest.fixture
def plant(folder: Path) -> Plant:
    """Return a function that writes files, given as path → content, below the folder."""

    def write(files: Mapping[str, str | bytes]) -> Path:
        for path, content in files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)
        return folder

    return write


@pytest.fixture
def git(folder: Path, tmp_path: Path) -> Git:
    """Return a function that runs git in the folder (or `at` another one), untouched by the machine's own config."""
    variables = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    who = {
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b",
    }
    environment = variables | who | {"HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}

    def run(*arguments: str, at: Path | None = None) -> bytes:
        done = subprocess.run(
            ["git", *arguments],
            cwd=at or folder,
            env=environment,
            capture_output=True,
            check=True,
        )
        return done.stdout

    return run


@pytest.fixture(params=["walk", "git"])
def way(request: pytest.FixtureRequest, git: Git) -> str:
    """Run a test twice: in a plain folder, and in a git repository."""
    if request.param == "git":
        git("init", "-q")
    return str(request.param)


@pytest.fixture
def scan(folder: Path) -> Scan:
    """Return a function that scans the folder into the uris found, and the reasons of those left out.

    Ignore files are in neither.
    """

    def look(**options: Any) -> tuple[list[str], dict[str, str]]:
        root = options.pop("root", folder)
        entries = list(
            FolderSource(
                root, limits=options.pop("limits", FileLimits(1_000_000, 50_000)), **options
            ).scan()
        )
        order = [entry.uri for entry in entries]
        assert order == sorted(order)
        assert len(order) == len(set(order))
        items = [entry.uri for entry in entries if isinstance(entry, Item)]
        skips = {entry.uri: entry.reason for entry in entries if isinstance(entry, Skip)}
        # Almost every test here writes an ignore file.
        return items, {uri: why for uri, why in skips.items() if why != "ignore file"}

    return look


@pytest.fixture
def as_nobody() -> Iterator[None]:
    """Run a test without the rights of root, which no file mode stops."""
    if not hasattr(os, "geteuid"):
        pytest.skip("file modes mean nothing here")
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
