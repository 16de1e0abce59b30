"""The calls of an application, each with the body it is in and the declared types of that body's variables.

A body is parsed only if its text has one of `WORDS`, so that a thousand files take about a second.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ragstone_code import program_tree
from ragstone_code.laravel.app import App, AppClass
from ragstone_code.laravel.syntax import SyntaxNode, array_values, call_chain, class_of, walk

WORDS: Final = (
    "dispatch", "broadcast", "event(", "fire(", "Event::", "Mail::", "Notification::", "Bus::", "Queue::", "Gate::",
    "Config::", "Broadcast::", "Schedule", "Artisan::", "config(", "->notify(", "->notifyNow(", "->send(", "->sendNow(",
    "->queue(", "->push(new", "->later(", "->until(", "observe(", "->policy(", "->define(", "listen(", "subscribe(",
    "->bind", "->singleton", "->scoped", "->instance(", "->give(", "->withEvents(", "->withBindings(",
    "->withSingletons(", "EventDiscovery", "->chain(", "Batch $", "mergeConfig",
)  # fmt: skip
"""A pass looks only at bodies that contain one of these; plain strings, because every file is searched for all."""
FINDERS: Final = frozenset(
    (
        "find",
        "findorfail",
        "findornew",
        "create",
        "first",
        "firstorfail",
        "firstorcreate",
        "firstornew",
        "make",
        "sole",
        "updateorcreate",
        "forcecreate",
    )
)
"""Static methods of a model that return an object of the model."""


@dataclass
class CodeBody:
    """The body of a method or a function, or the top level of a file."""

    uri: str
    owner: str = ""
    """The qualified name of the class; empty for functions and files."""
    function: program_tree.Function | None = None
    statements: tuple[program_tree.Statement, ...] = ()

    @property
    def key(self) -> str:
        """Return the key of the node that the body belongs to."""
        if self.function is None or "@" in self.owner:  # an anonymous class has no key
            return f"file:{self.uri}"
        if self.owner:
            return f"method:{self.owner}::{self.function.name}"
        return f"function:{self.function.name}"

    @cached_property
    def calls(self) -> tuple[tuple[program_tree.Call, bool], ...]:
        """Return every call in the body, with a flag that is true if a condition decides over it."""
        nodes = walk(self.statements)
        return tuple(
            (node, conditional)
            for node, conditional in nodes
            if isinstance(node, program_tree.Call)
        )

    @cached_property
    def variable_types(self) -> dict[str, tuple[str, ...]]:
        """Return the classes of the variables, as far as types, `new` or finders of models tell them."""
        types: dict[str, list[str]] = {}
        parameters = self.function.parameters if self.function else ()
        for parameter in parameters:
            names = parameter.type.names if parameter.type else ()
            types[parameter.name.lstrip("$")] = [name for name in names if not name.islower()]
        for node, _ in walk(self.statements):
            if isinstance(node, program_tree.Closure):
                for parameter in node.function.parameters:
                    names = parameter.type.names if parameter.type else ()
                    types.setdefault(parameter.name.lstrip("$"), list(names))
            elif isinstance(node, program_tree.Assigned):
                self._add_assigned_types(node, types)
        return {variable: tuple(dict.fromkeys(names)) for variable, names in types.items()}

    def _add_assigned_types(
        self, assignment: program_tree.Assigned, types: dict[str, list[str]]
    ) -> None:
        """Add the classes of an assigned value, or of an array's elements, to the variable's types."""
        target = assignment.target
        if isinstance(target, program_tree.Subscript):
            target = target.of
        if not isinstance(target, program_tree.Variable):
            return
        names = types.setdefault(target.name.lstrip("$"), [])
        for value in array_values(assignment.value):
            names += self._created_class(value)

    def classes_of(self, expression: SyntaxNode) -> tuple[str, ...]:
        """Return the classes of a value, also through `(new X)->delay()` and variables; empty if none is written."""
        if isinstance(expression, program_tree.Collected):
            names: list[str] = []
            for value in array_values(expression):
                names += self.classes_of(value)
            return tuple(dict.fromkeys(names))
        if isinstance(expression, program_tree.Choice):
            return (*self.classes_of(expression.then), *self.classes_of(expression.other))
        created = self._created_class(expression)
        if created:
            return created
        start, _ = call_chain(expression)
        if isinstance(start, program_tree.Variable):
            return self.variable_types.get(start.name.lstrip("$"), ())
        return ()

    def _created_class(self, expression: SyntaxNode) -> tuple[str, ...]:
        """Return the class of an object that an expression creates, by `new` or by a finder of a model."""
        start, calls = call_chain(expression)
        name = ""
        if isinstance(start, program_tree.New):
            name = class_of(start, self.owner)
        elif calls and isinstance(start, program_tree.ClassName) and _is_finder(calls[-1]):
            name = class_of(start, self.owner)
        return (name,) if name else ()


def _is_finder(call: program_tree.Call) -> bool:
    """Return whether a call is `find`, `create` or another method that returns a model."""
    function = call.function
    return (
        isinstance(function, (program_tree.Member, program_tree.Static))
        and str(function.name).lower() in FINDERS
    )


@dataclass(frozen=True, slots=True)
class LocatedCall:
    """A call and the body it is in."""

    body: CodeBody
    call: program_tree.Call
    conditional: bool

    @property
    def uri(self) -> str:
        """Return the file of the call."""
        return self.body.uri

    @property
    def line(self) -> int:
        """Return the line of the called name."""
        return self.call.line


def find_calls(app: App, words: tuple[str, ...] = WORDS) -> tuple[LocatedCall, ...]:
    """Return all calls in the bodies that contain one of the words."""
    located: list[LocatedCall] = []
    for uri in app.sources:
        hits = _hit_lines(app.world.text(uri) or "", words)
        if not hits:
            continue
        for body in _bodies_with_hits(app, uri, hits):
            located += [
                LocatedCall(body, call, conditional) for call, conditional in body.calls
            ]
    return tuple(located)


def method_body(
    app_class: AppClass, function: program_tree.Function, owner: str = ""
) -> CodeBody:
    """Return the body of a method; `owner` is the inheriting class if it is not the declaring one."""
    return CodeBody(
        app_class.uri,
        owner or app_class.name,
        function,
        function.body.statements,
    )


def _hit_lines(text: str, words: tuple[str, ...]) -> list[int]:
    """Return the numbers of the lines that contain one of the words, sorted."""
    positions: set[int] = set()
    for word in words:
        position = text.find(word)
        while position >= 0:
            positions.add(position)
            line_end = text.find("\n", position)  # one hit per line is enough
            position = text.find(word, line_end) if line_end >= 0 else -1
    lines: list[int] = []
    line, counted = 1, 0
    for position in sorted(positions):
        line += text.count("\n", counted, position)
        counted = position
        if not lines or lines[-1] != line:
            lines.append(line)
    return lines


def _bodies_with_hits(app: App, uri: str, hits: list[int]) -> Iterator[CodeBody]:
    """Yield the bodies of a file that cover one of the lines, and the file's top level."""
    module = app.world.module(uri)
    if module is None:
        return
    for definition in module.classes:
        for method in definition.methods:
            if _covers_hit(method, hits):
                yield CodeBody(uri, definition.name, method, method.body.statements)
    for function in module.functions:
        if _covers_hit(function, hits):
            yield CodeBody(uri, "", function, function.body.statements)
    declarations = (program_tree.Function, program_tree.Class)
    top_level = tuple(
        statement for statement in module.statements if not isinstance(statement, declarations)
    )
    if top_level:
        yield CodeBody(uri, "", None, top_level)


def _covers_hit(function: program_tree.Function, hits: list[int]) -> bool:
    """Return whether one of the sorted lines is inside a function."""
    next_hit = bisect_right(hits, function.line - 1)
    return next_hit < len(hits) and hits[next_hit] <= function.line_end
