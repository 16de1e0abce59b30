"""A graph that can be asked: its nodes by key, its links from and to each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from ragstone.types import Graph, Link, Node


class GraphIndex:
    """A graph with its links by both ends."""

    def __init__(self, graph: Graph) -> None:
        """Take the graph."""
        self._graph = graph

    @cached_property
    def nodes(self) -> dict[str, Node]:
        """Return the nodes by key; a framework's own counts before a plain one."""
        found: dict[str, Node] = {}
        for node in self._graph.nodes:
            there = found.get(node.key)
            if there is None or (node.framework and not there.framework):
                found[node.key] = node
        return found

    @cached_property
    def _after(self) -> dict[tuple[str, str], list[Link]]:
        """Return the links by where they start."""
        found = defaultdict(list)
        for link in self._graph.links:
            found[link.kind, link.source].append(link)
        return found

    @cached_property
    def _before(self) -> dict[tuple[str, str], list[Link]]:
        """Return the links by where they end."""
        found = defaultdict(list)
        for link in self._graph.links:
            found[link.kind, link.target].append(link)
        return found

    def links_from(self, kind: str, key: str) -> list[Link]:
        """Return the links of a kind that start at a node, in order."""
        return sorted(self._after.get((kind, key), ()), key=lambda link: link.order)

    def links_to(self, kind: str, key: str) -> list[Link]:
        """Return the links of a kind that end at a node."""
        return self._before.get((kind, key), [])

    def nodes_of(self, *kinds: str) -> Iterator[Node]:
        """Yield the nodes of these kinds."""
        return (node for node in self.nodes.values() if node.kind in kinds)
