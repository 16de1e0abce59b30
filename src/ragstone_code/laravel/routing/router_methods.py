"""The calls on the router that register, group and set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ragstone_code.evaluate import Arguments, Array, CallSite, Evaluator, Value, first_known
from ragstone_code.laravel.routing.auth import auth_routes
from ragstone_code.laravel.routing.records import VERBS, ParameterBinder, attributes_of, mapped, text, texts
from ragstone_code.laravel.routing.resources import ResourceArguments

if TYPE_CHECKING:
    from ragstone_code.laravel.routing.router import Router

_REDIRECTS: Final = "\\Illuminate\\Routing\\RedirectController"
_VIEWS: Final = "\\Illuminate\\Routing\\ViewController"
_API: Final = ("index", "show", "store", "update", "destroy")
_API_SINGLETON: Final = ("store", "show", "update", "destroy")


def _any(router: Router, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    return router.route(VERBS, given.at(0, "uri"), given.at(1, "action"), site, machine)


def _match(router: Router, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    methods = [one.upper() for one in texts(given.at(0, "methods"))]
    return router.route(methods, given.at(1, "uri"), given.at(2, "action"), site, machine)


def _redirect(router: Router, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    handle = router.route(VERBS, given.at(0, "uri"), _REDIRECTS, site, machine)
    handle.route.defaults = {"destination": given.at(1, "destination"), "status": given.at(2, "status", 302)}
    return handle


def _permanent(router: Router, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    handle = router.route(VERBS, given.at(0, "uri"), _REDIRECTS, site, machine)
    handle.route.defaults = {"destination": given.at(1, "destination"), "status": 301}
    return handle


def _view(router: Router, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    handle = router.route(("GET", "HEAD"), given.at(0, "uri"), _VIEWS, site, machine)
    handle.route.defaults = {"view": given.at(1, "view")}
    return handle


def _fallback(router: Router, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    handle = router.route(("GET",), "{fallbackPlaceholder}", given.at(0, "action"), site, machine)
    handle.route.wheres["fallbackPlaceholder"] = ".*"
    return handle


def _inertia(router: Router, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    handle = router.route(("GET", "HEAD"), given.at(0, "uri"), "\\Inertia\\Controller", site, machine)
    handle.route.defaults = {"component": given.at(1, "component")}
    return handle


def _group(router: Router, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    first, second = given.at(0, "attributes"), given.at(1, "routes")
    if not given.has(1, "routes"):
        first, second = Array(), first
    router.group(attributes_of(first, site), second, site, machine)
    return router


def _resource(
    only: Sequence[str] = (), *, singleton: bool = False
) -> Callable[[Router, Arguments, CallSite, Evaluator], Value]:
    def one(router: Router, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        options = mapped(given.at(2, "options"))
        what = ResourceArguments(given.at(0, "name"), given.at(1, "controller"), singleton)
        return router.resource(what, narrowed(options, only), site, machine)

    return one


def narrowed(options: dict[str, Value], only: Sequence[str]) -> dict[str, Value]:
    """Return the options of a resource that has only some of the actions to start with."""
    if not only:
        return options
    out = texts(options.get("except"))
    return {"only": Array([one for one in only if one not in out]), **options}


def _resources(
    only: Sequence[str] = (), *, singleton: bool = False, trashed: bool = False
) -> Callable[[Router, Arguments, CallSite, Evaluator], Value]:
    def several(router: Router, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        first = first_known(given.at(0))
        options = mapped(given.at(1, "options"))
        for key, controller in first.items.items() if isinstance(first, Array) else ():
            here = replace(site, line=first.lines.get(key, site.line)) if isinstance(first, Array) else site
            made = router.resource(
                ResourceArguments(str(key), controller, singleton), narrowed(options, only), here, machine
            )
            if trashed:
                made.options["trashed"] = Array()
        router.register_pending()
        return None

    return several


def _bind(router: Router, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    key = text(given.at(0, "key"))
    router.state.binders[key] = ParameterBinder(key, "", "bind", site, given.at(1, "binder"))
    return None


def _model(router: Router, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    key = text(given.at(0, "key"))
    router.state.binders[key] = ParameterBinder(key, text(given.at(1, "class")).lstrip("\\"), "model", site)
    return None


def _pattern(router: Router, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    router.state.patterns[text(given.at(0, "key"))] = text(given.at(1, "pattern"))
    return None


def _patterns(router: Router, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    router.state.patterns.update({key: text(one) for key, one in mapped(given.at(0)).items()})
    return None


def _alias(router: Router, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    router.state.aliases[text(given.at(0, "name"))] = (text(given.at(1, "class")).lstrip("\\"), site)
    return router


def _middleware_group(how: str) -> Callable[[Router, Arguments, CallSite, Evaluator], Value]:
    def change(router: Router, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        words = tuple(texts(given.at(1, "middleware")))
        router.state.groups.append((how, text(given.at(0)), words, site))
        return router

    return change


def _verbs(router: Router, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    router.state.rules.verbs.update({key: text(one) for key, one in mapped(given.at(0)).items()})
    return None


def _parameters(router: Router, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    router.state.rules.parameters.update({key: text(one) for key, one in mapped(given.at(0)).items()})
    return None


def _singular(router: Router, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    router.state.rules.singular = first_known(given.at(0, "singular", True)) is not False
    return None


def _macro(router: Router, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    router.state.macros[text(given.at(0, "name"))] = given.at(1, "macro")
    return None


def _new(router: Router, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    return router


CALLS: Final[dict[str, Callable[[Router, Arguments, CallSite, Evaluator], Value]]] = {
    "any": _any, "match": _match, "redirect": _redirect, "permanentredirect": _permanent, "view": _view,
    "fallback": _fallback, "inertia": _inertia, "group": _group, "new": _new, "auth": auth_routes,
    "resource": _resource(), "apiresource": _resource(_API), "singleton": _resource(singleton=True),
    "apisingleton": _resource(_API_SINGLETON, singleton=True),
    "resources": _resources(), "apiresources": _resources(_API), "singletons": _resources(singleton=True),
    "apisingletons": _resources(_API_SINGLETON, singleton=True),
    "softdeletableresources": _resources(trashed=True),
    "bind": _bind, "model": _model, "pattern": _pattern, "patterns": _patterns,
    "aliasmiddleware": _alias, "middlewaregroup": _middleware_group("set"),
    "pushmiddlewaretogroup": _middleware_group("append"), "prependmiddlewaretogroup": _middleware_group("prepend"),
    "removemiddlewarefromgroup": _middleware_group("remove"),
    "resourceverbs": _verbs, "resourceparameters": _parameters, "singularresourceparameters": _singular,
    "macro": _macro,
}  # fmt: skip
