"""What depends on a file or a symbol: links walked against their direction, level by level."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from ragstone.types import CONFIDENCES, Affected, Impact, Link

Linked = Callable[[Sequence[str]], Iterable[Link]]
Kinds = Callable[[Sequence[str]], Mapping[str, str]]

HOPS: Final = 6
MOST: Final = 500
DEPENDS: Final = frozenset(
    "CALLS EXTENDS IMPLEMENTS USES_TRAIT HANDLED_BY GUARDED_BY VALIDATED_BY BINDS RETURNS USES_MODEL MAPS_TO RELATES"
    " FOREIGN_KEY PROTECTED_BY OBSERVED_BY LISTENS FIRES DISPATCHES CONFIGURED_BY MENTIONS DESCRIBES".split()
)
"""Links whose source may behave otherwise, or is no longer right, when their target changes."""
MAKES: Final = frozenset(("CREATES", "ALTERS", "RENAMES", "DROPS"))
"""Links whose target changes with their source: a table is what its migrations make of it."""
LEAVES: Final = frozenset(("RELATES", "FOREIGN_KEY", "MENTIONS", "DESCRIBES"))
"""Links that are named and not gone beyond: in most applications every model is related to every other in a few."""
ORDER: Final = (
    *(
        "route",
        "api_endpoint",
        "schedule",
        "channel",
        "command",
        "controller_method",
        "controller",
        "job",
        "listener",
    ),
    *(
        "observer",
        "middleware",
        "policy",
        "request",
        "resource",
        "event",
        "model",
        "table",
        "method",
        "function",
    ),
)
"""Kinds in the order they are told: where a person meets the program first."""


def impact(
    roots: Sequence[str],
    into: Linked,
    *,
    out_of: Linked | None = None,
    kinds: Kinds | None = None,
    most: int = MOST,
) -> Impact:
    """Return what depends on any of the roots, by kind.

    `into` gives the links that lead to any of some keys, `out_of` those that lead away (for what migrations make),
    `kinds` the kinds of nodes; without it the first word of a key counts.
    """
    asked = tuple(dict.fromkeys(roots))
    found: dict[str, Affected] = {}
    edge: dict[str, Affected] = {key: Affected(key, 0, ()) for key in asked}
    more = False
    for hops in range(1, HOPS + 1):
        level = _level(edge, hops, _reached(tuple(edge), into, out_of))
        fresh = {key: one for key, one in level.items() if key not in found and key not in asked}
        room = most - len(found)
        more = more or len(fresh) > room
        found.update(sorted(fresh.items(), key=lambda item: _rank(item[1]))[:room])
        edge = {
            key: one
            for key, one in fresh.items()
            if key in found and one.links[0].kind not in LEAVES
        }
        if not edge or more:
            break
    else:
        more = bool(
            _level(edge, 0, _reached(tuple(edge), into, out_of)).keys() - found.keys() - set(asked)
        )
    return Impact(asked, _grouped(found, kinds), more)


def _reached(
    keys: Sequence[str], into: Linked, out_of: Linked | None
) -> Iterable[tuple[str, str, Link]]:
    """Yield what depends on any of the keys, which one, and the link that says so."""
    for link in into(keys):
        if link.kind in DEPENDS:
            yield link.source, link.target, link
    for link in out_of(keys) if out_of is not None else ():
        if link.kind in MAKES:
            yield link.target, link.source, link


def _level(
    edge: Mapping[str, Affected], hops: int, reached: Iterable[tuple[str, str, Link]]
) -> dict[str, Affected]:
    """Return what is one hop beyond the edge, each by the surest way there."""
    level: dict[str, Affected] = {}
    for key, by, link in reached:
        if by not in edge or key == by:
            continue
        one = Affected(key, hops, (link, *edge[by].links))
        if key not in level or _rank(one) < _rank(level[key]):
            level[key] = one
    return level


def _rank(one: Affected) -> tuple[object, ...]:
    """Return what sorts the surest first, and alike ones the same way each time."""
    first = one.links[0] if one.links else None
    where = (first.uri, first.line) if first else ("", 0)
    return (one.hops, one.conditional, CONFIDENCES.index(one.confidence), one.key, *where)


def _grouped(
    found: Mapping[str, Affected], kinds: Kinds | None
) -> tuple[tuple[str, tuple[Affected, ...]], ...]:
    """Return what was found by kind, in the order that kinds are told."""
    known = kinds(tuple(found)) if kinds is not None else {}
    groups: dict[str, list[Affected]] = {}
    for key, one in found.items():
        groups.setdefault(known.get(key) or key.partition(":")[0], []).append(one)
    place = {kind: number for number, kind in enumerate(ORDER)}
    names = sorted(groups, key=lambda kind: (place.get(kind, len(place)), kind))
    return tuple((kind, tuple(sorted(groups[kind], key=_rank))) for kind in names)
