"""Paths on the command line: the folder a command works in, and the uri of a file."""

from __future__ import annotations

import os
from pathlib import Path

from ragstone.errors import InputError
from ragstone.sources.folder.roots import find_root
from ragstone.sources.uris import to_uri


def project_folder(folder: Path | None) -> Path:
    """Return the named folder, or the root of the project around the current folder."""
    root = find_root(Path.cwd()) if folder is None else folder
    if not root.is_dir():
        raise InputError(f"no such folder: {root}", hint="give the path of an existing folder")
    return root


def canonical_path(file: str) -> str:
    """Return an absolute path without links in its parent folders; the last part may be a link."""
    parent, name = os.path.split(os.path.abspath(file))
    return os.path.join(os.path.realpath(parent), name)


def file_uri(file: str, base: Path) -> str:
    """Return a file's uri: its path relative to the sources' base folder, or the absolute path outside of it."""
    path = Path(canonical_path(file))
    real_base = Path(os.path.realpath(base))
    if path.is_relative_to(real_base):
        path = path.relative_to(real_base)
    return to_uri(path.as_posix())
