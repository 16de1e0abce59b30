"""What controllers say of their routes: which method, which models it takes, and middleware of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ragstone.code.tree import ClassName, Expr, Function, New
from ragstone_code.evaluate import (
    Arguments,
    Array,
    CallSite,
    Evaluator,
    Instance,
    Recorder,
    Unknown,
    Value,
    first_known,
)
from ragstone_code.evaluate.frame import Frame
from ragstone_code.laravel.routing.records import MiddlewareEntry, listed, texts

_BASE: Final = "illuminate\\routing\\controller"
_OBJECT: Final = "illuminate\\routing\\controllers\\middleware"
_ATTRIBUTE: Final = "illuminate\\routing\\attributes\\controllers\\"
_EMPTY: Final = frozenset({
    _BASE, "illuminate\\foundation\\auth\\access\\authorizesrequests", "illuminate\\foundation\\bus\\dispatchesjobs",
    "illuminate\\foundation\\validation\\validatesrequests", "illuminate\\routing\\controllers\\hasmiddleware",
})  # fmt: skip
"""What a controller is made of in the framework that has no action in it."""
_MODELS: Final = (
    "illuminate\\database\\eloquent\\model", "illuminate\\foundation\\auth\\user",
    "illuminate\\database\\eloquent\\relations\\pivot", "illuminate\\database\\eloquent\\relations\\morphpivot",
    "illuminate\\contracts\\routing\\urlroutable", "illuminate\\notifications\\databasenotification",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ControllerMiddleware:
    """Middleware that a controller gives its actions."""

    word: MiddlewareEntry
    only: tuple[str, ...] = ()
    excepted: tuple[str, ...] = ()

    def covers(self, method: str) -> bool:
        """Return whether an action goes through it."""
        names = [one.lower() for one in self.only]
        return (not names or method.lower() in names) and method.lower() not in map(str.lower, self.excepted)


class _Options(Recorder):
    """What `$this->middleware()` returns: `only` and `except` come after it."""

    def __init__(self, guards: list[ControllerMiddleware], words: tuple[MiddlewareEntry, ...]) -> None:
        self.guards, self.words = guards, words
        self.only: tuple[str, ...] = ()
        self.excepted: tuple[str, ...] = ()
        self.at = len(guards)
        guards.extend(ControllerMiddleware(one) for one in words)

    def on_call(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Narrow the actions down."""
        first = first_known(given.at(0))
        named = tuple(texts(first if isinstance(first, Array) else Array(given.positional)))
        if name == "only":
            self.only = named
        elif name == "except":
            self.excepted = named
        made = [ControllerMiddleware(one, self.only, self.excepted) for one in self.words]
        self.guards[self.at : self.at + len(self.words)] = made
        return self


