"""What calls on the router return: a route to go on with, or attributes for routes to come."""

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
from ragstone_code.laravel.routing.actions import RouteAction, controller_action, parse_action, root_action
from ragstone_code.laravel.routing.records import (
    VERBS,
    LaravelRoute,
    MiddlewareEntry,
    RouteAttributes,
    ability,
    listed,
    mapped,
    text,
    texts,
)

if TYPE_CHECKING:
    from ragstone_code.laravel.routing.router import Router

_EXPRESSIONS: Final = {
    "wherealpha": "[a-zA-Z]+",
    "wherealphanumeric": "[a-zA-Z0-9]+",
    "wherenumber": "[0-9]+",
    "whereulid": "[0-7][0-9a-hjkmnp-tv-zA-HJKMNP-TV-Z]{25}",
    "whereuuid": r"[\da-fA-F]{8}-[\da-fA-F]{4}-[\da-fA-F]{4}-[\da-fA-F]{4}-[\da-fA-F]{12}",
}


def constraints(name: str, given: Arguments) -> dict[str, str] | None:
    """Return what a call of the `where` family says of parameters, None for another call."""
    if name in _EXPRESSIONS:
        return dict.fromkeys(texts(given.at(0, "parameters")), _EXPRESSIONS[name])
    if name == "wherein":
        return dict.fromkeys(texts(given.at(0, "parameters")), "|".join(texts(given.at(1, "values"))))
    if name in ("where", "setwheres", "wheres"):
        first = first_known(given.at(0))
        if isinstance(first, Array):
            return {key: text(one) for key, one in mapped(first).items()}
        return {text(first): text(given.at(1, "expression"))}
    return None


def arguments(given: Arguments) -> Value:
    """Return what is given as a list or as arguments one by one."""
    first = first_known(given.at(0))
    return first if isinstance(first, Array) else Array(given.positional or given.named.values())


