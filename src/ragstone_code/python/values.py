"""The values of an interpreted Python program: plain Python values, and these classes for everything else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ragstone_code.program_tree import Class, Expr, Function, Module

Value: TypeAlias = Any
"""A str, int, float, bool, None, list, tuple or dict of values, or an object of a class below."""

_MAX_LINEAGE = 200


@dataclass(frozen=True, slots=True)
class UnknownValue:
    """A value that cannot be computed, and the reason."""

    reason: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class ExternalName:
    """A name that the project does not define, by its full name: `django.urls.path`, `str`."""

    name: str


@dataclass(frozen=True, slots=True)
class GenericType:
    """`origin[arguments]`; `a | b` has the origin `typing.Union`."""

    origin: Value
    arguments: tuple[Value, ...]


@dataclass(slots=True, eq=False, repr=False)
class Scope:
    """Names and their values, with the surrounding scope."""

    module: ModuleValue
    outer: Scope | None = None
    names: dict[str, Value] = field(default_factory=dict)

    def find(self, name: str) -> tuple[bool, Value]:
        """Return whether a name is bound here or in an outer scope, and its value."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return True, scope.names[name]
            scope = scope.outer
        return False, None


@dataclass(slots=True, eq=False, repr=False)
class ModuleValue:
    """A module whose statements were interpreted, or are being interpreted."""

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
    """The value of a decorator, and its line."""

    value: Value
    line: int
    written: str = ""
    """The decorator as it is written, if it is a method of an object: `token_auth.login_required`."""


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
        """Return the line of the definition."""
        return self.definition.line

    def __repr__(self) -> str:
        return f"<{self.full}>"


@dataclass(slots=True, eq=False, repr=False)
class ClassValue:
    """A class of the project whose body was interpreted."""

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
        """Return the full name."""
        return self.definition.name

    @property
    def line(self) -> int:
        """Return the line of the definition."""
        return self.definition.line

    def lineage(self) -> list[Value]:
        """Return the class and its ancestors, nearest first; an ancestor outside the project is `ExternalName`."""
        lineage: list[Value] = []
        pending: list[Value] = [self]
        while pending and len(lineage) < _MAX_LINEAGE:
            value = pending.pop(0)
            if value in lineage:
                continue
            lineage.append(value)
            if isinstance(value, ClassValue):
                pending = [*map(_origin_of, value.bases), *pending]
        return lineage

    def type_names(self) -> Iterator[str]:
        """Yield the full names of the class and its ancestors."""
        for value in self.lineage():
            name = full_name(value)
            if name:
                yield name

    def find(self, name: str) -> tuple[ClassValue, Value] | None:
        """Return an attribute with the class that defines it, nearest first."""
        for value in self.lineage():
            if isinstance(value, ClassValue) and name in value.attributes:
                return value, value.attributes[name]
        return None

    def __repr__(self) -> str:
        return f"<{self.full}>"


def _origin_of(base: Value) -> Value:
    if isinstance(base, GenericType):
        return base.origin
    return base


@dataclass(slots=True, eq=False, repr=False)
class CallResult:
    """The result of a call that was not followed, or an object of a project class."""

    callee: str
    """Full name of the called function: `fastapi.APIRouter`, `shop.views.Registry`, `fastapi.APIRouter.get`."""
    args: list[Value]
    kwargs: dict[str, Value]
    uri: str
    line: int
    conditional: bool = False
    on: Value = None
    """The object of a method call, or the called function or class of the project."""
    method: str = ""
    attributes: dict[str, Value] = field(default_factory=dict)
    calls: list[CallResult] = field(default_factory=list)
    """Method calls on this object, in order."""
    applied: list[Value] = field(default_factory=list)
    """Functions and classes that this object decorates."""

    def argument(self, position: int, name: str, default: Value = None) -> Value:
        """Return an argument by its position or its name."""
        if name in self.kwargs:
            return self.kwargs[name]
        if 0 <= position < len(self.args):
            return self.args[position]
        return default

    def type_names(self) -> tuple[str, ...]:
        """Return the full names of the object's class and its ancestors."""
        if isinstance(self.on, ClassValue) and not self.method:
            return tuple(self.on.type_names())
        return (self.callee,)

    def __repr__(self) -> str:
        return f"<{self.callee}(…) {self.uri}:{self.line}>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BoundMember:
    """An attribute of an object whose value is not known: `router.get`; with a function, a bound method."""

    owner: Value
    name: str
    function: FunctionValue | None = None

    def __repr__(self) -> str:
        return f"<{full_name(self)}>"


def full_name(value: Value) -> str:
    """Return the full name of a class, function, module, call or external name; else an empty text."""
    if isinstance(value, ExternalName | ModuleValue):
        return value.name
    if isinstance(value, ClassValue | FunctionValue):
        return value.full
    if isinstance(value, CallResult):
        return value.callee
    if isinstance(value, GenericType):
        return full_name(value.origin)
    if isinstance(value, BoundMember):
        return _member_name(value)
    return ""


def _member_name(member: BoundMember) -> str:
    if isinstance(member.owner, CallResult):
        return f"{member.owner.type_names()[-1]}.{member.name}"
    owner_name = full_name(member.owner)
    if not owner_name:
        return ""
    return f"{owner_name}.{member.name}"


def parts_of(value: Value) -> Iterable[Value] | None:
    """Return the values inside a collection or a recorded call, None for other values."""
    if isinstance(value, list | tuple):
        return value
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, CallResult):
        return (*value.args, *value.kwargs.values())
    return None


def truth_of(value: Value) -> bool | None:
    """Return whether a value counts as true, or None if that is unknown."""
    if value is None or isinstance(value, str | int | float | list | tuple | dict):
        return bool(value)
    if isinstance(value, FunctionValue | ClassValue | ModuleValue):
        return True
    return None
