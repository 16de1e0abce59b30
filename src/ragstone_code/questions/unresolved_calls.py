"""Calls that may be calls of a function, because the type of their receiver is not written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from typing import Final

from ragstone.code.file_languages import language_of
from ragstone.code.resolve.entities import FAMILIES, OUTSIDE
from ragstone.types import Unresolved
from ragstone_code.questions.graph_query import MAX_NAMED, GraphQuery, Place, join_names

_CALL_KINDS: Final = ("CALLS", "call")
"""Kinds of unresolved references that are calls."""
_MAX_CALLS: Final = 1000


def find_unresolved_calls(
    query: GraphQuery, names: Iterable[str], accept: Callable[[str], bool] | None = None
) -> list[Unresolved]:
    """Return the calls of these names without a known target, in the files whose language can call the node.

    `accept` selects among these files.
    """
    families = {_family_of(node.uri) for node in query.anchor.nodes}
    calls: list[Unresolved] = []
    for name in dict.fromkeys(names):
        rows = query.store.graph.unresolved(query.scope, name=name, limit=_MAX_CALLS)
        calls += [row for row in rows if _can_call(row, families)]
    if accept is not None:
        calls = [call for call in calls if accept(call.uri)]
    return sorted(calls, key=lambda call: (call.uri, call.line))


def is_possible_call(row: Unresolved) -> bool:
    """Return whether a reference is a call of code that may be in this project."""
    return row.kind in _CALL_KINDS and row.reason != OUTSIDE.reason


def _can_call(row: Unresolved, families: Set[str]) -> bool:
    """Return whether a reference is a call that can reach code of some families of languages."""
    if not is_possible_call(row):
        return False
    family = _family_of(row.uri)
    return not family or family in families  # a template of a script has no language here


def _family_of(uri: str) -> str:
    """Return the family of languages of a file; those of a family can import each other."""
    language = language_of(uri)
    return FAMILIES.get(language, language)


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
