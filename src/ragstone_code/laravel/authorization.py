"""What a method asks the gate, and the method of the policy or the ability that answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from ragstone.code import tree
from ragstone.types import Confidence, Graph, Json, Link, Node
from ragstone_code.laravel.app import App
from ragstone_code.laravel.code_bodies import CodeBody
from ragstone_code.laravel.policies import GATES, Policies
from ragstone_code.laravel.syntax import SyntaxNode, argument_at, array_values, called_name, class_of, receiver, text_of

ASKING: Final = frozenset(("authorize", "can", "cannot", "cant", "canAny"))
OF_GATE: Final = frozenset(("authorize", "allows", "denies", "check", "any", "none", "inspect", "raw"))
RESOURCE: Final = {
    "index": "viewAny", "show": "view", "create": "create", "store": "create", "edit": "update", "update": "update",
    "destroy": "delete",
}  # fmt: skip
"""Which ability each action of a resource asks for, as `authorizeResource` has it."""


def method_authorization(app: App, policies: Policies, scope: CodeBody) -> Iterator[Link]:
    """Yield a link to what answers each question a method puts to the gate."""
    for call, depends in scope.calls:
        name = called_name(call)
        place = _place(call, name)
        if place is None:
            continue
        subject = next(iter(array_values(argument_at(call, place + 1))), None)
        model = _model(scope, subject)
        for written in array_values(argument_at(call, place)):
            ability = text_of(written, scope.owner)
            if ability and "\\" not in ability:
                yield from _answer(app, policies, ability, model, said=(scope.key, scope.uri, call.line, depends))
    yield from _resource(app, policies, scope)


def route_authorization(app: App, policies: Policies, routes: Iterable[Node], binds: Iterable[Link]) -> Graph:
    """Return what answers the `can:` of routes; parameters are models as the routes bind them."""
    models: dict[tuple[str, str], str] = {
        (link.source, str(link.attributes.get("parameter", ""))): link.target.removeprefix("class:") for link in binds
    }
    links: list[Link] = []
    for route in routes:
        for written in _words(route):
            found = re.fullmatch(r"can:([^,]+)(?:,(.*))?", str(written))
            if found is None:
                continue
            first = (found[2] or "").split(",")[0].strip()
            model = first if "\\" in first else models.get((route.key, first), "")
            said = (route.key, route.uri, route.line, False)
            links += _answer(app, policies, found[1].strip(), model, said=said)
    return Graph(links=tuple(links))


def _words(route: Node) -> Iterator[Json]:
    """Yield the middleware of a route and of its controller."""
    for name in ("middleware", "controller_middleware"):
        words = route.attributes.get(name)
        yield from words if isinstance(words, list) else ()


def _place(call: tree.Call, name: str) -> int | None:
    """Return which argument is the ability, None where the call asks nothing."""
    at = receiver(call)
    if name == "authorizeForUser":
        return 1
    if isinstance(at, tree.ClassName):
        return 0 if at.name.lower() in GATES and name in OF_GATE else None
    if name == "authorize":
        return 0 if isinstance(at, tree.Variable) and at.name.lstrip("$") == "this" else None
    return 0 if name in ASKING and at is not None else None


def _model(scope: CodeBody, subject: SyntaxNode | None) -> str:
    """Return the class of what the question is about, where it is written."""
    if subject is None:
        return ""
    return class_of(subject, scope.owner) or next(iter(scope.classes_of(subject)), "")


def _resource(app: App, policies: Policies, scope: CodeBody) -> Iterator[Link]:
    """Yield what `authorizeResource` in the constructor asks for this action, and `#[Authorize]` on it."""
    made = app.find_method(scope.owner, "__construct")
    ability = RESOURCE.get(scope.function.name) if scope.function else None
    if made and ability:
        inside = CodeBody(made[0].uri, scope.owner, made[1], made[1].body.statements)
        for call, depends in inside.calls:
            if called_name(call) == "authorizeResource":
                model = class_of(next(iter(array_values(argument_at(call, 0))), None), scope.owner)
                yield from _answer(app, policies, ability, model, said=(scope.key, made[0].uri, call.line, depends))
    for one in scope.function.attributes if scope.function else ():
        if isinstance(one, tree.New) and class_of(one).endswith("\\Attributes\\Controllers\\Authorize"):
            text = text_of(argument_at(one, 0, "ability"))
            about = next(iter(array_values(argument_at(one, 1, "models"))), None)
            model = class_of(about, scope.owner) or next(iter(scope.variable_types.get(text_of(about) or "", ())), "")
            if text:
                yield from _answer(app, policies, text, model, said=(scope.key, scope.uri, one.line, False))


def _answer(
    app: App, policies: Policies, ability: str, model: str, *, said: tuple[str, str, int, bool]
) -> Iterator[Link]:
    """Yield the link to the policy's method, or to the ability that is defined by itself; nothing where none is."""
    source, uri, line, depends = said
    attributes: dict[str, Json] = {"ability": ability, "model": model or None}
    guard = policies.find(model) if model else None
    method = app.find_method(guard.policy, _camel(ability)) if guard else None
    if guard and method:
        sure: Confidence = guard.confidence
        target = f"method:{method[0].name}::{method[1].name}"
        yield Link(
            "AUTHORIZED_BY", source, target, uri, line, sure, depends, attributes={**attributes, "policy": guard.policy}
        )
    elif ability in policies.abilities:
        target = policies.abilities[ability].key
        yield Link("AUTHORIZED_BY", source, target, uri, line, "declared", depends, attributes=attributes)


def _camel(ability: str) -> str:
    """Return the name of the method that an ability with dashes is answered by."""
    first, *rest = ability.split("-")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)
