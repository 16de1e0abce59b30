"""Resolves the facts of files to links, by written types and imports, never by equal names alone."""

from __future__ import annotations

from ragstone.code.resolve.index import ProjectIndex, interface
from ragstone.code.resolve.links import Linker
from ragstone.code.resolve.module_names import MANIFESTS
from ragstone.code.resolve.nodes import aliases_of, nodes_of
from ragstone.types import Graph
from ragstone.types.code import FileFacts

__all__ = ["MANIFESTS", "ProjectIndex", "interface", "resolve"]


def resolve(facts: FileFacts, index: ProjectIndex) -> Graph:
    """Return the nodes of one file with their aliases, its links, and its unresolved references.

    The index must contain the file with the same interface.
    """
    file = index.file(facts)
    links, unresolved = Linker(file).link_references()
    return Graph(nodes_of(file), links, aliases_of(file), unresolved)
