"""Where a command works: in which folder, for which project, and what a path given there is called in the index."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import click

from ragstone.errors import InputError
from ragstone.sources.folder.roots import find_root
from ragstone.sources.uris import to_uri

_SAID: Final = "ragstone.said."
_PROJECT: Final = "project"


def root_of(folder: Path | None) -> Path:
    """Return the named folder, or that of the project around the current one; `InputError` if it is none."""
    root = find_root(Path.cwd()) if folder is None else folder
    if not root.is_dir():
        raise InputError(f"no such folder: {root}", hint="give the path of an existing folder")
    return root


def said(context: click.Context, option: click.Parameter, value: Any) -> Any:  # noqa: ANN401 - of any option
    """Return what an option says here, or said before the command's name; kept for as long as the command runs."""
    if option.name == _PROJECT and value is not None and not value.strip():
        raise InputError("--project is empty", hint="for example --project website")
    key = f"{_SAID}{option.name}"
    if value:
        context.meta[key] = value
    return context.meta.get(key, value)


def project() -> str | None:
    """Return what --project says in the command that runs; None: it says nothing."""
    context = click.get_current_context(silent=True)
    named: str | None = context.meta.get(f"{_SAID}{_PROJECT}") if context else None
    return named


def full_path(file: str) -> str:
    """Return the one spelling of a path: whole, and through no link but perhaps the last."""
    above, name = os.path.split(os.path.abspath(file))
    return os.path.join(os.path.realpath(above), name)


def uri_of(file: str, base: Path) -> str:
    """Return the path below the folder that sources start from, or the whole path: names alone would collide."""
    full, top = Path(full_path(file)), Path(os.path.realpath(base))
    return to_uri((full.relative_to(top) if full.is_relative_to(top) else full).as_posix())
