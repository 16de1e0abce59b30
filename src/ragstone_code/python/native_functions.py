"""Results of Python's built-in functions, operators and methods of texts, lists and dictionaries."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Final

from ragstone_code.evaluate.budget import MAX_ITEMS, MAX_NUMBER, MAX_TEXT
from ragstone_code.python.values import UnknownValue, Value

_DIRECTIVE: Final = re.compile(r"%(?:\(\w*\))?[#0\- +]*(\*|\d*)(?:\.(\*|\d*))?")
_LONGEST_WIDTH: Final = 2
"""Digits of the width in a format."""
_PLACEHOLDER: Final = re.compile(r"\{\w*\}|\{\{|\}\}")
_TEXT_METHODS: Final = frozenset(
    "strip lstrip rstrip lower upper title capitalize replace removeprefix removesuffix split rsplit join startswith "
    "endswith format partition rpartition".split()
)
_LIST_METHODS: Final = frozenset("append extend insert remove pop reverse clear".split())


def is_plain(value: Value) -> bool:
    """Return whether a value is a text, a number, a boolean or None."""
    return value is None or isinstance(value, str | int | float)


# ── methods ───────────────────────────────────────────────────────────────────────────────────────


def call_native_method(
    value: Value,
    name: str,
    args: list[Value],
    kwargs: dict[str, Value],
) -> Value:
    """Return the result of a method of a text, list, tuple or dictionary; lists and dictionaries may change."""
    try:
        if isinstance(value, str):
            return _call_text_method(value, name, args, kwargs)
        if isinstance(value, dict):
            return _call_dictionary_method(value, name, args, kwargs)
        return _call_list_method(value, name, args)
    except (TypeError, ValueError, IndexError, KeyError, AttributeError, MemoryError) as error:
        return UnknownValue(f"{name}: {error}")


def _call_text_method(
    text: str,
    name: str,
    args: list[Value],
    kwargs: dict[str, Value],
) -> Value:
    inputs: list[Value] = list(kwargs.values())
    for argument in args:
        if isinstance(argument, list | tuple):
            inputs.extend(argument)
        else:
            inputs.append(argument)
    if name not in _TEXT_METHODS or not all(is_plain(value) for value in inputs):
        return UnknownValue(f"a text's {name} of what is not known")
    if _text_length(text, name, args, inputs) > MAX_TEXT:
        return UnknownValue("too long a text")
    return getattr(text, name)(*args, **kwargs)


def _text_length(text: str, name: str, args: list[Value], inputs: list[Value]) -> int:
    """Return at most how long the result of a method is, before it is called."""
    length_of_inputs = sum(len(str(value)) for value in inputs)
    if name == "join":
        return len(text) * len(inputs) + length_of_inputs
    if name == "replace" and len(args) > 1:
        return len(text) + text.count(str(args[0])) * len(str(args[1]))
    if name == "format":
        placeholders = len(_PLACEHOLDER.findall(text))
        has_others = "{" in _PLACEHOLDER.sub("", text)  # a width, or a part of a value
        return MAX_TEXT + 1 if has_others else len(text) + placeholders * length_of_inputs
    return 3 * len(text)  # upper() makes some characters longer


def join_texts(texts: list[str]) -> Value:
    """Return texts as one text; unknown if it is too long."""
    if sum(map(len, texts)) > MAX_TEXT:
        return UnknownValue("too long a text")
    return "".join(texts)


def _call_dictionary_method(
    dictionary: dict[Value, Value],
    name: str,
    args: list[Value],
    kwargs: dict[str, Value],
) -> Value:
    if name == "items":
        return list(dictionary.items())
    if name == "keys":
        return list(dictionary)
    if name == "values":
        return list(dictionary.values())
    if name == "copy":
        return dict(dictionary)
    if name == "update":
        dictionaries = [argument for argument in args if isinstance(argument, dict)]
        return dictionary.update(*dictionaries, **kwargs)
    if name in ("get", "pop", "setdefault"):
        return getattr(dictionary, name)(*args)
    return UnknownValue(f"a dictionary's {name}")


def _call_list_method(items: Value, name: str, args: list[Value]) -> Value:
    if name == "copy":
        return list(items)
    if name in ("index", "count"):
        return getattr(items, name)(*args)
    if not isinstance(items, list) or len(items) > MAX_ITEMS:
        return UnknownValue(f"a list's {name}")
    if name == "extend" and not isinstance(args[0], list | tuple):
        return UnknownValue("a list extended by what is not known")
    if name == "extend" and len(items) + len(args[0]) > MAX_ITEMS:
        return UnknownValue("too long a list")
    if name in _LIST_METHODS:
        return getattr(items, name)(*args)
    return UnknownValue(f"a list's {name}")


# ── built-in functions ────────────────────────────────────────────────────────────────────────────


def call_builtin(name: str, args: list[Value]) -> Value:
    """Return the result of a built-in function, or `NotImplemented` if the function is not supported."""
    function = _BUILTINS.get(name)
    if function is None:
        return NotImplemented
    try:
        result = function(args)
    except (TypeError, ValueError, OverflowError):
        result = None
    if result is None:
        return UnknownValue(f"{name} of what is not known")
    return result


def _first(args: list[Value]) -> Value:
    return next(iter(args), None)


def _items(args: list[Value]) -> list[Value]:
    """Return the items of the first argument."""
    iterable = _first(args)
    if not isinstance(iterable, list | tuple | dict | str):
        raise TypeError("not iterable")
    return list(iterable)


def _list(args: list[Value]) -> Value:
    if not args:
        return []
    return _items(args)


def _tuple(args: list[Value]) -> Value:
    return tuple(_list(args))


def _sorted(args: list[Value]) -> Value:
    return sorted(_items(args))


def _reversed(args: list[Value]) -> Value:
    return _items(args)[::-1]


def _len(args: list[Value]) -> Value:
    return len(_items(args))


def _enumerate(args: list[Value]) -> Value:
    return list(enumerate(_items(args)))


def _zip(args: list[Value]) -> Value:
    if not all(isinstance(argument, list | tuple) for argument in args):
        return None
    return list(zip(*args, strict=False))


def _range(args: list[Value]) -> Value:
    if max(map(abs, args)) > MAX_ITEMS:
        return None
    return list(range(*args))


def _str(args: list[Value]) -> Value:
    if not args:
        return ""
    if not is_plain(args[0]):
        return None
    return str(args[0])


def _int(args: list[Value]) -> Value:
    value = _first(args)
    if not isinstance(value, str | int | float):
        return None
    return int(value)


def _bool(args: list[Value]) -> Value:
    value = _first(args)
    if not is_plain(value):
        return None
    return bool(value)


_BUILTINS: Final[Mapping[str, Callable[[list[Value]], Value]]] = {
    "list": _list,
    "set": _list,
    "frozenset": _list,
    "tuple": _tuple,
    "sorted": _sorted,
    "reversed": _reversed,
    "len": _len,
    "enumerate": _enumerate,
    "zip": _zip,
    "range": _range,
    "str": _str,
    "int": _int,
    "bool": _bool,
}


# ── operators ─────────────────────────────────────────────────────────────────────────────────────


def apply_operator(sign: str, left: Value, right: Value) -> Value:
    """Return the result of an operator on plain values and collections, else `NotImplemented`."""
    function = _OPERATORS.get(sign)
    if function is None:
        return NotImplemented
    try:
        return function(left, right)
    except (TypeError, ValueError, KeyError, ArithmeticError):
        return NotImplemented


def _add(left: Value, right: Value) -> Value:
    if isinstance(right, list | tuple) and isinstance(left, list | tuple):
        if len(left) + len(right) > MAX_ITEMS:
            return UnknownValue("too long a list")
        if isinstance(left, list):
            return [*left, *right]
        return (*left, *right)
    if isinstance(left, str) and isinstance(right, str):
        return join_texts([left, right])
    return _calculate(operator.add, left, right)


def _merge(left: Value, right: Value) -> Value:
    if isinstance(left, dict) and isinstance(right, dict):
        return {**left, **right}
    return NotImplemented


def _contains(left: Value, right: Value) -> Value:
    if isinstance(right, list | tuple | dict | str) and is_plain(left):
        return left in right
    return NotImplemented


def _contains_not(left: Value, right: Value) -> Value:
    return _negate(_contains(left, right))


def _equals(left: Value, right: Value) -> Value:
    if is_plain(left) and is_plain(right):
        return left == right
    return NotImplemented


def _equals_not(left: Value, right: Value) -> Value:
    return _negate(_equals(left, right))


def _negate(result: Value) -> Value:
    if result is NotImplemented:
        return NotImplemented
    return not result


def _format(left: Value, right: Value) -> Value:
    """Return `left % right` for a text; `%` of numbers is not supported."""
    if not isinstance(left, str):
        return NotImplemented
    inputs: list[Value] = [right]
    if isinstance(right, tuple):
        inputs = list(right)
    elif isinstance(right, dict):
        inputs = list(right.values())
    if not all(is_plain(value) for value in inputs):
        return NotImplemented
    directives = _DIRECTIVE.findall(left)
    widths = [width for directive in directives for width in directive]
    if any(width == "*" or len(width) > _LONGEST_WIDTH for width in widths):
        return NotImplemented
    if len(left) + len(directives) * sum(len(str(value)) for value in inputs) > MAX_TEXT:
        return UnknownValue("too long a text")
    return left % right


def _multiply(left: Value, right: Value) -> Value:
    if isinstance(left, str) or isinstance(right, str):
        return NotImplemented
    return _calculate(operator.mul, left, right)


def _calculate(
    function: Callable[[Value, Value], Value],
    left: Value,
    right: Value,
) -> Value:
    for side in (left, right):
        if side is None or not is_plain(side):
            return NotImplemented
    result = function(left, right)
    if isinstance(result, int) and abs(result) >= MAX_NUMBER:
        return UnknownValue("too large a number")
    return result


def _calculation(function: Callable[[Value, Value], Value]) -> Callable[[Value, Value], Value]:
    return lambda left, right: _calculate(function, left, right)


_OPERATORS: Final[Mapping[str, Callable[[Value, Value], Value]]] = {
    "+": _add,
    "|": _merge,
    "in": _contains,
    "not in": _contains_not,
    "is": _equals,
    "==": _equals,
    "is not": _equals_not,
    "!=": _equals_not,
    "%": _format,
    "*": _multiply,
    "-": _calculation(operator.sub),
    "/": _calculation(operator.truediv),
    "//": _calculation(operator.floordiv),
    "<": _calculation(operator.lt),
    ">": _calculation(operator.gt),
    "<=": _calculation(operator.le),
    ">=": _calculation(operator.ge),
}
