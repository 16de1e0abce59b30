"""What a caller wants retrieved, looked at before anything happens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ragstone.errors import InputError
from ragstone.types import Scope

MAX_TOP_K: Final = 1000
_KNOWN: Final = (
    *("source_types", "must_include_paths", "route_name", "controller_class", "table_name"),
    *("include_run_summaries", "min_score", "collection"),
)
RUNS: Final = frozenset({"run_summary", "file_change"})
"""Kinds of documents that tell of earlier runs."""


@dataclass(frozen=True, slots=True)
class Wish:
    """Everything that decides what a retrieval gives."""

    query: str
    scope: Scope
    top_k: int = 12
    source_types: tuple[str, ...] | None = None
    """Only chunks of these kinds of documents, or that hold nodes of these kinds: code, route, migration, model …"""
    must_include_paths: tuple[str, ...] = ()
    """Files, folders or patterns whose best chunks are among the result whatever else is."""
    route_name: str | None = None
    controller_class: str | None = None
    table_name: str | None = None
    include_run_summaries: bool = True
    min_score: float = 0.25

    @property
    def named(self) -> dict[str, str]:
        """Return the names given beside the query, by the word that says what each is."""
        given = {"route": self.route_name, "controller": self.controller_class, "table": self.table_name}
        return {what: name for what, name in given.items() if name is not None}


def wish(query: object, top_k: object, scope: Scope, options: dict[str, Any]) -> Wish:
    """Return what a caller asks for, or raise `InputError` for what makes no sense."""
    if not isinstance(query, str):
        raise InputError(f"a query is a string, not {type(query).__name__}", hint='retrieve("which code serves …?")')
    if not isinstance(top_k, int) or isinstance(top_k, bool) or top_k < 0:
        raise InputError(f"top_k is {top_k!r}", hint="give a number from 0 up")
    for name in options:
        if name not in _KNOWN:
            raise InputError(f"a retrieval has no option {name!r}", hint=f"the options are {', '.join(_KNOWN)}")
    least = options["min_score"]
    if not isinstance(least, int | float) or isinstance(least, bool) or math.isnan(least) or not 0 <= least <= 1:
        raise InputError(f"min_score is {least!r}", hint="give a number from 0 to 1")
    runs = options["include_run_summaries"]
    if not isinstance(runs, bool):
        raise InputError(f"include_run_summaries is {runs!r}", hint="use True or False")
    paths = _names("must_include_paths", options["must_include_paths"]) or ()
    wanted = min(top_k, MAX_TOP_K)
    if top_k and len(paths) > wanted:
        raise InputError(f"{len(paths)} paths must be included, and top_k is {top_k}", hint=f"top_k={len(paths)}")
    return Wish(
        query,
        scope,
        wanted,
        source_types=_names("source_types", options["source_types"]),
        must_include_paths=tuple(one.removeprefix("./").rstrip("/") or one for one in paths),
        route_name=_name("route_name", options["route_name"]),
        controller_class=_name("controller_class", options["controller_class"]),
        table_name=_name("table_name", options["table_name"]),
        include_run_summaries=runs,
        min_score=float(least),
    )


def _names(what: str, given: object) -> tuple[str, ...] | None:
    if given is None:
        return None
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InputError(f"{what} is a list of names, not {given!r}", hint=f'{what}=["routes/api.php"]')
    names = tuple(dict.fromkeys(_name(what, one) or "" for one in given))
    if not names and what == "source_types":
        raise InputError("source_types is empty: nothing could be found", hint="leave it out to look at all of them")
    return names


def _name(what: str, given: object) -> str | None:
    if given is None:
        return None
    if not isinstance(given, str) or not given.strip():
        raise InputError(f"{what} is {given!r}", hint="give a name")
    return given.strip()
