"""Filters: from a user's mapping to conditions, and from conditions to SQL made of fixed pieces and parameters.

What needs more than SQL's equality (patterns, metadata, comparisons) is decided by one Python function that SQLite
calls, so that every value is compared as Python would: numbers with numbers, text with text, no error for anything.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
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
_ORDER: Final[Mapping[str, Callable[[Any, Any], bool]]] = {"gt": gt, "gte": ge, "lt": lt, "lte": le}
_FUNCTION: Final = "ragstone_passes"

# The only SQL a filter can become.
_IN_KIND: Final = "d.kind IN (SELECT value FROM json_each(?))"
_IN_LANGUAGE: Final = "d.language IN (SELECT value FROM json_each(?))"
_QUICK: Final = {"kind": _IN_KIND, "language": _IN_LANGUAGE}
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


def parse(mapping: Mapping[str, Any] | None) -> Filter | None:
    """Return a user's mapping as a filter: `{"path": "docs/**", "kind": ["code", "doc"], "year": {"gte": 2020}}`."""
    if mapping is None:
        return None
    if not isinstance(mapping, Mapping):
        raise InputError("a filter is a mapping from fields to values", hint='for example {"path": "docs/**"}')
    conditions: list[Condition] = []
    for key, wanted in mapping.items():
        if not isinstance(key, str) or not key.removeprefix(META):
            raise InputError(f"a filter's field is a name, not {key!r}", hint=f"known: {', '.join(FIELDS)}, meta.<key>")
        field = key if key in FIELDS or key.startswith(META) else META + key
        if isinstance(wanted, Mapping):
            conditions += [_condition(field, operator, value) for operator, value in wanted.items()]
        else:
            operator = "glob" if field == "path" else "in" if isinstance(wanted, list | tuple) else "eq"
            conditions.append(_condition(field, operator, wanted))
    result = Filter(tuple(conditions))
    check(result)
    return result if conditions else None


def check(filter: Filter) -> None:
    """Raise `InputError` for a filter that makes no sense."""
    if len(filter.conditions) > MAX_CONDITIONS:
        raise InputError(f"a filter has at most {MAX_CONDITIONS} conditions", hint="use lists of values")
    for condition in filter.conditions:
        if condition.field not in FIELDS and not condition.field.startswith(META):
            near = get_close_matches(condition.field, FIELDS, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"for metadata write {META + condition.field!r}"
            raise InputError(f"a filter cannot look at {condition.field!r}", hint=hint)
        _condition(condition.field, condition.operator, condition.value)


def where(filter: Filter | None) -> Where:
    """Return the SQL that holds for documents `d` that pass; one that always holds for no filter."""
    if filter is None or not filter.conditions:
        return Where("1", ())
    check(filter)
    parts = [_where_one(condition) for condition in filter.conditions]
    return Where(" AND ".join(part.sql for part in parts), tuple(p for part in parts for p in part.parameters))


def register(db: sqlite3.Connection) -> None:
    """Teach a connection the function that filters call."""
    db.create_function(_FUNCTION, 2, passes, deterministic=True)


@lru_cache(maxsize=16_384)
def passes(condition: str, stored: str | bytes) -> bool:
    """Return whether a stored column passes a condition, both as the database holds them."""
    field, operator, wanted = _loaded(condition)
    if not field.startswith(META):
        return holds(operator, wanted, [unpack(stored)])
    try:
        metadata = json.loads(unpack(stored))
    except ValueError:
        return False  # a damaged row; `check` finds it
    value = metadata.get(field[len(META) :]) if isinstance(metadata, dict) else None
    return holds(operator, wanted, value if isinstance(value, list) else [value])


def holds(operator: str, wanted: Value, values: list[Scalar]) -> bool:
    """Return whether any of a field's values satisfies an operator; a missing field has the value None."""
    options = list(wanted) if isinstance(wanted, list | tuple) else [wanted]
    if operator in ("eq", "in"):
        return any(_same(value, option) for value in values for option in options)
    if operator == "ne":
        return not any(_same(value, option) for value in values for option in options)
    if operator == "exists":
        return any(value is not None for value in values) is bool(wanted)
    if operator == "glob":
        texts = [value for value in values if isinstance(value, str)]
        return any(matches_path(option, text) for text in texts for option in options if isinstance(option, str))
    compare = _ORDER[operator]
    return any(_comparable(value, option) and compare(value, option) for value in values for option in options)


def _same(value: Scalar, option: Scalar) -> bool:
    if value is None or option is None:
        return value is option
    if isinstance(value, bool) or isinstance(option, bool):
        return value is option
    return value == option


def _comparable(value: Scalar, option: Scalar) -> bool:
    if isinstance(value, bool) or isinstance(option, bool):
        return False
    numbers = isinstance(value, int | float) and isinstance(option, int | float)
    return numbers or (isinstance(value, str) and isinstance(option, str))


def _condition(field: str, operator: object, value: object) -> Condition:
    if operator not in OPERATORS:
        near = get_close_matches(str(operator), OPERATORS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(OPERATORS)}"
        raise InputError(f"a filter knows no operator {str(operator)[:80]!r}", hint=hint)
    values = value if isinstance(value, list | tuple) else [value]
    if not all(item is None or isinstance(item, str | int | float | bool) for item in values):
        raise InputError(
            f"a filter's value for {field!r} must be text, a number, true, false, null, or a list of these"
        )
    if operator == "exists" and not isinstance(value, bool):
        raise InputError(f"`exists` on {field!r} is true or false", hint='for example {"exists": true}')
    if operator == "glob" and not all(isinstance(item, str) for item in values):
        raise InputError(f"a pattern for {field!r} is text", hint='for example "docs/**"')
    settled = tuple(value) if isinstance(value, list | tuple) else value
    return Condition(field, cast(Operator, operator), cast(Value, settled))


def _where_one(condition: Condition) -> Where:
    wanted = condition.value if isinstance(condition.value, list | tuple) else (condition.value,)
    if condition.operator in ("eq", "in") and condition.field in _QUICK:
        texts = [item for item in wanted if isinstance(item, str)]
        if all(isinstance(pack(item), str) for item in texts):
            return Where(_QUICK[condition.field], (json.dumps(texts),))
    key = condition.field if condition.field in FIELDS else META
    return Where(_PASSES[key], (json.dumps([condition.field, condition.operator, condition.value]),))


@lru_cache(maxsize=256)
def _loaded(condition: str) -> tuple[str, str, Value]:
    field, operator, wanted = json.loads(condition)
    return field, operator, wanted
