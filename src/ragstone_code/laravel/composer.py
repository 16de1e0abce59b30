"""The folders that `composer.json` loads classes from, for the application and for development."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AutoloadFolders:
    """Folders of classes as composer names them, without slashes at their ends."""

    application: tuple[str, ...] = ()
    """Folders that every installation loads from."""
    development: tuple[str, ...] = ()
    """Folders that are loaded for development only, such as tests."""


def autoload_folders(text: str) -> AutoloadFolders:
    """Return the PSR-4 folders of a composer file; a folder of both lists belongs to the application."""
    try:
        composer = json.loads(text or "{}")
    except ValueError:
        return AutoloadFolders()
    if not isinstance(composer, dict):
        return AutoloadFolders()
    application = _psr4_folders(composer.get("autoload"))
    development = _psr4_folders(composer.get("autoload-dev"))
    return AutoloadFolders(
        application,
        tuple(folder for folder in development if folder not in application),
    )


def _psr4_folders(autoload: object) -> tuple[str, ...]:
    """Return the folders of one `autoload` section; the project root is no folder."""
    namespaces = autoload.get("psr-4") if isinstance(autoload, dict) else None
    if not isinstance(namespaces, dict):
        return ()
    folders: list[str] = []
    for paths in namespaces.values():
        names = paths if isinstance(paths, list) else [paths]
        folders += [name.strip("/") for name in names if isinstance(name, str)]
    return tuple(dict.fromkeys(folder for folder in folders if folder.strip("./")))
