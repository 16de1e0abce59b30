"""The routes of a Laravel app: what handles, guards and binds each, by evaluating what registers them.

Not known, and said in the remarks: routes that packages register (Fortify, Sanctum, Telescope …), what depends on
requests or the database, files that are not in the project. A setting is shown as `config(key)`. Routes inside of a
condition that cannot be known are all taken and marked conditional. `up` and `broadcasting/auth`, which the framework
itself registers when an app asks for them, have `registered_by: framework`. `written_at` lists the places that a path
and a name are put together from: mounts, groups, entries of loops.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ragstone.code.tree import Call, ClassName, Expr, Function, Member, Return, Static
from ragstone.code.world import World
from ragstone.types import Alias, Graph, Json, Link, Node
from ragstone_code.evaluate import (
    Array,
    CallSite,
    EnumCase,
    Instance,
    Lambda,
    Unknown,
    Value,
    display_text,
    first_known,
)
from ragstone_code.laravel.inflection import snake
from ragstone_code.laravel.routing.controllers import ControllerLookup
from ragstone_code.laravel.routing.mounts import MountedRoutes, mount_routes
from ragstone_code.laravel.routing.records import LaravelRoute, MiddlewareEntry

_PARAMETER: Final = re.compile(r"\{(\w+)\??\}")
_ALL: Final = 7


def read_routes(world: World) -> Graph:
    """Return the routes of an app, its middleware, and what links them to methods and models."""
    app = mount_routes(world)
    controllers = ControllerLookup(app.machine)
    graph = Graph()
    for route in app.router.state.routes.values():
        graph += Graph(
            (_node(route, controllers),),
            (*_handled(route, controllers), *_guarded(route, controllers), *_bound(route, app, controllers)),
            tuple(_aliases(route)),
        )
    graph += _middleware(app, graph)
    return graph + Graph(remarks=(*app.machine.remarks, *_replaced(app)))


# ── the routes themselves ─────────────────────────────────────────────────────────────────────────


def route_key(methods: tuple[str, ...], uri: str, domain: str = "") -> str:
    """Return the key of a route: HEAD left out beside GET, all seven methods as ANY."""
    verbs = "ANY" if len(methods) == _ALL else "|".join(plain_methods(methods))
    return f"route:{verbs} {domain + '/' + uri.lstrip('/') if domain else uri}"


def plain_methods(methods: tuple[str, ...]) -> list[str]:
    """Return the methods without the HEAD that comes with GET."""
    return [one for one in methods if one != "HEAD" or "GET" not in methods]


def _key(route: LaravelRoute) -> str:
    return route_key(route.methods, route.uri, route.domain)


def _node(route: LaravelRoute, controllers: ControllerLookup) -> Node:
    """Return a route as a node."""
    controller, method = split_action(route.action)
    attributes: dict[str, Json] = {
        "methods": list(plain_methods(route.methods)),
        "uri": route.uri,
        "name": route.attributes.name,
        "action": route.action,
        "controller": controller or None,
        "method": method or None,
        "method_exists": controllers.has_action(controller, method) if controller else None,
        "middleware": [one.text for one in route.attributes.middleware],
        "excluded": [one.text for one in route.attributes.excluded],
        "binding_fields": dict(route.binding_fields),
        "wheres": dict(route.wheres),
        "domain": route.domain or None,
        "defaults": {key: json_of(one) for key, one in route.defaults.items()},
        "conditional": route.site.conditional,
        "written_at": [f"{uri}:{line}" for uri, line in dict.fromkeys((*route.attributes.places, *route.places))],
        "parameters": list(_PARAMETER.findall(f"{route.domain}/{route.uri}")),
    }
    if controller:
        attributes["controller_middleware"] = [one.text for one in controllers.middleware_of(controller, method)]
    for name, told in (("resource", route.resource), ("with_trashed", route.trashed), ("scoped", route.scoped)):
        if told:
            attributes[name] = told
    if route.instead_of:
        others = {f"{one.site.uri}:{one.site.line}": one.action for one in route.instead_of}
        attributes["alternatives"] = [{"action": action, "place": place} for place, action in others.items()]
    if route.by_framework:
        attributes["registered_by"] = "framework"
    verbs = "ANY" if len(route.methods) == _ALL else "|".join(plain_methods(route.methods))
    return Node(
        key=_key(route), kind="route", name=route.attributes.name or f"{verbs} {route.uri}",
        uri=route.site.uri, line=route.site.line, line_end=route.site.line,
        signature=f"{verbs} {route.uri}", language="php", framework="laravel", attributes=attributes,
    )  # fmt: skip


def split_action(action: str) -> tuple[str, str]:
    """Return the class and the method of an action's name; nothing for a closure."""
    if action == "Closure":
        return "", ""
    controller, at, method = action.partition("@")
    return controller, method if at else "__invoke"


