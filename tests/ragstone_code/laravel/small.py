"""Small applications for tests: files by path, written in place."""

from __future__ import annotations

from collections.abc import Mapping

from ragstone.types import Graph
from ragstone_code.laravel.app import App, AppClass
from ragstone_code.laravel.class_kinds import is_model
from ragstone_code.laravel.code_bodies import LocatedCall, find_calls
from ragstone_code.project_files import World
from tests.ragstone_code.small_world import world_of


def world(files: Mapping[str, str]) -> World:
    """Return a project of these files."""
    return world_of(files)


def php(uri: str, *lines: str) -> tuple[str, str]:
    """Return a file of PHP: its first line is the third line of the text."""
    return uri, "\n".join(("<?php", "", *lines, ""))


def app(*files: tuple[str, str]) -> tuple[App, tuple[LocatedCall, ...]]:
    """Return an application and the calls in it."""
    own = App(world(dict(files)))
    return own, find_calls(own)


def models(own: App) -> tuple[AppClass, ...]:
    """Return its models."""
    return tuple(
        app_class for app_class in own.classes.values() if is_model(own, app_class.name)
    )


def links_by_kind(graph: Graph, kind: str) -> set[tuple[str, str, str]]:
    """Return the links of a kind: source, target and place."""
    return {
        (_bare(link.source), _bare(link.target), f"{link.uri}:{link.line}")
        for link in graph.links
        if link.kind == kind
    }


def _bare(key: str) -> str:
    return key.removeprefix("class:").removeprefix("method:")


MODEL = php(
    "app/Models/Book.php",
    "namespace App\\Models;",
    "use Illuminate\\Database\\Eloquent\\Model;",
    "class Book extends Model {}",
)
