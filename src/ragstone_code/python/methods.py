"""What Python's own functions and the methods of its strings, lists and dictionaries give, where that is plain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ragstone_code.python.values import UnknownValue, Value

MOST: Final = 5_000
"""Items a made list may have; a longer one is not known."""
TEXT: Final = frozenset(
    "strip lstrip rstrip lower upper title capitalize replace removeprefix removesuffix split rsplit join startswith "
    "endswith format partition rpartition".split()
)


def plain(value: Value) -> bool:
    """Return whether a value is a text, a number, a truth or nothing."""
    return value is None or isinstance(value, str | int | float)


def method(value: Value, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """Return what a method of a text, list, tuple or dictionary gives; lists and dictionaries change in place."""
    try:
        if isinstance(value, str):
            return _text(value, name, args, kwargs)
        if isinstance(value, dict):
            return _dictionary(value, name, args, kwargs)
        return _list(value, name, args)
    except (TypeError, ValueError, IndexError, KeyError, AttributeError, MemoryError) as failed:
        return UnknownValue(f"{name}: {failed}")


def _text(value: str, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    flat = [item for one in args for item in (one if isinstance(one, list | tuple) else [one])]
    if name not in TEXT or not all(plain(one) for one in [*flat, *kwargs.values()]):
        return UnknownValue(f"a text's {name} of what is not known")
    made = getattr(value, name)(*args, **kwargs)
    return UnknownValue("too long a text") if isinstance(made, str) and len(made) > MOST * 10 else made


def _dictionary(value: dict[Value, Value], name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    ways: dict[str, Callable[[], Value]] = {
        "items": lambda: [tuple(one) for one in value.items()],
        "keys": lambda: list(value),
        "values": lambda: list(value.values()),
        "copy": lambda: dict(value),
        "get": lambda: value.get(*args),
        "pop": lambda: value.pop(*args),
        "setdefault": lambda: value.setdefault(*args),
        "update": lambda: value.update(*[one for one in args if isinstance(one, dict)], **kwargs),
    }
    return ways[name]() if name in ways else UnknownValue(f"a dictionary's {name}")


def _list(value: Value, name: str, args: list[Value]) -> Value:
    if name == "copy":
        return list(value)
    if name in ("index", "count"):
        return getattr(value, name)(*args)
    if not isinstance(value, list) or len(value) > MOST:
        return UnknownValue(f"a list's {name}")
    if name == "extend" and not isinstance(args[0], list | tuple):
        return UnknownValue("a list extended by what is not known")
    if name in ("append", "extend", "insert", "remove", "pop", "reverse", "clear"):
        return getattr(value, name)(*args)
    return UnknownValue(f"a list's {name}")


def builtin(name: str, args: list[Value]) -> Value:
    """Return what one of Python's own functions gives, `NotImplemented` for those that are not followed."""
    first = args[0] if args else None
    listed = list(first) if isinstance(first, list | tuple | dict | str) else None
    ways: dict[str, Callable[[], Value]] = {
        "list": lambda: listed if args else [],
        "set": lambda: listed if args else [],
        "frozenset": lambda: listed if args else [],
        "tuple": lambda: tuple(listed) if listed is not None else (None if args else ()),
        "sorted": lambda: sorted(listed) if listed is not None else None,
        "reversed": lambda: listed[::-1] if listed is not None else None,
        "len": lambda: len(listed) if listed is not None else None,
        "enumerate": lambda: list(enumerate(listed)) if listed is not None else None,
        "zip": lambda: list(zip(*args, strict=False)) if all(isinstance(one, list | tuple) for one in args) else None,
        "range": lambda: list(range(*args)) if max(map(abs, args)) <= MOST else None,
        "str": lambda: str(first) if plain(first) and args else ("" if not args else None),
        "int": lambda: int(first) if isinstance(first, str | int | float) else None,
        "bool": lambda: bool(first) if plain(first) else None,
    }
    if name not in ways:
        return NotImplemented
    try:
        made = ways[name]()
    except (TypeError, ValueError, OverflowError):
        made = None
    return UnknownValue(f"{name} of what is not known") if made is None else made


def operation(sign: str, left: Value, right: Value) -> Value:
    """Return what an operator gives on plain values and lists, `NotImplemented` for anything else."""
    if sign == "+" and isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return [*left, *right] if isinstance(left, list) else (*left, *right)
    if sign == "|" and isinstance(left, dict) and isinstance(right, dict):
        return {**left, **right}
    if sign in ("in", "not in") and isinstance(right, list | tuple | dict | str) and plain(left):
        try:
            return (left in right) == (sign == "in")
        except TypeError:
            return NotImplemented
    if sign in ("is", "==", "is not", "!="):
        known = plain(left) and plain(right)
        return (left == right) == (sign in ("is", "==")) if known else NotImplemented
    if sign == "%" and isinstance(left, str):
        return _formatted(left, right)
    return _counted(sign, left, right)


def _formatted(left: str, right: Value) -> Value:
    parts = right if isinstance(right, tuple) else (right,)
    known = all(plain(one) for one in parts) or (isinstance(right, dict) and all(map(plain, right.values())))
    try:
        return left % right if known else NotImplemented
    except (TypeError, ValueError, KeyError):
        return NotImplemented


def _counted(sign: str, left: Value, right: Value) -> Value:
    if not (plain(left) and plain(right)) or left is None or right is None:
        return NotImplemented
    ways: dict[str, Callable[[], Value]] = {
        "+": lambda: left + right,
        "-": lambda: left - right,
        "*": lambda: left * right if not isinstance(left, str) and not isinstance(right, str) else NotImplemented,
        "/": lambda: left / right,
        "//": lambda: left // right,
        "<": lambda: left < right,
        ">": lambda: left > right,
        "<=": lambda: left <= right,
        ">=": lambda: left >= right,
    }
    try:
        return ways[sign]() if sign in ways else NotImplemented
    except (TypeError, ValueError, ArithmeticError):
        return NotImplemented
