"""The calls of an application that a pass may care for, each with the method it stands in and the types written there.

Bodies are mapped only where the text has one of the words below, so that an application of a thousand files is looked
through in a second.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ragstone.code import tree
from ragstone_code.laravel.app import App, AppClass
from ragstone_code.laravel.syntax import array_values, call_chain, class_of, walk

WORDS = (
    "dispatch", "broadcast", "event(", "fire(", "Event::", "Mail::", "Notification::", "Bus::", "Queue::", "Gate::",
    "Config::", "Broadcast::", "Schedule", "Artisan::", "config(", "->notify(", "->notifyNow(", "->send(", "->sendNow(",
    "->queue(", "->push(new", "->later(", "->until(", "observe(", "->policy(", "->define(", "listen(", "subscribe(",
    "->bind", "->singleton", "->scoped", "->instance(", "->give(", "->withEvents(", "->withBindings(",
    "->withSingletons(", "EventDiscovery", "->chain(", "Batch $", "mergeConfig",
)  # fmt: skip
"""What a body has in its text that a pass looks at; plain words, since a file is searched for all of them."""
FINDERS = frozenset(
    ("find", "findorfail", "findornew", "create", "first", "firstorfail", "firstorcreate", "firstornew", "make", "sole",
     "updateorcreate", "forcecreate")
)  # fmt: skip
"""What gives a model of the class it is asked of."""


@dataclass
class CodeBody:
    """A body: of a method, of a function, or the top of a file."""

    uri: str
    owner: str = ""
    """The class, by its full name."""
    function: tree.Function | None = None
    statements: tuple[tree.Statement, ...] = ()

    @property
    def key(self) -> str:
        """Return the key of the node that the body belongs to."""
        if self.function is None or "@" in self.owner:  # a class without a name has no key of its own
            return f"file:{self.uri}"
        return f"method:{self.owner}::{self.function.name}" if self.owner else f"function:{self.function.name}"

    @cached_property
    def calls(self) -> tuple[tuple[tree.Call, bool], ...]:
        """Return every call in it, with whether it depends on a condition."""
        return tuple((part, depends) for part, depends in walk(self.statements) if isinstance(part, tree.Call))

    @cached_property
    def variable_types(self) -> dict[str, tuple[str, ...]]:
        """Return the classes of its variables, as far as they are written: typed, made by `new`, found by a model."""
        known: dict[str, list[str]] = {}
        for one in self.function.parameters if self.function else ():
            known[one.name.lstrip("$")] = [name for name in (one.type.names if one.type else ()) if not name.islower()]
        for part, _ in walk(self.statements):
            if isinstance(part, tree.Closure):
                for one in part.function.parameters:
                    known.setdefault(one.name.lstrip("$"), list(one.type.names if one.type else ()))
            elif isinstance(part, tree.Assigned):
                target = part.target.of if isinstance(part.target, tree.Subscript) else part.target
                if isinstance(target, tree.Variable):
                    made = [name for value in array_values(part.value) for name in self._made(value)]
                    known.setdefault(target.name.lstrip("$"), []).extend(made)
        return {name: tuple(dict.fromkeys(types)) for name, types in known.items()}

    def classes_of(self, expression: object) -> tuple[str, ...]:
        """Return the classes of a value, through `(new X)->delay()` and variables; nothing where none is written."""
        if isinstance(expression, tree.Collected):
            return tuple(dict.fromkeys(name for value in array_values(expression) for name in self.classes_of(value)))
        if isinstance(expression, tree.Choice):
            return (*self.classes_of(expression.then), *self.classes_of(expression.other))
        made = self._made(expression)
        if made:
            return made
        root, _ = call_chain(expression)
        return self.variable_types.get(root.name.lstrip("$"), ()) if isinstance(root, tree.Variable) else ()

    def _made(self, expression: object) -> tuple[str, ...]:
        """Return the class of what is made here: by `new`, or by a finder of a model."""
        root, calls = call_chain(expression)
        if isinstance(root, tree.New):
            name = class_of(root, self.owner)
        elif calls and calls[-1].function and isinstance(root, tree.ClassName):
            last = calls[-1].function
            found = isinstance(last, (tree.Member, tree.Static)) and str(last.name).lower() in FINDERS
            name = class_of(root, self.owner) if found else ""
        else:
            name = ""
        return (name,) if name else ()


@dataclass(frozen=True, slots=True)
class LocatedCall:
    """A call in its scope."""

    body: CodeBody
    call: tree.Call
    conditional: bool

    @property
    def uri(self) -> str:
        """Return its file."""
        return self.body.uri

    @property
    def line(self) -> int:
        """Return the line of the name that is called."""
        return self.call.line


def scopes(app: App) -> Iterator[CodeBody]:
    """Yield the bodies that have one of the words."""
    for uri in app.sources:
        text = app.world.read(uri) or ""
        hits = _lines(text)
        if hits:
            yield from _in_file(app, uri, hits)


def find_calls(app: App) -> tuple[LocatedCall, ...]:
    """Return the calls of those bodies."""
    return tuple(LocatedCall(scope, call, depends) for scope in scopes(app) for call, depends in scope.calls)


def method_body(known: AppClass, function: tree.Function, owner: str = "") -> CodeBody:
    """Return the body of one method; `owner` is the class it is asked of where that is another."""
    return CodeBody(known.uri, owner or known.name, function, function.body.statements)


def _lines(text: str) -> list[int]:
    """Return the lines that have one of the words, in order."""
    found: set[int] = set()
    for word in WORDS:
        at = text.find(word)
        while at >= 0:
            found.add(at)
            after = text.find("\n", at)  # one hit a line is enough
            at = text.find(word, after) if after >= 0 else -1
    lines: list[int] = []
    line, before = 1, 0
    for at in sorted(found):
        line += text.count("\n", before, at)
        before = at
        if not lines or lines[-1] != line:
            lines.append(line)
    return lines


def _in_file(app: App, uri: str, hits: list[int]) -> Iterator[CodeBody]:
    """Yield the bodies of a file that cover one of these lines."""
    module = app.world.module(uri)
    if module is None:
        return

    def covers(function: tree.Function) -> bool:
        after = bisect_right(hits, function.line - 1)
        return after < len(hits) and hits[after] <= function.line_end

    for one in module.classes:
        for method in one.methods:
            if covers(method):
                yield CodeBody(uri, one.name, method, method.body.statements)
    for function in module.functions:
        if covers(function):
            yield CodeBody(uri, "", function, function.body.statements)
    top = tuple(one for one in module.statements if not isinstance(one, (tree.Function, tree.Class)))
    if top:
        yield CodeBody(uri, "", None, top)
