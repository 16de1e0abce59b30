"""Graph of a Laravel application's routes: handler, middleware and bound models of each route.

The evaluator follows the code that registers the routes. Remarks name what stays unknown: routes of packages
(Fortify, Sanctum, Telescope), values that depend on requests or the database, and missing files. A setting appears as
`config(key)`. Routes under an unknown condition are all included and marked conditional. The framework itself
registers `up` and `broadcasting/auth` if the application enables them; they have `registered_by: framework`.
`written_at` lists the places that contribute to a path or name: mounts, groups, entries of loops.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ragstone.types import Alias, Graph, Json, Link, Node
from ragstone_code.evaluate import (
    Array,
    CallSite,
    EnumCase,
    Instance,
    Unknown,
    Value,
    display_text,
    first_known,
)
from ragstone_code.laravel.route_bindings import binding_links
from ragstone_code.laravel.route_groups import group_nodes
from ragstone_code.laravel.route_keys import (
    joined_methods,
    key_of,
    route_parameters,
    split_action,
    without_head,
)
from ragstone_code.laravel.routing.controllers import ControllerLookup
from ragstone_code.laravel.routing.route_files import MountedRoutes, mount_routes
from ragstone_code.laravel.routing.route_records import LaravelRoute, MiddlewareEntry
from ragstone_code.project_files import World


def read_routes(world: World) -> Graph:
    """Return the routes and the middleware of an application, with links to methods and models."""
    app = mount_routes(world)
    controllers = ControllerLookup(app.evaluator)
    graph = Graph()
    for route in app.router.state.routes.values():
        links = (
            *_handler_links(route, controllers),
            *_middleware_links(route, controllers),
            *binding_links(route, app, controllers),
        )
        graph += Graph(
            (_route_node(route, controllers),),
            links,
            tuple(_route_aliases(route)),
        )
    graph += Graph(tuple(group_nodes(app.router.state)))
    graph += _middleware_graph(app, graph)
    remarks = (*app.evaluator.remarks, *_replaced_routes(app))
    return graph + Graph(remarks=remarks)


# ── route nodes ──────────────────────────────────────────────────────────────────────────────


def _route_node(route: LaravelRoute, controllers: ControllerLookup) -> Node:
    """Return the node of a route."""
    title = f"{joined_methods(route.methods)} {route.uri}"
    return Node(
        key=key_of(route),
        kind="route",
        name=route.attributes.name or title,
        uri=route.site.uri,
        line=route.site.line,
        line_end=route.site.line,
        signature=title,
        language="php",
        framework="laravel",
        attributes=_route_attributes(route, controllers),
    )


def _route_attributes(route: LaravelRoute, controllers: ControllerLookup) -> dict[str, Json]:
    controller, method = split_action(route.action)
    places = dict.fromkeys((*route.attributes.places, *route.places))
    attributes: dict[str, Json] = {
        "methods": list(without_head(route.methods)),
        "uri": route.uri,
        "name": route.attributes.name,
        "action": route.action,
        "controller": controller or None,
        "method": method or None,
        "method_exists": controllers.has_action(controller, method) if controller else None,
        "middleware": _entry_texts(route.attributes.middleware),
        "excluded": _entry_texts(route.attributes.excluded),
        "binding_fields": dict(route.binding_fields),
        "wheres": dict(route.wheres),
        "domain": route.domain or None,
        "defaults": {key: value_to_json(value) for key, value in route.defaults.items()},
        "conditional": route.site.conditional,
        "written_at": [f"{uri}:{line}" for uri, line in places],
        "parameters": list(route_parameters(route)),
    }
    if controller:
        entries = controllers.middleware_of(controller, method)
        attributes["controller_middleware"] = _entry_texts(entries)
    return attributes | _optional_attributes(route)


def _entry_texts(entries: Iterable[MiddlewareEntry]) -> list[Json]:
    return [entry.text for entry in entries]


def _optional_attributes(route: LaravelRoute) -> dict[str, Json]:
    """Return the attributes that only some routes have."""
    attributes: dict[str, Json] = {}
    if route.resource:
        attributes["resource"] = route.resource
    if route.trashed:
        attributes["with_trashed"] = route.trashed
    if route.scoped:
        attributes["scoped"] = route.scoped
    if route.instead_of:
        actions: dict[str, str] = {}
        for other in route.instead_of:
            actions[f"{other.site.uri}:{other.site.line}"] = other.action
        alternatives: list[Json] = []
        for place, action in actions.items():
            alternatives.append({"action": action, "place": place})
        attributes["alternatives"] = alternatives
    if route.by_framework:
        attributes["registered_by"] = "framework"
    return attributes


def value_to_json(value: Value) -> Json:
    """Return an evaluated value as JSON; an unknown value as its display text."""
    if isinstance(value, Unknown):
        return display_text(value)
    if isinstance(value, Array):
        if value.is_list:
            return [value_to_json(item) for item in value.values]
        return {str(key): value_to_json(item) for key, item in value.items.items()}
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    if isinstance(value, Instance):
        return value.name
    if isinstance(value, EnumCase):
        return value_to_json(value.value)
    return display_text(value)


# ── links of routes ──────────────────────────────────────────────────────────────────────────


def _handler_links(route: LaravelRoute, controllers: ControllerLookup) -> Iterator[Link]:
    """Yield the link to the method that handles a route, or to its class if the method is not in the project."""
    controller, method = split_action(route.action)
    if not controller:
        return
    action = controllers.find_action(controller, method)
    exists = controllers.has_action(controller, method)
    attributes: dict[str, Json] = {}
    if action is not None:
        class_name, _, function = action
        target = f"method:{class_name}::{function.name}"
    else:
        target = f"class:{controller}"
        attributes = {"method_exists": exists, "method": method}
    yield Link(
        "HANDLED_BY",
        key_of(route),
        target,
        route.site.uri,
        route.site.line,
        "evaluated",
        route.site.conditional,
        attributes=attributes,
    )


def _middleware_links(route: LaravelRoute, controllers: ControllerLookup) -> Iterator[Link]:
    """Yield the middleware of a route in order: its own, its controller's, then the excluded middleware."""
    entries: list[tuple[MiddlewareEntry, dict[str, Json]]] = []
    for entry in route.attributes.middleware:
        entries.append((entry, {"excluded": False}))
    for entry in _controller_middleware(route, controllers):
        entries.append((entry, {"excluded": False, "by": "controller"}))
    for entry in route.attributes.excluded:
        entries.append((entry, {"excluded": True}))
    for order, (entry, details) in enumerate(entries):
        name, _, parameters = entry.text.partition(":")
        attributes: dict[str, Json] = {
            "written": entry.text,
            "parameters": parameters,
            **details,
        }
        yield Link(
            "GUARDED_BY",
            key_of(route),
            f"middleware:{name}",
            entry.uri,
            entry.line,
            "evaluated",
            route.site.conditional,
            order,
            attributes,
        )


