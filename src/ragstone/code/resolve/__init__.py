"""From what files say of themselves to what links them: by written types and imports, never by a name alone."""

from __future__ import annotations

from ragstone.code.resolve.index import Index, interface
from ragstone.code.resolve.layout import MANIFESTS
from ragstone.code.resolve.links import Linker
from ragstone.code.resolve.nodes import aliases_of, nodes_of
from ragstone.types import Graph
from ragstone.types.code import FileFacts

__all__ = ["MANIFESTS", "Index", "interface", "resolve"]


def resolve(facts: FileFacts, index: Index) -> Graph:
    """Return the nodes of one file, their other names, its links, and its uses of names that nothing decides.

    The index has to know the file as it is in these facts.
    """
    file = index.file(facts)
    links, unresolved = Linker(index, file).run()
    return Graph(nodes_of(file), links, aliases_of(file), unresolved)
