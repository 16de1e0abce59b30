"""Which folder a person means, and which folders nobody means by accident."""

from __future__ import annotations

from pathlib import Path

from ragstone.errors import InputError

# Each row is looked for all the way up before the next one: an index that exists wins over a nearer manifest.
_MARKS: tuple[tuple[str, ...], ...] = (
    (".ragstone",),
    ("ragstone.toml",),
    (".git", ".hg"),
    (
        "pyproject.toml",
        "setup.py",
        "package.json",
        "composer.json",
        "go.mod",
        "Cargo.toml",
        "Gemfile",
        "pom.xml",
        "build.gradle",
        "build.gradle.kts",
        "Package.swift",
        "mix.exs",
        "pubspec.yaml",
        "CMakeLists.txt",
    ),
)
_SYSTEM = ("bin", "boot", "dev", "etc", "lib", "opt", "proc", "root", "run", "sbin", "srv", "sys", "tmp", "usr", "var")
_SYSTEM_MORE = ("Applications", "Library", "System", "Volumes", "private", "Program Files", "Windows", "home", "Users")
_NEVER_BELOW = ("/proc", "/sys", "/dev")


def find_root(start: Path) -> Path:
    """Return the project folder that holds `start`: the home folder and a file-system root only if they are it."""
    if not start.exists():
        raise InputError(f"there is no folder {start}", hint="check the path")
    here = start.resolve()
    here = here if here.is_dir() else here.parent
    candidates = _candidates(here)
    for marks in _MARKS:
        for folder in candidates:
            if any((folder / mark).exists() for mark in marks):
                return folder
    return here


def is_risky(path: Path) -> str | None:
    """Return why indexing a folder should be asked about first, or None."""
    folder = path.resolve()
    home = _home()
    if folder.parent == folder:
        return "it is a file-system root"
    if folder == home:
        return "it is your home folder"
    if home is not None and folder in home.parents:
        return "it holds your home folder"
    if folder.parent == Path(folder.anchor) and folder.name in _SYSTEM + _SYSTEM_MORE:
        return "it is a folder of the system"
    if any(folder.is_relative_to(below) for below in _NEVER_BELOW):
        return "it is not on a disk"
    return None


def _candidates(here: Path) -> list[Path]:
    """Return the folder and those above it, up to but without the home folder and the file-system root."""
    home = _home()
    found: list[Path] = []
    for folder in (here, *here.parents):
        if folder == home or folder.parent == folder:
            break
        found.append(folder)
    return found


def _home() -> Path | None:
    try:
        return Path.home().resolve()
    except RuntimeError:  # no home folder can be found out
        return None
