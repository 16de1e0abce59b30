"""Controllers as routes see them: their actions, their middleware, and the models that parameters bind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ragstone_code.evaluate import (
    Arguments,
    Array,
    CallSite,
    Evaluator,
    Instance,
    Recorder,
    Stubs,
    Unknown,
    Value,
    first_known,
)
from ragstone_code.evaluate.frame import Frame
from ragstone_code.laravel.routing.route_records import (
    MiddlewareEntry,
    read_middleware,
    read_texts,
)
from ragstone_code.program_tree import ClassName, Expr, Function, New

_BASE_CONTROLLER: Final = "illuminate\\routing\\controller"
_MIDDLEWARE_CLASS: Final = "illuminate\\routing\\controllers\\middleware"
_ATTRIBUTE_NAMESPACE: Final = "illuminate\\routing\\attributes\\controllers\\"
_CLASSES_WITHOUT_ACTIONS: Final = frozenset({
    _BASE_CONTROLLER,
    "illuminate\\foundation\\auth\\access\\authorizesrequests",
    "illuminate\\foundation\\bus\\dispatchesjobs",
    "illuminate\\foundation\\validation\\validatesrequests",
    "illuminate\\routing\\controllers\\hasmiddleware",
})  # fmt: skip
"""Ancestors of controllers in the framework that have no action."""
_BINDABLE_CLASSES: Final = frozenset({
    "illuminate\\database\\eloquent\\model",
    "illuminate\\foundation\\auth\\user",
    "illuminate\\database\\eloquent\\relations\\pivot",
    "illuminate\\database\\eloquent\\relations\\morphpivot",
    "illuminate\\contracts\\routing\\urlroutable",
    "illuminate\\notifications\\databasenotification",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class ControllerMiddleware:
    """A middleware that a controller sets for its actions."""

    entry: MiddlewareEntry
    only: tuple[str, ...] = ()
    excepted: tuple[str, ...] = ()

    def covers(self, method: str) -> bool:
        """Return whether the middleware applies to an action."""
        name = method.lower()
        if self.only and name not in (action.lower() for action in self.only):
            return False
        return name not in (action.lower() for action in self.excepted)


class _MiddlewareOptions(Recorder):
    """The result of `$this->middleware(…)`, on which `only` and `except` are called."""

    def __init__(
        self, middleware: list[ControllerMiddleware], entries: tuple[MiddlewareEntry, ...]
    ) -> None:
        self.middleware = middleware
        self.entries = entries
        self.only: tuple[str, ...] = ()
        self.excepted: tuple[str, ...] = ()
        self.start = len(middleware)
        """Index of the first of these entries in the controller's list."""
        middleware.extend(ControllerMiddleware(entry) for entry in entries)

    def on_call(
        self, name: str, arguments: Arguments, site: CallSite, evaluator: Evaluator
    ) -> Value:
        """Limit the middleware to some actions and return this object."""
        first = first_known(arguments.at(0))
        actions = first if isinstance(first, Array) else Array(arguments.positional)
        if name == "only":
            self.only = tuple(read_texts(actions))
        elif name == "except":
            self.excepted = tuple(read_texts(actions))
        limited = [
            ControllerMiddleware(entry, self.only, self.excepted) for entry in self.entries
        ]
        self.middleware[self.start : self.start + len(self.entries)] = limited
        return self


class _BaseController(Recorder):
    """Laravel's base controller, as far as constructors call it."""

    def __init__(self) -> None:
        self.middleware: list[ControllerMiddleware] = []

    def on_call(
        self, name: str, arguments: Arguments, site: CallSite, evaluator: Evaluator
    ) -> Value:
        """Record the middleware of `$this->middleware(…)`."""
        if name != "middleware":
            return Unknown(f"{name}() is not followed")
        entries = read_middleware(arguments.at(0, "middleware"), site)
        recorded = _MiddlewareOptions(self.middleware, entries)
        options = first_known(arguments.at(1, "options"))
        if isinstance(options, Array):
            for key in ("only", "except"):
                if key in options.items:
                    recorded.on_call(
                        key,
                        Arguments((options.get(key),)),
                        site,
                        evaluator,
                    )
        return recorded


