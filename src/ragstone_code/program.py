"""A Python project as its frameworks see it: modules that were followed, and what functions name in their bodies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from functools import cache
from typing import Any, Final

from ragstone.code import tree
from ragstone.code.world import World
from ragstone_code.python.interpreter import STEPS, PythonInterpreter
from ragstone_code.python.values import (
    CallResult,
    ClassValue,
    ExternalName,
    FunctionValue,
    ModuleValue,
    Scope,
    UnknownValue,
    Value,
)

SKIPPED: Final = frozenset(
    "tests test testing node_modules venv .venv env site-packages docs_src examples .tox build dist".split()
)
"""Folders whose modules are followed only where others import them."""


class Program:
    """The modules of a project, followed; `about` says which of them a framework has to do with."""

    def __init__(self, world: World, about: Callable[[str], bool]) -> None:
        self.world = world
        self.interpreter = PythonInterpreter(world)
        self._parts: dict[int, list[Any]] = {}
        self._brought: dict[int, dict[str, tree.ClassName]] = {}
        for uri in self.interpreter.project.uris:
            if is_application_code(uri) and about(world.read(uri) or ""):
                self.interpreter.load(uri)

    def modules(self) -> Iterator[ModuleValue]:
        """Yield the modules that were followed."""
        return iter(list(self.interpreter.loaded.values()))

    def classes(self) -> Iterator[ClassValue]:
        """Yield the classes they define, those inside of others too."""
        for module in self.modules():
            yield from self.classes_in(module.names.values(), module.uri)

    def classes_in(self, values: Iterable[Value], uri: str) -> Iterator[ClassValue]:
        """Yield the classes among some values that this file defines."""
        for value in list(values):
            if isinstance(value, ClassValue) and value.uri == uri:
                yield value
                own = [one for one in value.attributes.values() if _below(one, value)]
                yield from self.classes_in(own, uri)

    def functions(self) -> Iterator[FunctionValue]:
        """Yield the functions and methods they define."""
        for module in self.modules():
            for value in list(module.names.values()):
                if isinstance(value, FunctionValue) and value.uri == module.uri and value.owner is None:
                    yield value
        for one in self.classes():
            yield from own_methods(one)

    def objects_of(self, *kinds: str) -> list[CallResult]:
        """Return the objects of some kinds that were made, in their order."""
        wanted = set(kinds)
        return [one for one in self.interpreter.objects if not one.method and wanted & set(one.type_names())]

    def call_factories(self, *kinds: str) -> None:
        """Follow the functions that make an object of some kinds, where nobody calls them."""
        wanted = set(kinds)
        for function in list(self.functions()):
            made = [value for _, value, name in self.calls_in(function) if not name and wanted & set(_kinds(value))]
            made += [1 for call, value, name in self.calls_in(function) if name and f"{_first(value)}.{name}" in wanted]
            inside = range(function.line, function.definition.line_end + 1)
            if made and not any(one.uri == function.uri and one.line in inside for one in self.objects_of(*kinds)):
                self.call(function)

    def call(self, function: FunctionValue, *args: Value) -> Value:
        """Return what a function gives when it is followed now."""
        self.interpreter.steps = STEPS
        return self.interpreter.call(function, list(args), {}, (function.uri, function.line))

    def evaluate(self, expression: tree.Expr | None, scope: Scope) -> Value:
        """Return what an expression stands for; a type in quotes is the name it holds."""
        found = self.interpreter.evaluate(expression, scope)
        return self.resolve_quoted(found, scope)

    def resolve_quoted(self, found: Value, scope: Scope) -> Value:
        """Return what a name in quotes stands for, any other value as it is."""
        if isinstance(found, str) and found.replace(".", "").replace("_", "").isalnum():
            first, *rest = found.split(".")
            known, value = scope.find(first)
            for part in rest if known else ():
                value = self.interpreter.attribute(value, part)
            return value if known else UnknownValue(f"{found} is not known here")
        return found

    def names_in(self, function: FunctionValue) -> Iterator[tuple[Value, int]]:
        """Yield what a function names in its body and resolves to something of the project, with the line."""
        scope = Scope(function.scope.module, function.scope)
        own = {parameter.name for parameter in function.definition.parameters}
        for one in self.body_parts(function):
            if isinstance(one, tree.Assigned) and isinstance(one.value, tree.ClassName):
                scope.names[one.value.written] = self.interpreter.evaluate(one.value, scope)
            if isinstance(one, tree.Variable) and one.name not in own:
                yield scope.find(one.name)[1], one.line
            elif isinstance(one, tree.Member) and isinstance(one.of, tree.Variable) and one.of.name not in own:
                of = scope.find(one.of.name)[1]
                if isinstance(of, ModuleValue | ExternalName):
                    yield self.interpreter.attribute(of, str(one.name)), one.line

    def calls_in(self, function: FunctionValue) -> Iterator[tuple[tree.Call, Value, str]]:
        """Yield the calls in a body with what they are called on, where that is known, and the method's name."""
        for one in self.body_parts(function):
            if not isinstance(one, tree.Call):
                continue
            member = one.function if isinstance(one.function, tree.Member) else None
            inner = member.of if member is not None else one.function
            yield one, self._plainly(inner, function), str(member.name) if member is not None else ""

    def _plainly(self, one: tree.Expr, function: FunctionValue) -> Value:
        if isinstance(one, tree.Variable):
            known, value = function.scope.find(one.name)
            return value if known else self._imported(one.name, function)
        if isinstance(one, tree.Member) and isinstance(one.of, tree.Variable | tree.Member):
            of = self._plainly(one.of, function)
            return (
                self.interpreter.attribute(of, str(one.name))
                if isinstance(of, ModuleValue | ExternalName | ClassValue)
                else None
            )
        return None

    def _imported(self, name: str, function: FunctionValue) -> Value:
        brought = self._brought.get(id(function.definition))
        if brought is None:
            brought = {
                one.value.written: one.value
                for one in self.body_parts(function)
                if isinstance(one, tree.Assigned) and isinstance(one.value, tree.ClassName)
            }
            self._brought[id(function.definition)] = brought
        return self.interpreter.evaluate(brought[name], function.scope) if name in brought else None

    def body_parts(self, function: FunctionValue) -> list[Any]:
        """Return all parts of a function's body, in their order."""
        key = id(function.definition)
        if key not in self._parts:
            self._parts[key] = list(walk_tree(function.definition.body.statements))
        return self._parts[key]


