"""The project folder of a path, and folders that are not indexed without a question."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from ragstone.config import user_ids
from ragstone.errors import InputError
from ragstone.sources.folder import git

_REPOSITORY = (".git", ".hg")
# Each row is searched up to the top before the next one: an existing index wins over a nearer manifest.
_MARKERS = (
    (".ragstone",),
    ("ragstone.toml",),
    _REPOSITORY,
    (
        *(
            "pyproject.toml",
            "setup.py",
            "package.json",
            "composer.json",
            "go.mod",
            "Cargo.toml",
        ),
        *("Gemfile", "pom.xml", "build.gradle", "build.gradle.kts", "Package.swift", "mix.exs"),
        *("pubspec.yaml", "CMakeLists.txt"),
    ),
)
_SYSTEM_FOLDERS = frozenset(
    {
        *(
            "bin",
            "boot",
            "dev",
            "etc",
            "lib",
            "opt",
            "proc",
            "root",
            "run",
            "sbin",
            "srv",
            "sys",
        ),
        *("tmp", "usr", "var", "home"),
        *("Applications", "Library", "System", "Volumes", "private", "Users"),
        *("Program Files", "Windows"),
    }
)
_NEVER_BELOW = ("/proc", "/sys", "/dev")


def find_root(start: Path) -> Path:
    """Return the project folder that holds `start`; never the home folder or a file-system root above it."""
    if not start.exists():
        raise InputError(f"there is no folder {start}", hint="check the path")
    resolved = start.resolve()
    folder_of_start = resolved if resolved.is_dir() else resolved.parent
    owners = user_ids() | {0, folder_of_start.stat().st_uid}
    candidates = _inside_repository(_candidates(folder_of_start), owners)
    root = _marked_folder(candidates, owners) or folder_of_start
    if root == folder_of_start:
        return root
    # The index of the root would not have the files of a folder that git ignores, and the user works in it.
    below = [folder for folder in candidates if root in folder.parents]
    ignored = git.ignored_folders(root, below)
    if not ignored or ".ragstone" in folder_of_start.parts:
        return root
    return _marked_folder(ignored, owners) or folder_of_start


def _marked_folder(candidates: Sequence[Path], owners: Iterable[int]) -> Path | None:
    """Return the first folder with a mark of a project; None if none has one."""
    for markers in _MARKERS:
        for folder in candidates:
            if _has_marker(folder, markers, owners):
                return folder
    return None


def _inside_repository(folders: list[Path], owners: Iterable[int]) -> list[Path]:
    """Return the folders up to the top of the nearest repository; all of them if there is none."""
    for number, folder in enumerate(folders, 1):
        if _has_marker(folder, _REPOSITORY, owners):
            return folders[:number]
    return folders


def _has_marker(folder: Path, markers: Iterable[str], owners: Iterable[int]) -> bool:
    """Return whether a folder has a marker of a trusted owner.

    Another user of the machine could put a marker into a folder above, such as `/tmp`, to take in private files. So a
    marker must belong to this user, to root, or to the owner of the folder where the search starts.
    """
    for marker in markers:
        try:
            status = os.stat(folder / marker)
        except OSError:
            continue
        if status.st_uid in owners:
            return True
    return False


def is_repository(folder: Path) -> bool:
    """Return whether a folder is the top of a repository."""
    return any((folder / marker).exists() for marker in _REPOSITORY)


def is_risky(path: Path) -> str | None:
    """Return why a folder should not be indexed without a question, or None."""
    folder = path.resolve()
    home = _home()
    if folder.parent == folder:
        return "it is a file-system root"
    if folder == home:
        return "it is your home folder"
    if home is not None and folder in home.parents:
        return "it holds your home folder"
    if folder.parent == Path(folder.anchor) and folder.name in _SYSTEM_FOLDERS:
        return "it is a folder of the system"
    if any(folder.is_relative_to(below) for below in _NEVER_BELOW):
        return "it is not on a disk"
    return None


def _candidates(start: Path) -> list[Path]:
    """Return the folder and those above it, below the home folder and the file-system root."""
    home = _home()
    folders: list[Path] = []
    for folder in (start, *start.parents):
        if folder == home or folder.parent == folder:
            break
        folders.append(folder)
    return folders


def _home() -> Path | None:
    try:
        return Path.home().resolve()
    except RuntimeError:  # the home folder is unknown
        return None
