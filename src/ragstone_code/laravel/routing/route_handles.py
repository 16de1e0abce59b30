"""The objects that calls on the router return: a registered route, or attributes for the next routes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ragstone_code.evaluate import (
    Arguments,
    Array,
    CallSite,
    Evaluator,
    Recorder,
    Unknown,
    Value,
    display_text,
    first_known,
)
from ragstone_code.laravel.routing.actions import parse_action, qualify_action, root_action
from ragstone_code.laravel.routing.route_records import (
    HTTP_METHODS,
    LaravelRoute,
    MiddlewareEntry,
    RouteAttributes,
    can_middleware,
    read_mapping,
    read_middleware,
    read_text_mapping,
    read_texts,
)

if TYPE_CHECKING:
    from ragstone_code.laravel.routing.router import Router

PARAMETER_PATTERNS: Final = {
    "wherealpha": "[a-zA-Z]+",
    "wherealphanumeric": "[a-zA-Z0-9]+",
    "wherenumber": "[0-9]+",
    "whereulid": "[0-7][0-9a-hjkmnp-tv-zA-HJKMNP-TV-Z]{25}",
    "whereuuid": r"[\da-fA-F]{8}-[\da-fA-F]{4}-[\da-fA-F]{4}-[\da-fA-F]{4}-[\da-fA-F]{12}",
}
"""Regular expression of each method that constrains parameters."""
_ROUTER_CALLS: Final = frozenset({"get", "post", "put", "patch", "delete", "group"})
"""Calls on a route that Lumen applications make instead of calls on the router."""
_RESOURCE_CALLS: Final = frozenset({"resource", "apiresource", "singleton", "apisingleton"})
_GROUPED_CALLS: Final = frozenset(
    {"resources", "apiresources", "view", "redirect", "fallback", "permanentredirect"}
)


def read_constraints(method: str, arguments: Arguments) -> dict[str, str] | None:
    """Return the parameter patterns that a call of the `where` family sets; None for any other call."""
    if method in PARAMETER_PATTERNS:
        return dict.fromkeys(
            read_texts(arguments.at(0, "parameters")), PARAMETER_PATTERNS[method]
        )
    if method == "wherein":
        values = "|".join(read_texts(arguments.at(1, "values")))
        return dict.fromkeys(read_texts(arguments.at(0, "parameters")), values)
    if method in ("where", "setwheres", "wheres"):
        first = first_known(arguments.at(0))
        if isinstance(first, Array):
            return read_text_mapping(first)
        return {display_text(first): display_text(arguments.at(1, "expression"))}
    return None


def list_arguments(arguments: Arguments) -> Value:
    """Return the first argument if it is an array, else all arguments as an array."""
    first = first_known(arguments.at(0))
    if isinstance(first, Array):
        return first
    return Array(arguments.positional or arguments.named.values())


# ── a registered route ────────────────────────────────────────────────────────────────────────────


class RouteHandle(Recorder):
    """A route that was just registered."""

    def __init__(self, route: LaravelRoute, router: Router) -> None:
        self.route = route
        self.router = router

    def on_call(
        self, name: str, arguments: Arguments, site: CallSite, evaluator: Evaluator
    ) -> Value:
        """Change the route and return this handle."""
        self.router.register_pending()
        method = name.lower()
        if method in _ROUTER_CALLS:
            return self.router.on_call(name, arguments, site, evaluator)
        old_identity = self.route.identity
        constraints = read_constraints(method, arguments)
        if constraints is not None:
            self.route.wheres.update(constraints)
        elif method in _ROUTE_METHODS:
            _ROUTE_METHODS[method](self.route, arguments, site)
        elif method == "uses":
            self._set_action(arguments.at(0, "action"), site, evaluator)
        self.router.update_identity(self.route, old_identity)
        return self

    def _set_action(self, value: Value, site: CallSite, evaluator: Evaluator) -> None:
        """Set the action of the route."""
        action = parse_action(value, site)
        if action.uses is not None:
            stack = self.router.state.stack
            action = qualify_action(
                action,
                stack[-1] if stack else None,
                evaluator,
            )
        self.route.action = (action.controller or "Closure").lstrip("\\")
        self.route.closure = action.closure


def _add_name(route: LaravelRoute, arguments: Arguments, site: CallSite) -> None:
    name = (route.attributes.name or "") + display_text(arguments.at(0, "name"))
    route.attributes = replace(route.attributes, name=name)


def _add_middleware(route: LaravelRoute, arguments: Arguments, site: CallSite) -> None:
    added = read_middleware(list_arguments(arguments), site)
    route.attributes = replace(route.attributes, middleware=route.attributes.middleware + added)


def _exclude_middleware(route: LaravelRoute, arguments: Arguments, site: CallSite) -> None:
    excluded = read_middleware(list_arguments(arguments), site)
    route.attributes = replace(route.attributes, excluded=route.attributes.excluded + excluded)


def _add_ability(route: LaravelRoute, arguments: Arguments, site: CallSite) -> None:
    entry = _ability_entry(arguments, site)
    route.attributes = replace(
        route.attributes, middleware=(*route.attributes.middleware, entry)
    )


def _ability_entry(arguments: Arguments, site: CallSite) -> MiddlewareEntry:
    """Return the middleware of `can('update', 'post')`."""
    return MiddlewareEntry(
        can_middleware(Array(arguments.positional)),
        site.uri,
        site.line,
    )


def _add_prefix(route: LaravelRoute, arguments: Arguments, site: CallSite) -> None:
    route.add_prefix(display_text(arguments.at(0, "prefix")))


def _set_uri(route: LaravelRoute, arguments: Arguments, site: CallSite) -> None:
    route.set_uri(display_text(arguments.at(0, "uri")))


def _set_domain(route: LaravelRoute, arguments: Arguments, site: CallSite) -> None:
    route.set_domain(display_text(arguments.at(0, "domain")))


def _set_defaults(route: LaravelRoute, arguments: Arguments, site: CallSite) -> None:
    first = first_known(arguments.at(0))
    if isinstance(first, Array):
        route.defaults.update(read_mapping(first))
    else:
        route.defaults[display_text(first)] = arguments.at(1, "value")


def _set_binding_fields(route: LaravelRoute, arguments: Arguments, site: CallSite) -> None:
    route.binding_fields = dict(read_text_mapping(arguments.at(0)))


def _set_trashed(route: LaravelRoute, arguments: Arguments, site: CallSite) -> None:
    route.trashed = first_known(arguments.at(0, "withTrashed", True)) is not False


def _set_scoped(route: LaravelRoute, arguments: Arguments, site: CallSite) -> None:
    route.scoped = True


_ROUTE_METHODS: Final[dict[str, Callable[[LaravelRoute, Arguments, CallSite], None]]] = {
    "name": _add_name,
    "as": _add_name,
    "middleware": _add_middleware,
    "withoutmiddleware": _exclude_middleware,
    "can": _add_ability,
    "prefix": _add_prefix,
    "seturi": _set_uri,
    "domain": _set_domain,
    "defaults": _set_defaults,
    "setdefaults": _set_defaults,
    "setbindingfields": _set_binding_fields,
    "withtrashed": _set_trashed,
    "scopebindings": _set_scoped,
}
"""Methods that change a registered route, by name in lower case."""


# ── attributes for the next routes ────────────────────────────────────────────────────────────────


class RouteRegistrar(Recorder):
    """Attributes that are collected for a group, a route or a resource: `Route::prefix(…)->middleware(…)`."""

    def __init__(self, router: Router) -> None:
        self.router = router
        self.attributes = RouteAttributes()

    def on_call(
        self, name: str, arguments: Arguments, site: CallSite, evaluator: Evaluator
    ) -> Value:
        """Return the registrar with one more attribute, or the result of registering something."""
        self.router.register_pending()
        method = name.lower()
        if method == "group":
            self.router.add_group(
                self.attributes,
                arguments.at(0, "callback"),
                site,
                evaluator,
            )
            return self
        if method in ("match", "any") or method.upper() in HTTP_METHODS:
            return self._add_route(method, arguments, site, evaluator)
        if method in _RESOURCE_CALLS:
            return self._add_resource(method, arguments, site, evaluator)
        constraints = read_constraints(method, arguments)
        if constraints is not None:
            self.attributes = replace(
                self.attributes, where=constraints
            )  # a later call replaces an earlier one
        elif method in _ATTRIBUTE_METHODS:
            self.attributes = _ATTRIBUTE_METHODS[method](self.attributes, arguments, site)
        elif method in self.router.state.macros or name in self.router.state.macros:
            return self.router.on_call(name, arguments, site, evaluator)
        elif method in _GROUPED_CALLS:
            return self._call_in_group(name, arguments, site, evaluator)
        return self

    def _add_route(
        self, method: str, arguments: Arguments, site: CallSite, evaluator: Evaluator
    ) -> Value:
        """Register a route with the collected attributes."""
        uri_position = 0
        methods = [method.upper()]
        if method == "match":
            uri_position = 1
            methods = [verb.upper() for verb in read_texts(arguments.at(0))]
        elif method == "any":
            methods = list(HTTP_METHODS)
        action = root_action(parse_action(arguments.at(uri_position + 1, "action"), site))
        attributes = _override_attributes(self.attributes, action.attributes)
        action = replace(action, attributes=attributes)
        return self.router.add_route(
            methods,
            arguments.at(uri_position, "uri"),
            action,
            site,
            evaluator,
        )

    def _add_resource(
        self, method: str, arguments: Arguments, site: CallSite, evaluator: Evaluator
    ) -> Value:
        """Return a resource with the collected attributes that resources support."""
        options = read_mapping(arguments.at(2, "options"))
        if self.attributes.middleware:
            options["middleware"] = _middleware_array(self.attributes.middleware)
        if self.attributes.excluded:
            options["excluded_middleware"] = _middleware_array(self.attributes.excluded)
        if self.attributes.name is not None:
            options["as"] = self.attributes.name
        option_array = Array()
        for key, value in options.items():
            option_array.set(key, value)
        resource = Arguments(
            (
                arguments.at(0, "name"),
                arguments.at(1, "controller"),
                option_array,
            )
        )
        return self.router.on_call(method, resource, site, evaluator)

    def _call_in_group(
        self, name: str, arguments: Arguments, site: CallSite, evaluator: Evaluator
    ) -> Value:
        """Call the router inside a group with the collected attributes, for methods a registrar does not have."""
        with self.router.in_group(self.attributes):
            try:
                return self.router.on_call(name, arguments, site, evaluator)
            finally:
                self.router.register_pending()


def _override_attributes(outer: RouteAttributes, own: RouteAttributes) -> RouteAttributes:
    """Return the attributes of a registrar, each replaced by that of the action if the action sets it."""
    return RouteAttributes(
        prefix=outer.prefix if own.prefix is None else own.prefix,
        name=outer.name if own.name is None else own.name,
        namespace=outer.namespace if own.namespace is None else own.namespace,
        domain=outer.domain if own.domain is None else own.domain,
        controller=outer.controller if own.controller is None else own.controller,
        middleware=own.middleware or outer.middleware,
        excluded=own.excluded or outer.excluded,
        where=own.where or outer.where,
        can=own.can or outer.can,
        places=outer.places + own.places,
    )


def _middleware_array(entries: tuple[MiddlewareEntry, ...]) -> Array:
    """Return middleware as an array that keeps the lines."""
    array = Array()
    for entry in entries:
        array.append(entry.text, entry.line)
    return array


AttributeSetter = Callable[[RouteAttributes, Arguments, CallSite], RouteAttributes]


def _text_setter(field: str) -> AttributeSetter:
    """Return a function that sets one text attribute."""

    def set_text(
        attributes: RouteAttributes, arguments: Arguments, site: CallSite
    ) -> RouteAttributes:
        value = arguments.at(0, field)
        is_null = first_known(value) is None and not isinstance(value, Unknown)
        text = None if is_null else display_text(value)
        places = (*attributes.places, (site.uri, site.line))
        return replace(attributes, places=places, **{field: text})  # type: ignore[arg-type]

    return set_text


def _set_middleware(
    attributes: RouteAttributes, arguments: Arguments, site: CallSite
) -> RouteAttributes:
    return replace(attributes, middleware=read_middleware(list_arguments(arguments), site))


def _add_excluded(
    attributes: RouteAttributes, arguments: Arguments, site: CallSite
) -> RouteAttributes:
    excluded = read_middleware(arguments.at(0, "middleware"), site)
    return replace(attributes, excluded=attributes.excluded + excluded)


def _set_ability(
    attributes: RouteAttributes, arguments: Arguments, site: CallSite
) -> RouteAttributes:
    return replace(attributes, can=(_ability_entry(arguments, site),))


_ATTRIBUTE_METHODS: Final[dict[str, AttributeSetter]] = {
    "prefix": _text_setter("prefix"),
    "name": _text_setter("name"),
    "as": _text_setter("name"),
    "namespace": _text_setter("namespace"),
    "domain": _text_setter("domain"),
    "controller": _text_setter("controller"),
    "middleware": _set_middleware,
    "withoutmiddleware": _add_excluded,
    "can": _set_ability,
}
"""Methods that set an attribute of a registrar, by name in lower case."""