def _kinds(value: Value) -> tuple[str, ...]:
    return tuple(value.type_names()) if isinstance(value, ClassValue) else (_first(value),)


def _first(value: Value) -> str:
    return value.name if isinstance(value, ExternalName) else ""


def any_module_matches(world: World, wanted: re.Pattern[str]) -> bool:
    """Return whether a module of the program's own has what an expression looks for."""
    return any(
        wanted.search(world.read(uri) or "") for uri in world.uris if uri.endswith(".py") and is_application_code(uri)
    )


def is_application_code(uri: str) -> bool:
    """Return whether a module is the program's own and no test."""
    parts = uri.split("/")
    return (
        not (SKIPPED & set(parts[:-1])) and not parts[-1].startswith(("test_", "conftest")) and parts[-1] != "tests.py"
    )


def own_methods(one: ClassValue) -> Iterator[FunctionValue]:
    """Yield the methods a class itself defines."""
    return (value for value in one.attributes.values() if isinstance(value, FunctionValue) and value.owner is one)


def _below(value: Value, outer: ClassValue) -> bool:
    return isinstance(value, ClassValue) and value.full.startswith(f"{outer.full}.")


def walk_tree(part: Any) -> Iterator[Any]:  # noqa: ANN401 any part of a program has parts of any kind
    """Yield all parts of statements or expressions, in their order, bodies of functions inside them too."""
    waiting = [part]
    while waiting:
        one = waiting.pop()
        if isinstance(one, tuple):
            waiting.extend(reversed(one))
        elif isinstance(one, tree.Body):
            waiting.append(one.statements)
        elif type(one).__module__ == tree.__name__:
            yield one
            waiting.extend([getattr(one, name) for name in _inside(one.__class__)])


@cache
def _inside(kind: type) -> tuple[str, ...]:
    """Return the fields of a kind of part that may hold parts, the last first."""
    plain = ("line", "line_end", "kind", "doc", "written", "operator", "visibility", "text", "how", "captures")
    return tuple(one.name for one in reversed(fields(kind)) if one.name not in plain)
