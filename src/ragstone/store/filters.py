"""Filters: a user's mapping becomes conditions, and conditions become SQL of fixed pieces and parameters.

Patterns, metadata and comparisons are decided by one Python function that SQLite calls. So values are compared as in
Python: numbers with numbers, text with text, and no value raises an error.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from operator import ge, gt, le, lt
from typing import Any, Final, cast, get_args

from ragstone.errors import InputError
from ragstone.store.codec import pack, unpack
from ragstone.text.globs import matches_path
from ragstone.types import Condition, Filter, Operator, Scalar, Value

FIELDS: Final = ("path", "kind", "language", "title")
META: Final = "meta."
OPERATORS: Final[tuple[str, ...]] = get_args(Operator)
MAX_CONDITIONS: Final = 64
_COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "gt": gt,
    "gte": ge,
    "lt": lt,
    "lte": le,
}

# The only SQL that a filter can become.
_IN_LIST: Final = {
    "kind": "d.kind IN (SELECT value FROM json_each(?))",
    "language": "d.language IN (SELECT value FROM json_each(?))",
}
_PASSES: Final = {
    "path": "ragstone_passes(?, d.uri)",
    "kind": "ragstone_passes(?, d.kind)",
    "language": "ragstone_passes(?, d.language)",
    "title": "ragstone_passes(?, d.title)",
    META: "ragstone_passes(?, d.metadata)",
}


@dataclass(frozen=True, slots=True)
class Where:
    """A piece of SQL about the document `d`, and its parameters."""

    sql: str
    parameters: tuple[str | bytes, ...]


# ── from a mapping to conditions ──────────────────────────────────────────────────────────────────


def parse(mapping: Mapping[str, Any] | None) -> Filter | None:
    """Return a user's mapping as a filter: `{"path": "docs/**", "kind": ["code", "doc"], "year": {"gte": 2020}}`."""
    if mapping is None:
        return None
    if not isinstance(mapping, Mapping):
        raise InputError(
            "a filter is a mapping from fields to values", hint='for example {"path": "docs/**"}'
        )
    conditions: list[Condition] = []
    for key, value in mapping.items():
        field = _field(key)
        if isinstance(value, Mapping):
            conditions += [
                _condition(field, operator, operand) for operator, operand in value.items()
            ]
        else:
            conditions.append(_condition(field, _default_operator(field, value), value))
    result = Filter(tuple(conditions))
    check(result)
    return result if conditions else None


def _field(key: object) -> str:
    """Return the field that a key names; a key that is no field names metadata."""
    if not isinstance(key, str) or not key.removeprefix(META):
        raise InputError(
            f"a filter's field is a name, not {key!r}",
            hint=f"known: {', '.join(FIELDS)}, meta.<key>",
        )
    return key if key in FIELDS or key.startswith(META) else META + key


def _default_operator(field: str, value: object) -> str:
    if field == "path":
        return "glob"
    return "in" if isinstance(value, list | tuple) else "eq"


def check(filter: Filter) -> None:
    """Raise `InputError` for a filter that makes no sense."""
    if len(filter.conditions) > MAX_CONDITIONS:
        raise InputError(
            f"a filter has at most {MAX_CONDITIONS} conditions", hint="use lists of values"
        )
    for condition in filter.conditions:
        if condition.field not in FIELDS and not condition.field.startswith(META):
            near = get_close_matches(condition.field, FIELDS, 1)
            hint = (
                f"did you mean {near[0]!r}?"
                if near
                else f"for metadata write {META + condition.field!r}"
            )
            raise InputError(f"a filter cannot look at {condition.field!r}", hint=hint)
        _condition(condition.field, condition.operator, condition.value)


def _condition(field: str, operator: object, value: object) -> Condition:
    """Return a condition, or raise `InputError` if the operator or the value makes no sense."""
    if operator not in OPERATORS:
        near = get_close_matches(str(operator), OPERATORS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(OPERATORS)}"
        raise InputError(f"a filter knows no operator {str(operator)[:80]!r}", hint=hint)
    values = _as_list(value)
    if not all(item is None or isinstance(item, str | int | float | bool) for item in values):
        raise InputError(
            f"a filter's value for {field!r} must be text, a number, true, false, null, or a list of these"
        )
    if operator == "exists" and not isinstance(value, bool):
        raise InputError(
            f"`exists` on {field!r} is true or false", hint='for example {"exists": true}'
        )
    if operator == "glob" and not all(isinstance(item, str) for item in values):
        raise InputError(f"a pattern for {field!r} is text", hint='for example "docs/**"')
    stored = tuple(value) if isinstance(value, list | tuple) else value
    return Condition(field, cast(Operator, operator), cast(Value, stored))


