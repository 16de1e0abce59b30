"""Routes and guards as framework adapters describe them, before they become nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from ragstone.types import Json
from ragstone_code.python.values import (
    CallResult,
    ClassValue,
    ExternalName,
    FunctionValue,
    UnknownValue,
    Value,
    full_name,
)

METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD")

Location: TypeAlias = tuple[str, int]
"""A file and a line."""


@dataclass(frozen=True, slots=True)
class RouteGuard:
    """A check that runs before a route: a decorator, a dependency, a permission."""

    name: str
    full: str
    uri: str
    line: int
    parameters: tuple[str, ...] = ()
    value: Value = None
    """The function or class of the project that performs the check."""
    conditional: bool = False

    @property
    def written(self) -> str:
        """Return the guard with its parameters: `throttle:60,1`."""
        if not self.parameters:
            return self.name
        return f"{self.name}:{','.join(self.parameters)}"


@dataclass(frozen=True, slots=True)
class RouteDefinition:
    """A route, before it becomes a node."""

    methods: tuple[str, ...]
    """Empty if the route accepts any method."""
    uri: str
    """With parameters in braces, without a leading slash."""
    name: str | None
    handler: Value
    place: Location
    method: str = ""
    """The method of a handler class that serves the route."""
    guards: tuple[RouteGuard, ...] = ()
    conditional: bool = False
    attributes: Mapping[str, Json] = field(default_factory=dict)

    @property
    def verbs(self) -> list[str]:
        """Return the HTTP methods in their usual order, without HEAD if there are others."""
        verbs: list[str] = [
            method for method in METHODS if method in self.methods and method != "HEAD"
        ]
        return verbs or sorted(self.methods)

    @property
    def controller(self) -> str | None:
        """Return the full name of the handler's class, or of the handler function."""
        if isinstance(self.handler, FunctionValue):
            if self.handler.owner is not None:
                return self.handler.owner.full
            return self.handler.full
        return full_name(self.handler) or None

    @property
    def action(self) -> str:
        """Return the full name of the function that serves the route."""
        if isinstance(self.handler, UnknownValue) or self.handler is None:
            return "unknown"
        name = full_name(self.handler)
        if self.method and isinstance(self.handler, ClassValue | ExternalName):
            return f"{name}.{self.method}"
        return name


def guard_from_value(
    value: Value,
    location: Location,
    *,
    conditional: bool = False,
) -> RouteGuard:
    """Return the guard for a decorator, a dependency or a class."""
    parameters: list[str] = []
    implementation = value
    if isinstance(value, CallResult):
        parameters = [
            str(argument) for argument in value.args if isinstance(argument, str | int)
        ]
        if isinstance(value.on, FunctionValue | ClassValue) and not value.method:
            implementation = value.on
        conditional = conditional or value.conditional
    full = full_name(value).removesuffix("()") or "unknown"
    short_name = full.rpartition(".")[2]
    return RouteGuard(
        short_name,
        full,
        *location,
        tuple(parameters),
        implementation,
        conditional,
    )
