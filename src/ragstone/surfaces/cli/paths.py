"""Paths on the command line: the folder a command works in, the uri of a file, the paths after a query."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ragstone.errors import InputError, NotFound
from ragstone.sources.added_files import file_uri
from ragstone.sources.files import from_uri
from ragstone.sources.folder.roots import find_root, is_repository, is_risky
from ragstone.store import home_folder
from ragstone.text.globs import has_wildcard

_SPECIAL: Final = re.compile(r"([*?\[\]\\])")


def project_folder(folder: Path | None) -> Path:
    """Return the named folder, or the root of the project around the current folder."""
    root = find_root(Path.cwd()) if folder is None else folder
    if not root.is_dir():
        raise InputError(f"no such folder: {root}", hint="give the path of an existing folder")
    return root


def outer_project(folder: Path) -> Path | None:
    """Return the project with an index that a folder is in; None if there is none, or the folder is a repository."""
    real_folder = folder.resolve()
    if is_repository(real_folder):
        return None
    outer = find_root(real_folder.parent)
    has_index = (outer / home_folder.NAME / home_folder.DATABASE).is_file()
    return outer if has_index and is_risky(outer) is None else None


def split_paths(words: Sequence[str], folder: Path | None) -> tuple[list[str], list[str]]:
    """Return the words of a query and the paths after it.

    After a query in quotation marks (or `-` for stdin) every argument is a path. Without quotation marks, the last
    arguments are paths if they exist, end with a slash or start with `./` or `../`.
    """
    count = 1
    if words[0] != "-" and " " not in words[0].strip():
        count = len(words)
        while count > 1 and _is_path(words[count - 1], folder):
            count -= 1
    return list(words[:count]), list(words[count:])


def path_globs(paths: Sequence[str], folder: Path | None, base: Path) -> list[str]:
    """Return the filter patterns of paths that a user named, relative to --folder or to the current folder."""
    patterns = [_path_glob(path, folder, base) for path in paths]
    return [pattern for pattern in patterns if pattern]


def path_from_here(uri: str, base: Path) -> str:
    """Return the path of an indexed file from the current folder, or the uri if there is no such file."""
    path = base / from_uri(uri)
    if not path.is_file():
        return uri
    try:
        return os.path.relpath(path)
    except ValueError:  # on another drive
        return str(path)


def _is_path(word: str, folder: Path | None) -> bool:
    is_spelt_as_path = word.endswith(("/", os.sep)) or word.startswith(("./", "../"))
    return is_spelt_as_path or _from(folder, word).exists()


def _path_glob(path: str, folder: Path | None, base: Path) -> str:
    """Return the pattern of a file, or of a folder and everything below it; empty for the base folder itself."""
    place = _from(folder, path)
    if not place.exists() and not has_wildcard(path):
        raise NotFound(
            f"there is no file or folder {path!r}",
            hint="put a question of several words in quotation marks",
        )
    uri = file_uri(str(place), base)
    if os.path.isabs(uri):
        other_folder = place
        if not place.is_dir():
            other_folder = place.parent
        raise InputError(
            f"{path} is outside of {base}",
            hint=f"`ragstone search -C {other_folder} QUERY` searches there",
        )
    if uri == ".":
        return ""
    if not place.exists():
        return f"/{uri}"
    escaped = _SPECIAL.sub(r"\\\1", uri)
    return f"/{escaped}/**" if place.is_dir() else f"/{escaped}"


def _from(folder: Path | None, path: str) -> Path:
    return (folder or Path()).absolute() / path
