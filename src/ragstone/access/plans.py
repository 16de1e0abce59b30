"""Plans: how much a project may store, and which options of a search it may use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ragstone.errors import ConfigError
from ragstone.types import NO_LIMITS, Limits

if TYPE_CHECKING:
    from ragstone.config import Settings
    from ragstone.protocols import DocumentStore

PLAN_NAMES: Final = ("free", "starter", "pro", "enterprise")
DEFAULT_PLAN: Final = "starter"
"""The plan of a project without a plan, or with an unknown one."""
FLAGS: Final = ("hybrid", "mmr", "compress")
"""Options of a search that a plan may or may not include."""
_COUNTS: Final = ("collections", "chunks", "turns")


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan with its limits and the options that it includes."""

    name: str
    limits: Limits = NO_LIMITS
    flags: frozenset[str] = frozenset(FLAGS)


def read_plan(name: str, entries: Sequence[str]) -> Plan:
    """Return a plan from its setting, such as `collections=1`, `chunks=100`, `hybrid`; no entry means no limit."""
    counts: dict[str, int] = {}
    flags: set[str] = set()
    for entry in entries:
        field, equals, value = entry.strip().partition("=")
        if field in FLAGS and not equals:
            flags.add(field)
        elif field in _COUNTS and value.isascii() and value.isdigit():
            counts[field] = int(value)
        else:
            raise ConfigError(
                f"plans.{name} has an entry {entry!r}",
                hint="use collections=N, chunks=N, turns=N, hybrid, mmr, compress",
            )
    return Plan(name, Limits(**counts), frozenset(flags))


class Plans:
    """Finds the plan of a project. A failing store is an error, not a plan without limits."""

    def __init__(self, settings: Settings) -> None:
        """Read all plans from the settings."""
        self._plans = {
            name: read_plan(name, getattr(settings.plans, name)) for name in PLAN_NAMES
        }

    def plan_of(self, store: DocumentStore, project: str) -> Plan:
        """Return the plan of a project; an unknown name is the default plan."""
        name = store.keys.plan(project) or DEFAULT_PLAN
        return self._plans.get(name, self._plans[DEFAULT_PLAN])
