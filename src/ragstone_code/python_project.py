"""A Python project as framework adapters see it: interpreted modules, and the names and calls in function bodies."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import fields
from functools import cache
from typing import Any, Final

from ragstone.protocols import ProjectFiles
from ragstone.text.counts import plural
from ragstone_code import program_tree
from ragstone_code.project_files import World
from ragstone_code.python.interpreter import PythonInterpreter
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
    "tests test testing node_modules venv .venv env site-packages .tox build dist".split()
)
"""Folders whose modules are interpreted only if other modules import them."""
EXAMPLES: Final = frozenset("docs_src examples example samples sample demo demos".split())
"""Folders that are interpreted only if no other folder has a module of the framework."""


class Program:
    """The interpreted modules of a project; `is_relevant` selects by their text the modules to start with.

    A copy of one of the `frameworks` in the project is not followed: its classes keep their known names.
    """

    def __init__(
        self,
        world: World,
        is_relevant: Callable[[str], bool],
        frameworks: Collection[str] = (),
    ) -> None:
        self.world = world
        self.interpreter = PythonInterpreter(world, frameworks)
        self._body_parts: dict[int, list[Any]] = {}
        self._local_imports: dict[int, dict[str, program_tree.ClassName]] = {}
        self.examples_remark = ""
        """Which modules of examples are left out; empty if none is."""
        self._load_modules(is_relevant)

    def _load_modules(self, is_relevant: Callable[[str], bool]) -> None:
        """Interpret the relevant modules; examples only if there is no other module."""
        application: list[str] = []
        examples: list[str] = []
        for uri in self.interpreter.project.uris:
            if is_no_test(uri) and is_relevant(self.world.text(uri) or ""):
                group = examples if is_example(uri) else application
                group.append(uri)
        for uri in application or examples:
            self.interpreter.load(uri)
        if application and examples:
            self.examples_remark = _examples_remark(examples)
            self.interpreter.remarks.append(self.examples_remark)

    # ── definitions ───────────────────────────────────────────────────────────────────────────────

    def modules(self) -> Iterator[ModuleValue]:
        """Yield the interpreted modules."""
        return iter(list(self.interpreter.loaded.values()))

    def classes(self) -> Iterator[ClassValue]:
        """Yield the classes of all modules, including nested classes."""
        for module in self.modules():
            yield from self.classes_in(module.names.values(), module.uri)

    def classes_in(self, values: Iterable[Value], uri: str) -> Iterator[ClassValue]:
        """Yield the classes among some values that a file defines, including nested classes."""
        for value in list(values):
            if isinstance(value, ClassValue) and value.uri == uri:
                yield value
                prefix = f"{value.full}."
                nested = [
                    attribute
                    for attribute in value.attributes.values()
                    if isinstance(attribute, ClassValue) and attribute.full.startswith(prefix)
                ]
                yield from self.classes_in(nested, uri)

    def functions(self) -> Iterator[FunctionValue]:
        """Yield the functions and methods of all modules."""
        for module in self.modules():
            for value in list(module.names.values()):
                if (
                    isinstance(value, FunctionValue)
                    and value.uri == module.uri
                    and value.owner is None
                ):
                    yield value
        for class_value in self.classes():
            yield from own_methods(class_value)

    # ── objects and calls ─────────────────────────────────────────────────────────────────────────

    def objects_of(self, *types: str) -> list[CallResult]:
        """Return the created objects of some types, in order of creation."""
        type_names = set(types)
        return [
            created
            for created in self.interpreter.objects
            if not created.method and not type_names.isdisjoint(created.type_names())
        ]

    def call_factories(self, *types: str) -> None:
        """Call the functions that create an object of some types, if no other code calls them."""
        for function in list(self.functions()):
            if self._creates(function, set(types)) and not self._was_called(function, types):
                self.call(function)

    def _creates(self, function: FunctionValue, types: set[str]) -> bool:
        """Return whether a function body calls one of some types or one of their class methods."""
        for _, value, method in self.calls_in(function):
            if method:
                if isinstance(value, ExternalName) and f"{value.name}.{method}" in types:
                    return True
            elif not types.isdisjoint(_type_names(value)):
                return True
        return False

    def _was_called(self, function: FunctionValue, types: tuple[str, ...]) -> bool:
        """Return whether objects of some types were created inside a function."""
        for created in self.objects_of(*types):
            if (
                created.uri == function.uri
                and function.line <= created.line <= function.definition.line_end
            ):
                return True
        return False

    def call(self, function: FunctionValue, *args: Value) -> Value:
        """Interpret a function now and return its result."""
        self.interpreter.budget.renew()
        return self.interpreter.call(
            function,
            list(args),
            {},
            (function.uri, function.line),
        )

    def evaluate(self, expression: program_tree.Expr | None, scope: Scope) -> Value:
        """Return the value of an expression; a quoted type is resolved as a name."""
        return self.resolve_quoted(self.value_of(expression, scope), scope)

    def value_of(self, expression: program_tree.Expr | None, scope: Scope) -> Value:
        """Return the value of an expression; a quoted type stays a text."""
        self.interpreter.budget.renew()
        return self.interpreter.evaluate(expression, scope)

    def resolve_quoted(self, value: Value, scope: Scope) -> Value:
        """Return the value of a name in quotes; any other value stays as it is."""
        if not isinstance(value, str) or not value.replace(".", "").replace("_", "").isalnum():
            return value
        first, *members = value.split(".")
        is_bound, resolved = scope.find(first)
        if not is_bound:
            return UnknownValue(f"{value} is not known here")
        for member in members:
            resolved = self.interpreter.attribute(resolved, member)
        return resolved

    # ── function bodies ───────────────────────────────────────────────────────────────────────────

    def names_in(self, function: FunctionValue) -> Iterator[tuple[Value, int]]:
        """Yield the values of the names in a function body, with their lines."""
        scope = Scope(function.scope.module, function.scope)
        parameters = {parameter.name for parameter in function.definition.parameters}
        for part in self.body_parts(function):
            if isinstance(part, program_tree.Assigned) and isinstance(
                part.value, program_tree.ClassName
            ):
                scope.names[part.value.written] = self.value_of(part.value, scope)
            elif isinstance(part, program_tree.Variable) and part.name not in parameters:
                yield scope.find(part.name)[1], part.line
            elif isinstance(part, program_tree.Member) and isinstance(
                part.of, program_tree.Variable
            ):
                if part.of.name not in parameters:
                    yield from self._module_member(part, scope.find(part.of.name)[1])

    def _module_member(
        self,
        member: program_tree.Member,
        owner: Value,
    ) -> Iterator[tuple[Value, int]]:
        """Yield the value and line of a member, if its owner is a module or an external name."""
        if isinstance(owner, ModuleValue | ExternalName):
            yield self.interpreter.attribute(owner, str(member.name)), member.line

    def calls_in(
        self, function: FunctionValue
    ) -> Iterator[tuple[program_tree.Call, Value, str]]:
        """Yield the calls in a function body: the call, the function or the method's object, and the method name."""
        for part in self.body_parts(function):
            if not isinstance(part, program_tree.Call):
                continue
            if isinstance(part.function, program_tree.Member):
                owner = self._static_value(part.function.of, function)
                yield part, owner, str(part.function.name)
            else:
                yield part, self._static_value(part.function, function), ""

    def _static_value(self, expression: program_tree.Expr, function: FunctionValue) -> Value:
        """Return the value of a dotted name in a function body without running the body."""
        if isinstance(expression, program_tree.Variable):
            is_bound, value = function.scope.find(expression.name)
            if is_bound:
                return value
            return self._locally_imported(expression.name, function)
        if isinstance(expression, program_tree.Member) and isinstance(
            expression.of,
            program_tree.Variable | program_tree.Member,
        ):
            owner = self._static_value(expression.of, function)
            if isinstance(owner, ModuleValue | ExternalName | ClassValue):
                return self.interpreter.attribute(owner, str(expression.name))
        return None

    def _locally_imported(self, name: str, function: FunctionValue) -> Value:
        """Return the value of a name that a function body imports."""
        key = id(function.definition)
        if key not in self._local_imports:
            imports: dict[str, program_tree.ClassName] = {}
            for part in self.body_parts(function):
                if isinstance(part, program_tree.Assigned) and isinstance(
                    part.value, program_tree.ClassName
                ):
                    imports[part.value.written] = part.value
            self._local_imports[key] = imports
        imported = self._local_imports[key].get(name)
        return self.value_of(imported, function.scope)

    def body_parts(self, function: FunctionValue) -> list[Any]:
        """Return all statements and expressions of a function body, in order."""
        key = id(function.definition)
        if key not in self._body_parts:
            self._body_parts[key] = list(walk_tree(function.definition.body.statements))
        return self._body_parts[key]


