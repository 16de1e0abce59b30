"""The ways in the code graph from the nodes in question to the places of the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ragstone.protocols import GraphReader
from ragstone.types import Link, Node, PathStep, Scope, Walked

Place = tuple[str, int]
Path = tuple[PathStep, ...]
_MAX_HOPS: Final = 4
_MAX_LINKS: Final = 2000


class EvidencePaths:
    """The shortest path to each node and place of an answer that a path was found to."""

    def __init__(self, starts: Sequence[str], nodes: Iterable[Node]) -> None:
        """Begin at the keys of the nodes in question, and at their files; paths may pass and end at `nodes`."""
        self._starts = starts
        self._to_node: dict[str, Path] = {key: (PathStep(key),) for key in starts}
        self._to_place: dict[Place, Path] = {}
        self._places = {node.key: (node.uri, node.line) for node in nodes}
        for key in starts:
            uri, _ = self._places.get(key, ("", 0))
            self._to_node.setdefault(f"file:{uri}", (PathStep(key),))

    def add_walked(self, walked: Iterable[Walked]) -> None:
        """Add the paths that were walked, each with the places on it."""
        for path in walked:
            key = path.nodes[0].key
            self._to_node.setdefault(key, (PathStep(key),))
            for link, node in zip(path.links, path.nodes[1:], strict=True):
                self._step(link, key, node.key)
                key = node.key

    def explore(self, graph: GraphReader, scope: Scope, places: Iterable[Place]) -> None:
        """Follow links between the known nodes, and links that are declared at these places."""
        wanted = set(places)
        edge = list(self._to_node)
        for _ in range(_MAX_HOPS):
            if not edge:
                return
            known = set(self._to_node)
            for link in graph.links(scope, edge, limit=_MAX_LINKS):
                self._follow(link, (link.source, link.target), wanted)
            for link in graph.links(scope, edge, back=True, limit=_MAX_LINKS):
                self._follow(link, (link.target, link.source), wanted)
            edge = [key for key in self._to_node if key not in known]

    def to_node(self, key: str) -> Path:
        """Return the path to a node; the node in question alone if no path is known."""
        return self._to_node.get(key) or self._start()

    def to_place(self, place: Place) -> Path:
        """Return the path to the node or the link at a place; the node in question alone if no path is known."""
        at_place = [
            path for key, path in self._to_node.items() if self._places.get(key) == place
        ]
        return min(at_place, key=len, default=self._to_place.get(place) or self._start())

    def _follow(self, link: Link, ends: tuple[str, str], wanted: set[Place]) -> None:
        start, end = ends
        is_wanted = end in self._places or (link.uri, link.line) in wanted
        if is_wanted and start in self._to_node:
            self._step(link, start, end)

    def _step(self, link: Link, start: str, end: str) -> None:
        """Add the path over a link from a node that a path is known to."""
        place = f"{link.uri}:{link.line}" if link.uri else ""
        path = (*self._to_node[start], PathStep(end, link.kind, place))
        self._to_node.setdefault(end, path)
        self._to_place.setdefault((link.uri, link.line), path)

    def _start(self) -> Path:
        return tuple(PathStep(key) for key in self._starts[:1])
