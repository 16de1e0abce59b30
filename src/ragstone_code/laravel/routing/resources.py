"""Resources and singletons: the routes each of their actions has, as Laravel's ResourceRegistrar makes them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ragstone_code.evaluate import Arguments, Array, CallSite, Evaluator, Recorder, Value, first_known
from ragstone_code.laravel.inflection import singular
from ragstone_code.laravel.routing.actions import RouteAction
from ragstone_code.laravel.routing.records import (
    LaravelRoute,
    MiddlewareEntry,
    RouteAttributes,
    listed,
    mapped,
    text,
    texts,
)

if TYPE_CHECKING:
    from ragstone_code.laravel.routing.router import Router

_ACTIONS: Final = ("index", "create", "store", "show", "edit", "update", "destroy")
_SINGLE: Final = ("show", "edit", "update")
_METHODS: Final = {
    "index": ("GET", "HEAD"), "create": ("GET", "HEAD"), "store": ("POST",), "show": ("GET", "HEAD"),
    "edit": ("GET", "HEAD"), "update": ("PUT", "PATCH"), "destroy": ("DELETE",),
}  # fmt: skip


@dataclass(slots=True)
class ResourceDefaults:
    """What is set for all resources."""

    verbs: dict[str, str] = field(default_factory=lambda: {"create": "create", "edit": "edit"})
    parameters: dict[str, str] = field(default_factory=dict)
    singular: bool = True


@dataclass(frozen=True, slots=True)
class ResourceArguments:
    """What a resource is called with."""

    name: Value
    controller: Value
    singleton: bool = False


class PendingResource(Recorder):
    """A resource whose chain is still being called; it is registered when that ends."""

    def __init__(
        self, router: Router, machine: Evaluator, site: CallSite, what: ResourceArguments, options: dict[str, Value]
    ) -> None:
        self.router, self.machine, self.site = router, machine, site
        self.name, self.controller, self.singleton = text(what.name), text(what.controller), what.singleton
        self.options = options
        self.only_for: dict[str, tuple[MiddlewareEntry, ...]] = {}
        self.not_for: dict[str, tuple[MiddlewareEntry, ...]] = {}
        self.middleware = listed(options.get("middleware"), site)
        self.excluded = listed(options.get("excluded_middleware"), site)

    def on_call(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Return the resource, changed."""
        folded = name.lower()
        if folded in _OPTIONS:
            _OPTIONS[folded](self, given, site)
        elif folded == "register":
            self.router.register_pending()
        return self

    # ── registering ───────────────────────────────────────────────────────────────────────────────

    def register(self) -> None:
        """Register the routes of all actions that are wanted."""
        *prefix, name = self.name.split("/")
        stack = self.router.state.stack
        if prefix:
            outer = RouteAttributes(prefix="/".join(prefix))
            stack.append(stack[-1].merged(outer) if stack else outer)
        try:
            for action in self._wanted():
                self._route(name, action)
        finally:
            if prefix:
                stack.pop()

    def _wanted(self) -> list[str]:
        """Return the actions in their order."""
        actions = _SINGLE if self.singleton else _ACTIONS
        if self.singleton and "creatable" in self.options:
            actions = (*actions, "create", "store", "destroy")
        elif self.singleton and "destroyable" in self.options:
            actions = (*actions, "destroy")
        only, out = self.options.get("only"), texts(self.options.get("except"))
        kept = [one for one in actions if only is None or one in texts(only)]
        return [one for one in kept if one not in out]

    def _route(self, name: str, action: str) -> None:
        """Register one action."""
        shallow = bool(first_known(self.options.get("shallow")))
        placed = name.rpartition(".")[2] if shallow and self._is_one(action) else name
        uri = self._uri(placed)
        if not self.singleton and action in ("show", "edit", "update", "destroy"):
            uri += f"/{{{self._wildcard(name.rpartition('.')[2])}}}"
        if action in ("create", "edit"):
            uri += f"/{self.router.state.rules.verbs[action]}"
        attributes = RouteAttributes(
            name=self._name(placed, action),
            middleware=self.only_for.get(action, self.middleware),
            excluded=self.excluded + self.not_for.get(action, ()),
            where={key: text(one) for key, one in mapped(self.options.get("wheres")).items()},
        )
        told = RouteAction(uses=f"{self.controller}@{action}", attributes=attributes)
        route = self.router.route(_METHODS[action], uri, told, self.site, self.machine).route
        self._finish(route, name, action)

    def _finish(self, route: LaravelRoute, name: str, action: str) -> None:
        """Give a route what is set after it was made."""
        route.resource = name
        fields = self.options.get("bindingFields")
        if fields is not None:
            told = {key: text(one) for key, one in mapped(fields).items()}
            route.binding_fields = {one: told.get(one) for one in re.findall(r"(?<=\{).*?(?=\})", route.uri)}
        trashed = self.options.get("trashed")
        if trashed is not None:
            route.trashed = action in (texts(trashed) or ["show", "edit", "update"])

    def _is_one(self, action: str) -> bool:
        """Return whether an action is of one thing, and so has the short path of a shallow resource."""
        if self.singleton:
            return action in ("edit", "update", "destroy")
        return action in ("show", "edit", "update", "destroy")

    # ── names ─────────────────────────────────────────────────────────────────────────────────────

    def _uri(self, name: str) -> str:
        """Return the path of a resource: those it is nested in, each with its parameter."""
        if "." not in name:
            return name
        segments = name.split(".")
        whole = "/".join(f"{one}/{{{self._wildcard(one)}}}" for one in segments)
        return whole.replace(f"/{{{self._wildcard(segments[-1])}}}", "")

    def _wildcard(self, segment: str) -> str:
        """Return the parameter of a segment."""
        told = first_known(self.options.get("parameters"))
        rules = self.router.state.rules
        if isinstance(told, Array) and segment in told.items:
            found = text(told.get(segment))
        elif segment in rules.parameters:
            found = rules.parameters[segment]
        elif told == "singular" or rules.singular:
            found = singular(segment)
        else:
            found = segment
        return found.replace("-", "_")

    def _name(self, resource: str, action: str) -> str:
        """Return the name of an action's route."""
        name = resource
        names = first_known(self.options.get("names"))
        if isinstance(names, Array):
            if action in names.items:
                return text(names.get(action))
        elif names is not None:
            name = text(names)
        before = self.options.get("as")
        prefix = f"{text(before)}." if before is not None else ""
        return f"{prefix}{name}.{action}".strip(".")