def _examples_remark(uris: list[str]) -> str:
    """Return a remark about modules of examples that are left out."""
    folders = [uri.rpartition("/")[0] for uri in uris]
    folder = posixpath.commonpath(folders) or min(folders)
    modules = plural(len(uris), "module")
    return (
        f"{folder}: the routes and models of {modules} of examples are left out;"
        f" `ragstone graph routes -C {folder}` makes a separate index there and lists them"
    )


def _type_names(value: Value) -> list[str]:
    if isinstance(value, ClassValue):
        return list(value.type_names())
    if isinstance(value, ExternalName):
        return [value.name]
    return []


def any_module_matches(files: ProjectFiles, pattern: re.Pattern[str]) -> bool:
    """Return whether the text of a module that is no test matches a pattern."""
    modules = (uri for uri in files.uris if uri.endswith(".py") and is_no_test(uri))
    return any(pattern.search(files.text(uri) or "") for uri in modules)


def is_no_test(uri: str) -> bool:
    """Return whether a module belongs to the project and is not a test."""
    *folders, name = uri.split("/")
    if not SKIPPED.isdisjoint(folders):
        return False
    return not name.startswith(("test_", "conftest")) and name != "tests.py"


def is_example(uri: str) -> bool:
    """Return whether a module is in a folder of examples."""
    return not EXAMPLES.isdisjoint(uri.split("/")[:-1])


def own_methods(class_value: ClassValue) -> Iterator[FunctionValue]:
    """Yield the methods that a class defines itself."""
    for value in class_value.attributes.values():
        if isinstance(value, FunctionValue) and value.owner is class_value:
            yield value


def walk_tree(part: Any) -> Iterator[Any]:  # noqa: ANN401 parts of a program have no common type
    """Yield all statements and expressions below a part, in order, including bodies of nested functions."""
    pending = [part]
    while pending:
        current = pending.pop()
        if isinstance(current, tuple):
            pending.extend(reversed(current))
        elif isinstance(current, program_tree.Body):
            pending.append(current.statements)
        elif type(current).__module__ == program_tree.__name__:
            yield current
            pending.extend(getattr(current, name) for name in _nested_fields(current.__class__))


@cache
def _nested_fields(kind: type) -> tuple[str, ...]:
    """Return the fields of a tree class that may hold other parts, last field first."""
    plain_fields = (
        "line",
        "line_end",
        "kind",
        "doc",
        "written",
        "operator",
        "visibility",
        "text",
        "how",
        "captures",
        "raised",
    )
    return tuple(
        part_field.name
        for part_field in reversed(fields(kind))
        if part_field.name not in plain_fields
    )