def json_of(value: Value) -> Json:
    """Return a value as plain data; what is not known as it may be shown."""
    value = value if isinstance(value, Unknown) else first_known(value)
    if isinstance(value, Array):
        return [json_of(one) for one in value.values] if value.is_list else {
            str(key): json_of(one) for key, one in value.items.items()
        }  # fmt: skip
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    return (
        value.name
        if isinstance(value, Instance)
        else json_of(value.value)
        if isinstance(value, EnumCase)
        else display_text(value)
    )


# ── links ─────────────────────────────────────────────────────────────────────────────────────────


def _handled(route: LaravelRoute, controllers: ControllerLookup) -> Iterator[Link]:
    """Yield what handles a route: a method where it is written, else its class."""
    controller, method = split_action(route.action)
    if not controller:
        return
    found = controllers.find_action(controller, method)
    exists = controllers.has_action(controller, method)
    target = f"method:{found[0]}::{found[2].name}" if found else f"class:{controller}"
    attributes: dict[str, Json] = {} if found else {"method_exists": exists, "method": method}
    yield _link("HANDLED_BY", route, target, attributes=attributes)


def _link(
    kind: str,
    route: LaravelRoute,
    target: str,
    *,
    written: MiddlewareEntry | None = None,
    attributes: dict[str, Json] | None = None,
) -> Link:
    """Return a link of a route, at the place that says so."""
    uri, line = (written.uri, written.line) if written else (route.site.uri, route.site.line)
    return Link(kind, _key(route), target, uri, line, "evaluated", route.site.conditional, attributes=attributes or {})


def _guarded(route: LaravelRoute, controllers: ControllerLookup) -> Iterator[Link]:
    """Yield the middleware of a route in its order, then its controller's own, then what it is freed from."""
    words: list[tuple[MiddlewareEntry, dict[str, Json]]] = [
        (one, {"excluded": False}) for one in route.attributes.middleware
    ]
    words += _by_controller(route, controllers)
    words += [(one, {"excluded": True}) for one in route.attributes.excluded]
    for order, (one, more) in enumerate(words):
        name, _, parameters = one.text.partition(":")
        attributes: dict[str, Json] = {"written": one.text, "parameters": parameters, **more}
        yield Link(
            "GUARDED_BY", _key(route), f"middleware:{name}", one.uri, one.line, "evaluated",
            route.site.conditional, order, attributes,
        )  # fmt: skip


def _by_controller(
    route: LaravelRoute, controllers: ControllerLookup
) -> Iterator[tuple[MiddlewareEntry, dict[str, Json]]]:
    """Yield what the controller adds to the middleware of a route; a word that the route has counts once."""
    controller, method = split_action(route.action)
    said = {one.text for one in route.attributes.middleware}
    for one in controllers.middleware_of(controller, method) if controller else ():
        if one.text not in said or one.text == "Closure":
            said.add(one.text)
            yield one, {"excluded": False, "by": "controller"}


def _bound(route: LaravelRoute, app: MountedRoutes, controllers: ControllerLookup) -> Iterator[Link]:
    """Yield the models that a route's parameters are bound to."""
    place = _function(route, controllers)
    for parameter in _PARAMETER.findall(f"{route.domain}/{route.uri}"):
        binder = app.router.state.binders.get(parameter)
        told = route.binding_fields.get(parameter)
        if binder is not None:
            model = binder.model or _returned(binder.closure, controllers)
            if model:
                field = told or controllers.route_key_of(model)
                yield _binds(route, model, (binder.site.uri, binder.site.line), (parameter, field, binder.how))
        elif place is not None:
            function, uri = place
            model = _typed(function, parameter, controllers)
            if model:
                field = told or ("" if controllers.is_enum(model) else controllers.route_key_of(model))
                how = "enum" if controllers.is_enum(model) else "implicit"
                yield _binds(route, model, (uri, function.line), (parameter, field, how))


def _binds(route: LaravelRoute, model: str, place: tuple[str, int], told: tuple[str, str, str]) -> Link:
    """Return the link of a parameter to a model."""
    parameter, field, how = told
    attributes: dict[str, Json] = {"parameter": parameter, "field": field or None, "how": how}
    return Link(
        "BINDS", _key(route), f"class:{model}", place[0], place[1], "evaluated",
        route.site.conditional, attributes=attributes,
    )  # fmt: skip


