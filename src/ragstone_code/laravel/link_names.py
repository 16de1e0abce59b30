"""Names and places of linked nodes, for the texts about a graph."""

from __future__ import annotations

from ragstone.types import Node
from ragstone_code.laravel.graph_index import GraphIndex
from ragstone_code.laravel.sentences import full, listing, short, words


def list_entries(node: Node, name: str) -> list[str]:
    """Return the entries of a list attribute; nothing if the node has no such list."""
    return listing(node.attributes.get(name))


def target_names(index: GraphIndex, kind: str, key: str) -> list[str]:
    """Return the short names of the targets of a node's links."""
    return [short(link.target) for link in index.links_from(kind, key)]


def source_names(index: GraphIndex, kind: str, key: str) -> list[str]:
    """Return the short names of the sources of links to a node."""
    return [short(link.source) for link in index.links_to(kind, key)]


def table_names(index: GraphIndex, key: str) -> list[str]:
    """Return the tables of a model."""
    return [link.target.removeprefix("table:") for link in index.links_from("MAPS_TO", key)]


def call_places(index: GraphIndex, kind: str, key: str) -> list[str]:
    """Return the callers that link to a node, with file and line."""
    places: list[str] = []
    for link in index.links_to(kind, key):
        caller = _caller(link.source)
        places.append(f"{caller} at {link.uri}:{link.line}")
    return places


def _caller(key: str) -> str:
    """Return a method without the namespace of its class."""
    return key.partition(":")[2].rpartition("\\")[2]


def class_words(node: Node) -> str:
    """Return the words of a class name and its namespace; the first part is the application's and left out."""
    _, _, rest = full(node).partition("\\")
    return words(rest or node.name)
