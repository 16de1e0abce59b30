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
from itertools import product
from operator import ge, gt, le, lt
from pathlib import Path
from typing import Any, Final, get_args

from ragstone.errors import InputError
from ragstone.store.codec import pack, unpack
from ragstone.text.globs import matches_path, readable_pattern
from ragstone.types import Condition, Filter, Operator, Scalar, Value
from ragstone.types.documents import kinds_of_documents

FIELDS: Final = ("path", "kind", "language", "title")
META: Final = "meta."
OPERATORS: Final[tuple[str, ...]] = get_args(Operator)
MAX_CONDITIONS: Final = 64
_MAX_DESCRIPTION: Final = 200
_KIND_OPERATORS: Final = ("eq", "in", "ne")
Test = Callable[[Scalar, Scalar], bool]
"""Compares a value of a document with a value of the filter."""

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


def describe_filters(mapping: Mapping[str, object]) -> str:
    """Return the filters of a search in words: `path=docs/*, kind=adr`."""
    parts = []
    for key, value in mapping.items():
        values = value if isinstance(value, list) else [value]
        texts = map(str, values)
        if key == "path":
            texts = map(readable_pattern, texts)
        parts.append(f"{key}={'|'.join(texts)}")
    return ", ".join(parts)[:_MAX_DESCRIPTION]


def parse(mapping: Mapping[str, object] | None, base: Path | None = None) -> Filter | None:
    """Return a user's mapping as a filter: `{"path": "docs/**", "kind": ["code", "doc"], "year": {"gte": 2020}}`.

    With the base folder of the documents, an absolute path below it names its documents.
    """
    if mapping is None:
        return None
    if not isinstance(mapping, Mapping):
        raise InputError(
            "a filter is a mapping from fields to values",
            hint='for example {"path": "docs/**"}',
        )
    conditions = []
    for key, value in mapping.items():
        field = _field(key)
        for operator, operand in _operands(field, value).items():
            if field == "path" and base is not None:
                operand = _from_base(operand, base)
            stored = tuple(operand) if isinstance(operand, list) else operand
            conditions.append(_with_members(Condition(field, operator, stored)))
    if not conditions:
        return None
    result = Filter(tuple(conditions))
    check(result)
    return result


def _from_base(operand: object, base: Path) -> object:
    """Return patterns of which those with an absolute path below the base folder begin there."""
    if isinstance(operand, list):
        return [_from_base(pattern, base) for pattern in operand]
    for folder in (base, base.resolve()):
        prefix = f"{folder.as_posix().rstrip('/')}/"
        if isinstance(operand, str) and operand.startswith(prefix):
            return "/" + (operand.removeprefix(prefix) or "**")
    return operand


def _with_members(condition: Condition) -> Condition:
    """Return a condition for kinds with the kinds that belong to them: `code` is also a controller."""
    names = _as_list(condition.value)
    is_about_kinds = condition.field == "kind" and condition.operator in _KIND_OPERATORS
    if not is_about_kinds or not all(isinstance(name, str) for name in names):
        return condition
    kinds = kinds_of_documents(map(str, names))
    if kinds == tuple(names):
        return condition
    operator: Operator = "ne" if condition.operator == "ne" else "in"
    return Condition("kind", operator, kinds)


def _field(key: object) -> str:
    """Return the field that a key names; a key that is no field names metadata."""
    if not isinstance(key, str) or not key.removeprefix(META):
        raise InputError(
            f"a filter's field is a name, not {key!r}",
            hint=f"known: {', '.join(FIELDS)}, meta.<key>",
        )
    return key if _is_field(key) else META + key


def _is_field(name: str) -> bool:
    return name in FIELDS or name.startswith(META)


def _operands(field: str, value: object) -> Mapping[Any, Any]:
    """Return the operators with their operands; a value without an operator gets the usual one of its field."""
    if isinstance(value, Mapping):
        return value
    if field == "path":
        return {"glob": value}
    if isinstance(value, list | tuple):
        return {"in": value}
    return {"eq": value}


def check(filter: Filter) -> None:
    """Raise `InputError` for a filter that makes no sense."""
    if len(filter.conditions) > MAX_CONDITIONS:
        raise InputError(
            f"a filter has at most {MAX_CONDITIONS} conditions", hint="use lists of values"
        )
    for condition in filter.conditions:
        _check_names(condition.field, str(condition.operator))
        _check_value(condition)


