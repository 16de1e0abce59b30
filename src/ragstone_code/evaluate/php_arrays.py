"""PHP's functions on arrays, as far as they are followed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from ragstone_code.evaluate.values import Arguments, Array, CallSite, Key, Unknown, Value, display_text, first_known

if TYPE_CHECKING:
    from ragstone_code.evaluate.language import NativeFunction
    from ragstone_code.evaluate.machine import Evaluator

_NOT_KNOWN: Final = Unknown("the array is not known")


def _on(function: Callable[[Array, list[Value]], Value]) -> NativeFunction:
    """Return a function of an array and more as one the evaluator calls."""

    def own(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        first, rest = first_known(given.at(0, "array")), [first_known(one) for one in given.positional[1:]]
        return function(first, rest) if isinstance(first, Array) and first.complete else _NOT_KNOWN

    return own


def _merged(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    made = Array()
    for one in given.positional:
        inner = first_known(one)
        if isinstance(inner, Array):
            made.extend(inner)
        elif inner is not None:
            made.complete = False
    made.complete = made.complete and given.complete
    return made


def _replaced(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    made = Array()
    for one in given.positional:
        inner = first_known(one)
        for key, value in inner.items.items() if isinstance(inner, Array) else ():
            made.set(key, value)
        made.complete = made.complete and isinstance(inner, Array)
    return made


def _mapped(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    over = first_known(given.at(1, "array"))
    if not isinstance(over, Array):
        return _NOT_KNOWN
    items = {key: machine.call(given.at(0), [value], site) for key, value in list(over.items.items())[:1000]}
    return Array(items=items)


def _walked(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    over = first_known(given.at(0))
    for key, value in list(over.items.items())[:1000] if isinstance(over, Array) else ():
        machine.call(given.at(1), [value, key], site)
    return True


def _filtered(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    over = first_known(given.at(0))
    if not isinstance(over, Array):
        return _NOT_KNOWN
    kept: dict[Key, Value] = {}
    for key, value in over.items.items():
        test = machine.call(given.at(1), [value], site) if given.has(1) else value
        if machine.language.truth(test) is not False:
            kept[key] = value
    return Array(items=kept)


def _imploded(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    first, second = first_known(given.at(0)), first_known(given.at(1))
    mark, over = (second, first) if isinstance(first, Array) else (first, second)
    if not isinstance(over, Array):
        return _NOT_KNOWN
    text = display_text(mark).join(display_text(one) for one in over.values)
    unknown = next((one for one in over.values if isinstance(one, Unknown)), None)
    return Unknown(unknown.reason, text) if unknown else text


def _compact(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    return Unknown("compact() is not followed")


def _difference(array: Array, rest: list[Value]) -> Value:
    others = {display_text(value) for one in rest if isinstance(one, Array) for value in one.values}
    return Array(items={key: value for key, value in array.items.items() if display_text(value) not in others})


def _intersection(array: Array, rest: list[Value]) -> Value:
    others = [{display_text(value) for value in one.values} for one in rest if isinstance(one, Array)]
    return Array(
        items={key: one for key, one in array.items.items() if all(display_text(one) in other for other in others)}
    )


def _without(array: Array, rest: list[Value]) -> Value:
    keys = [key for one in rest if isinstance(one, Array) for key in one.items]
    return Array(items={key: value for key, value in array.items.items() if key not in keys})


def _unique(array: Array, rest: list[Value]) -> Value:
    seen: dict[str, Key] = {}
    for key, value in array.items.items():
        seen.setdefault(display_text(value), key)
    return Array(items={key: array.items[key] for key in seen.values()})


def _filled(array: Array, rest: list[Value]) -> Value:
    return Array(items={display_text(key): rest[0] if rest else None for key in array.values})


def _combined(array: Array, rest: list[Value]) -> Value:
    other = rest[0] if rest else None
    if not isinstance(other, Array):
        return _NOT_KNOWN
    return Array(items={display_text(key): value for key, value in zip(array.values, other.values, strict=False)})


def _sliced(array: Array, rest: list[Value]) -> Value:
    start = rest[0] if rest and isinstance(rest[0], int) else 0
    length = rest[1] if len(rest) > 1 and isinstance(rest[1], int) else None
    values = array.values[start:]
    return Array(values[:length] if length is not None else values)


def _column(array: Array, rest: list[Value]) -> Value:
    key = display_text(rest[0]) if rest else ""
    return Array([one.get(key) for one in array.values if isinstance(one, Array) and key in one.items])


def _range(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    first, last = first_known(given.at(0)), first_known(given.at(1))
    if isinstance(first, int) and isinstance(last, int) and abs(last - first) < 10_000:
        return Array(range(first, last + 1) if last >= first else range(first, last - 1, -1))
    return _NOT_KNOWN


def _contains(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    wanted, array = first_known(given.at(0)), first_known(given.at(1))
    if isinstance(wanted, Unknown) or not isinstance(array, Array) or not array.complete:
        return Unknown("it is not known what is in it")
    return display_text(wanted) in {display_text(one) for one in array.values}


def _has_key(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    wanted, array = first_known(given.at(0)), first_known(given.at(1))
    if isinstance(wanted, Unknown) or not isinstance(array, Array) or not array.complete:
        return Unknown("it is not known what is in it")
    return machine.language.key(wanted) in array.items


ARRAYS: Final[Mapping[str, NativeFunction]] = {
    "array_merge": _merged, "array_replace": _replaced, "array_map": _mapped, "array_walk": _walked,
    "array_filter": _filtered, "implode": _imploded, "join": _imploded, "compact": _compact, "range": _range,
    "in_array": _contains, "array_key_exists": _has_key, "array_diff": _on(_difference),
    "array_intersect": _on(_intersection), "array_diff_key": _on(_without), "array_fill_keys": _on(_filled),
    "array_combine": _on(_combined), "array_slice": _on(_sliced), "array_column": _on(_column),
    "array_keys": _on(lambda array, _: Array(list(array.items))),
    "array_values": _on(lambda array, _: Array(array.values)),
    "array_flip": _on(lambda array, _: Array(items={display_text(value): key for key, value in array.items.items()})),
    "array_unique": _on(_unique),
    "array_reverse": _on(lambda array, _: Array(reversed(array.values))),
    "count": _on(lambda array, _: len(array)), "sizeof": _on(lambda array, _: len(array)),
    "end": _on(lambda array, _: array.values[-1] if len(array) else False),
    "last": _on(lambda array, _: array.values[-1] if len(array) else False),
    "reset": _on(lambda array, _: array.values[0] if len(array) else False),
    "head": _on(lambda array, _: array.values[0] if len(array) else False),
    "current": _on(lambda array, _: array.values[0] if len(array) else False),
    "array_key_first": _on(lambda array, _: next(iter(array.items), None)),
}  # fmt: skip
