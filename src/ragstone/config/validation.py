"""Checks a value against the type that is expected: settings, YAML files and the arguments of tools."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import NoneType
from typing import Any, Final, Literal, get_args, get_origin

from ragstone.errors import ConfigError, InputError

_TRUE: Final = frozenset({"1", "true", "yes", "on"})
_FALSE: Final = frozenset({"0", "false", "no", "off"})
_MAX_SHOWN: Final = 60
_JSON_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}

JsonObject = Mapping[str, Any]
"""A JSON schema of one argument, or the arguments of a call."""


@dataclass(frozen=True, slots=True)
class ValueType:
    """The allowed values: `bool`, `int`, `float`, `str` or a tuple of texts, with a range or a list of choices."""

    kind: type
    low: int | None = None
    high: int | None = None
    choices: tuple[str, ...] = ()

    @classmethod
    def from_hint(
        cls, hint: object, low: int | None = None, high: int | None = None
    ) -> ValueType:
        """Return the type for an annotation such as `int | None`, `tuple[str, ...]` or `Literal["a", "b"]`."""
        if get_origin(hint) is Literal:
            return cls(str, choices=get_args(hint))
        members = get_args(hint)
        if NoneType in members:
            hint = next(member for member in members if member is not NoneType)
        kind = get_origin(hint) or hint
        if not isinstance(kind, type):
            raise TypeError(f"{hint!r} is no type of a setting")
        return cls(kind, low, high)

    def describe(self) -> str:
        """Return in words which values are accepted."""
        if self.choices:
            quoted = [f'"{choice}"' for choice in self.choices]
            return f"one of {', '.join(quoted)}"
        if self.kind is bool:
            return "true or false"
        if self.kind is tuple:
            return "a list of non-empty texts"
        if self.kind is int:
            return f"a whole number{self._describe_range()}"
        if self.kind is float:
            return f"a number{self._describe_range()}"
        return "a non-empty text"

    def accepts(self, value: object) -> bool:
        """Return whether a value has this type and is within its limits."""
        if self.kind is tuple:
            return isinstance(value, list | tuple) and all(map(_is_text, value))
        if self.kind is float and type(value) is int:
            value = float(value)
        if type(value) is not self.kind:
            return False
        if self.choices:
            return value in self.choices
        if isinstance(value, int | float):
            return self._is_in_range(value)
        return _is_text(value)

    def _is_in_range(self, value: float) -> bool:
        if self.low is not None and not value >= self.low:  # also NaN
            return False
        return self.high is None or value <= self.high

    def _describe_range(self) -> str:
        if self.low is not None and self.high is not None:
            return f" from {self.low:,} to {self.high:,}"
        if self.low is not None:
            return f" of at least {self.low}"
        return ""


@dataclass(frozen=True, slots=True)
class NumberRange:
    """The allowed numbers of an argument, and an example for its message."""

    values: ValueType
    example: float


HIT_RANGE: Final = NumberRange(ValueType(int, 0), 5)
SCORE_RANGE: Final = NumberRange(ValueType(float, 0, 1), 0.25)
TOKEN_RANGE: Final = NumberRange(ValueType(int, 1, 10_000_000), 1500)


def check_number(name: str, value: object, allowed: NumberRange) -> None:
    """Raise `InputError` with the range and an example if a number is not allowed."""
    if not allowed.values.accepts(value):
        hint = f"give {allowed.values.describe()}, for example {allowed.example}"
        raise InputError(f"{name} is {_show(value)}", hint=hint)


def check_value(name: str, value: object, expected: ValueType, *, origin: str) -> object:
    """Return the value, a list as a tuple; raise `ConfigError` if it is not accepted."""
    if not expected.accepts(value):
        hint = suggest(str(value), expected.choices)
        raise ConfigError(
            f"{name} must be {expected.describe()}, but {origin} gives {_show(value)}.",
            hint=hint,
        )
    if isinstance(value, list):
        return tuple(value)
    return value


def parse_value(name: str, text: str, expected: ValueType, *, origin: str) -> object:
    """Return the value in the text of an environment variable; raise `ConfigError` if it is not accepted."""
    value: object = text
    try:
        if expected.kind is bool:
            value = _parse_bool(text)
        elif expected.kind in (int, float):
            value = expected.kind(text)
        elif expected.kind is tuple:
            value = _parse_list(text)
    except ValueError:
        raise ConfigError(
            f"{name} must be {expected.describe()}, but {origin} is {_show(text)}."
        ) from None
    return check_value(name, value, expected, origin=origin)


def check_known(name: str, names: Iterable[str], message: str) -> None:
    """Raise `ConfigError` with this message if a name is unknown; the hint is the nearest known name."""
    names = list(names)
    if name in names:
        return
    hint = suggest(name, names) or f"known are {', '.join(names)}"
    raise ConfigError(message, hint=hint)


def check_arguments(
    label: str,
    properties: Mapping[str, JsonObject],
    required: Sequence[str],
    arguments: JsonObject,
) -> dict[str, Any]:
    """Return the arguments of a tool that are not None; raise `InputError` if one does not match its JSON schema."""
    values = {key: value for key, value in arguments.items() if value is not None}
    for key in values:
        if key not in properties:
            hint = f"it takes {', '.join(properties)}"
            raise InputError(f"{label} has no argument {key!r}", hint=hint)
    for key in required:
        if key not in values:
            hint = properties[key].get("description", "")
            raise InputError(f"{label} needs {key!r}", hint=hint)
    for key, value in values.items():
        values[key] = _as_number(value, properties[key])
        _check_argument(f"{label}: {key}", values[key], properties[key])
    return values


def suggest(name: str, names: Iterable[str]) -> str:
    """Return a hint with the nearest known name, or an empty text."""
    by_lower_case = {item.lower(): item for item in names}
    close = get_close_matches(name.lower(), by_lower_case, n=1, cutoff=0.5)
    if not close:
        return ""
    return f"did you mean {by_lower_case[close[0]]}?"


def _as_number(value: object, schema: JsonObject) -> object:
    """Return the number in a text if the schema wants a number: some models write numbers as text."""
    kind = {"integer": int, "number": float}.get(schema["type"])
    if kind is None or not isinstance(value, str):
        return value
    try:
        return kind(value)
    except ValueError:
        return value


def _check_argument(label: str, value: object, schema: JsonObject) -> None:
    hint = schema.get("description", "")
    if "minimum" in schema and "maximum" in schema:
        check_number(label, value, _number_range(schema))
        return
    if type(value) not in _JSON_TYPES[schema["type"]]:
        article = "an" if schema["type"][0] in "aio" else "a"
        raise InputError(f"{label} is {article} {schema['type']}", hint=hint)
    if isinstance(value, list) and not all(isinstance(item, str) for item in value):
        raise InputError(f"{label} is a list of strings", hint=hint)
    if isinstance(value, str) and len(value.strip()) < schema.get("minLength", 0):
        raise InputError(f"{label} is empty", hint=hint)


def _number_range(schema: JsonObject) -> NumberRange:
    """Return the range of an argument's schema."""
    low, high = schema["minimum"], schema["maximum"]
    if schema["type"] == "number":
        return NumberRange(ValueType(float, low, high), (low + high) / 4)
    return NumberRange(ValueType(int, low, high), min(high, max(low, HIT_RANGE.example)))


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != "" and "\0" not in value


def _parse_bool(text: str) -> bool:
    word = text.strip().lower()
    if word not in _TRUE | _FALSE:
        raise ValueError(text)
    return word in _TRUE


def _parse_list(text: str) -> list[object]:
    """Return the items of a TOML array, or of a list with commas."""
    if not text.lstrip().startswith("["):
        return [item.strip() for item in text.split(",")]
    try:
        table = tomllib.loads(f"items = {text}")
        return list(table["items"])
    except RecursionError as error:
        raise ValueError(text) from error


def _show(value: object) -> str:
    """Return a value for a message, shortened if it is long."""
    if isinstance(value, Mapping):
        return "a table"
    text = repr(value)
    if isinstance(value, bool):
        text = text.lower()
    if len(text) > _MAX_SHOWN:
        text = text[: _MAX_SHOWN - 3] + "..."
    return text
