"""Settings: the only reader of settings files and of the environment.

`load(folder)` returns frozen `Settings`; every value knows where it came from (`Settings.origin`).
"""

from __future__ import annotations

from typing import NamedTuple

from ragstone.config.environment import cores, passed_on, search_path
from ragstone.config.load import load, project_file, user_file
from ragstone.config.settings import (
    Documents,
    Embed,
    Events,
    Rag,
    Search,
    Settings,
    Sources,
    Store,
    VectorStore,
    Web,
    keys,
)

__all__ = [
    "Described",
    "Documents",
    "Embed",
    "Events",
    "Rag",
    "Search",
    "Settings",
    "Sources",
    "Store",
    "VectorStore",
    "Web",
    "cores",
    "describe",
    "load",
    "passed_on",
    "project_file",
    "search_path",
    "user_file",
]


class Described(NamedTuple):
    """One setting for a reference page."""

    key: str
    default: object
    doc: str
    variables: tuple[str, ...]


def describe() -> list[Described]:
    """Return every setting with its default, its one line and its environment names, the full name first."""
    return [Described(key.name, key.default, key.rules.doc, key.variables) for key in keys().values()]
