"""The router's methods that register routes, open groups and set options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ragstone_code.evaluate import (
    Arguments,
    Array,
    CallSite,
    Evaluator,
    Value,
    display_text,
    first_known,
)
from ragstone_code.laravel.routing.auth import register_auth_routes
from ragstone_code.laravel.routing.resources import ResourceArguments
from ragstone_code.laravel.routing.route_records import (
    HTTP_METHODS,
    ParameterBinder,
    read_attributes,
    read_mapping,
    read_text_mapping,
    read_texts,
)

if TYPE_CHECKING:
    from ragstone_code.laravel.routing.router import Router

_REDIRECT_CONTROLLER: Final = "\\Illuminate\\Routing\\RedirectController"
_VIEW_CONTROLLER: Final = "\\Illuminate\\Routing\\ViewController"
_INERTIA_CONTROLLER: Final = "\\Inertia\\Controller"
_API_ACTIONS: Final = ("index", "show", "store", "update", "destroy")
_API_SINGLETON_ACTIONS: Final = ("store", "show", "update", "destroy")


# ── routes ────────────────────────────────────────────────────────────────────────────────────────


def _any(router: Router, arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    uri, action = arguments.at(0, "uri"), arguments.at(1, "action")
    return router.add_route(HTTP_METHODS, uri, action, site, evaluator)


def _match(router: Router, arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    methods = [method.upper() for method in read_texts(arguments.at(0, "methods"))]
    uri, action = arguments.at(1, "uri"), arguments.at(2, "action")
    return router.add_route(methods, uri, action, site, evaluator)


def _redirect(
    router: Router, arguments: Arguments, site: CallSite, evaluator: Evaluator
) -> Value:
    handle = router.add_route(
        HTTP_METHODS,
        arguments.at(0, "uri"),
        _REDIRECT_CONTROLLER,
        site,
        evaluator,
    )
    handle.route.defaults = {
        "destination": arguments.at(1, "destination"),
        "status": arguments.at(2, "status", 302),
    }
    return handle


def _permanent_redirect(
    router: Router, arguments: Arguments, site: CallSite, evaluator: Evaluator
) -> Value:
    handle = router.add_route(
        HTTP_METHODS,
        arguments.at(0, "uri"),
        _REDIRECT_CONTROLLER,
        site,
        evaluator,
    )
    handle.route.defaults = {"destination": arguments.at(1, "destination"), "status": 301}
    return handle


def _view(router: Router, arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    handle = router.add_route(
        ("GET", "HEAD"),
        arguments.at(0, "uri"),
        _VIEW_CONTROLLER,
        site,
        evaluator,
    )
    handle.route.defaults = {"view": arguments.at(1, "view")}
    return handle


def _inertia(
    router: Router, arguments: Arguments, site: CallSite, evaluator: Evaluator
) -> Value:
    handle = router.add_route(
        ("GET", "HEAD"),
        arguments.at(0, "uri"),
        _INERTIA_CONTROLLER,
        site,
        evaluator,
    )
    handle.route.defaults = {"component": arguments.at(1, "component")}
    return handle


def _fallback(
    router: Router, arguments: Arguments, site: CallSite, evaluator: Evaluator
) -> Value:
    action = arguments.at(0, "action")
    handle = router.add_route(("GET",), "{fallbackPlaceholder}", action, site, evaluator)
    handle.route.wheres["fallbackPlaceholder"] = ".*"
    return handle


def _group(router: Router, arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    attributes, routes = arguments.at(0, "attributes"), arguments.at(1, "routes")
    if not arguments.has(1, "routes"):
        attributes, routes = Array(), attributes
    router.add_group(read_attributes(attributes, site), routes, site, evaluator)
    return router


# ── resources ─────────────────────────────────────────────────────────────────────────────────────

RouterMethod = Callable[["Router", Arguments, CallSite, Evaluator], Value]


def _resource_method(actions: Sequence[str] = (), *, singleton: bool = False) -> RouterMethod:
    """Return a method that registers one resource; it has only these actions, or all if none are named."""

    def add_resource(
        router: Router, arguments: Arguments, site: CallSite, evaluator: Evaluator
    ) -> Value:
        options = read_mapping(arguments.at(2, "options"))
        resource = ResourceArguments(
            arguments.at(0, "name"),
            arguments.at(1, "controller"),
            singleton,
        )
        return router.add_resource(resource, _limit_actions(options, actions), site, evaluator)

    return add_resource


def _limit_actions(options: dict[str, Value], actions: Sequence[str]) -> dict[str, Value]:
    """Return the options of a resource with `only` preset to these actions."""
    if not actions:
        return options
    excluded = read_texts(options.get("except"))
    only = Array([action for action in actions if action not in excluded])
    return {"only": only, **options}


def _resources_method(
    actions: Sequence[str] = (), *, singleton: bool = False, trashed: bool = False
) -> RouterMethod:
    """Return a method that registers an array of resources: `Route::resources([name => controller])`."""

    def add_resources(
        router: Router, arguments: Arguments, site: CallSite, evaluator: Evaluator
    ) -> Value:
        resources = first_known(arguments.at(0))
        options = _limit_actions(read_mapping(arguments.at(1, "options")), actions)
        if isinstance(resources, Array):
            for key, controller in resources.items.items():
                entry_site = replace(site, line=resources.lines.get(key, site.line))
                resource = ResourceArguments(str(key), controller, singleton)
                pending = router.add_resource(resource, options, entry_site, evaluator)
                if trashed:
                    pending.options["trashed"] = Array()
        router.register_pending()
        return None

    return add_resources


def _set_resource_verbs(
    router: Router, arguments: Arguments, site: CallSite, evaluator: Evaluator
) -> Value:
    router.state.resource_defaults.verbs.update(read_text_mapping(arguments.at(0)))
    return None


def _set_resource_parameters(
    router: Router, arguments: Arguments, site: CallSite, evaluator: Evaluator
) -> Value:
    router.state.resource_defaults.parameters.update(read_text_mapping(arguments.at(0)))
    return None


def _set_singular_parameters(
    router: Router, arguments: Arguments, site: CallSite, evaluator: Evaluator
) -> Value:
    singular = first_known(arguments.at(0, "singular", True))
    router.state.resource_defaults.singular = singular is not False
    return None


# ── options ───────────────────────────────────────────────────────────────────────────────────────


def _bind(router: Router, arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    parameter = display_text(arguments.at(0, "key"))
    router.state.binders[parameter] = ParameterBinder(
        parameter,
        "",
        "bind",
        site,
        arguments.at(1, "binder"),
    )
    return None


def _model(router: Router, arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    parameter = display_text(arguments.at(0, "key"))
    model = display_text(arguments.at(1, "class")).lstrip("\\")
    router.state.binders[parameter] = ParameterBinder(parameter, model, "model", site)
    return None


def _pattern(
    router: Router, arguments: Arguments, site: CallSite, evaluator: Evaluator
) -> Value:
    parameter = display_text(arguments.at(0, "key"))
    router.state.patterns[parameter] = display_text(arguments.at(1, "pattern"))
    return None


def _patterns(
    router: Router, arguments: Arguments, site: CallSite, evaluator: Evaluator
) -> Value:
    router.state.patterns.update(read_text_mapping(arguments.at(0)))
    return None


def _alias_middleware(
    router: Router, arguments: Arguments, site: CallSite, evaluator: Evaluator
) -> Value:
    name = display_text(arguments.at(0, "name"))
    class_name = display_text(arguments.at(1, "class")).lstrip("\\")
    router.state.aliases[name] = (class_name, site)
    return router


def _group_change_method(how: str) -> RouterMethod:
    """Return a method that sets, appends to, prepends to or removes from a middleware group."""

    def change_group(
        router: Router, arguments: Arguments, site: CallSite, evaluator: Evaluator
    ) -> Value:
        group = display_text(arguments.at(0))
        words = tuple(read_texts(arguments.at(1, "middleware")))
        router.state.record_group_change(how, group, words, site)
        return router

    return change_group


def _macro(router: Router, arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    router.state.macros[display_text(arguments.at(0, "name"))] = arguments.at(1, "macro")
    return None


def _new(router: Router, arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    return router


ROUTER_METHODS: Final[dict[str, RouterMethod]] = {
    "any": _any,
    "match": _match,
    "redirect": _redirect,
    "permanentredirect": _permanent_redirect,
    "view": _view,
    "fallback": _fallback,
    "inertia": _inertia,
    "group": _group,
    "new": _new,
    "auth": register_auth_routes,
    "resource": _resource_method(),
    "apiresource": _resource_method(_API_ACTIONS),
    "singleton": _resource_method(singleton=True),
    "apisingleton": _resource_method(_API_SINGLETON_ACTIONS, singleton=True),
    "resources": _resources_method(),
    "apiresources": _resources_method(_API_ACTIONS),
    "singletons": _resources_method(singleton=True),
    "apisingletons": _resources_method(_API_SINGLETON_ACTIONS, singleton=True),
    "softdeletableresources": _resources_method(trashed=True),
    "bind": _bind,
    "model": _model,
    "pattern": _pattern,
    "patterns": _patterns,
    "aliasmiddleware": _alias_middleware,
    "middlewaregroup": _group_change_method("set"),
    "pushmiddlewaretogroup": _group_change_method("append"),
    "prependmiddlewaretogroup": _group_change_method("prepend"),
    "removemiddlewarefromgroup": _group_change_method("remove"),
    "resourceverbs": _set_resource_verbs,
    "resourceparameters": _set_resource_parameters,
    "singularresourceparameters": _set_singular_parameters,
    "macro": _macro,
}
"""The router's own methods, by name in lower case."""
