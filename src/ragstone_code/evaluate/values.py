"""The values that an expression can evaluate to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from ragstone_code.program_tree import Class, Function

if TYPE_CHECKING:
    from ragstone_code.evaluate.evaluator import Evaluator

Key: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that cannot be computed, and the reason."""

    reason: str
    display: str = ""
    """Text for a reader, such as `config(app.url)`."""
    options: tuple[Value, ...] = ()
    """Possible values, the likeliest first."""


@dataclass(frozen=True, slots=True)
class CallSite:
    """The position of a call in the source."""

    uri: str
    line: int
    conditional: bool = False


class Array:
    """Ordered entries by key; a list has the keys 0, 1, 2 …"""

    __slots__ = ("complete", "items", "lines", "next_key", "uri")

    def __init__(
        self,
        values: Iterable[Value] = (),
        *,
        items: Mapping[Key, Value] | None = None,
    ) -> None:
        self.items: dict[Key, Value] = {}
        if items is not None:
            self.items.update(items)
        else:
            self.items.update(enumerate(values))
        integer_keys = [key for key in self.items if isinstance(key, int)]
        self.next_key = max(integer_keys, default=-1) + 1
        self.complete = True
        """False if unknown entries were added."""
        self.lines: dict[Key, int] = {}
        """Source line of each entry that is written in the file `uri`."""
        self.uri = ""

    def append(self, value: Value, line: int = 0) -> None:
        """Add a value under the next integer key."""
        if line:
            self.lines[self.next_key] = line
        self.items[self.next_key] = value
        self.next_key += 1

    def set(self, key: Key, value: Value, line: int = 0) -> None:
        """Set the value of a key; an existing key keeps its position."""
        self.items[key] = value
        if line:
            self.lines[key] = line
        if isinstance(key, int) and key >= self.next_key:
            self.next_key = key + 1

    def get(self, key: Key, default: Value = None) -> Value:
        """Return the value of a key."""
        return self.items.get(key, default)

    def extend(self, other: Array) -> None:
        """Add the entries of another array: append those with integer keys, set the others by key."""
        self.uri = self.uri or other.uri
        lines: dict[Key, int] = {}
        if other.uri == self.uri:
            lines = other.lines
        for key, value in other.items.items():
            line = lines.get(key, 0)
            if isinstance(key, int) and not isinstance(key, bool):
                self.append(value, line)
            else:
                self.set(key, value, line)
        self.complete = self.complete and other.complete

    def copy(self) -> Array:
        """Return a deep copy: inner arrays are copied too."""
        duplicate = Array()
        duplicate.items = {key: copy_value(value) for key, value in self.items.items()}
        duplicate.next_key = self.next_key
        duplicate.complete = self.complete
        duplicate.lines = dict(self.lines)
        duplicate.uri = self.uri
        return duplicate

    @property
    def values(self) -> list[Value]:
        """Return the values in order."""
        return list(self.items.values())

    @property
    def is_list(self) -> bool:
        """Return whether the keys are 0, 1, 2 … in order."""
        return all(
            key == position and not isinstance(key, bool)
            for position, key in enumerate(self.items)
        )

    def __iter__(self) -> Iterator[Value]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Array) and list(self.items.items()) == list(
            other.items.items()
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if self.is_list:
            return f"Array({self.values!r})"
        return f"Array({self.items!r})"


@dataclass(eq=False, slots=True)
class Lambda:
    """A function with its captured variables and its object."""

    function: Function
    uri: str
    variables: dict[str, Value] = field(default_factory=dict)
    this: Value = None
    owner: str = ""
    """Full name of the class that contains the function."""
    called_on: str = ""
    """The class that `static` refers to."""


@dataclass(frozen=True, slots=True)
class ClassRef:
    """A class, by its full name."""

    name: str
    definition: Class | None = None


@dataclass(frozen=True, slots=True)
class EnumCase:
    """A case of an enum."""

    owner: str
    name: str
    value: Value


@dataclass(eq=False, slots=True)
class Instance:
    """An object of a class; `definition` is None if the project does not contain the class."""

    name: str
    definition: Class | None = None
    uri: str = ""
    properties: dict[str, Value] = field(default_factory=dict)
    arguments: Arguments | None = None
    """Arguments of the constructor call."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a call."""

    positional: tuple[Value, ...] = ()
    named: Mapping[str, Value] = field(default_factory=dict)
    complete: bool = True
    """False if an unknown value was spread into the arguments."""
    this: Value = None
    """The object of the call, if its class does not define the method."""
    lines: Mapping[str | int, int] = field(default_factory=dict)
    """Source line of each argument, by position or name."""

    def at(self, position: int, name: str = "", default: Value = None) -> Value:
        """Return an argument by its position or its name."""
        if position < len(self.positional):
            return self.positional[position]
        if not name:
            return default
        return self.named.get(name, default)

    def has(self, position: int, name: str = "") -> bool:
        """Return whether the call passes an argument."""
        return position < len(self.positional) or (bool(name) and name in self.named)


class Recorder:
    """Base class for the objects of an adapter. Every hook that is not overridden returns an unknown value."""

    def on_call(
        self,
        name: str,
        arguments: Arguments,
        site: CallSite,
        evaluator: Evaluator,
    ) -> Value:
        """Return the result of a method call."""
        return Unknown(f"{name}() is not followed")

    def on_member(self, name: str, site: CallSite, evaluator: Evaluator) -> Value:
        """Return the value of a member."""
        return Unknown(f"{name} is not followed")

    def on_assign(
        self,
        name: Value,
        value: Value,
        site: CallSite,
        evaluator: Evaluator,
    ) -> None:
        """Record an assignment to a member or a key; the name is None for `$object[] = value`."""


Value: TypeAlias = (
    str
    | int
    | float
    | bool
    | None
    | Array
    | Lambda
    | ClassRef
    | EnumCase
    | Instance
    | Unknown
    | Recorder
)


def first_known(value: Value) -> Value:
    """Return the value; for an unknown value with options, return its first known option."""
    while isinstance(value, Unknown) and value.options:
        value = value.options[0]
    return value


def copy_value(value: Value) -> Value:
    """Return the value as PHP passes it on: arrays are copied."""
    if isinstance(value, Array):
        return value.copy()
    return value


def parts_of(value: Value) -> Iterable[Value] | None:
    """Return the values inside an array or an unknown value, None for other values."""
    if isinstance(value, Array):
        return value.items.values()
    if isinstance(value, Unknown):
        return (value.display, *value.options)
    return None


def is_identical(first: Value, second: Value) -> bool:
    """Return whether two values are equal and of the same type (1 is not True)."""
    return first is second or (type(first) is type(second) and first == second)


def display_text(value: Value, unknown: str = "?") -> str:
    """Return a value as text, like PHP's string conversion; an unknown value as its display text."""
    if isinstance(value, Unknown):
        return _display_unknown(value, unknown)
    if isinstance(value, EnumCase):
        return display_text(value.value, unknown)
    if value is None or value is False:
        return ""
    if value is True:
        return "1"
    if isinstance(value, float):
        return _display_float(value)
    if isinstance(value, str | int):
        return str(value)
    if isinstance(value, ClassRef):
        return value.name
    return unknown


def _display_float(value: float) -> str:
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def _display_unknown(value: Unknown, unknown: str) -> str:
    if value.display:
        return value.display
    if value.options:
        return display_text(value.options[0], unknown)
    return unknown