# ── from conditions to SQL ────────────────────────────────────────────────────────────────────────


def where(filter: Filter | None) -> Where:
    """Return the SQL that is true for documents `d` that pass; without conditions it is always true."""
    if filter is None or not filter.conditions:
        return Where("1", ())
    check(filter)
    pieces = [_condition_sql(condition) for condition in filter.conditions]
    parameters = tuple(parameter for _, parameter in pieces)
    return Where(" AND ".join(sql for sql, _ in pieces), parameters)


def _condition_sql(condition: Condition) -> tuple[str, str]:
    """Return the SQL of one condition and its parameter."""
    if condition.operator in ("eq", "in") and condition.field in _IN_LIST:
        texts = [item for item in _as_list(condition.value) if isinstance(item, str)]
        if all(isinstance(pack(item), str) for item in texts):
            return _IN_LIST[condition.field], json.dumps(texts)
    key = condition.field if condition.field in FIELDS else META
    return _PASSES[key], json.dumps([condition.field, condition.operator, condition.value])


def register(db: sqlite3.Connection) -> None:
    """Add the function that filters call to a connection."""
    db.create_function("ragstone_passes", 2, passes, deterministic=True)


# ── deciding a condition ──────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=16_384)
def passes(condition: str, stored: str | bytes) -> bool:
    """Return whether a stored column passes a condition; both are as in the database."""
    field, operator, operand = _load_condition(condition)
    if not field.startswith(META):
        return holds(operator, operand, [unpack(stored)])
    try:
        metadata = json.loads(unpack(stored))
    except ValueError:
        return False  # a damaged row, which `check` reports
    value = metadata.get(field[len(META) :]) if isinstance(metadata, dict) else None
    return holds(operator, operand, _as_list(value))


@lru_cache(maxsize=256)
def _load_condition(condition: str) -> tuple[str, str, Value]:
    field, operator, operand = json.loads(condition)
    return field, operator, operand


def holds(operator: str, operand: Value, values: Sequence[Scalar]) -> bool:
    """Return whether any of a field's values satisfies an operator; a missing field has the value None."""
    if operator == "exists":
        return any(value is not None for value in values) is bool(operand)
    if operator == "ne":
        return not _any_pair(_is_same, values, _as_list(operand))
    test = _TESTS.get(operator) or _comparison(_COMPARISONS[operator])
    return _any_pair(test, values, _as_list(operand))


def _any_pair(
    test: Callable[[Scalar, Scalar], bool], values: Sequence[Scalar], options: Sequence[Scalar]
) -> bool:
    for value in values:
        if any(test(value, option) for option in options):
            return True
    return False


def _is_same(value: Scalar, option: Scalar) -> bool:
    """Return whether two values are equal; None, true and false equal only themselves."""
    if value is None or option is None or isinstance(value, bool) or isinstance(option, bool):
        return value is option
    return value == option


def _matches(value: Scalar, option: Scalar) -> bool:
    return isinstance(value, str) and isinstance(option, str) and matches_path(option, value)


def _comparison(compare: Callable[[Any, Any], bool]) -> Callable[[Scalar, Scalar], bool]:
    """Return a test that compares numbers with numbers and texts with texts, and nothing else."""

    def test(value: Scalar, option: Scalar) -> bool:
        if isinstance(value, bool) or isinstance(option, bool):
            return False
        are_numbers = isinstance(value, int | float) and isinstance(option, int | float)
        are_texts = isinstance(value, str) and isinstance(option, str)
        return (are_numbers or are_texts) and compare(value, option)

    return test


_TESTS: Final[Mapping[str, Callable[[Scalar, Scalar], bool]]] = {
    "eq": _is_same,
    "in": _is_same,
    "glob": _matches,
}


def _as_list(value: Any) -> Sequence[Any]:  # noqa: ANN401 - any value of a user's mapping
    return value if isinstance(value, list | tuple) else [value]
