"""The picture of the code graph: its nodes and links, and their columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ragstone.engine import Engine
from ragstone.surfaces.present import Json
from ragstone.types import Link, Node

MAX_NODES: Final = 2000
COLUMNS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("Entry points", ("route", "api_endpoint", "command", "schedule", "component")),
    ("Handlers", ("controller_method", "controller", "view", "resource", "file")),
    ("Guards", ("middleware", "policy", "request", "rule", "interface", "trait")),
    (
        "Work",
        (
            "job",
            "event",
            "listener",
            "observer",
            "service",
            "notification",
            "mail",
            "provider",
            "class",
        ),
    ),
    ("Models", ("model", "model_relation", "serializer", "schema", "enum", "method")),
    ("Data", ("table", "migration", "column", "config", "function")),
)
"""The columns from left to right, in the direction of a request. A kind that is not listed is in the last one."""
FRAMEWORK_KINDS: Final = frozenset(
    "route api_endpoint controller_method middleware policy request job event listener observer model table".split()
)
"""Kinds that are shown at first, if the project has some of them."""
CODE_KINDS: Final = frozenset(("class", "interface", "trait", "enum", "function"))
"""Kinds that are shown at first in other projects."""


@dataclass(frozen=True, slots=True)
class KindCount:
    """A kind of nodes, how many there are, and whether the picture shows them."""

    kind: str
    count: int
    is_shown: bool


@dataclass(frozen=True, slots=True)
class GraphFrame:
    """The words around a picture: the kinds of the graph, and how many nodes it shows."""

    kinds: list[KindCount]
    node_count: int = 0
    left_out: int = 0
    """Nodes of the shown kinds that are not in the picture, because it would be too large."""


@dataclass(frozen=True, slots=True)
class GraphPicture:
    """The nodes and links of a picture."""

    frame: GraphFrame
    nodes: list[Node]
    links: list[Link]


def describe_picture(engine: Engine, kinds: Sequence[str] = ()) -> GraphFrame:
    """Return the frame of a picture; no link is read."""
    frame, _ = _select_nodes(engine, kinds)
    return frame


def draw_picture(engine: Engine, kinds: Sequence[str] = ()) -> GraphPicture:
    """Return the picture of some kinds of nodes; if none is named, of those that tell most about the project."""
    frame, selected = _select_nodes(engine, kinds)
    links = engine.graph.links(selected)
    in_picture = _most_linked(selected, links)
    keys = {node.key for node in in_picture}
    return GraphPicture(
        frame,
        sorted(in_picture, key=lambda node: (node.uri, node.line, node.key)),
        [link for link in links if keys.issuperset((link.source, link.target))],
    )


def _select_nodes(engine: Engine, kinds: Sequence[str]) -> tuple[GraphFrame, list[Node]]:
    """Return the frame, and the nodes of the chosen kinds."""
    nodes = engine.graph.nodes()
    counts = Counter(node.kind for node in nodes)
    chosen = frozenset(kinds) or _usual_kinds(counts)
    selected = [node for node in nodes if node.kind in chosen]
    rows = [KindCount(kind, count, kind in chosen) for kind, count in sorted(counts.items())]
    left_out = max(0, len(selected) - MAX_NODES)
    return GraphFrame(rows, len(selected) - left_out, left_out), selected


def _most_linked(nodes: list[Node], links: list[Link]) -> list[Node]:
    """Return the nodes with the most links, as many as a picture can have."""
    degrees: Counter[str] = Counter()
    for link in links:
        degrees.update((link.source, link.target))
    return sorted(nodes, key=lambda node: -degrees[node.key])[:MAX_NODES]


def picture_json(picture: GraphPicture) -> Json:
    """Return a picture as data for the script of the page; a link names its nodes by their number."""
    numbers = {node.key: number for number, node in enumerate(picture.nodes)}
    places = _column_numbers()
    nodes = [
        {
            "key": node.key,
            "kind": node.kind,
            "label": node_label(node),
            "place": node.place,
            "column": places.get(node.kind, len(COLUMNS) - 1),
        }
        for node in picture.nodes
    ]
    pairs = {(numbers[link.source], numbers[link.target]) for link in picture.links}
    return {
        "columns": [title for title, _ in COLUMNS],
        "nodes": nodes,
        "links": sorted(pair for pair in pairs if pair[0] != pair[1]),
        "link_count": len(picture.links),
        "left_out": picture.frame.left_out,
    }


def node_label(node: Node) -> str:
    """Return the name of a node as the picture shows it: a route by its method and path."""
    if node.kind in ("route", "api_endpoint") and node.signature:
        return node.signature
    return node.name or node.key


def _usual_kinds(counts: Counter[str]) -> frozenset[str]:
    if not FRAMEWORK_KINDS.isdisjoint(counts):
        return FRAMEWORK_KINDS
    return CODE_KINDS


def _column_numbers() -> dict[str, int]:
    places: dict[str, int] = {}
    for number, (_, kinds) in enumerate(COLUMNS):
        places.update(dict.fromkeys(kinds, number))
    return places
