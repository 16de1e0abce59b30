"""An application that lies in a folder: seen as if it were the whole project, and put back to its place."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from ragstone.code.world import World
from ragstone.types import Alias, Graph, Json, Link, Node, Rendered, Unresolved

Placed = TypeVar("Placed", Node, Link, Alias, Unresolved, Rendered)
OF_FILES = ("file:", "listener:")
"""Keys that have a path in them."""
PLACES = ("places", "folders", "registered", "rules_uri")
"""Attributes that have one."""


def world_in_folder(world: World, place: str) -> World:
    """Return the files of a folder as a world of their own; the world itself for the top."""
    if not place:
        return world
    uris = tuple(uri.removeprefix(place) for uri in world.uris if uri.startswith(place))
    return World(
        uris,
        lambda uri: world.read(place + uri),
        lambda uri: world.facts(place + uri),
        world.lowered,
    )


def relocate_graph(graph: Graph, place: str) -> Graph:
    """Return a graph of a folder's files with the paths they have in the project."""
    if not place:
        return graph
    return Graph(
        nodes=tuple(
            replace(_placed(one, place), key=_key(one.key, place), attributes=_attributes(one, place))
            for one in graph.nodes
        ),
        links=tuple(
            replace(
                _placed(one, place),
                source=_key(one.source, place),
                target=_key(one.target, place),
                attributes=_attributes(one, place),
            )
            for one in graph.links
        ),
        aliases=tuple(replace(_placed(one, place), key=_key(one.key, place)) for one in graph.aliases),
        unresolved=tuple(replace(_placed(one, place), source=_key(one.source, place)) for one in graph.unresolved),
        rendered=tuple(replace(_placed(one, place), key=_key(one.key, place)) for one in graph.rendered),
        remarks=tuple(f"{place}{remark}" for remark in graph.remarks),
    )


def _placed(one: Placed, place: str) -> Placed:
    """Return it with its file's path in the project."""
    return replace(one, uri=place + one.uri) if one.uri else one


def _key(key: str, place: str) -> str:
    """Return a key with the path in it put right."""
    kind, colon, rest = key.partition(":")
    return f"{kind}:{place}{rest}" if f"{kind}{colon}" in OF_FILES else key


def _attributes(one: Node | Link, place: str) -> dict[str, Json]:
    """Return attributes with the paths in them put right."""
    found = dict(one.attributes)
    for name in PLACES:
        value = found.get(name)
        if isinstance(value, str):
            found[name] = place + value
        elif isinstance(value, list):
            found[name] = [f"{place}{part}" for part in value]
    return found