def _controller_middleware(
    route: LaravelRoute, controllers: ControllerLookup
) -> Iterator[MiddlewareEntry]:
    """Yield the middleware that a controller adds to a route; duplicates are left out, except closures."""
    controller, method = split_action(route.action)
    if not controller:
        return
    seen = {entry.text for entry in route.attributes.middleware}
    for entry in controllers.middleware_of(controller, method):
        if entry.text not in seen or entry.text == "Closure":
            seen.add(entry.text)
            yield entry


# ── middleware, aliases, remarks ─────────────────────────────────────────────────────────────


def _middleware_graph(app: MountedRoutes, graph: Graph) -> Graph:
    """Return the middleware that routes use or the application names, each with its class or group."""
    nodes: list[Node] = []
    links: list[Link] = []
    aliases: list[Alias] = []
    for name in sorted(_middleware_names(app, graph)):
        key = f"middleware:{name}"
        class_name, site = _middleware_class(app, name)
        members = app.middleware.groups.get(name, ((), site))[0]
        uri = site.uri
        line = site.line if uri else 0
        node = Node(
            key,
            "middleware",
            name,
            uri,
            line,
            line,
            language="php",
            framework="laravel",
            attributes={"class": class_name or None, "group": list(members)},
        )
        nodes.append(node)
        aliases.append(Alias(name, key, "middleware", uri))
        if class_name and uri:
            links.append(
                Link(
                    "HANDLED_BY",
                    key,
                    f"class:{class_name}",
                    uri,
                    line,
                    "declared",
                )
            )
    return Graph(tuple(nodes), tuple(links), tuple(aliases))


def _middleware_names(app: MountedRoutes, graph: Graph) -> set[str]:
    """Return the names of middleware in routes, and the aliases and groups that the application declares."""
    names: set[str] = set()
    for link in graph.links:
        if link.kind == "GUARDED_BY":
            names.add(link.target.removeprefix("middleware:"))
    for name, (_, site) in app.middleware.aliases.items():
        if site.uri:
            names.add(name)
    for name, (_, site) in app.middleware.groups.items():
        if site.uri:
            names.add(name)
    return names


def _middleware_class(app: MountedRoutes, name: str) -> tuple[str, CallSite]:
    """Return the class of a middleware and the place that declares it."""
    if name in app.middleware.aliases:
        return app.middleware.aliases[name]
    nowhere = CallSite("", 0)
    if name in app.middleware.groups:
        return "", app.middleware.groups[name][1]
    if name.startswith("config(") and name.endswith(")"):
        setting = name.removeprefix("config(")[:-1]
        configured = first_known(app.config.at(setting, app.evaluator))
        if isinstance(configured, str):
            name = configured
    if "\\" not in name:
        return "", nowhere
    declared = app.evaluator.lookup.of_class(name)
    if declared is None:
        return name, nowhere
    uri, definition = declared
    return name, CallSite(uri, definition.line)


def _route_aliases(route: LaravelRoute) -> Iterator[Alias]:
    """Yield the names by which people refer to a route: its name, its path, and its path with a method."""
    key = key_of(route)
    uri = route.site.uri
    if route.attributes.name:
        yield Alias(route.attributes.name, key, "route_name", uri)
    path = f"{route.domain}/{route.uri}" if route.domain else route.uri
    plain_path = re.sub(r"\{[^}]*\}", "{}", path)
    yield Alias(plain_path, key, "uri", uri)
    for method in joined_methods(route.methods).split("|"):
        yield Alias(f"{method} {plain_path}", key, "uri", uri)
    if route.resource:
        yield Alias(route.resource, key, "route_resource", uri)


def _replaced_routes(app: MountedRoutes) -> Iterator[str]:
    """Yield a remark for each route that a later route with the same methods and path replaces."""
    for route in app.router.state.replaced:
        methods = "|".join(without_head(route.methods))
        place = f"{route.site.uri}:{route.site.line}"
        yield f"{place}: {methods} {route.uri} is registered again later, which counts"