class _Base(Recorder):
    """Laravel's controller, as far as constructors call it."""

    def __init__(self) -> None:
        self.guards: list[ControllerMiddleware] = []

    def on_call(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Take in middleware."""
        if name != "middleware":
            return Unknown(f"{name}() is not followed")
        options = first_known(given.at(1, "options"))
        made = _Options(self.guards, listed(given.at(0, "middleware"), site))
        for key in ("only", "except"):
            if isinstance(options, Array) and key in options.items:
                made.on_call(key, Arguments((options.get(key),)), site, machine)
        return made


@dataclass(slots=True)
class ControllerLookup:
    """Answers about the controllers of an app, each looked into once."""

    machine: Evaluator
    _guards: dict[str, list[ControllerMiddleware]] = field(default_factory=dict)

    def find_action(self, controller: str, method: str) -> tuple[str, str, Function] | None:
        """Return the class and file that write an action, and the action."""
        found = self.machine.lookup.method(controller, method)
        return (found[1].name, found[0], found[2]) if found else None

    def has_action(self, controller: str, method: str) -> bool | None:
        """Return whether an action exists; None where a class outside of the project may have it."""
        if self.machine.lookup.method(controller, method):
            return True
        if not self.machine.lookup.of_class(controller) or self.machine.lookup.method(controller, "__call"):
            return None
        for name in self.machine.lookup.ancestors(controller):
            if not self.machine.lookup.of_class(name) and name.lower() not in _EMPTY:
                return None
        return False

    # ── middleware ────────────────────────────────────────────────────────────────────────────────

    def middleware_of(self, controller: str, method: str) -> list[MiddlewareEntry]:
        """Return the middleware a controller gives an action: by its constructor or its list, then by attributes."""
        if controller not in self._guards:
            self._guards[controller] = [*self._stated(controller), *self._attributed(controller)]
        found = [one.word for one in self._guards[controller] if one.covers(method)]
        action = self.machine.lookup.method(controller, method)
        if action:
            own = self._of_attributes(action[2].attributes, action[0])
            found += [one.word for one in own if one.covers(method)]
        return found

    def _stated(self, controller: str) -> list[ControllerMiddleware]:
        """Return what the static list of a controller has, else what its constructor sets."""
        lookup, machine = self.machine.lookup, self.machine
        stated = lookup.method(controller, "middleware")
        if stated and stated[2].static:
            site = CallSite(stated[0], stated[2].line)
            returned = first_known(machine.call(Array([controller, "middleware"]), [], site))
            return list(self._of_list(returned, site))
        if not lookup.method(controller, "__construct"):
            return []
        base = _Base()
        known = machine.stubs.classes
        before = known.get(_BASE)
        machine.stubs = type(machine.stubs)({**known, _BASE: base}, machine.stubs.functions)
        try:
            machine.call_method(machine.make(controller), "__construct")
        finally:
            kept = {name: one for name, one in machine.stubs.classes.items() if name != _BASE or before is not None}
            machine.stubs = type(machine.stubs)(kept, machine.stubs.functions)
        return base.guards

    def _of_list(self, returned: Value, site: CallSite) -> Iterator[ControllerMiddleware]:
        """Yield the entries of `HasMiddleware::middleware()`."""
        for key, one in returned.items.items() if isinstance(returned, Array) else ():
            line = returned.lines.get(key, site.line) if isinstance(returned, Array) else site.line
            here = CallSite(site.uri, line)
            one = first_known(one)
            if isinstance(one, Instance) and one.name.lower() == _OBJECT and one.arguments is not None:
                yield from _guarded(one.arguments, one.arguments.at(0, "middleware"), here)
            else:
                yield from (ControllerMiddleware(word) for word in listed(one, here))

    def _attributed(self, controller: str) -> list[ControllerMiddleware]:
        """Return what attributes of a controller and of its parents say, the parents' first."""
        levels = list(self.machine.lookup.lineage(controller))
        return [one for uri, definition in reversed(levels) for one in self._of_attributes(definition.attributes, uri)]

    def _of_attributes(self, attributes: tuple[Expr, ...], uri: str) -> Iterator[ControllerMiddleware]:
        """Yield the middleware that attributes name."""
        for one in attributes:
            if not isinstance(one, New) or not isinstance(one.of, ClassName):
                continue
            kind = one.of.name.lower()
            if not kind.startswith(_ATTRIBUTE) or kind.endswith("\\withoutmiddleware"):
                continue
            frame = Frame(uri)
            positional = tuple(
                self.machine.value(argument.value, frame) for argument in one.arguments if not argument.name
            )
            named = {
                argument.name: self.machine.value(argument.value, frame) for argument in one.arguments if argument.name
            }
            given, site = Arguments(positional, named), CallSite(uri, one.line)
            if kind.endswith("\\authorize"):
                models = texts(given.at(1, "models"))
                yield ControllerMiddleware(
                    MiddlewareEntry("can:" + ",".join([*texts(given.at(0, "ability")), *models]), uri, one.line)
                )
            else:
                yield from _guarded(given, given.at(0, "middleware"), site)

    # ── bindings ──────────────────────────────────────────────────────────────────────────────────

    def is_bindable(self, name: str) -> bool:
        """Return whether a class is one that routes bind by."""
        return any(one.lower() in _MODELS for one in self.machine.lookup.ancestors(name))

    def is_enum(self, name: str) -> bool:
        """Return whether a class is an enum of the project."""
        found = self.machine.lookup.of_class(name)
        return found is not None and found[1].kind == "enum"

    def route_key_of(self, model: str) -> str:
        """Return the column a model is found by."""
        if self.machine.lookup.method(model, "getRouteKeyName"):
            told = first_known(self.machine.call_method(self.machine.make(model), "getRouteKeyName"))
            return told if isinstance(told, str) else ""
        told = first_known(self.machine.property(model, "primaryKey"))
        return told if isinstance(told, str) else "id"


def _guarded(given: Arguments, words: Value, site: CallSite) -> Iterator[ControllerMiddleware]:
    """Yield middleware with the actions it is for."""
    only, excepted = tuple(texts(given.at(1, "only"))), tuple(texts(given.at(2, "except")))
    yield from (ControllerMiddleware(word, only, excepted) for word in listed(words, site))
