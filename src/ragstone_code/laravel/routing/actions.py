"""What a route does: closures, `Class@method`, pairs, invokable classes, arrays with more in them."""

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
from ragstone_code.laravel.routing.records import RouteAttributes, attributes_of


@dataclass(frozen=True, slots=True)
class RouteAction:
    """An action as the router takes it apart."""

    uses: str | None = None
    """A text, which groups put their controller and namespace before."""
    controller: str | None = None
    """What the action's name is; None for a closure."""
    closure: Lambda | None = None
    attributes: RouteAttributes = field(default_factory=RouteAttributes)
    unknown: str = ""


def parse_action(value: Value, site: CallSite) -> RouteAction:
    """Return what an action says."""
    value = value if isinstance(value, Unknown) and value.display else first_known(value)
    if isinstance(value, Unknown):
        return RouteAction(uses=value.display or None, unknown=value.reason)
    if isinstance(value, Lambda):
        return RouteAction(closure=value)
    if isinstance(value, str):
        return RouteAction(uses=value)
    if not isinstance(value, Array):
        return RouteAction()
    pair = pair_of(value)
    if pair is not None:
        return RouteAction(controller=pair)
    if len(value) == 2 and value.is_list and isinstance(first_known(value.get(0)), Instance):
        return RouteAction()  # a method of an object, taken along: a closure to the router
    inner = first_known(value.get("uses"))
    if inner is None:
        callables = (one for key, one in value.items.items() if isinstance(key, int))
        inner = next((one for one in map(first_known, callables) if isinstance(one, Lambda | str | Array)), None)
    told = parse_action(inner, site) if inner is not None else RouteAction()
    return replace(told, attributes=attributes_of(value, site))


def pair_of(value: Array) -> str | None:
    """Return `[Class::class, "method"]` as `Class@method`."""
    if len(value) != 2 or not value.is_list:
        return None
    first, second = first_known(value.get(0)), first_known(value.get(1))
    return f"{first}@{display_text(second)}" if isinstance(first, str) and isinstance(second, str) else None


def root_action(action: RouteAction) -> RouteAction:
    """Return an action that comes through a registrar: a pair is a text there that starts at the root."""
    if action.controller is None or action.closure is not None:
        return action
    rooted = action.controller if action.controller.startswith("\\") else f"\\{action.controller}"
    return replace(action, uses=rooted, controller=rooted)


def controller_action(action: RouteAction, group: RouteAttributes | None, machine: Evaluator) -> RouteAction:
    """Return an action given as text with the controller and the namespace of its group before it."""
    uses = action.uses or ""
    if group is not None:
        exists = "\\" in uses or machine.lookup.of_class(uses) is not None
        if group.controller is not None and "@" not in uses and not exists:
            uses = f"{group.controller}@{uses}"
        space = group.namespace
        if space and not uses.startswith("\\") and not uses.startswith(space):
            uses = f"{space}\\{uses}"
    return replace(action, uses=uses, controller=uses)
