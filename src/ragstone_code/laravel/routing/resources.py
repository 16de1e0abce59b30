"""Resources and singletons: the routes of their actions, as Laravel's `ResourceRegistrar` registers them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ragstone_code.evaluate import (
    Arguments,
    Array,
    CallSite,
    Evaluator,
    Recorder,
    Value,
    display_text,
    first_known,
)
from ragstone_code.laravel.inflection import singular
from ragstone_code.laravel.routing.actions import RouteAction
from ragstone_code.laravel.routing.route_records import (
    LaravelRoute,
    MiddlewareEntry,
    RouteAttributes,
    read_middleware,
    read_text_mapping,
    read_texts,
)

if TYPE_CHECKING:
    from ragstone_code.laravel.routing.router import Router

_RESOURCE_ACTIONS: Final = ("index", "create", "store", "show", "edit", "update", "destroy")
_SINGLETON_ACTIONS: Final = ("show", "edit", "update")
_ITEM_ACTIONS: Final = ("show", "edit", "update", "destroy")
"""Actions on one item, whose path has the item's parameter."""
_METHODS: Final = {
    "index": ("GET", "HEAD"),
    "create": ("GET", "HEAD"),
    "store": ("POST",),
    "show": ("GET", "HEAD"),
    "edit": ("GET", "HEAD"),
    "update": ("PUT", "PATCH"),
    "destroy": ("DELETE",),
}
_PARAMETER: Final = re.compile(r"(?<=\{).*?(?=\})")


@dataclass(slots=True)
class ResourceDefaults:
    """Options that hold for all resources."""

    verbs: dict[str, str] = field(default_factory=lambda: {"create": "create", "edit": "edit"})
    parameters: dict[str, str] = field(default_factory=dict)
    singular: bool = True


@dataclass(frozen=True, slots=True)
class ResourceArguments:
    """The name and the controller of a resource."""

    name: Value
    controller: Value
    singleton: bool = False


