"""PHP's array functions, as far as the evaluator supports them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Final

from ragstone_code.evaluate.budget import MAX_TEXT
from ragstone_code.evaluate.values import (
    Arguments,
    Array,
    CallSite,
    Key,
    Unknown,
    Value,
    display_text,
    first_known,
)

if TYPE_CHECKING:
    from ragstone_code.evaluate.evaluator import Evaluator
    from ragstone_code.evaluate.language import NativeFunction

_UNKNOWN_ARRAY: Final = Unknown("the array is not known")
_MAX_CALLS: Final = 1000


def _on_complete_array(function: Callable[[Array, list[Value]], Value]) -> NativeFunction:
    """Return a native function that needs a complete array as its first argument."""

    def native(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
        array = first_known(arguments.at(0, "array"))
        if not isinstance(array, Array) or not array.complete:
            return _UNKNOWN_ARRAY
        others = [first_known(value) for value in arguments.positional[1:]]
        return function(array, others)

    return native


# ── functions that get all arguments ──────────────────────────────────────────────────────────────


def _merge(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    merged = Array()
    for argument in arguments.positional:
        array = first_known(argument)
        if isinstance(array, Array):
            merged.extend(array)
        elif array is not None:
            merged.complete = False
    merged.complete = merged.complete and arguments.complete
    return merged


def _replace(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    replaced = Array()
    for argument in arguments.positional:
        array = first_known(argument)
        if not isinstance(array, Array):
            replaced.complete = False
            continue
        for key, value in array.items.items():
            replaced.set(key, value)
    return replaced


def _map(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    array = first_known(arguments.at(1, "array"))
    if not isinstance(array, Array):
        return _UNKNOWN_ARRAY
    function = arguments.at(0)
    results: dict[Key, Value] = {}
    for key, value in _limited_items(array):
        results[key] = evaluator.call(function, [value], site)
    return Array(items=results)


def _walk(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    array = first_known(arguments.at(0))
    if isinstance(array, Array):
        for key, value in _limited_items(array):
            evaluator.call(arguments.at(1), [value, key], site)
    return True


def _limited_items(array: Array) -> Iterator[tuple[Key, Value]]:
    """Yield the first entries of a copy, because a callback may change the array."""
    return islice(list(array.items.items()), _MAX_CALLS)


def _filter(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    array = first_known(arguments.at(0))
    if not isinstance(array, Array):
        return _UNKNOWN_ARRAY
    selected: dict[Key, Value] = {}
    for key, value in array.items.items():
        test = value
        if arguments.has(1):
            test = evaluator.call(arguments.at(1), [value], site)
        if evaluator.language.truth(test) is not False:
            selected[key] = value
    return Array(items=selected)


def _implode(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    """Return the joined text; PHP accepts the separator and the array in either order."""
    separator = first_known(arguments.at(0))
    array = first_known(arguments.at(1))
    if isinstance(separator, Array):
        separator, array = array, separator
    if not isinstance(array, Array):
        return _UNKNOWN_ARRAY
    texts = [display_text(value) for value in array.values]
    separator_text = display_text(separator)
    if sum(map(len, texts)) + len(separator_text) * len(texts) > MAX_TEXT:
        return Unknown("too long a text")
    text = separator_text.join(texts)
    for value in array.values:
        if isinstance(value, Unknown):
            return Unknown(value.reason, text)
    return text


def _compact(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    return Unknown("compact() is not followed")


def _range(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    first = first_known(arguments.at(0))
    last = first_known(arguments.at(1))
    if not isinstance(first, int) or not isinstance(last, int) or abs(last - first) >= 10_000:
        return _UNKNOWN_ARRAY
    if last >= first:
        return Array(range(first, last + 1))
    return Array(range(first, last - 1, -1))


def _in_array(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    needle = first_known(arguments.at(0))
    array = first_known(arguments.at(1))
    if isinstance(needle, Unknown) or not isinstance(array, Array) or not array.complete:
        return Unknown("it is not known what is in it")
    return display_text(needle) in _texts(array)


def _key_exists(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    key = first_known(arguments.at(0))
    array = first_known(arguments.at(1))
    if isinstance(key, Unknown) or not isinstance(array, Array) or not array.complete:
        return Unknown("it is not known what is in it")
    return evaluator.language.key(key) in array.items


# ── functions on one complete array ───────────────────────────────────────────────────────────────


def _arrays(values: list[Value]) -> list[Array]:
    return [value for value in values if isinstance(value, Array)]


def _texts(array: Array) -> set[str]:
    return {display_text(value) for value in array.values}


def _difference(array: Array, others: list[Value]) -> Value:
    excluded: set[str] = set()
    for other in _arrays(others):
        excluded |= _texts(other)
    items = {
        key: value for key, value in array.items.items() if display_text(value) not in excluded
    }
    return Array(items=items)


def _intersection(array: Array, others: list[Value]) -> Value:
    common = _texts(array)
    for other in _arrays(others):
        common &= _texts(other)
    items = {key: value for key, value in array.items.items() if display_text(value) in common}
    return Array(items=items)


def _difference_by_key(array: Array, others: list[Value]) -> Value:
    excluded: set[Key] = set()
    for other in _arrays(others):
        excluded.update(other.items)
    items = {key: value for key, value in array.items.items() if key not in excluded}
    return Array(items=items)


def _unique(array: Array, _: list[Value]) -> Value:
    first_keys: dict[str, Key] = {}
    for key, value in array.items.items():
        first_keys.setdefault(display_text(value), key)
    return Array(items={key: array.items[key] for key in first_keys.values()})


def _fill_keys(array: Array, others: list[Value]) -> Value:
    value = _first(others)
    return Array(items={display_text(key): value for key in array.values})


def _combine(array: Array, others: list[Value]) -> Value:
    values = _first(others)
    if not isinstance(values, Array):
        return _UNKNOWN_ARRAY
    pairs = zip(array.values, values.values, strict=False)
    return Array(items={display_text(key): value for key, value in pairs})


def _slice(array: Array, others: list[Value]) -> Value:
    values = array.values
    if others and isinstance(others[0], int):
        values = values[others[0] :]
    if len(others) > 1 and isinstance(others[1], int):
        values = values[: others[1]]
    return Array(values)


def _column(array: Array, others: list[Value]) -> Value:
    key = ""
    if others:
        key = display_text(others[0])
    return Array([row.get(key) for row in _arrays(array.values) if key in row.items])


def _keys(array: Array, _: list[Value]) -> Value:
    return Array(list(array.items))


def _values(array: Array, _: list[Value]) -> Value:
    return Array(array.values)


def _flip(array: Array, _: list[Value]) -> Value:
    return Array(items={display_text(value): key for key, value in array.items.items()})


def _reverse(array: Array, _: list[Value]) -> Value:
    return Array(reversed(array.values))


def _count(array: Array, _: list[Value]) -> Value:
    return len(array)


def _last_value(array: Array, _: list[Value]) -> Value:
    if not len(array):
        return False
    return array.values[-1]


def _first_value(array: Array, _: list[Value]) -> Value:
    if not len(array):
        return False
    return array.values[0]


def _first_key(array: Array, _: list[Value]) -> Value:
    return next(iter(array.items), None)


def _first(values: list[Value]) -> Value:
    return next(iter(values), None)


ARRAY_FUNCTIONS: Final[Mapping[str, NativeFunction]] = {
    "array_merge": _merge,
    "array_replace": _replace,
    "array_map": _map,
    "array_walk": _walk,
    "array_filter": _filter,
    "implode": _implode,
    "join": _implode,
    "compact": _compact,
    "range": _range,
    "in_array": _in_array,
    "array_key_exists": _key_exists,
    "array_diff": _on_complete_array(_difference),
    "array_intersect": _on_complete_array(_intersection),
    "array_diff_key": _on_complete_array(_difference_by_key),
    "array_fill_keys": _on_complete_array(_fill_keys),
    "array_combine": _on_complete_array(_combine),
    "array_slice": _on_complete_array(_slice),
    "array_column": _on_complete_array(_column),
    "array_keys": _on_complete_array(_keys),
    "array_values": _on_complete_array(_values),
    "array_flip": _on_complete_array(_flip),
    "array_unique": _on_complete_array(_unique),
    "array_reverse": _on_complete_array(_reverse),
    "count": _on_complete_array(_count),
    "sizeof": _on_complete_array(_count),
    "end": _on_complete_array(_last_value),
    "last": _on_complete_array(_last_value),
    "reset": _on_complete_array(_first_value),
    "head": _on_complete_array(_first_value),
    "current": _on_complete_array(_first_value),
    "array_key_first": _on_complete_array(_first_key),
}
