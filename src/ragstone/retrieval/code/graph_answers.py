"""Answers from the graph about one node: its links, the nodes it is connected to, and the nodes that depend on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from ragstone.code.impact import find_impact
from ragstone.protocols import GraphReader
from ragstone.types import CONFIDENCES, Impact, Link, Node, Related, Scope, Story

MAX_LINKS: Final = 500
MAX_HOPS: Final = 4
_MAX_LISTED: Final = 100_000
_MAX_PER_HOP: Final = 5_000
_LINK_ORDER: Final = (
    "HANDLED_BY",
    "GUARDED_BY",
    "VALIDATED_BY",
    "BINDS",
    "USES_MODEL",
    "RETURNS",
    "MAPS_TO",
    "RELATES",
    "CREATES",
    "ALTERS",
    "RENAMES",
    "DROPS",
    "FOREIGN_KEY",
    "PROTECTED_BY",
    "OBSERVED_BY",
    "LISTENS",
    "FIRES",
    "DISPATCHES",
    "AUTHORIZED_BY",
    "RUNS",
    "CONFIGURED_BY",
    "EXTENDS",
    "IMPLEMENTS",
    "USES_TRAIT",
    "CHANGED",
    "CALLS",
    "DESCRIBES",
    "MENTIONS",
)
"""Kinds of links in the order they are listed: links of a framework come before plain calls."""
_LINK_RANK: Final = {kind: rank for rank, kind in enumerate(_LINK_ORDER)}


@dataclass(frozen=True, slots=True)
class Reach:
    """How far to look from a node: kinds of nodes (`table`) or links (`MAPS_TO`), hops, and results."""

    kinds: Sequence[str] = ()
    hops: int = 1
    limit: int = 50

    @property
    def link_kinds(self) -> list[str]:
        """Return the kinds of links to follow; all if empty."""
        return [kind for kind in self.kinds if kind.isupper()]

    @property
    def node_kinds(self) -> list[str]:
        """Return the kinds of nodes to return; all if empty."""
        return [kind for kind in self.kinds if not kind.isupper()]


def scope_of_node(scope: Scope, node: Node) -> Scope:
    """Return the part of a scope that a node is in: the same key may be another node elsewhere."""
    if not node.collection:
        return scope
    return Scope(scope.project, (node.collection,), scope.kind)


def node_story(
    graph: GraphReader, scope: Scope, node: Node, *, limit: int = MAX_LINKS
) -> Story:
    """Return everything that is known of a node, at most `limit` links each way."""
    limit = min(limit, _MAX_LISTED)
    scope = scope_of_node(scope, node)
    outgoing = graph.links(scope, [node.key], limit=limit + 1)
    incoming = graph.links(scope, [node.key], back=True, limit=limit + 1)
    has_more = len(outgoing) > limit or len(incoming) > limit
    outgoing = outgoing[:limit]
    incoming = incoming[:limit]
    targets = [link.target for link in outgoing]
    sources = [link.source for link in incoming]
    others = graph.nodes(scope, keys=[*targets, *sources], limit=2 * limit)
    unresolved = graph.unresolved(scope, sources=[node.key], limit=limit)
    confidences = [link.confidence for link in (*outgoing, *incoming)]
    return Story(
        node,
        _group_by_kind(outgoing),
        _group_by_kind(incoming),
        {other.key: other for other in others},
        tuple(unresolved),
        max(confidences, key=CONFIDENCES.index, default="declared"),
        has_more,
    )


def related_nodes(graph: GraphReader, scope: Scope, node: Node, reach: Reach) -> list[Related]:
    """Return the nodes that a node is connected to, nearest first, each by the first way that was found.

    The members of a node count as the node itself: the routes of a controller are those of its methods.
    """
    scope = scope_of_node(scope, node)
    node_kinds = reach.node_kinds
    related: list[Related] = []
    edge = list(dict.fromkeys((node.key, *_member_keys(graph, scope, node))))
    ways: dict[str, tuple[Link, ...]] = dict.fromkeys(edge, ())
    for hop in range(1, reach.hops + 1):
        next_ways = _next_hop(graph, scope, edge, reach.link_kinds, ways)
        ways.update(next_ways)
        edge = list(next_ways)
        targets = {
            target.key: target for target in graph.nodes(scope, keys=edge, limit=len(edge))
        }
        for key, links in next_ways.items():
            target = targets.get(key) or _external_node(key, scope)
            if not node_kinds or target.kind in node_kinds:
                related.append(Related(target, hop, links))
        if len(related) >= reach.limit or not edge:
            break
    return related[: reach.limit]


def impact_of(graph: GraphReader, scope: Scope, node: Node) -> Impact:
    """Return the nodes that depend on a node and its members.

    A route in the same file as the function that serves it depends on that function.
    """
    scope = scope_of_node(scope, node)
    members = _member_keys(graph, scope, node)
    served = {
        link.source
        for link in graph.links(scope, members, kinds=("HANDLED_BY",))
        if link.target in members and link.source.startswith("route:")
    }

    def kinds_of(keys: Sequence[str]) -> dict[str, str]:
        nodes = graph.nodes(scope, keys=keys, limit=len(keys))
        return {member.key: member.kind for member in nodes}

    return find_impact(
        [node.key, *(member for member in members if member not in served)],
        lambda keys: graph.links(scope, keys, back=True),
        links_from=lambda keys: graph.links(scope, keys),
        find_kinds=kinds_of,
    )


def _group_by_kind(links: Sequence[Link]) -> tuple[tuple[str, tuple[Link, ...]], ...]:
    ordered = sorted(links, key=lambda link: (_link_rank(link), link.kind))
    groups = groupby(ordered, key=lambda link: link.kind)
    return tuple((kind, tuple(group)) for kind, group in groups)


def _link_rank(link: Link) -> int:
    return _LINK_RANK.get(link.kind, len(_LINK_RANK))


def _next_hop(
    graph: GraphReader,
    scope: Scope,
    edge: Sequence[str],
    link_kinds: Sequence[str],
    ways: dict[str, tuple[Link, ...]],
) -> dict[str, tuple[Link, ...]]:
    """Return the keys one link further than the edge, with the links that lead there from the first node."""
    steps: list[tuple[Link, str, str]] = []
    for link in graph.links(scope, edge, kinds=link_kinds, limit=_MAX_PER_HOP):
        steps.append((link, link.source, link.target))
    for link in graph.links(scope, edge, kinds=link_kinds, back=True, limit=_MAX_PER_HOP):
        steps.append((link, link.target, link.source))
    steps.sort(key=lambda step: (_link_rank(step[0]), step[0].order))
    edge_keys = set(edge)
    next_ways: dict[str, tuple[Link, ...]] = {}
    for link, start, end in steps:
        if start in edge_keys and end not in ways and end not in next_ways:
            next_ways[end] = (*ways[start], link)
    return next_ways


def _external_node(key: str, scope: Scope) -> Node:
    """Return a node for a key that the graph only links to."""
    kind, _, name = key.partition(":")
    collection = scope.collections[0] if scope.collections else ""
    return Node(key, kind, name or key, collection=collection)


def _member_keys(graph: GraphReader, scope: Scope, node: Node) -> list[str]:
    """Return the keys of the nodes inside a node: everything in a file, the methods of a class."""
    if not node.uri or node.kind in ("route", "table"):
        return []
    nodes = graph.nodes(scope, uris=[node.uri], limit=10_000)
    if node.kind == "file":
        return [member.key for member in nodes]
    return [
        member.key
        for member in nodes
        if node.line <= member.line and member.line_end <= node.line_end
    ]