def _function(route: LaravelRoute, controllers: ControllerLookup) -> tuple[Function, str] | None:
    """Return what runs for a route: a closure, or a method of a controller."""
    if route.closure is not None:
        return route.closure.function, route.closure.uri
    controller, method = split_action(route.action)
    found = controllers.find_action(controller, method) if controller else None
    return (found[2], found[1]) if found else None


def _typed(function: Function, parameter: str, controllers: ControllerLookup) -> str:
    """Return the model a parameter of the same name has as its type."""
    for one in function.parameters:
        if parameter in (one.name, snake(one.name)) and one.type is not None:
            for name in one.type.names:
                if controllers.is_bindable(name) or controllers.is_enum(name):
                    return name
    return ""


def _returned(closure: Value, controllers: ControllerLookup) -> str:
    """Return the model that a binding's function returns: by the type it names, else by the query it returns."""
    closure = first_known(closure)
    if not isinstance(closure, Lambda):
        return ""
    names = list(closure.function.returns.names) if closure.function.returns else []
    names += [_asked(one.value) for one in closure.function.body.statements if isinstance(one, Return)]
    return next((one for one in names if one and controllers.is_bindable(one)), "")


def _asked(expression: Expr | None) -> str:
    """Return the class that a chain of calls starts from: `Post` of `Post::where(…)->firstOrFail()`."""
    while isinstance(expression, Call | Member):
        expression = expression.function if isinstance(expression, Call) else expression.of
    of = expression.of if isinstance(expression, Static) else None
    return of.name if isinstance(of, ClassName) else ""


# ── middleware, aliases, remarks ──────────────────────────────────────────────────────────────────


def _middleware(app: MountedRoutes, graph: Graph) -> Graph:
    """Return the middleware that routes name and that the app names, each with its class or its group."""
    used = {link.target.removeprefix("middleware:") for link in graph.links if link.kind == "GUARDED_BY"}
    named = {name: site for name, (_, site) in (*app.stack.aliases.items(), *app.stack.groups.items()) if site.uri}
    nodes: list[Node] = []
    links: list[Link] = []
    aliases: list[Alias] = []
    for name in sorted(used | set(named)):
        target, site = _class_of(app, name)
        members = app.stack.groups.get(name, ((), site))[0]
        attributes: dict[str, Json] = {"class": target or None, "group": list(members)}
        uri, line = (site.uri, site.line) if site.uri else ("", 0)
        nodes.append(
            Node(f"middleware:{name}", "middleware", name, uri, line, line, language="php", framework="laravel",
                 attributes=attributes)
        )  # fmt: skip
        aliases.append(Alias(name, f"middleware:{name}", "middleware", uri))
        if target and uri:
            links.append(Link("HANDLED_BY", f"middleware:{name}", f"class:{target}", uri, line, "declared"))
    return Graph(tuple(nodes), tuple(links), tuple(aliases))


def _class_of(app: MountedRoutes, name: str) -> tuple[str, CallSite]:
    """Return the class behind a name of middleware and where that is said."""
    if name in app.stack.aliases:
        return app.stack.aliases[name]
    if name in app.stack.groups:
        return "", app.stack.groups[name][1]
    if name.startswith("config(") and name.endswith(")"):
        told = first_known(app.settings.at(name[7:-1], app.machine))
        name = told if isinstance(told, str) else name
    found = app.machine.lookup.of_class(name) if "\\" in name else None
    return (name, CallSite(found[0], found[1].line)) if found else (name if "\\" in name else "", CallSite("", 0))


def _aliases(route: LaravelRoute) -> Iterator[Alias]:
    """Yield what people call a route."""
    key, uri = _key(route), route.site.uri
    if route.attributes.name:
        yield Alias(route.attributes.name, key, "route_name", uri)
    plain = re.sub(r"\{[^}]*\}", "{}", f"{route.domain}/{route.uri}" if route.domain else route.uri)
    yield Alias(plain, key, "uri", uri)
    verbs = ["ANY"] if len(route.methods) == _ALL else plain_methods(route.methods)
    for verb in verbs:
        yield Alias(f"{verb} {plain}", key, "uri", uri)
    if route.resource:
        yield Alias(route.resource, key, "route_resource", uri)


def _replaced(app: MountedRoutes) -> Iterator[str]:
    """Yield what is registered in vain, as a later route of the same methods and path takes its place."""
    for one in app.router.state.replaced:
        verbs = "|".join(plain_methods(one.methods))
        yield f"{one.site.uri}:{one.site.line}: {verbs} {one.uri} is registered again later, which counts"