@dataclass(slots=True)
class ControllerLookup:
    """Answers questions about controllers; the middleware of each controller is read once."""

    evaluator: Evaluator
    _middleware: dict[str, list[ControllerMiddleware]] = field(default_factory=dict)

    # ── actions ───────────────────────────────────────────────────────────────────────────────────

    def find_action(self, controller: str, method: str) -> tuple[str, str, Function] | None:
        """Return the declaring class, the file and the function of an action."""
        declared = self.evaluator.lookup.method(controller, method)
        if declared is None:
            return None
        uri, definition, function = declared
        return definition.name, uri, function

    def has_action(self, controller: str, method: str) -> bool | None:
        """Return whether an action exists; None if a class outside the project can have it."""
        lookup = self.evaluator.lookup
        if lookup.method(controller, method):
            return True
        if not lookup.of_class(controller) or lookup.method(controller, "__call"):
            return None
        for name in lookup.ancestors(controller):
            if not lookup.of_class(name) and name.lower() not in _CLASSES_WITHOUT_ACTIONS:
                return None
        return False

    # ── middleware ────────────────────────────────────────────────────────────────────────────────

    def middleware_of(self, controller: str, method: str) -> list[MiddlewareEntry]:
        """Return the middleware of an action: from the controller's code, its attributes, the action's attributes."""
        if controller not in self._middleware:
            declared = self._declared_middleware(controller)
            self._middleware[controller] = [*declared, *self._class_attributes(controller)]
        middleware = list(self._middleware[controller])
        action = self.evaluator.lookup.method(controller, method)
        if action:
            uri, _, function = action
            middleware += self._read_attributes(function.attributes, uri)
        return [item.entry for item in middleware if item.covers(method)]

    def _declared_middleware(self, controller: str) -> list[ControllerMiddleware]:
        """Return the middleware of the static `middleware` method, else that of the constructor."""
        lookup = self.evaluator.lookup
        declared = lookup.method(controller, "middleware")
        if declared and declared[2].static:
            uri, _, function = declared
            site = CallSite(uri, function.line)
            result = self.evaluator.call(
                Array([controller, "middleware"]),
                [],
                site,
            )
            return list(_listed_middleware(first_known(result), site))
        if not lookup.method(controller, "__construct"):
            return []
        return self._constructor_middleware(controller)

    def _constructor_middleware(self, controller: str) -> list[ControllerMiddleware]:
        """Return the middleware that the constructor sets; a stub of the base controller records it."""
        evaluator = self.evaluator
        base = _BaseController()
        stubs = evaluator.stubs
        evaluator.stubs = Stubs({**stubs.classes, _BASE_CONTROLLER: base}, stubs.functions)
        try:
            evaluator.call_method(evaluator.make(controller), "__construct")
        finally:
            evaluator.stubs = stubs
        return base.middleware

    def _class_attributes(self, controller: str) -> list[ControllerMiddleware]:
        """Return the middleware in the attributes of a controller and its parents, the parents' first."""
        middleware: list[ControllerMiddleware] = []
        for uri, definition in reversed(list(self.evaluator.lookup.lineage(controller))):
            middleware += self._read_attributes(definition.attributes, uri)
        return middleware

    def _read_attributes(
        self, attributes: tuple[Expr, ...], uri: str
    ) -> Iterator[ControllerMiddleware]:
        """Yield the middleware that PHP attributes such as `#[Middleware]` and `#[Authorize]` name."""
        for attribute in attributes:
            if not isinstance(attribute, New) or not isinstance(attribute.of, ClassName):
                continue
            class_name = attribute.of.name.lower()
            if not class_name.startswith(_ATTRIBUTE_NAMESPACE) or class_name.endswith(
                "\\withoutmiddleware"
            ):
                continue
            arguments = self._evaluate_arguments(attribute, uri)
            if class_name.endswith("\\authorize"):
                words = [
                    *read_texts(arguments.at(0, "ability")),
                    *read_texts(arguments.at(1, "models")),
                ]
                entry = MiddlewareEntry(
                    "can:" + ",".join(words),
                    uri,
                    attribute.line,
                )
                yield ControllerMiddleware(entry)
            else:
                yield from _limited_middleware(arguments, CallSite(uri, attribute.line))

    def _evaluate_arguments(self, attribute: New, uri: str) -> Arguments:
        """Return the evaluated arguments of a PHP attribute."""
        frame = Frame(uri)
        positional: list[Value] = []
        named: dict[str, Value] = {}
        for argument in attribute.arguments:
            value = self.evaluator.value(argument.value, frame)
            if argument.name:
                named[argument.name] = value
            else:
                positional.append(value)
        return Arguments(tuple(positional), named)

    # ── bindings ──────────────────────────────────────────────────────────────────────────────────

    def is_bindable(self, name: str) -> bool:
        """Return whether routes can bind a parameter to a class: a model or another `UrlRoutable`."""
        return any(
            ancestor.lower() in _BINDABLE_CLASSES
            for ancestor in self.evaluator.lookup.ancestors(name)
        )

    def is_enum(self, name: str) -> bool:
        """Return whether a class is an enum of the project."""
        declared = self.evaluator.lookup.of_class(name)
        return declared is not None and declared[1].kind == "enum"

    def route_key_of(self, model: str) -> str:
        """Return the column that routes find a model by."""
        evaluator = self.evaluator
        if evaluator.lookup.method(model, "getRouteKeyName"):
            column = first_known(
                evaluator.call_method(evaluator.make(model), "getRouteKeyName")
            )
            return column if isinstance(column, str) else ""
        column = first_known(evaluator.property(model, "primaryKey"))
        return column if isinstance(column, str) else "id"


def _listed_middleware(value: Value, site: CallSite) -> Iterator[ControllerMiddleware]:
    """Yield the entries of the array that `HasMiddleware::middleware()` returns."""
    if not isinstance(value, Array):
        return
    for key, element in value.items.items():
        element_site = CallSite(site.uri, value.lines.get(key, site.line))
        item = first_known(element)
        if (
            isinstance(item, Instance)
            and item.name.lower() == _MIDDLEWARE_CLASS
            and item.arguments is not None
        ):
            yield from _limited_middleware(item.arguments, element_site)
        else:
            entries = read_middleware(item, element_site)
            yield from (ControllerMiddleware(entry) for entry in entries)


def _limited_middleware(arguments: Arguments, site: CallSite) -> Iterator[ControllerMiddleware]:
    """Yield the middleware of `new Middleware(middleware, only, except)`."""
    only = tuple(read_texts(arguments.at(1, "only")))
    excepted = tuple(read_texts(arguments.at(2, "except")))
    for entry in read_middleware(arguments.at(0, "middleware"), site):
        yield ControllerMiddleware(entry, only, excepted)
