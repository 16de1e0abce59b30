"""What a Python program is made of while it is followed: known values as Python has them, and these for the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ragstone.code.tree import Class, Expr, Function, Module

Value: TypeAlias = Any
"""A str, int, float, bool, None, list, tuple or dict of values, or one of the classes below."""


@dataclass(frozen=True, slots=True)
class UnknownValue:
    """What cannot be known, and why."""

    reason: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class ExternalName:
    """Something the project does not define, by its full name: `django.urls.path`, `str`."""

    name: str


@dataclass(frozen=True, slots=True)
class GenericType:
    """`of[arguments]`, `a | b` (of `typing.Union`)."""

    origin: Value
    arguments: tuple[Value, ...]


@dataclass(slots=True, eq=False, repr=False)
class Scope:
    """Names and what they are bound to."""

    module: ModuleValue
    outer: Scope | None = None
    names: dict[str, Value] = field(default_factory=dict)

    def find(self, name: str) -> tuple[bool, Value]:
        """Return whether a name is known, and its value."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return True, scope.names[name]
            scope = scope.outer
        return False, None


@dataclass(slots=True, eq=False, repr=False)
class ModuleValue:
    """A module that was run, or is being run."""

    name: str
    uri: str
    program: Module
    done: bool = False
    names: dict[str, Value] = field(default_factory=dict)
    scope: Scope | None = None

    def __repr__(self) -> str:
        return f"<{self.name}>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Decoration:
    """What a function or class is decorated with."""

    value: Value
    line: int


@dataclass(slots=True, eq=False, repr=False)
class FunctionValue:
    """A function of the project."""

    definition: Function
    full: str
    uri: str
    scope: Scope
    decorations: list[Decoration] = field(default_factory=list)
    owner: ClassValue | None = None
    attributes: dict[str, Value] = field(default_factory=dict)

    @property
    def line(self) -> int:
        """Return the line it is defined on."""
        return self.definition.line

    def __repr__(self) -> str:
        return f"<{self.full}>"


@dataclass(slots=True, eq=False, repr=False)
class ClassValue:
    """A class of the project, its body run."""

    definition: Class
    uri: str
    scope: Scope
    bases: list[Value]
    options: dict[str, Value] = field(default_factory=dict)
    attributes: dict[str, Value] = field(default_factory=dict)
    annotations: dict[str, Expr] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    decorations: list[Decoration] = field(default_factory=list)

    @property
    def full(self) -> str:
        """Return its full name."""
        return self.definition.name

    @property
    def line(self) -> int:
        """Return the line it is defined on."""
        return self.definition.line

    def lineage(self) -> list[Value]:
        """Return itself and everything it inherits from, the nearest first; what the project lacks is `Named`."""
        found: list[Value] = []
        waiting: list[Value] = [self]
        while waiting and len(found) < 200:
            one = waiting.pop(0)
            if one in found:
                continue
            found.append(one)
            if isinstance(one, ClassValue):
                waiting = [*(base.origin if isinstance(base, GenericType) else base for base in one.bases), *waiting]
        return found

    def type_names(self) -> Iterator[str]:
        """Yield the full names of what it is and inherits from."""
        for one in self.lineage():
            name = full_name(one)
            if name:
                yield name

    def find(self, name: str) -> tuple[ClassValue, Value] | None:
        """Return an attribute with the class that has it, the nearest first."""
        for one in self.lineage():
            if isinstance(one, ClassValue) and name in one.attributes:
                return one, one.attributes[name]
        return None

    def __repr__(self) -> str:
        return f"<{self.full}>"


@dataclass(slots=True, eq=False, repr=False)
class CallResult:
    """What a call gave whose function is not the project's, or an object of one of its classes."""

    callee: str
    """The full name of what was called: `fastapi.APIRouter`, `shop.views.Registry`, `fastapi.APIRouter.get`."""
    args: list[Value]
    kwargs: dict[str, Value]
    uri: str
    line: int
    conditional: bool = False
    on: Value = None
    """The object whose method it was, or the function or class of the project that was called."""
    method: str = ""
    attributes: dict[str, Value] = field(default_factory=dict)
    calls: list[CallResult] = field(default_factory=list)
    """What was called on it, in order."""
    applied: list[Value] = field(default_factory=list)
    """What it was called with in turn: the functions a decorator was put on."""

    def argument(self, position: int, name: str, default: Value = None) -> Value:
        """Return an argument by its place or its name."""
        if name in self.kwargs:
            return self.kwargs[name]
        return self.args[position] if 0 <= position < len(self.args) else default

    def type_names(self) -> tuple[str, ...]:
        """Return the full names of what it is an object of."""
        return tuple(self.on.type_names()) if isinstance(self.on, ClassValue) and not self.method else (self.callee,)

    def __repr__(self) -> str:
        return f"<{self.callee}(…) {self.uri}:{self.line}>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BoundMember:
    """An attribute that is not known by itself: `router.get`, `View.as_view`; with a function, a method."""

    owner: Value
    name: str
    function: FunctionValue | None = None

    def __repr__(self) -> str:
        return f"<{full_name(self)}>"


def full_name(value: Value) -> str:
    """Return the full name of a value that has one: a class, a function, what the project lacks; else nothing."""
    if isinstance(value, ExternalName):
        return value.name
    if isinstance(value, ClassValue | FunctionValue):
        return value.full
    if isinstance(value, CallResult):
        return value.callee
    if isinstance(value, GenericType):
        return full_name(value.origin)
    if isinstance(value, BoundMember):
        if isinstance(value.owner, CallResult):
            return f"{value.owner.type_names()[-1]}.{value.name}"
        before = full_name(value.owner)
        return f"{before}.{value.name}" if before else ""
    if isinstance(value, ModuleValue):
        return value.name
    return ""


def truth_of(value: Value) -> bool | None:
    """Return whether a value counts as true, None where that is not known."""
    if value is None or isinstance(value, str | int | float | list | tuple | dict):
        return bool(value)
    return True if isinstance(value, FunctionValue | ClassValue | ModuleValue) else None