def _check_names(field: str, operator: str) -> None:
    """Raise `InputError` for an unknown field or operator."""
    if not _is_field(field):
        hint = _suggest(field, FIELDS) or f"for metadata write {META + field!r}"
        raise InputError(f"a filter cannot look at {field!r}", hint=hint)
    if operator not in OPERATORS:
        hint = _suggest(operator, OPERATORS) or f"known: {', '.join(OPERATORS)}"
        raise InputError(f"a filter knows no operator {operator[:80]!r}", hint=hint)


def _suggest(name: str, known_names: Sequence[str]) -> str:
    near = get_close_matches(name, known_names, 1)
    return f"did you mean {near[0]!r}?" if near else ""


def _check_value(condition: Condition) -> None:
    """Raise `InputError` for a value that its operator cannot use."""
    field, operator = condition.field, condition.operator
    values = _as_list(condition.value)
    if not all(isinstance(value, str | int | float | None) for value in values):
        raise InputError(
            f"a filter's value for {field!r} must be text, a number, true, false, null, or a list of these"
        )
    if operator == "exists" and not isinstance(condition.value, bool):
        raise InputError(
            f"`exists` on {field!r} is true or false", hint='for example {"exists": true}'
        )
    if operator == "glob" and not all(isinstance(value, str) for value in values):
        raise InputError(f"a pattern for {field!r} is text", hint='for example "docs/**"')


# ── from conditions to SQL ────────────────────────────────────────────────────────────────────────


def where(filter: Filter | None) -> Where:
    """Return the SQL that is true for documents `d` that pass; without conditions it is always true."""
    if filter is None or not filter.conditions:
        return Where("1", ())
    check(filter)
    pieces = [_condition_sql(condition) for condition in filter.conditions]
    sql = " AND ".join(text for text, _ in pieces)
    parameters = tuple(parameter for _, parameter in pieces)
    return Where(sql, parameters)


def _condition_sql(condition: Condition) -> tuple[str, str]:
    """Return the SQL of one condition and its parameter."""
    if condition.operator in ("eq", "in") and condition.field in _IN_LIST:
        texts = [value for value in _as_list(condition.value) if isinstance(value, str)]
        if all(isinstance(pack(text), str) for text in texts):
            return _IN_LIST[condition.field], json.dumps(texts)
    key = condition.field if condition.field in FIELDS else META
    parameter = json.dumps([condition.field, condition.operator, condition.value])
    return _PASSES[key], parameter


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
    if not isinstance(metadata, dict):
        return False
    value = metadata.get(field.removeprefix(META))
    return holds(operator, operand, _as_list(value))


@lru_cache(maxsize=256)
def _load_condition(condition: str) -> tuple[str, str, Value]:
    field, operator, operand = json.loads(condition)
    return field, operator, operand


def holds(operator: str, operand: Value, values: Sequence[Scalar]) -> bool:
    """Return whether any of a field's values satisfies an operator; a missing field has the value None."""
    if operator == "exists":
        exists = any(value is not None for value in values)
        return exists is bool(operand)
    options = _as_list(operand)
    if operator == "ne":
        return not _any_pair(_is_same, values, options)
    return _any_pair(_TESTS[operator], values, options)


def _any_pair(test: Test, values: Sequence[Scalar], options: Sequence[Scalar]) -> bool:
    return any(test(value, option) for value, option in product(values, options))


def _is_same(value: Scalar, option: Scalar) -> bool:
    """Return whether two values are equal; None, true and false equal only themselves."""
    if isinstance(value, bool | None) or isinstance(option, bool | None):
        return value is option
    return value == option


def _matches(value: Scalar, option: Scalar) -> bool:
    return isinstance(value, str) and isinstance(option, str) and matches_path(option, value)


def _comparison(compare: Callable[..., bool]) -> Test:
    """Return a test that compares numbers with numbers and texts with texts, and nothing else."""

    def test(value: Scalar, option: Scalar) -> bool:
        if isinstance(value, bool) or isinstance(option, bool):
            return False
        are_numbers = isinstance(value, int | float) and isinstance(option, int | float)
        are_texts = isinstance(value, str) and isinstance(option, str)
        return (are_numbers or are_texts) and compare(value, option)

    return test


_TESTS: Final[Mapping[str, Test]] = {
    "eq": _is_same,
    "in": _is_same,
    "glob": _matches,
    "gt": _comparison(gt),
    "gte": _comparison(ge),
    "lt": _comparison(lt),
    "lte": _comparison(le),
}


def _as_list(value: Value) -> Sequence[Scalar]:
    return value if isinstance(value, list | tuple) else [value]
