"""Finds the nodes that depend on a file or a symbol: follows links backwards, one hop after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from ragstone.types import CONFIDENCES, Affected, Impact, Link

FindLinks = Callable[[Sequence[str]], Iterable[Link]]
FindKinds = Callable[[Sequence[str]], Mapping[str, str]]

MAX_HOPS: Final = 6
MAX_AFFECTED: Final = 500
DEPENDENCIES: Final = frozenset(
    "CALLS EXTENDS IMPLEMENTS USES_TRAIT HANDLED_BY GUARDED_BY VALIDATED_BY BINDS RETURNS USES_MODEL MAPS_TO RELATES"
    " FOREIGN_KEY PROTECTED_BY OBSERVED_BY LISTENS FIRES DISPATCHES CONFIGURED_BY MENTIONS DESCRIBES".split()
)
"""Kinds of links whose source can break or change its behaviour if the target changes."""
SCHEMA_CHANGES: Final = frozenset(("CREATES", "ALTERS", "RENAMES", "DROPS"))
"""Kinds of links whose target changes with the source: a migration decides how its table looks."""
LAST_HOPS: Final = frozenset(("RELATES", "FOREIGN_KEY", "MENTIONS", "DESCRIBES"))
"""Kinds of links that are listed but not followed: in most applications they connect all models within few hops."""
KIND_ORDER: Final = (
    "route api_endpoint schedule channel command controller_method controller job listener observer middleware policy"
    " request resource event model table method function".split()
)
"""Kinds of nodes in the order of the answer, entry points of the program first."""


def find_impact(
    roots: Sequence[str],
    links_to: FindLinks,
    *,
    links_from: FindLinks | None = None,
    find_kinds: FindKinds | None = None,
    limit: int = MAX_AFFECTED,
) -> Impact:
    """Return the nodes that depend on any of the roots, by kind.

    `links_to` returns the links that lead to some keys. `links_from` returns the links that start there, for schema
    changes. `find_kinds` returns the kinds of nodes; without it the prefix of a key is its kind.
    """
    root_keys = tuple(dict.fromkeys(roots))
    affected: dict[str, Affected] = {}
    edge = {key: Affected(key, 0, ()) for key in root_keys}
    is_cut = False
    for hops in range(1, MAX_HOPS + 1):
        level = _next_level(edge, hops, links_to, links_from)
        new = _without(level, affected, root_keys)
        room = limit - len(affected)
        is_cut = len(new) > room
        ranked = sorted(new.values(), key=_rank)[:room]
        affected.update((node.key, node) for node in ranked)
        edge = {
            key: node
            for key, node in new.items()
            if key in affected and node.links[0].kind not in LAST_HOPS
        }
        if not edge or is_cut:
            break
    else:
        beyond = _next_level(edge, MAX_HOPS + 1, links_to, links_from)
        is_cut = bool(_without(beyond, affected, root_keys))
    return Impact(root_keys, _group_by_kind(affected, find_kinds), is_cut)


def _without(
    level: Mapping[str, Affected], affected: Mapping[str, Affected], roots: Sequence[str]
) -> dict[str, Affected]:
    """Return the nodes of a level that were not reached before."""
    known = {*affected, *roots}
    return {key: node for key, node in level.items() if key not in known}


def _next_level(
    edge: Mapping[str, Affected],
    hops: int,
    links_to: FindLinks,
    links_from: FindLinks | None,
) -> dict[str, Affected]:
    """Return the nodes one hop beyond the edge, each with its most certain path."""
    level: dict[str, Affected] = {}
    for key, dependency, link in _reached(tuple(edge), links_to, links_from):
        if dependency not in edge or key == dependency:
            continue
        node = Affected(key, hops, (link, *edge[dependency].links))
        if key not in level or _rank(node) < _rank(level[key]):
            level[key] = node
    return level


def _reached(
    keys: Sequence[str], links_to: FindLinks, links_from: FindLinks | None
) -> Iterable[tuple[str, str, Link]]:
    """Yield each node that depends on one of the keys, that key, and the link between them."""
    for link in links_to(keys):
        if link.kind in DEPENDENCIES:
            yield link.source, link.target, link
    if links_from is None:
        return
    for link in links_from(keys):
        if link.kind in SCHEMA_CHANGES:
            yield link.target, link.source, link


def _rank(node: Affected) -> tuple[object, ...]:
    """Return a sort key that puts near and certain nodes first, and keeps the order stable."""
    certainty = CONFIDENCES.index(node.confidence)
    place: tuple[object, ...] = ("", 0)
    if node.links:
        place = (node.links[0].uri, node.links[0].line)
    return (node.hops, node.conditional, certainty, node.key, *place)


def _group_by_kind(
    affected: Mapping[str, Affected], find_kinds: FindKinds | None
) -> tuple[tuple[str, tuple[Affected, ...]], ...]:
    """Return the nodes by kind, in the order of `KIND_ORDER`."""
    kinds = find_kinds(tuple(affected)) if find_kinds is not None else {}
    groups: dict[str, list[Affected]] = {}
    for key, node in affected.items():
        kind = kinds.get(key) or key.partition(":")[0]
        groups.setdefault(kind, []).append(node)
    order = {kind: number for number, kind in enumerate(KIND_ORDER)}
    names = sorted(groups, key=lambda kind: (order.get(kind, len(order)), kind))
    return tuple((kind, tuple(sorted(groups[kind], key=_rank))) for kind in names)
