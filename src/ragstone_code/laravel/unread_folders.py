"""Folders of an application in which no class was found, although their files declare some."""

from __future__ import annotations

import re
from typing import Final

from ragstone.types import Graph, Json, Node
from ragstone_code.laravel.app import App

UNREAD_KEY: Final = "registry:classes"
"""The node that lists the folders."""
_CLASS_DECLARATION: Final = re.compile(
    r"^(?:abstract |final |readonly )*class \w", re.MULTILINE
)


def find_unread_folders(app: App) -> list[str]:
    """Return the autoloaded folders whose files declare classes, but none was found."""
    class_uris = [app_class.uri for app_class in app.classes.values()]
    unread: list[str] = []
    for folder in app.autoload.application:
        path = f"{app.prefix}{folder}/"
        has_read_class = any(uri.startswith(path) for uri in class_uris)
        if not has_read_class and _declares_classes(app, path):
            unread.append(path)
    return unread


def _declares_classes(app: App, folder: str) -> bool:
    """Return whether the text of a file in a folder looks like the declaration of a class."""
    uris = app.world.below(folder, ".php")
    return any(_CLASS_DECLARATION.search(app.world.text(uri) or "") for uri in uris)


def read_unread_folders(app: App) -> Graph:
    """Return a node and remarks for folders without a readable class; "none" is no answer then."""
    folders = find_unread_folders(app)
    if not folders:
        return Graph()
    paths: list[Json] = [*folders]
    node = Node(
        UNREAD_KEY,
        "registry",
        "classes",
        "composer.json",
        1,
        framework="laravel",
        attributes={"folders": paths},
    )
    remarks = tuple(
        f"composer.json: no class was found in {folder}, so policies, observers, listeners and requests "
        "of its classes are not known"
        for folder in folders
    )
    return Graph(nodes=(node,), remarks=remarks)
