"""The picture of the code graph: its nodes and links, and their columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from ragstone.engine import Engine
from ragstone.surfaces.present import Json
from ragstone.types import Link, Node

MAX_NODES: Final = 2000
Column = tuple[str, tuple[str, ...]]
"""The title of a column and its kinds."""
COLUMNS: Final[tuple[Column, ...]] = (
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
CODE_COLUMNS: Final[tuple[Column, ...]] = (
    ("Files", ("file",)),
    ("Types", ("class", "interface", "trait", "enum")),
    ("Methods", ("method",)),
    ("Functions", ("function",)),
    ("Others", ()),
)
"""The columns of a project without a framework."""
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
    has_framework: bool = False

    @property
    def arrangement(self) -> Literal["kind", "file"]:
        """Return how the nodes are arranged at first: a request runs through kinds, other code is read by files."""
        return "kind" if self.has_framework else "file"

    @property
    def shown_kinds(self) -> list[str]:
        """Return the kinds that the picture shows."""
        return [entry.kind for entry in self.kinds if entry.is_shown]


@dataclass(frozen=True, slots=True)
class GraphPicture:
    """The nodes and links of a picture."""

    frame: GraphFrame
    nodes: list[Node]
    links: list[Link]


def describe_picture(engine: Engine, kinds: Sequence[str] = ()) -> GraphFrame:
    """Return the frame of a picture; no node is read."""
    counts = engine.graph.count_kinds()
    chosen = frozenset(kinds) or _usual_kinds(counts)
    rows = [KindCount(kind, count, kind in chosen) for kind, count in counts.items()]
    selected = sum(row.count for row in rows if row.is_shown)
    left_out = max(0, selected - MAX_NODES)
    has_framework = not FRAMEWORK_KINDS.isdisjoint(counts)
    return GraphFrame(rows, selected - left_out, left_out, has_framework)


def draw_picture(engine: Engine, kinds: Sequence[str] = ()) -> GraphPicture:
    """Return the picture of some kinds of nodes; if none is named, of those that tell most about the project."""
    frame = describe_picture(engine, kinds)
    nodes = engine.graph.most_linked(frame.shown_kinds, MAX_NODES)
    return GraphPicture(frame, nodes, engine.graph.links(nodes))


def picture_json(picture: GraphPicture) -> Json:
    """Return a picture as data for the script of the page; a link names its nodes by their number."""
    numbers = {node.key: number for number, node in enumerate(picture.nodes)}
    columns = COLUMNS if picture.frame.has_framework else CODE_COLUMNS
    places = _column_numbers(columns)
    nodes = [
        {
            "key": node.key,
            "kind": node.kind,
            "label": node_label(node),
            "place": node.place,
            "file": node.uri,
            "column": places.get(node.kind, len(columns) - 1),
        }
        for node in picture.nodes
    ]
    pairs = {(numbers[link.source], numbers[link.target]) for link in picture.links}
    return {
        "columns": [title for title, _ in columns],
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


def _usual_kinds(counts: Mapping[str, int]) -> frozenset[str]:
    if not FRAMEWORK_KINDS.isdisjoint(counts):
        return FRAMEWORK_KINDS
    return CODE_KINDS


def _column_numbers(columns: Sequence[Column]) -> dict[str, int]:
    places: dict[str, int] = {}
    for number, (_, kinds) in enumerate(columns):
        places.update(dict.fromkeys(kinds, number))
    return places
