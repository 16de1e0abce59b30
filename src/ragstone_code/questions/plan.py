"""Which way a question takes through the graph: typed paths from what is named to what is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

from ragstone.types import Step

MOST_HOPS: Final = 4

_LINKS: Final = (
    ("route", "HANDLED_BY", "method"),
    ("route", "GUARDED_BY", "middleware"),
    ("route", "BINDS", "model"),
    ("middleware", "HANDLED_BY", "class"),
    ("method", "VALIDATED_BY", "request"),
    ("method", "RETURNS", "resource"),
    ("method", "USES_MODEL", "model"),
    ("method", "FIRES", "event"),
    ("method", "DISPATCHES", "job"),
    ("method", "CALLS", "method"),
    ("model", "MAPS_TO", "table"),
    ("model", "RELATES", "model"),
    ("model", "PROTECTED_BY", "policy"),
    ("model", "OBSERVED_BY", "observer"),
    ("listener", "LISTENS", "event"),
    ("migration", "CREATES", "table"),
    ("migration", "ALTERS", "table"),
    ("migration", "RENAMES", "table"),
    ("migration", "DROPS", "table"),
    ("table", "FOREIGN_KEY", "table"),
    ("class", "EXTENDS", "class"),
    ("class", "IMPLEMENTS", "class"),
    ("class", "USES_TRAIT", "class"),
    ("class", "CONFIGURED_BY", "config"),
    ("change", "CHANGED", "class"),
)
"""What each link leads from and to. A class may stand for any of them, so these are roles and not kinds of nodes."""

ROLE: Final = {"controller_method": "method", "function": "method", "constructor": "method", "interface": "class",
               "trait": "class", "enum": "class"}  # fmt: skip


@cache
def paths(start: str, target: str, via: tuple[str, ...], back: bool | None = None) -> tuple[tuple[Step, ...], ...]:
    """Return the shortest paths from one role to another along these links: one for each kind of link that ends it.

    Between two of the same role, `back` says whether links are followed to what they lead to or to where they start.
    """
    start, target = ROLE.get(start, start), ROLE.get(target, target)
    found: dict[tuple[str, ...], tuple[Step, ...]] = {}
    level: list[tuple[str, tuple[Step, ...], frozenset[str]]] = [(start, (), frozenset({start}))]
    for _ in range(MOST_HOPS):
        following: list[tuple[str, tuple[Step, ...], frozenset[str]]] = []
        for role, steps, seen in level:
            for step, to in _hops(role, via):
                if back is not None and step.back != back:
                    continue
                if to == target:
                    found.setdefault(step.kinds, (*steps, step))
                elif to not in seen:
                    following.append((to, (*steps, step), seen | {to}))
        level = following
    return tuple(sorted(found.values(), key=len))


def _hops(role: str, via: Sequence[str]) -> Iterable[tuple[Step, str]]:
    """Yield the steps that leave a role, and the role each leads to; links between the same two are one step."""
    ways: dict[tuple[str, bool], list[str]] = {}
    for source, kind, target in _LINKS:
        if kind in via and source == role:
            ways.setdefault((target, False), []).append(kind)
        if kind in via and target == role:
            ways.setdefault((source, True), []).append(kind)
    return [(Step(tuple(kinds), back=back), to) for (to, back), kinds in ways.items()]
