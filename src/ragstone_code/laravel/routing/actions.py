"""What a route does: closures, `Class@method`, pairs, invokable classes, arrays with more in them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ragstone_code.evaluate import Array, Evaluator, Instance, Lambda, Site, Unknown, Value, settle, shown
from ragstone_code.laravel.routing.records import Attributes, attributes_of


@dataclass(frozen=True, slots=True)
class Action:
    """An action as the router takes it apart."""

    uses: str | None = None
    """A text, which groups put their controller and namespace before."""
    controller: str | None = None
    """What the action's name is; None for a closure."""
    closure: Lambda | None = None
    attributes: Attributes = field(default_factory=Attributes)
    unknown: str = ""


def action_of(value: Value, site: Site) -> Action:
    """Return what an action says."""
    value = value if isinstance(value, Unknown) and value.shown else settle(value)
    if isinstance(value, Unknown):
        return Action(uses=value.shown or None, unknown=value.reason)
    if isinstance(value, Lambda):
        return Action(closure=value)
    if isinstance(value, str):
        return Action(uses=value)
    if not isinstance(value, Array):
        return Action()
    pair = pair_of(value)
    if pair is not None:
        return Action(controller=pair)
    if len(value) == 2 and value.is_list and isinstance(settle(value.get(0)), Instance):
        return Action()  # a method of an object, taken along: a closure to the router
    inner = settle(value.get("uses"))
    if inner is None:
        callables = (one for key, one in value.items.items() if isinstance(key, int))
        inner = next((one for one in map(settle, callables) if isinstance(one, Lambda | str | Array)), None)
    told = action_of(inner, site) if inner is not None else Action()
    return replace(told, attributes=attributes_of(value, site))


def pair_of(value: Array) -> str | None:
    """Return `[Class::class, "method"]` as `Class@method`."""
    if len(value) != 2 or not value.is_list:
        return None
    first, second = settle(value.get(0)), settle(value.get(1))
    return f"{first}@{shown(second)}" if isinstance(first, str) and isinstance(second, str) else None


def registered(action: Action) -> Action:
    """Return an action that comes through a registrar: a pair is a text there that starts at the root."""
    if action.controller is None or action.closure is not None:
        return action
    rooted = action.controller if action.controller.startswith("\\") else f"\\{action.controller}"
    return replace(action, uses=rooted, controller=rooted)


def controller_action(action: Action, group: Attributes | None, machine: Evaluator) -> Action:
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
