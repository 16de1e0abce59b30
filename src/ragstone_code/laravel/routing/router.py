"""The router: calls on the `Route` facade and on the objects it returns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final

from ragstone_code.evaluate import (
    Arguments,
    Array,
    CallSite,
    Evaluator,
    Lambda,
    Recorder,
    Unknown,
    Value,
    display_text,
    first_known,
)
from ragstone_code.laravel.routing.actions import RouteAction, parse_action, qualify_action
from ragstone_code.laravel.routing.resources import (
    PendingResource,
    ResourceArguments,
    ResourceDefaults,
)
from ragstone_code.laravel.routing.route_handles import RouteHandle, RouteRegistrar
from ragstone_code.laravel.routing.route_records import (
    HTTP_METHODS,
    LaravelRoute,
    ParameterBinder,
    RouteAttributes,
)
from ragstone_code.laravel.routing.router_methods import ROUTER_METHODS

_ATTRIBUTE_METHODS: Final = frozenset({
    "as", "can", "controller", "domain", "metadata", "middleware", "missing", "name", "namespace", "prefix",
    "scopebindings", "where", "withoutmiddleware", "withoutscopedbindings",
    "wherealpha", "wherealphanumeric", "wherenumber", "whereulid", "whereuuid", "wherein",
})  # fmt: skip
"""Methods that start a registrar."""
_OTHER_METHODS: Final = frozenset({
    "has", "is", "current", "currentrouteaction", "currentroutename", "currentroutenamed", "currentrouteuses",
    "getroutes", "getcurrentroute", "input", "uses", "getcurrentrequest", "gatherroutemiddleware", "getbindingcallback",
    "dispatch", "dispatchtoroute", "respondwithroute", "matched", "substitutebindings", "getmiddleware",
    "substituteimplicitbindings", "substituteimplicitbindingsusing", "getmiddlewaregroups", "hasmiddlewaregroup",
    "flushmiddlewaregroups", "getgroupstack", "hasgroupstack", "getlastgroupprefix", "setroutes", "hasmacro", "mixin",
    "createroute", "newroute", "unauthenticatedusing", "middlewarepriority", "when",
})  # fmt: skip
"""Methods of the router that register no route."""


@dataclass(frozen=True, slots=True)
class GroupChange:
    """A change of a middleware group: set, append, prepend or remove."""

    how: str
    group: str
    words: tuple[str, ...]
    site: CallSite


@dataclass(frozen=True, slots=True)
class RouteGroup:
    """A group with a closure: the place of the call, the merged attributes, the identities of its routes."""

    site: CallSite
    attributes: RouteAttributes
    routes: tuple[str, ...]


@dataclass(slots=True)
class RouterState:
    """Everything that was registered on the router."""

    routes: dict[str, LaravelRoute] = field(default_factory=dict)
    """Routes by identity."""
    replaced: list[LaravelRoute] = field(default_factory=list)
    stack: list[RouteAttributes] = field(default_factory=list)
    """The merged attributes of the open groups, the innermost last."""
    patterns: dict[str, str] = field(default_factory=dict)
    binders: dict[str, ParameterBinder] = field(default_factory=dict)
    aliases: dict[str, tuple[str, CallSite]] = field(default_factory=dict)
    group_changes: list[GroupChange] = field(default_factory=list)
    groups: list[RouteGroup] = field(default_factory=list)
    macros: dict[str, Value] = field(default_factory=dict)
    resource_defaults: ResourceDefaults = field(default_factory=ResourceDefaults)

    def record_group_change(
        self, how: str, group: str, words: tuple[str, ...], site: CallSite
    ) -> None:
        """Store a change of a middleware group."""
        self.group_changes.append(GroupChange(how, group, words, site))


class Router(Recorder):
    """The `Route` facade, the router object, and `$router` in route files."""

    def __init__(self) -> None:
        self.state = RouterState()
        self.pending: PendingResource | None = None
        """A resource whose chain of calls has not ended."""
        self.by_framework = False
        """Whether routes are registered by the framework itself."""

    # ── calls ─────────────────────────────────────────────────────────────────────────────────────

    def on_call(
        self, name: str, arguments: Arguments, site: CallSite, evaluator: Evaluator
    ) -> Value:
        """Register what a call registers, and return its result."""
        self.register_pending()
        method = name.lower()
        if method in ROUTER_METHODS:
            return ROUTER_METHODS[method](self, arguments, site, evaluator)
        if method.upper() in HTTP_METHODS:
            uri, action = arguments.at(0, "uri"), arguments.at(1, "action")
            return self.add_route(
                [method.upper()],
                uri,
                action,
                site,
                evaluator,
            )
        if method in _ATTRIBUTE_METHODS:
            return RouteRegistrar(self).on_call(name, arguments, site, evaluator)
        macro = self.state.macros.get(name)
        if macro is not None:
            return evaluator.call(_bind_this(macro, self), arguments.positional, site)
        if method not in _OTHER_METHODS:
            evaluator.remark(
                site, f"Route::{name}() is registered by a package: what it adds is not known"
            )
        return Unknown(f"Route::{name}() is not followed")

    def on_member(self, name: str, site: CallSite, evaluator: Evaluator) -> Value:
        """Return a member; in Lumen, `$router->router` is the router itself."""
        return self if name == "router" else Unknown(f"{name} is not followed")

    # ── routes ────────────────────────────────────────────────────────────────────────────────────

    def add_route(
        self,
        methods: Sequence[str],
        uri: Value,
        action: Value | RouteAction,
        site: CallSite,
        evaluator: Evaluator,
    ) -> RouteHandle:
        """Register a route and return its handle for further calls."""
        parsed = action if isinstance(action, RouteAction) else parse_action(action, site)
        if parsed.unknown:
            evaluator.remark(site, f"the action is not known: {parsed.unknown}")
        if isinstance(uri, Unknown):
            evaluator.remark(site, f"the path is not known: {uri.reason}")
        group = self.state.stack[-1] if self.state.stack else None
        if parsed.uses is not None:
            parsed = qualify_action(parsed, group, evaluator)
        route = LaravelRoute(
            _with_head(methods),
            _path_in_group(uri, group),
            site,
            parsed.attributes,
            closure=parsed.closure,
            by_framework=self.by_framework,
            places=tuple(place for place in evaluator.loops if place[1]),
        )
        route.add_prefix(parsed.attributes.prefix or "")
        self._apply_group(route, group, parsed)
        self._store(route)
        return RouteHandle(route, self)

    def _apply_group(
        self, route: LaravelRoute, group: RouteAttributes | None, action: RouteAction
    ) -> None:
        """Set the attributes of a route from its action and its group."""
        attributes = replace(action.attributes, controller=action.controller)
        if group is not None:
            attributes = group.merged(attributes, outer_prefix_first=False)
            attributes = replace(
                attributes, middleware=attributes.middleware + attributes.can, can=()
            )
        route.attributes = attributes
        route.action = (attributes.controller or "Closure").lstrip("\\")
        if attributes.domain:
            route.set_domain(attributes.domain)
        route.wheres = {**self.state.patterns, **attributes.where}

    def _store(self, route: LaravelRoute) -> None:
        """Store a route; it replaces an earlier route with the same identity."""
        earlier = self.state.routes.get(route.identity)
        if earlier is not None:
            self.state.replaced.append(earlier)
            route.instead_of = (*earlier.instead_of, earlier) if route.site.conditional else ()
        self.state.routes[route.identity] = route

    def update_identity(self, route: LaravelRoute, old_identity: str) -> None:
        """Store a route under its new identity, at the same position, after its path or domain changed."""
        if route.identity == old_identity or self.state.routes.get(old_identity) is not route:
            return
        routes: dict[str, LaravelRoute] = {}
        for identity, stored in self.state.routes.items():
            routes[route.identity if stored is route else identity] = stored
        self.state.routes = routes

    # ── groups ────────────────────────────────────────────────────────────────────────────────────

    def current_group(self) -> RouteAttributes:
        """Return the merged attributes of the open groups."""
        return self.state.stack[-1] if self.state.stack else RouteAttributes()

    @contextmanager
    def in_group(self, attributes: RouteAttributes) -> Iterator[None]:
        """Open a group with these attributes; close it at the end of the `with` block."""
        stack = self.state.stack
        stack.append(stack[-1].merged(attributes) if stack else attributes)
        try:
            yield
        finally:
            stack.pop()

    def add_group(
        self, attributes: RouteAttributes, routes: Value, site: CallSite, evaluator: Evaluator
    ) -> None:
        """Evaluate a closure or a route file inside a group, or each element of a list of them."""
        routes = first_known(routes)
        if isinstance(routes, Array) and not _is_callable_pair(routes):
            for element in routes.values:
                self.add_group(attributes, element, site, evaluator)
            return
        before = dict(self.state.routes)
        with self.in_group(attributes):
            merged = self.current_group()
            self._load_routes(routes, site, evaluator)
            self.register_pending()
        if isinstance(routes, Lambda):
            added = [
                name
                for name, route in self.state.routes.items()
                if before.get(name) is not route
            ]
            self.state.groups.append(RouteGroup(site, merged, tuple(added)))

    def _load_routes(self, routes: Value, site: CallSite, evaluator: Evaluator) -> None:
        """Evaluate the route file or the closure of a group."""
        if isinstance(routes, str):
            result = evaluator.run(routes, {"router": self})
            if isinstance(result, Unknown) and result.reason.endswith("is not there"):
                evaluator.remark(site, f"the route file {result.reason}")
        elif isinstance(routes, Lambda | Array):
            evaluator.call(routes, [self], site)
        else:
            reason = f": {routes.reason}" if isinstance(routes, Unknown) else ""
            evaluator.remark(site, f"the routes of a group are not known{reason}")

    # ── resources ─────────────────────────────────────────────────────────────────────────────────

    def add_resource(
        self,
        resource: ResourceArguments,
        options: dict[str, Value],
        site: CallSite,
        evaluator: Evaluator,
    ) -> PendingResource:
        """Return a resource; it is registered when its chain of calls ends."""
        self.register_pending()
        self.pending = PendingResource(self, evaluator, site, resource, dict(options))
        if isinstance(resource.name, Unknown):
            evaluator.remark(
                site, f"the name of a resource is not known: {resource.name.reason}"
            )
        return self.pending

    def register_pending(self) -> None:
        """Register the resource whose chain of calls has ended, if there is one."""
        pending, self.pending = self.pending, None
        if pending is not None:
            pending.register()


def _with_head(methods: Sequence[str]) -> tuple[str, ...]:
    """Return the HTTP methods; a GET route answers HEAD too."""
    if "GET" in methods and "HEAD" not in methods:
        return (*methods, "HEAD")
    return tuple(methods)


def _path_in_group(uri: Value, group: RouteAttributes | None) -> str:
    """Return the path of a route with the prefix of its group."""
    prefix = (group.prefix or "").strip("/") if group else ""
    path = display_text(uri).strip("/")
    return f"{prefix}/{path}".strip("/") or "/"


def _is_callable_pair(array: Array) -> bool:
    """Return whether an array is `[object, 'method']` and not a list of route files or closures."""
    return len(array) == 2 and not isinstance(array.get(0), str | Lambda)


def _bind_this(value: Value, this: Value) -> Value:
    """Return a closure with another `$this`, as Laravel binds macros."""
    value = first_known(value)
    if isinstance(value, Lambda):
        return Lambda(
            value.function,
            value.uri,
            value.variables,
            this,
            value.owner,
            value.called_on,
        )
    return value