class PendingResource(Recorder):
    """A resource whose chain of calls has not ended; the router registers it at the end."""

    def __init__(
        self,
        router: Router,
        evaluator: Evaluator,
        site: CallSite,
        resource: ResourceArguments,
        options: dict[str, Value],
    ) -> None:
        self.router = router
        self.evaluator = evaluator
        self.site = site
        self.name = display_text(resource.name)
        self.controller = display_text(resource.controller)
        self.singleton = resource.singleton
        self.options = options
        self.middleware = read_middleware(options.get("middleware"), site)
        self.excluded = read_middleware(options.get("excluded_middleware"), site)
        self.action_middleware: dict[str, tuple[MiddlewareEntry, ...]] = {}
        """Middleware of single actions, from `middlewareFor`."""
        self.action_excluded: dict[str, tuple[MiddlewareEntry, ...]] = {}
        """Excluded middleware of single actions, from `withoutMiddlewareFor`."""

    def on_call(
        self, name: str, arguments: Arguments, site: CallSite, evaluator: Evaluator
    ) -> Value:
        """Change an option of the resource and return the resource."""
        method = name.lower()
        if method in _OPTION_METHODS:
            _OPTION_METHODS[method](self, arguments, site)
        elif method == "register":
            self.router.register_pending()
        return self

    # ── registration ──────────────────────────────────────────────────────────────────────────────

    def register(self) -> None:
        """Register the routes of all actions; a name such as `admin/photos` has the prefix `admin`."""
        *prefix, name = self.name.split("/")
        if not prefix:
            self._add_routes(name)
            return
        with self.router.in_group(RouteAttributes(prefix="/".join(prefix))):
            self._add_routes(name)

    def _add_routes(self, name: str) -> None:
        """Register the route of each action."""
        for action in self._selected_actions():
            self._add_route(name, action)

    def _selected_actions(self) -> list[str]:
        """Return the actions that the options select, in Laravel's order."""
        actions: tuple[str, ...] = _RESOURCE_ACTIONS
        if self.singleton:
            actions = _SINGLETON_ACTIONS
            if "creatable" in self.options:
                actions += ("create", "store", "destroy")
            elif "destroyable" in self.options:
                actions += ("destroy",)
        only = self.options.get("only")
        if only is not None:
            included = read_texts(only)
            actions = tuple(action for action in actions if action in included)
        excluded = read_texts(self.options.get("except"))
        return [action for action in actions if action not in excluded]

    def _add_route(self, name: str, action: str) -> None:
        """Register the route of one action."""
        last_segment = name.rpartition(".")[2]
        is_shallow = bool(first_known(self.options.get("shallow")))
        path_name = last_segment if is_shallow and self._has_shallow_path(action) else name
        uri = self._base_uri(path_name)
        if not self.singleton and action in _ITEM_ACTIONS:
            uri += f"/{{{self._parameter(last_segment)}}}"
        if action in ("create", "edit"):
            uri += f"/{self.router.state.resource_defaults.verbs[action]}"
        attributes = RouteAttributes(
            name=self._route_name(path_name, action),
            middleware=self.action_middleware.get(action, self.middleware),
            excluded=self.excluded + self.action_excluded.get(action, ()),
            where=read_text_mapping(self.options.get("wheres")),
        )
        route_action = RouteAction(uses=f"{self.controller}@{action}", attributes=attributes)
        handle = self.router.add_route(
            _METHODS[action],
            uri,
            route_action,
            self.site,
            self.evaluator,
        )
        self._set_bindings(handle.route, name, action)

    def _set_bindings(self, route: LaravelRoute, name: str, action: str) -> None:
        """Set the resource name, the binding columns and the soft-delete flag of a route."""
        route.resource = name
        fields = self.options.get("bindingFields")
        if fields is not None:
            columns = read_text_mapping(fields)
            parameters = _PARAMETER.findall(route.uri)
            route.binding_fields = {
                parameter: columns.get(parameter) for parameter in parameters
            }
        trashed = self.options.get("trashed")
        if trashed is not None:
            route.trashed = action in (read_texts(trashed) or ["show", "edit", "update"])

    def _has_shallow_path(self, action: str) -> bool:
        """Return whether an action has the short path of a shallow resource."""
        if self.singleton and action == "show":
            return False
        return action in _ITEM_ACTIONS

    # ── paths and names ───────────────────────────────────────────────────────────────────────────

    def _base_uri(self, name: str) -> str:
        """Return the path of a resource; `posts.comments` is `posts/{post}/comments`."""
        if "." not in name:
            return name
        segments = name.split(".")
        path = "/".join(f"{segment}/{{{self._parameter(segment)}}}" for segment in segments)
        return path.replace(f"/{{{self._parameter(segments[-1])}}}", "")

    def _parameter(self, segment: str) -> str:
        """Return the parameter of a path segment."""
        parameters = first_known(self.options.get("parameters"))
        defaults = self.router.state.resource_defaults
        if isinstance(parameters, Array) and segment in parameters.items:
            parameter = display_text(parameters.get(segment))
        elif segment in defaults.parameters:
            parameter = defaults.parameters[segment]
        elif parameters == "singular" or defaults.singular:
            parameter = singular(segment)
        else:
            parameter = segment
        return parameter.replace("-", "_")

    def _route_name(self, resource: str, action: str) -> str:
        """Return the name of an action's route."""
        name = resource
        names = first_known(self.options.get("names"))
        if isinstance(names, Array):
            if action in names.items:
                return display_text(names.get(action))
        elif names is not None:
            name = display_text(names)
        prefix = self.options.get("as")
        if prefix is not None:
            name = f"{display_text(prefix)}.{name}"
        return f"{name}.{action}".strip(".")


# ── options ───────────────────────────────────────────────────────────────────────────────────────

OptionMethod = Callable[[PendingResource, Arguments, CallSite], None]


def _list_setter(key: str) -> OptionMethod:
    """Return a method that sets an option to a list; it takes an array or several arguments."""

    def set_list(pending: PendingResource, arguments: Arguments, site: CallSite) -> None:
        first = first_known(arguments.at(0))
        pending.options[key] = (
            first if isinstance(first, Array) else Array(arguments.positional)
        )

    return set_list


def _value_setter(key: str) -> OptionMethod:
    """Return a method that sets an option to its first argument."""

    def set_value(pending: PendingResource, arguments: Arguments, site: CallSite) -> None:
        pending.options[key] = first_known(arguments.at(0))

    return set_value