def _set(key: str, *, many: bool = False) -> Callable[[PendingResource, Arguments, CallSite], None]:
    def put(pending: PendingResource, given: Arguments, site: CallSite) -> None:
        first = first_known(given.at(0))
        pending.options[key] = Array(given.positional) if many and not isinstance(first, Array) else first

    return put


def _flag(key: str) -> Callable[[PendingResource, Arguments, CallSite], None]:
    def put(pending: PendingResource, given: Arguments, site: CallSite) -> None:
        pending.options[key] = given.at(0, key, True) if key == "shallow" else given.at(0, "fields", Array())

    return put


def _entry(key: str) -> Callable[[PendingResource, Arguments, CallSite], None]:
    def put(pending: PendingResource, given: Arguments, site: CallSite) -> None:
        held = first_known(pending.options.get(key))
        made = held.copy() if isinstance(held, Array) else Array()
        made.set(text(given.at(0)), given.at(1))
        pending.options[key] = made

    return put


def _middleware(pending: PendingResource, given: Arguments, site: CallSite) -> None:
    pending.middleware = listed(given.at(0, "middleware"), site)
    pending.only_for = {key: _once(one + pending.middleware) for key, one in pending.only_for.items()}


def _middleware_for(pending: PendingResource, given: Arguments, site: CallSite) -> None:
    words = listed(given.at(1, "middleware"), site)
    for action in texts(given.at(0, "methods")):
        pending.only_for[action] = _once(pending.middleware + words) if pending.middleware else words


def _without(pending: PendingResource, given: Arguments, site: CallSite) -> None:
    pending.excluded += listed(given.at(0, "middleware"), site)


def _without_for(pending: PendingResource, given: Arguments, site: CallSite) -> None:
    for action in texts(given.at(0, "methods")):
        pending.not_for[action] = listed(given.at(1, "middleware"), site)


def _once(words: tuple[MiddlewareEntry, ...]) -> tuple[MiddlewareEntry, ...]:
    """Return words without those that came before."""
    return tuple({one.text: one for one in reversed(words)}[key] for key in dict.fromkeys(one.text for one in words))


def _where(pending: PendingResource, given: Arguments, site: CallSite) -> None:
    pending.options["wheres"] = given.at(0)


def _expression(pattern: str) -> Callable[[PendingResource, Arguments, CallSite], None]:
    def put(pending: PendingResource, given: Arguments, site: CallSite) -> None:
        pending.options["wheres"] = Array(items=dict.fromkeys(texts(given.at(0)), pattern))

    return put


_OPTIONS: Final[dict[str, Callable[[PendingResource, Arguments, CallSite], None]]] = {
    "only": _set("only", many=True), "except": _set("except", many=True), "names": _set("names"),
    "parameters": _set("parameters"), "name": _entry("names"), "parameter": _entry("parameters"),
    "shallow": _flag("shallow"), "scoped": _flag("bindingFields"), "withtrashed": _flag("trashed"),
    "creatable": _flag("creatable"), "destroyable": _flag("destroyable"), "where": _where,
    "middleware": _middleware, "middlewarefor": _middleware_for, "withoutmiddleware": _without,
    "withoutmiddlewarefor": _without_for, "wherenumber": _expression("[0-9]+"), "wherealpha": _expression("[a-zA-Z]+"),
    "wherealphanumeric": _expression("[a-zA-Z0-9]+"),
    "whereuuid": _expression(r"[\da-fA-F]{8}-[\da-fA-F]{4}-[\da-fA-F]{4}-[\da-fA-F]{4}-[\da-fA-F]{12}"),
}  # fmt: skip
