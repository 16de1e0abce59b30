"""What the graph says of a node: its links by kind, what hangs together with it, what depends on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from ragstone.code.impact import impact
from ragstone.protocols import DocumentReader
from ragstone.types import CONFIDENCES, Impact, Link, Node, Related, Scope, Story

MOST_LINKS: Final = 500
MOST_HOPS: Final = 4
_MOST_EVER: Final = 100_000
_MOST_AT_ONCE: Final = 5_000
_FIRST: Final = (
    *("HANDLED_BY", "GUARDED_BY", "VALIDATED_BY", "BINDS", "USES_MODEL", "RETURNS", "MAPS_TO", "RELATES", "CREATES"),
    *("ALTERS", "RENAMES", "DROPS", "FOREIGN_KEY", "PROTECTED_BY", "OBSERVED_BY", "LISTENS", "FIRES", "DISPATCHES"),
    *("AUTHORIZED_BY", "RUNS"),
    *("CONFIGURED_BY", "EXTENDS", "IMPLEMENTS", "USES_TRAIT", "CHANGED", "CALLS", "DESCRIBES", "MENTIONS"),
)
"""Kinds of links in the order they are told: what a framework makes of a thing before what merely calls it."""
_PLACE: Final = {kind: number for number, kind in enumerate(_FIRST)}


def story(store: DocumentReader, scope: Scope, node: Node, *, limit: int = MOST_LINKS) -> Story:
    """Return what is known of a node."""
    limit = min(limit, _MOST_EVER)
    scope = within(scope, node)
    out_of = store.graph.links(scope, [node.key], limit=limit + 1)
    into = store.graph.links(scope, [node.key], back=True, limit=limit + 1)
    more = len(out_of) > limit or len(into) > limit
    out_of, into = out_of[:limit], into[:limit]
    others = [link.target for link in out_of] + [link.source for link in into]
    known = {one.key: one for one in store.graph.nodes(scope, keys=others, limit=2 * limit)}
    unsure = [link.confidence for link in (*out_of, *into)]
    return Story(
        node,
        _grouped(out_of),
        _grouped(into),
        known,
        tuple(store.graph.unresolved(scope, sources=[node.key], limit=limit)),
        max(unsure, key=CONFIDENCES.index, default="declared"),
        more,
    )


def within(scope: Scope, node: Node) -> Scope:
    """Return the part of a scope that a node was found in: the same key may mean another thing elsewhere."""
    return replace(scope, collections=(node.collection,)) if node.collection else scope


def _grouped(links: Sequence[Link]) -> tuple[tuple[str, tuple[Link, ...]], ...]:
    ordered = sorted(links, key=lambda link: (_PLACE.get(link.kind, len(_PLACE)), link.kind))
    return tuple((kind, tuple(same)) for kind, same in groupby(ordered, key=lambda link: link.kind))


@dataclass(frozen=True, slots=True)
class Reach:
    """How far to look from a node: kinds of nodes (`table`) or of links (`MAPS_TO`), links in a row, results."""

    kinds: Sequence[str] = ()
    hops: int = 1
    limit: int = 50


def related(store: DocumentReader, scope: Scope, node: Node, reach: Reach) -> list[Related]:
    """Return what a node hangs together with, the nearest first, each by the first way that was found.

    What is written inside of it counts as itself: the routes of a controller are those of its methods.
    """
    scope = within(scope, node)
    along = [kind for kind in reach.kinds if kind.isupper()]
    wanted = [kind for kind in reach.kinds if not kind.isupper()]
    found: list[Related] = []
    edge = list(dict.fromkeys((node.key, *_members(store, scope, node))))
    seen: dict[str, tuple[Link, ...]] = dict.fromkeys(edge, ())
    for hop in range(1, reach.hops + 1):
        level = _beyond(store, scope, edge, along, seen)
        nodes = {one.key: one for one in store.graph.nodes(scope, keys=list(level), limit=len(level))}
        for key, links in level.items():
            seen[key] = links
            one = nodes.get(key) or _outside(key, scope)
            if not wanted or one.kind in wanted:
                found.append(Related(one, hop, links))
        edge = list(level)
        if len(found) >= reach.limit or not edge:
            break
    return found[: reach.limit]


def _beyond(
    store: DocumentReader, scope: Scope, edge: Sequence[str], along: Sequence[str], seen: dict[str, tuple[Link, ...]]
) -> dict[str, tuple[Link, ...]]:
    """Return what is one link further than the edge, with the links that lead there from the first node."""
    known = set(edge)
    forth = store.graph.links(scope, edge, kinds=along, limit=_MOST_AT_ONCE)
    back = store.graph.links(scope, edge, kinds=along, back=True, limit=_MOST_AT_ONCE)
    out_of = [(link, link.source, link.target) for link in forth]
    into = [(link, link.target, link.source) for link in back]
    level: dict[str, tuple[Link, ...]] = {}
    for link, here, there in sorted((*out_of, *into), key=lambda one: (_PLACE.get(one[0].kind, 99), one[0].order)):
        if there not in seen and there not in level and here in known:
            level[there] = (*seen[here], link)
    return level


def _outside(key: str, scope: Scope) -> Node:
    kind, _, name = key.partition(":")
    return Node(key, kind, name or key, collection=(scope.collections or ("",))[0])


def _members(store: DocumentReader, scope: Scope, node: Node) -> list[str]:
    """Return the keys of what is written inside of a node: all of a file, the methods of a class."""
    if not node.uri or node.kind in ("route", "table"):
        return []
    inside = store.graph.nodes(scope, uris=[node.uri], limit=10_000)
    whole = node.kind == "file"
    return [one.key for one in inside if whole or (node.line <= one.line and one.line_end <= node.line_end)]


def affected(store: DocumentReader, scope: Scope, node: Node) -> Impact:
    """Return what depends on a node and on what is written inside of it, by kind."""
    scope = within(scope, node)
    members = _members(store, scope, node)

    def kinds(keys: Sequence[str]) -> dict[str, str]:
        return {one.key: one.kind for one in store.graph.nodes(scope, keys=keys, limit=len(keys))}

    return impact(
        [node.key, *members],
        lambda keys: store.graph.links(scope, keys, back=True),
        out_of=lambda keys: store.graph.links(scope, keys),
        kinds=kinds,
    )
