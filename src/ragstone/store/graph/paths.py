"""Links and paths of the code graph, for every store. No SQL: a store gives the nodes and links of one collection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Protocol

from ragstone import types
from ragstone.errors import InputError
from ragstone.store.fetch import row_limit
from ragstone.store.graph.rows import outside_node

_MOST_STEPS: Final = 8
ALL_LINKS: Final = 1 << 31


class CollectionGraph(Protocol):
    """The graph of one collection, while its transaction is open."""

    @property
    def name(self) -> str:
        """Return the name of the collection."""

    def node(self, key: str) -> types.Node | None:
        """Return the node of a key, or None."""

    def links(self, key: str, step: types.Step, limit: int = ALL_LINKS) -> list[types.Link]:
        """Return the links that a step follows from a node, by kind, in their order."""


def find_links(
    graphs: Iterable[CollectionGraph], keys: Sequence[str], step: types.Step, limit: int
) -> list[types.Link]:
    """Return the links of these nodes in all collections, by key."""
    links: list[types.Link] = []
    for graph in graphs:
        for key in dict.fromkeys(keys):
            links += graph.links(key, step, row_limit(limit) - len(links))
    return links


def find_paths(
    graphs: Iterable[CollectionGraph], anchors: Sequence[str], steps: Sequence[types.Step]
) -> Iterator[types.Walked]:
    """Return the paths from the anchors along all of the steps; `InputError` if the steps are too many."""
    if len(steps) > _MOST_STEPS:
        raise InputError(
            f"a path has at most {_MOST_STEPS} steps", hint="ask for the parts of it"
        )
    return _all_paths(graphs, anchors, steps)


def _all_paths(
    graphs: Iterable[CollectionGraph], anchors: Sequence[str], steps: Sequence[types.Step]
) -> Iterator[types.Walked]:
    for graph in graphs:
        walker = _PathWalker(graph)
        for anchor in dict.fromkeys(anchors):
            if steps or walker.stored_node(anchor):
                yield from walker.paths(anchor, steps)


class _PathWalker:
    """Follows links inside of one collection; links and nodes are read once."""

    def __init__(self, graph: CollectionGraph) -> None:
        self._graph = graph
        self._nodes: dict[str, types.Node | None] = {}
        self._links: dict[tuple[str, types.Step], list[types.Link]] = {}

    def paths(self, anchor: str, steps: Sequence[types.Step]) -> Iterator[types.Walked]:
        """Yield every path from a node along all of the steps, in the order of the links."""
        for keys, path in self._continue([anchor], [], steps):
            nodes = tuple(self._node(key) for key in keys)
            yield types.Walked(nodes, tuple(path))

    def stored_node(self, key: str) -> types.Node | None:
        """Return the node of a key, or None."""
        if key not in self._nodes:
            self._nodes[key] = self._graph.node(key)
        return self._nodes[key]

    def _continue(
        self, visited: list[str], path: list[types.Link], steps: Sequence[types.Step]
    ) -> Iterator[tuple[list[str], list[types.Link]]]:
        """Yield the keys and links of every path that begins with a path and follows the steps after it."""
        if not steps:
            yield visited, path
            return
        step, *later_steps = steps
        for link in self._links_of(visited[-1], step):
            key = link.source if step.back else link.target
            if key in visited:
                continue
            if not step.to or self._node(key).kind in step.to:
                yield from self._continue([*visited, key], [*path, link], later_steps)

    def _node(self, key: str) -> types.Node:
        return self.stored_node(key) or outside_node(key, self._graph.name)

    def _links_of(self, key: str, step: types.Step) -> list[types.Link]:
        if (key, step) not in self._links:
            self._links[key, step] = self._graph.links(key, step)
        return self._links[key, step]
