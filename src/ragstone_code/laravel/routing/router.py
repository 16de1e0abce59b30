"""The router: every call on the `Route` facade, and on what it returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ragstone_code.evaluate import Arguments, Array, CallSite, Evaluator, Lambda, Recorder, Unknown, Value, first_known
from ragstone_code.laravel.routing.actions import RouteAction, controller_action, parse_action
from ragstone_code.laravel.routing.records import (
    VERBS,
    LaravelRoute,
    ParameterBinder,
    RouteAttributes,
    text,
)
from ragstone_code.laravel.routing.resources import PendingResource, ResourceArguments, ResourceDefaults
from ragstone_code.laravel.routing.route_handles import RouteHandle, RouteRegistrar
from ragstone_code.laravel.routing.router_methods import CALLS

_ATTRIBUTES: Final = frozenset({
    "as", "can", "controller", "domain", "metadata", "middleware", "missing", "name", "namespace", "prefix",
    "scopebindings", "where", "withoutmiddleware", "withoutscopedbindings",
    "wherealpha", "wherealphanumeric", "wherenumber", "whereulid", "whereuuid", "wherein",
})  # fmt: skip
_ASKS: Final = frozenset({
    "has", "is", "current", "currentrouteaction", "currentroutename", "currentroutenamed", "currentrouteuses",
    "getroutes", "getcurrentroute", "input", "uses", "getcurrentrequest", "gatherroutemiddleware", "getbindingcallback",
    "dispatch", "dispatchtoroute", "respondwithroute", "matched", "substitutebindings", "getmiddleware",
    "substituteimplicitbindings", "substituteimplicitbindingsusing", "getmiddlewaregroups", "hasmiddlewaregroup",
    "flushmiddlewaregroups", "getgroupstack", "hasgroupstack", "getlastgroupprefix", "setroutes", "hasmacro", "mixin",
    "createroute", "newroute", "unauthenticatedusing", "middlewarepriority", "when",
})  # fmt: skip
"""What is asked of the router, or set, and registers nothing."""


@dataclass(slots=True)
class RouterState:
    """Everything the router has been told."""

    routes: dict[str, LaravelRoute] = field(default_factory=dict)
    replaced: list[LaravelRoute] = field(default_factory=list)
    stack: list[RouteAttributes] = field(default_factory=list)
    patterns: dict[str, str] = field(default_factory=dict)
    binders: dict[str, ParameterBinder] = field(default_factory=dict)
    aliases: dict[str, tuple[str, CallSite]] = field(default_factory=dict)
    groups: list[tuple[str, str, tuple[str, ...], CallSite]] = field(default_factory=list)
    """(what was done, group, middleware, place)"""
    macros: dict[str, Value] = field(default_factory=dict)
    rules: ResourceDefaults = field(default_factory=ResourceDefaults)


class Router(Recorder):
    """The facade, the router itself, and `$router` in route files."""

    def __init__(self) -> None:
        self.state = RouterState()
        self.pending: PendingResource | None = None
        self.by_framework = False

    # ── calls ─────────────────────────────────────────────────────────────────────────────────────

    def on_call(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Return what a call on the router gives."""
        self.register_pending()
        folded = name.lower()
        own = CALLS.get(folded)
        if own is not None:
            return own(self, given, site, machine)
        if folded.upper() in VERBS:
            return self.route([folded.upper()], given.at(0, "uri"), given.at(1, "action"), site, machine)
        if folded in _ATTRIBUTES:
            return RouteRegistrar(self).on_call(name, given, site, machine)
        macro = self.state.macros.get(name)
        if macro is not None:
            bound = replace_this(macro, self)
            return machine.call(bound, given.positional, site)
        if folded not in _ASKS:
            machine.remark(site, f"Route::{name}() is registered by a package: what it adds is not known")
        return Unknown(f"Route::{name}() is not followed")

    def on_member(self, name: str, site: CallSite, machine: Evaluator) -> Value:
        """Return a member: the router of the router is itself (Lumen)."""
        return self if name == "router" else Unknown(f"{name} is not followed")

    def register_pending(self) -> None:
        """Register the resource whose chain has ended."""
        pending, self.pending = self.pending, None
        if pending is not None:
            pending.register()

    # ── routes ────────────────────────────────────────────────────────────────────────────────────

    def route(
        self, methods: Sequence[str], uri: Value, action: Value | RouteAction, site: CallSite, machine: Evaluator
    ) -> RouteHandle:
        """Register a route and return what goes on with it."""
        made = action if isinstance(action, RouteAction) else parse_action(action, site)
        if made.unknown:
            machine.remark(site, f"the action is not known: {made.unknown}")
        if isinstance(uri, Unknown):
            machine.remark(site, f"the path is not known: {uri.reason}")
        group = self.state.stack[-1] if self.state.stack else None
        if made.uses is not None:
            made = controller_action(made, group, machine)
        route = LaravelRoute(
            tuple(methods), "", site, made.attributes, closure=made.closure, by_framework=self.by_framework
        )
        route.places = tuple(place for place in machine.loops if place[1])
        if "GET" in route.methods and "HEAD" not in route.methods:
            route.methods = (*route.methods, "HEAD")
        path = f"{(group.prefix or '').strip('/') if group else ''}/{text(uri).strip('/')}".strip("/") or "/"
        route.uri = path
        route.prefixed(made.attributes.prefix or "")
        self._grouped(route, group, made)
        self.add(route)
        return RouteHandle(route, self)

    def _grouped(self, route: LaravelRoute, group: RouteAttributes | None, made: RouteAction) -> None:
        """Give a route what its groups have, and its action."""
        own = replace(made.attributes, controller=made.controller)
        if group is not None:
            own = group.merged(own, existing_first=False)
            own = replace(own, middleware=own.middleware + own.can, can=())
        route.attributes = own
        route.action = (own.controller or "Closure").lstrip("\\")
        if own.domain:
            route.set_domain(own.domain)
        route.wheres = {**self.state.patterns, **own.where}

    def add(self, route: LaravelRoute) -> None:
        """Keep a route; one of the same methods, domain and path takes the place of the earlier."""
        before = self.state.routes.get(route.identity)
        if before is not None:
            self.state.replaced.append(before)
            route.instead_of = (*before.instead_of, before) if route.site.conditional else ()
        self.state.routes[route.identity] = route

    def moved(self, route: LaravelRoute, before: str) -> None:
        """Keep a route in its place under what it now is, after its path or domain was changed."""
        if route.identity == before or self.state.routes.get(before) is not route:
            return
        self.state.routes = {route.identity if one is route else key: one for key, one in self.state.routes.items()}

    # ── groups ────────────────────────────────────────────────────────────────────────────────────

    def group(self, attributes: RouteAttributes, routes: Value, site: CallSite, machine: Evaluator) -> None:
        """Run a closure or a file inside of a group, or several of them."""
        routes = first_known(routes)
        if isinstance(routes, Array) and not (len(routes) == 2 and not isinstance(routes.get(0), str | Lambda)):
            for one in routes.values:
                self.group(attributes, one, site, machine)
            return
        stack = self.state.stack
        stack.append(stack[-1].merged(attributes) if stack else attributes)
        try:
            self._load(routes, site, machine)
            self.register_pending()
        finally:
            stack.pop()

    def _load(self, routes: Value, site: CallSite, machine: Evaluator) -> None:
        """Run what a group holds."""
        if isinstance(routes, str):
            found = machine.run(routes, {"router": self})
            if isinstance(found, Unknown) and found.reason.endswith("is not there"):
                machine.remark(site, f"the route file {found.reason}")
        elif isinstance(routes, Lambda | Array):
            machine.call(routes, [self], site)
        else:
            reason = f": {routes.reason}" if isinstance(routes, Unknown) else ""
            machine.remark(site, f"the routes of a group are not known{reason}")

    # ── resources ─────────────────────────────────────────────────────────────────────────────────

    def resource(
        self, what: ResourceArguments, options: dict[str, Value], site: CallSite, machine: Evaluator
    ) -> PendingResource:
        """Return a resource that is registered when its chain ends."""
        self.register_pending()
        self.pending = PendingResource(self, machine, site, what, dict(options))
        if isinstance(what.name, Unknown):
            machine.remark(site, f"the name of a resource is not known: {what.name.reason}")
        return self.pending


def replace_this(value: Value, this: Value) -> Value:
    """Return a closure whose `$this` is something else, as macros are bound."""
    value = first_known(value)
    if isinstance(value, Lambda):
        return Lambda(value.function, value.uri, value.variables, this, value.owner, value.called_on)
    return value