def _flag_setter(key: str) -> OptionMethod:
    """Return a method that switches an option on; the option's value is the first argument, or an empty array."""

    def set_flag(pending: PendingResource, arguments: Arguments, site: CallSite) -> None:
        pending.options[key] = arguments.at(0, "fields", Array())

    return set_flag


def _entry_setter(key: str) -> OptionMethod:
    """Return a method that adds one entry to an option that is an array."""

    def set_entry(pending: PendingResource, arguments: Arguments, site: CallSite) -> None:
        existing = first_known(pending.options.get(key))
        array = existing.copy() if isinstance(existing, Array) else Array()
        array.set(display_text(arguments.at(0)), arguments.at(1))
        pending.options[key] = array

    return set_entry


def _pattern_setter(pattern: str) -> OptionMethod:
    """Return a method that constrains the named parameters to a pattern."""

    def set_pattern(pending: PendingResource, arguments: Arguments, site: CallSite) -> None:
        pending.options["wheres"] = Array(
            items=dict.fromkeys(read_texts(arguments.at(0)), pattern)
        )

    return set_pattern


def _set_shallow(pending: PendingResource, arguments: Arguments, site: CallSite) -> None:
    pending.options["shallow"] = arguments.at(0, "shallow", True)


def _set_wheres(pending: PendingResource, arguments: Arguments, site: CallSite) -> None:
    pending.options["wheres"] = arguments.at(0)


def _set_middleware(pending: PendingResource, arguments: Arguments, site: CallSite) -> None:
    pending.middleware = read_middleware(arguments.at(0, "middleware"), site)
    for action, entries in pending.action_middleware.items():
        pending.action_middleware[action] = _without_duplicates(entries + pending.middleware)


def _set_middleware_for(pending: PendingResource, arguments: Arguments, site: CallSite) -> None:
    entries = read_middleware(arguments.at(1, "middleware"), site)
    if pending.middleware:
        entries = _without_duplicates(pending.middleware + entries)
    for action in read_texts(arguments.at(0, "methods")):
        pending.action_middleware[action] = entries


def _exclude_middleware(pending: PendingResource, arguments: Arguments, site: CallSite) -> None:
    pending.excluded += read_middleware(arguments.at(0, "middleware"), site)


def _exclude_middleware_for(
    pending: PendingResource, arguments: Arguments, site: CallSite
) -> None:
    entries = read_middleware(arguments.at(1, "middleware"), site)
    for action in read_texts(arguments.at(0, "methods")):
        pending.action_excluded[action] = entries


def _without_duplicates(entries: tuple[MiddlewareEntry, ...]) -> tuple[MiddlewareEntry, ...]:
    """Return the entries without those whose text occurred before."""
    first_entries: dict[str, MiddlewareEntry] = {}
    for entry in entries:
        first_entries.setdefault(entry.text, entry)
    return tuple(first_entries.values())


_OPTION_METHODS: Final[dict[str, OptionMethod]] = {
    "only": _list_setter("only"),
    "except": _list_setter("except"),
    "names": _value_setter("names"),
    "parameters": _value_setter("parameters"),
    "name": _entry_setter("names"),
    "parameter": _entry_setter("parameters"),
    "shallow": _set_shallow,
    "scoped": _flag_setter("bindingFields"),
    "withtrashed": _flag_setter("trashed"),
    "creatable": _flag_setter("creatable"),
    "destroyable": _flag_setter("destroyable"),
    "where": _set_wheres,
    "middleware": _set_middleware,
    "middlewarefor": _set_middleware_for,
    "withoutmiddleware": _exclude_middleware,
    "withoutmiddlewarefor": _exclude_middleware_for,
    "wherenumber": _pattern_setter("[0-9]+"),
    "wherealpha": _pattern_setter("[a-zA-Z]+"),
    "wherealphanumeric": _pattern_setter("[a-zA-Z0-9]+"),
    "whereuuid": _pattern_setter(
        r"[\da-fA-F]{8}-[\da-fA-F]{4}-[\da-fA-F]{4}-[\da-fA-F]{4}-[\da-fA-F]{12}"
    ),
}
"""Methods that set an option of a resource, by name in lower case."""
