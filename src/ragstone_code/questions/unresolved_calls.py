"""Calls that may be calls of a function, because the type of their receiver is not written."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from ragstone.types import Unresolved
from ragstone_code.questions.graph_query import MAX_NAMED, GraphQuery, Place, join_names

_MAX_CALLS: Final = 1000
_OUTSIDE: Final = "not in this project"
"""The reason of a call whose target is known to be other code; such a call proves something."""


def find_unresolved_calls(
    query: GraphQuery, names: Iterable[str], accept: Callable[[str], bool] | None = None
) -> list[Unresolved]:
    """Return the calls of these names without a known target, in all files or in those that `accept` takes."""
    calls: list[Unresolved] = []
    for name in dict.fromkeys(names):
        rows = query.store.graph.unresolved(query.scope, name=name, limit=_MAX_CALLS)
        calls += [
            row for row in rows if row.kind in ("CALLS", "call") and row.reason != _OUTSIDE
        ]
    if accept is not None:
        calls = [call for call in calls if accept(call.uri)]
    return sorted(calls, key=lambda call: (call.uri, call.line))


def unresolved_note(calls: Iterable[Unresolved]) -> str:
    """Return the end of a sentence about calls whose target is not certain; empty if there are none."""
    places = list(dict.fromkeys(f"{call.uri}:{call.line}" for call in calls))
    if not places:
        return ""
    count = "1 call of that name has"
    if len(places) > 1:
        count = f"{len(places)} calls of that name have"
    return f"; {count} no written receiver type ({join_names(places, MAX_NAMED)})"


def places_of_calls(calls: Iterable[Unresolved]) -> list[Place]:
    """Return the places of calls, each once."""
    return list(dict.fromkeys((call.uri, call.line) for call in calls))