class RouteHandle(Recorder):
    """A route that was just registered."""

    def __init__(self, route: LaravelRoute, router: Router) -> None:
        self.route = route
        self.router = router

    def on_call(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Return the route, changed; what only asks is unknown."""
        self.router.register_pending()
        folded = name.lower()
        before = self.route.identity
        wheres = constraints(folded, given)
        if wheres is not None:
            self.route.wheres.update(wheres)
        elif folded in _ROUTE:
            _ROUTE[folded](self.route, given, site)
        elif folded == "uses":
            self._uses(given.at(0, "action"), site, machine)
        elif folded in ("get", "post", "put", "patch", "delete", "group"):
            return self.router.on_call(name, given, site, machine)
        self.router.moved(self.route, before)
        return self

    def _uses(self, action: Value, site: CallSite, machine: Evaluator) -> None:
        """Set the action after the fact."""
        made = parse_action(action, site)
        if made.uses is not None:
            made = controller_action(made, self.router.state.stack[-1] if self.router.state.stack else None, machine)
        self.route.action = (made.controller or "Closure").lstrip("\\")
        self.route.closure = made.closure


def _name(route: LaravelRoute, given: Arguments, site: CallSite) -> None:
    route.attributes = replace(route.attributes, name=(route.attributes.name or "") + text(given.at(0, "name")))


def _middleware(route: LaravelRoute, given: Arguments, site: CallSite) -> None:
    added = listed(arguments(given), site)
    route.attributes = replace(route.attributes, middleware=route.attributes.middleware + added)


def _without(route: LaravelRoute, given: Arguments, site: CallSite) -> None:
    added = listed(arguments(given), site)
    route.attributes = replace(route.attributes, excluded=route.attributes.excluded + added)


def _can(route: LaravelRoute, given: Arguments, site: CallSite) -> None:
    word = MiddlewareEntry(ability(Array(given.positional)), site.uri, site.line)
    route.attributes = replace(route.attributes, middleware=(*route.attributes.middleware, word))


def _prefix(route: LaravelRoute, given: Arguments, site: CallSite) -> None:
    route.prefixed(text(given.at(0, "prefix")))


def _uri(route: LaravelRoute, given: Arguments, site: CallSite) -> None:
    route.set_uri(text(given.at(0, "uri")))


def _domain(route: LaravelRoute, given: Arguments, site: CallSite) -> None:
    route.set_domain(text(given.at(0, "domain")))


def _defaults(route: LaravelRoute, given: Arguments, site: CallSite) -> None:
    first = first_known(given.at(0))
    route.defaults.update(mapped(first) if isinstance(first, Array) else {display_text(first): given.at(1, "value")})


def _fields(route: LaravelRoute, given: Arguments, site: CallSite) -> None:
    route.binding_fields = {key: text(one) for key, one in mapped(given.at(0)).items()}


def _trashed(route: LaravelRoute, given: Arguments, site: CallSite) -> None:
    route.trashed = first_known(given.at(0, "withTrashed", True)) is not False


def _scoped(route: LaravelRoute, given: Arguments, site: CallSite) -> None:
    route.scoped = True


_ROUTE: Final[dict[str, Callable[[LaravelRoute, Arguments, CallSite], None]]] = {
    "name": _name, "as": _name, "middleware": _middleware, "withoutmiddleware": _without, "can": _can,
    "prefix": _prefix, "seturi": _uri, "domain": _domain, "defaults": _defaults, "setdefaults": _defaults,
    "setbindingfields": _fields, "withtrashed": _trashed, "scopebindings": _scoped,
}  # fmt: skip


class RouteRegistrar(Recorder):
    """Attributes that are gathered for a group, a route or a resource."""

    def __init__(self, router: Router) -> None:
        self.router = router
        self.attributes = RouteAttributes()

    def on_call(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Return the registrar, or what it registers."""
        self.router.register_pending()
        folded = name.lower()
        if folded == "group":
            self.router.group(self.attributes, given.at(0, "callback"), site, machine)
            return self
        if folded == "match" or folded == "any" or folded.upper() in VERBS:
            return self._route(folded, given, site, machine)
        if folded in ("resource", "apiresource", "singleton", "apisingleton"):
            return self._resource(folded, given, site, machine)
        wheres = constraints(folded, given)
        if wheres is not None:
            self.attributes = replace(self.attributes, where=wheres)  # a later one takes the place of an earlier
        elif folded in _ATTRIBUTE:
            self.attributes = _ATTRIBUTE[folded](self.attributes, given, site)
        elif folded in self.router.state.macros or name in self.router.state.macros:
            return self.router.on_call(name, given, site, machine)
        elif folded in ("resources", "apiresources", "view", "redirect", "fallback", "permanentredirect"):
            return self._grouped(name, given, site, machine)
        return self

    def _route(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Register a route with the attributes in its action."""
        at = 1 if name == "match" else 0
        told = root_action(parse_action(given.at(at + 1, "action"), site))
        inner = _own_first(told.attributes, self.attributes)
        methods = [one.upper() for one in texts(given.at(0))] if name == "match" else [name.upper()]
        verbs = VERBS if name == "any" else methods
        action = RouteAction(told.uses, told.controller, told.closure, inner, told.unknown)
        return self.router.route(verbs, given.at(at, "uri"), action, site, machine)

    def _resource(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Return a resource that has those of the attributes that resources know."""
        options = mapped(given.at(2, "options"))
        known: dict[str, Value] = {}
        if self.attributes.middleware:
            known["middleware"] = _array(self.attributes.middleware)
        if self.attributes.excluded:
            known["excluded_middleware"] = _array(self.attributes.excluded)
        if self.attributes.name is not None:
            known["as"] = self.attributes.name
        whole = Arguments((given.at(0, "name"), given.at(1, "controller"), _entries({**options, **known})))
        return self.router.on_call(name, whole, site, machine)

    def _grouped(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Register what a registrar does not know by itself, as a macro of the same name would: inside of a group."""
        stack = self.router.state.stack
        stack.append(stack[-1].merged(self.attributes) if stack else self.attributes)
        try:
            return self.router.on_call(name, given, site, machine)
        finally:
            self.router.register_pending()
            stack.pop()


def _own_first(own: RouteAttributes, around: RouteAttributes) -> RouteAttributes:
    """Return attributes of an action over those of its registrar: what the action has takes the place."""
    return RouteAttributes(
        prefix=around.prefix if own.prefix is None else own.prefix,
        name=around.name if own.name is None else own.name,
        namespace=around.namespace if own.namespace is None else own.namespace,
        domain=around.domain if own.domain is None else own.domain,
        controller=around.controller if own.controller is None else own.controller,
        middleware=own.middleware or around.middleware,
        excluded=own.excluded or around.excluded,
        where=own.where or around.where,
        can=own.can or around.can,
        places=around.places + own.places,
    )


def _array(words: tuple[MiddlewareEntry, ...]) -> Array:
    """Return middleware as an array again, its lines kept."""
    made = Array()
    for one in words:
        made.append(one.text, one.line)
    return made


def _entries(options: dict[str, Value]) -> Array:
    """Return options as an array."""
    made = Array()
    for key, one in options.items():
        made.set(key, one)
    return made


def _word(field: str) -> Callable[[RouteAttributes, Arguments, CallSite], RouteAttributes]:
    def put(attributes: RouteAttributes, given: Arguments, site: CallSite) -> RouteAttributes:
        value = given.at(0, field)
        known = None if first_known(value) is None and not isinstance(value, Unknown) else text(value)
        places = (*attributes.places, (site.uri, site.line))
        return replace(attributes, places=places, **{field: known})  # type: ignore[arg-type]

    return put


_ATTRIBUTE: Final[dict[str, Callable[[RouteAttributes, Arguments, CallSite], RouteAttributes]]] = {
    "prefix": _word("prefix"), "name": _word("name"), "as": _word("name"), "namespace": _word("namespace"),
    "domain": _word("domain"), "controller": _word("controller"),
    "middleware": lambda old, given, site: replace(old, middleware=listed(arguments(given), site)),
    "withoutmiddleware": lambda old, given, site: replace(
        old, excluded=old.excluded + listed(given.at(0, "middleware"), site)
    ),
    "can": lambda old, given, site: replace(
        old, can=(MiddlewareEntry(ability(Array(given.positional)), site.uri, site.line),)
    ),
}  # fmt: skip
