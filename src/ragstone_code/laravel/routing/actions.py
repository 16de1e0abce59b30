"""The action of a route: a closure, `Class@method`, `[Class, 'method']`, an invokable class or an array."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ragstone_code.evaluate import (
    Array,
    CallSite,
    Evaluator,
    Instance,
    Lambda,
    Unknown,
    Value,
    display_text,
    first_known,
)
from ragstone_code.laravel.routing.route_records import (
    RouteAttributes,
    known_or_displayable,
    read_attributes,
)


@dataclass(frozen=True, slots=True)
class RouteAction:
    """An action as the router parses it."""

    uses: str | None = None
    """The action as text; the controller and namespace of groups are put in front of it."""
    controller: str | None = None
    """The name of the action; None for a closure."""
    closure: Lambda | None = None
    attributes: RouteAttributes = field(default_factory=RouteAttributes)
    unknown: str = ""
    """The reason, if the action is not known."""


def parse_action(value: Value, site: CallSite) -> RouteAction:
    """Return the action that a value describes."""
    value = known_or_displayable(value)
    if isinstance(value, Unknown):
        return RouteAction(uses=value.display or None, unknown=value.reason)
    if isinstance(value, Lambda):
        return RouteAction(closure=value)
    if isinstance(value, str):
        return RouteAction(uses=value)
    if isinstance(value, Array):
        return _parse_array(value, site)
    return RouteAction()


def _parse_array(array: Array, site: CallSite) -> RouteAction:
    """Return the action of an array: a pair of class and method, or an array with more attributes."""
    pair = _controller_pair(array)
    if pair is not None:
        return RouteAction(controller=pair)
    if _is_pair(array) and isinstance(first_known(array.get(0)), Instance):
        return RouteAction()  # a method of an object is a closure to the router
    inner = first_known(array.get("uses"))
    if inner is None:
        inner = _first_callable(array)
    action = RouteAction() if inner is None else parse_action(inner, site)
    return replace(action, attributes=read_attributes(array, site))


def _first_callable(array: Array) -> Value:
    """Return the first positional element of an array that can be called."""
    for key, element in array.items.items():
        value = first_known(element)
        if isinstance(key, int) and isinstance(value, Lambda | str | Array):
            return value
    return None


def _is_pair(array: Array) -> bool:
    """Return whether an array is a list of two elements."""
    return len(array) == 2 and array.is_list


def _controller_pair(array: Array) -> str | None:
    """Return `[Class::class, "method"]` as `Class@method`; None for any other array."""
    if not _is_pair(array):
        return None
    controller, method = first_known(array.get(0)), first_known(array.get(1))
    if not isinstance(controller, str) or not isinstance(method, str):
        return None
    return f"{controller}@{display_text(method)}"


def root_action(action: RouteAction) -> RouteAction:
    """Return the action of a registrar: a pair becomes text that starts at the root namespace."""
    if action.controller is None or action.closure is not None:
        return action
    rooted = action.controller
    if not rooted.startswith("\\"):
        rooted = f"\\{rooted}"
    return replace(action, uses=rooted, controller=rooted)


def qualify_action(
    action: RouteAction, group: RouteAttributes | None, evaluator: Evaluator
) -> RouteAction:
    """Return a text action with the controller and the namespace of its group in front of it."""
    uses = action.uses or ""
    if group is not None:
        is_class = "\\" in uses or evaluator.lookup.of_class(uses) is not None
        if group.controller is not None and "@" not in uses and not is_class:
            uses = f"{group.controller}@{uses}"
        namespace = group.namespace
        if namespace and not uses.startswith(("\\", namespace)):
            uses = f"{namespace}\\{uses}"
    return replace(action, uses=uses, controller=uses)
