"""What an expression can be found to be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from ragstone.code.tree import Class, Function

if TYPE_CHECKING:
    from ragstone_code.evaluate.machine import Evaluator

Key: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that cannot be known, and why."""

    reason: str
    display: str = ""
    """How it may be written for a person: `config(app.url)`."""
    options: tuple[Value, ...] = ()
    """Values it may have, the likeliest first."""


@dataclass(frozen=True, slots=True)
class CallSite:
    """Where a call is written."""

    uri: str
    line: int
    conditional: bool = False


class Array:
    """Entries in order, by key: a list has the keys 0, 1, 2 …"""

    __slots__ = ("complete", "items", "lines", "next_key", "uri")

    def __init__(self, values: Iterable[Value] = (), *, items: Mapping[Key, Value] | None = None) -> None:
        self.items: dict[Key, Value] = dict(items) if items is not None else dict(enumerate(values))
        self.next_key = max((key for key in self.items if isinstance(key, int)), default=-1) + 1
        self.complete = True
        """False where something unknown was spread into it."""
        self.lines: dict[Key, int] = {}
        """The lines entries are written on, of those that are written out in the file `uri`."""
        self.uri = ""

    def append(self, value: Value, line: int = 0) -> None:
        """Add a value under the next number."""
        if line:
            self.lines[self.next_key] = line
        self.items[self.next_key] = value
        self.next_key += 1

    def set(self, key: Key, value: Value, line: int = 0) -> None:
        """Put a value under a key, which keeps its place where it has one."""
        self.items[key] = value
        if line:
            self.lines[key] = line
        if isinstance(key, int) and key >= self.next_key:
            self.next_key = key + 1

    def get(self, key: Key, default: Value = None) -> Value:
        """Return the value under a key."""
        return self.items.get(key, default)

    def extend(self, other: Array) -> None:
        """Add the entries of another: numbered ones at the end, named ones in their place."""
        self.uri = self.uri or other.uri
        lines = other.lines if other.uri == self.uri else {}
        for key, value in other.items.items():
            if isinstance(key, int) and not isinstance(key, bool):
                self.append(value, lines.get(key, 0))
            else:
                self.set(key, value, lines.get(key, 0))
        self.complete = self.complete and other.complete

    def copy(self) -> Array:
        """Return one that can be changed by itself, inner arrays too."""
        made = Array()
        made.items = {key: one.copy() if isinstance(one, Array) else one for key, one in self.items.items()}
        made.next_key, made.complete, made.lines = self.next_key, self.complete, dict(self.lines)
        made.uri = self.uri
        return made

    @property
    def values(self) -> list[Value]:
        """Return the values in order."""
        return list(self.items.values())

    @property
    def is_list(self) -> bool:
        """Return whether the keys are 0, 1, 2 … in order."""
        return all(key == position and not isinstance(key, bool) for position, key in enumerate(self.items))

    def __iter__(self) -> Iterator[Value]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Array) and list(self.items.items()) == list(other.items.items())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Array({self.values!r})" if self.is_list else f"Array({self.items!r})"


@dataclass(eq=False, slots=True)
class Lambda:
    """A function with what is around it."""

    function: Function
    uri: str
    variables: dict[str, Value] = field(default_factory=dict)
    this: Value = None
    owner: str = ""
    """The full name of the class it is written in."""
    called_on: str = ""
    """The class `static` means."""


@dataclass(frozen=True, slots=True)
class ClassRef:
    """A class as such, by its full name."""

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
    """An object: of a class of the project, or of one whose text is not there."""

    name: str
    definition: Class | None = None
    uri: str = ""
    properties: dict[str, Value] = field(default_factory=dict)
    arguments: Arguments | None = None
    """What it was made with."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a call."""

    positional: tuple[Value, ...] = ()
    named: Mapping[str, Value] = field(default_factory=dict)
    complete: bool = True
    """False where something unknown was spread into it."""
    this: Value = None
    """The object a method that its class does not have was called on."""
    lines: Mapping[str | int, int] = field(default_factory=dict)
    """The lines arguments are written on, by place or name."""

    def at(self, position: int, name: str = "", default: Value = None) -> Value:
        """Return an argument by its place or its name."""
        if position < len(self.positional):
            return self.positional[position]
        return self.named.get(name, default) if name else default

    def has(self, position: int, name: str = "") -> bool:
        """Return whether an argument is given."""
        return position < len(self.positional) or (bool(name) and name in self.named)


class Recorder:
    """What an adapter makes of calls: subclass it. What it does not override is unknown."""

    def on_call(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Return what a call of a method gives."""
        return Unknown(f"{name}() is not followed")

    def on_member(self, name: str, site: CallSite, machine: Evaluator) -> Value:
        """Return what a member is."""
        return Unknown(f"{name} is not followed")

    def on_assign(self, name: Value, value: Value, site: CallSite, machine: Evaluator) -> None:
        """Take note of a member, or a key, that is set; a key of None is `of[] = value`."""


Value: TypeAlias = (
    str | int | float | bool | None | Array | Lambda | ClassRef | EnumCase | Instance | Unknown | Recorder
)


def first_known(value: Value) -> Value:
    """Return a value, or of an unknown one the first option that is known."""
    while isinstance(value, Unknown) and value.options:
        value = value.options[0]
    return value


def display_text(value: Value, unknown: str = "?") -> str:
    """Return a value as text; one that is unknown as it may be shown."""
    if isinstance(value, Unknown):
        return value.display or (display_text(value.options[0], unknown) if value.options else unknown)
    if isinstance(value, EnumCase):
        return display_text(value.value, unknown)
    if isinstance(value, bool):
        return "1" if value else ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, str | int | float):
        return str(value)
    if isinstance(value, ClassRef):
        return value.name
    return "" if value is None else unknown
