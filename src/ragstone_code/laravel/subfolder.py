"""An application in a subfolder: read as if it were the whole project, then moved back to its real paths."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, TypeVar

from ragstone.protocols import ProjectFiles
from ragstone.types import Alias, Graph, Json, Link, Node, Rendered, Unresolved
from ragstone.types.code import FileFacts
from ragstone_code.project_files import World

GraphItem = TypeVar("GraphItem", Node, Link, Alias, Unresolved, Rendered)
PATH_KEYS: Final = ("file", "listener")
"""Kinds of keys that contain a path."""
PATH_ATTRIBUTES: Final = ("places", "folders", "registered", "rules_uri", "ability_places")
"""Attributes that contain a path or a list of paths."""


@dataclass(frozen=True, slots=True)
class FolderFiles:
    """The files of one folder, under their paths inside the folder."""

    files: ProjectFiles
    folder: str
    """The folder's path, with a slash at the end."""

    @property
    def uris(self) -> tuple[str, ...]:
        """Return the paths inside the folder, sorted."""
        folder = self.folder
        return tuple(
            uri.removeprefix(folder) for uri in self.files.uris if uri.startswith(folder)
        )

    def text(self, uri: str) -> str | None:
        """Return the text of a file in the folder."""
        return self.files.text(self.folder + uri)

    def facts(self, uri: str) -> FileFacts | None:
        """Return the symbols of a file in the folder."""
        return self.files.facts(self.folder + uri)

    def enter(self, uri: str) -> None:
        """Note that a file in the folder is evaluated."""
        self.files.enter(self.folder + uri)


def world_in_folder(world: World, folder: str) -> World:
    """Return the files of a folder as a separate world; the same world if `folder` is empty (the project root)."""
    return World(FolderFiles(world, folder)) if folder else world


def relocate_graph(graph: Graph, folder: str) -> Graph:
    """Return a graph of a folder's files with the paths that the files have in the project."""
    if not folder:
        return graph
    return Graph(
        nodes=tuple(_relocate_node(node, folder) for node in graph.nodes),
        links=tuple(_relocate_link(link, folder) for link in graph.links),
        aliases=tuple(_relocate_keyed(alias, folder) for alias in graph.aliases),
        unresolved=tuple(
            _relocate_unresolved(unresolved, folder) for unresolved in graph.unresolved
        ),
        rendered=tuple(_relocate_keyed(rendered, folder) for rendered in graph.rendered),
        remarks=tuple(f"{folder}{remark}" for remark in graph.remarks),
    )


def _relocate_node(node: Node, folder: str) -> Node:
    moved = _relocate_uri(node, folder)
    attributes = _relocate_attributes(node, folder)
    return replace(moved, key=_relocate_key(node.key, folder), attributes=attributes)


def _relocate_link(link: Link, folder: str) -> Link:
    return replace(
        _relocate_uri(link, folder),
        source=_relocate_key(link.source, folder),
        target=_relocate_key(link.target, folder),
        attributes=_relocate_attributes(link, folder),
    )


KeyedItem = TypeVar("KeyedItem", Alias, Rendered)


def _relocate_keyed(item: KeyedItem, folder: str) -> KeyedItem:
    return replace(_relocate_uri(item, folder), key=_relocate_key(item.key, folder))


def _relocate_unresolved(unresolved: Unresolved, folder: str) -> Unresolved:
    return replace(
        _relocate_uri(unresolved, folder), source=_relocate_key(unresolved.source, folder)
    )


def _relocate_uri(item: GraphItem, folder: str) -> GraphItem:
    """Return an item with its file's path in the project."""
    return replace(item, uri=folder + item.uri) if item.uri else item


def _relocate_key(key: str, folder: str) -> str:
    """Return a key with the path in it moved, if it contains one."""
    kind, colon, path = key.partition(":")
    if colon and kind in PATH_KEYS:
        return f"{kind}:{folder}{path}"
    return key


def _relocate_attributes(item: Node | Link, folder: str) -> dict[str, Json]:
    """Return the attributes with the paths in them moved."""
    attributes = dict(item.attributes)
    for name in PATH_ATTRIBUTES:
        value = attributes.get(name)
        if isinstance(value, str):
            attributes[name] = folder + value
        elif isinstance(value, list):
            attributes[name] = [f"{folder}{part}" for part in value]
    return attributes
