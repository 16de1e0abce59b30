"""The request of a retrieval, checked before anything is searched."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ragstone.errors import InputError
from ragstone.types import RetrieveLimits, Scope

MAX_TOP_K: Final = 1000
RUN_KINDS: Final = frozenset({"run_summary", "file_change"})
"""Kinds of documents that record earlier runs."""
_OPTIONS: Final = (
    "source_types",
    "must_include_paths",
    "include_run_summaries",
    "min_score",
    "collection",
)


@dataclass(frozen=True, slots=True)
class RetrievalRequest:
    """Everything that decides the result of a retrieval."""

    query: str
    scope: Scope
    top_k: int = 12
    limits: RetrieveLimits = field(default_factory=RetrieveLimits)
    hints: Mapping[str, str] = field(default_factory=dict)
    """Names that the question is about, by option name; the question engine says which options it knows."""


def checked_request(request: RetrievalRequest, known_hints: Sequence[str]) -> RetrievalRequest:
    """Return the request with plain values, or raise `InputError` if an argument makes no sense."""
    query, top_k = request.query, request.top_k
    if not isinstance(query, str):
        raise InputError(
            f"a query is a string, not {type(query).__name__}",
            hint='retrieve("which code serves …?")',
        )
    if not isinstance(top_k, int) or isinstance(top_k, bool) or top_k < 0:
        raise InputError(f"top_k is {top_k!r}", hint="give a number from 0 up")
    limit = min(top_k, MAX_TOP_K)
    limits = request.limits
    paths = _names("must_include_paths", limits.must_include_paths) or ()
    if top_k and len(paths) > limit:
        raise InputError(
            f"{len(paths)} paths must be included, and top_k is {top_k}", hint=f"top_k={len(paths)}"
        )
    checked = RetrieveLimits(
        source_types=_source_types(limits.source_types),
        must_include_paths=tuple(_plain_path(path) for path in paths),
        include_run_summaries=_switch("include_run_summaries", limits.include_run_summaries),
        min_score=_score(limits.min_score),
    )
    return replace(request, top_k=limit, limits=checked, hints=_hints(request.hints, known_hints))


def _hints(hints: Mapping[str, object], known_hints: Sequence[str]) -> dict[str, str]:
    checked: dict[str, str] = {}
    for option, value in hints.items():
        if option not in known_hints:
            known = (*_OPTIONS, *known_hints)
            raise InputError(
                f"a retrieval has no option {option!r}", hint=f"the options are {', '.join(known)}"
            )
        if value is not None:
            checked[option] = _name(option, value)
    return checked


def _source_types(value: object) -> tuple[str, ...] | None:
    names = _names("source_types", value)
    if names == ():
        raise InputError(
            "source_types is empty: nothing could be found",
            hint="leave it out to look at all of them",
        )
    return names


def _names(option: str, value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InputError(
            f"{option} is a list of names, not {value!r}", hint=f'{option}=["routes/api.php"]'
        )
    names = [_name(option, name) for name in value]
    return tuple(dict.fromkeys(names))


def _name(option: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{option} is {value!r}", hint="give a name")
    return value.strip()


def _plain_path(path: str) -> str:
    """Return a path without a leading `./` and a trailing slash."""
    return path.removeprefix("./").rstrip("/") or path


def _switch(option: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{option} is {value!r}", hint="use True or False")
    return value


def _score(value: object) -> float:
    if (
        not isinstance(value, int | float)
        or isinstance(value, bool)
        or math.isnan(value)
        or not 0 <= value <= 1
    ):
        raise InputError(f"min_score is {value!r}", hint="give a number from 0 to 1")
    return float(value)
