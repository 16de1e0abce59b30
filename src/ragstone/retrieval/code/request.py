"""The request of a retrieval, checked before anything is searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ragstone.config.validation import HIT_RANGE, SCORE_RANGE, check_number
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
_EXAMPLES: Final = {"source_types": "route", "must_include_paths": "docs/adr"}


@dataclass(frozen=True, slots=True)
class RetrievalRequest:
    """Everything that decides the result of a retrieval."""

    query: str
    scope: Scope
    top_k: int = 12
    limits: RetrieveLimits = field(default_factory=RetrieveLimits)
    hints: Mapping[str, str] = field(default_factory=dict)
    """Names that the question is about, by option name; the question engine says which options it knows."""

    @property
    def search_query(self) -> str:
        """Return the query with the names of the hints that it does not have."""
        names = [name for name in self.hints.values() if name not in self.query]
        return " ".join((self.query, *names))


def checked_request(request: RetrievalRequest, known_hints: Sequence[str]) -> RetrievalRequest:
    """Return the request with plain values, or raise `InputError` if an argument makes no sense."""
    query, top_k = request.query, request.top_k
    if not isinstance(query, str):
        message = f"a query is a string, not {type(query).__name__}"
        raise InputError(message, hint='retrieve("which code serves …?")')
    check_number("top_k", top_k, HIT_RANGE)
    limit = min(top_k, MAX_TOP_K)
    limits = request.limits
    paths = _names("must_include_paths", limits.must_include_paths) or ()
    if top_k and len(paths) > limit:
        message = f"{len(paths)} paths must be included, and top_k is {top_k}"
        raise InputError(message, hint=f"top_k={len(paths)}")
    check_number("min_score", limits.min_score, SCORE_RANGE)
    checked = RetrieveLimits(
        source_types=_source_types(limits.source_types),
        must_include_paths=tuple(_plain_path(path) for path in paths),
        include_run_summaries=_switch("include_run_summaries", limits.include_run_summaries),
        min_score=float(limits.min_score),
    )
    return replace(
        request, top_k=limit, limits=checked, hints=_hints(request.hints, known_hints)
    )


def _hints(hints: Mapping[str, object], known_hints: Sequence[str]) -> dict[str, str]:
    checked: dict[str, str] = {}
    for option, value in hints.items():
        if option not in known_hints:
            options = ", ".join((*_OPTIONS, *known_hints))
            message = f"a retrieval has no option {option!r}"
            raise InputError(message, hint=f"the options are {options}")
        if value is not None:
            checked[option] = _name(option, value)
    return checked


def _source_types(value: object) -> tuple[str, ...] | None:
    names = _names("source_types", value)
    if names == ():
        hint = "leave it out to look at all of them"
        raise InputError("source_types is empty: nothing could be found", hint=hint)
    return names


def _names(option: str, value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    if isinstance(value, str) or not isinstance(value, Sequence):
        message = f"{option} is a list of names, not {value!r}"
        raise InputError(message, hint=f"{option}=[{_EXAMPLES[option]!r}]")
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
