"""The paths that a question takes through the graph: typed steps from the named node to the answer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from ragstone.types import Step

MAX_STEPS: Final = 4

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
    ("method", "AUTHORIZED_BY", "ability"),
    ("route", "AUTHORIZED_BY", "ability"),
    ("schedule", "RUNS", "command"),
    ("schedule", "DISPATCHES", "job"),
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
    ("run_summary", "CHANGED", "change"),
)
"""Source role, kind and target role of each link. A role is not a node kind: a class can have any of them."""

_ROLES: Final = {
    "controller_method": "method",
    "function": "method",
    "constructor": "method",
    "interface": "class",
    "trait": "class",
    "enum": "class",
}
"""The role of node kinds that have another name than their role."""


@cache
def find_paths(
    start: str, target: str, link_kinds: tuple[str, ...], back: bool | None = None
) -> tuple[tuple[Step, ...], ...]:
    """Return the shortest paths between two roles over these links: one path for each kind of last link.

    `back` selects the direction of links between nodes of one role: true goes from target to source.
    """
    start, target = _ROLES.get(start, start), _ROLES.get(target, target)
    paths: dict[tuple[str, ...], tuple[Step, ...]] = {}
    level: list[tuple[str, tuple[Step, ...], frozenset[str]]] = [
        (start, (), frozenset({start}))
    ]
    for _ in range(MAX_STEPS):
        next_level: list[tuple[str, tuple[Step, ...], frozenset[str]]] = []
        for role, steps, seen in level:
            for step, next_role in _steps_from(role, link_kinds, back):
                if next_role == target:
                    paths.setdefault(step.kinds, (*steps, step))
                elif next_role not in seen:
                    next_level.append((next_role, (*steps, step), seen | {next_role}))
        level = next_level
    return tuple(sorted(paths.values(), key=len))


def _steps_from(
    role: str, link_kinds: Sequence[str], back: bool | None
) -> list[tuple[Step, str]]:
    """Return the steps that leave a role, with the role each leads to; links between the same roles are one step."""
    kinds_by_direction: dict[tuple[str, bool], list[str]] = {}
    for source, kind, target in _LINKS:
        if kind not in link_kinds:
            continue
        if source == role:
            kinds_by_direction.setdefault((target, False), []).append(kind)
        if target == role:
            kinds_by_direction.setdefault((source, True), []).append(kind)
    steps = [
        (Step(tuple(kinds), back=is_back), next_role)
        for (next_role, is_back), kinds in kinds_by_direction.items()
    ]
    if back is None:
        return steps
    return [(step, next_role) for step, next_role in steps if step.back == back]
