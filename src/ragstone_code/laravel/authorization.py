"""Authorisation checks: links from methods and routes to the policy method or ability that decides."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from ragstone.types import Graph, Json, Link, Node
from ragstone_code import program_tree
from ragstone_code.laravel.app import App
from ragstone_code.laravel.class_values import text_or_constant
from ragstone_code.laravel.code_bodies import CodeBody
from ragstone_code.laravel.policies import GATES, Policies
from ragstone_code.laravel.syntax import (
    SyntaxNode,
    argument_at,
    array_values,
    called_name,
    class_of,
    first_array_value,
    receiver,
    text_of,
)

USER_CHECKS: Final = frozenset(("authorize", "can", "cannot", "cant", "canAny"))
GATE_CHECKS: Final = frozenset(
    ("authorize", "allows", "denies", "check", "any", "none", "inspect", "raw")
)
RESOURCE_ABILITIES: Final = {
    "index": "viewAny",
    "show": "view",
    "create": "create",
    "store": "create",
    "edit": "update",
    "update": "update",
    "destroy": "delete",
}
"""The ability that `authorizeResource` checks for each action of a resource."""
_CAN_MIDDLEWARE: Final = re.compile(r"can:([^,]+)(?:,(.*))?")


@dataclass(frozen=True, slots=True)
class AuthorizationCheck:
    """One check of an ability: its source and the place in the code."""

    source: str
    uri: str
    line: int
    conditional: bool
    ability: str
    model: str
    """The class of the checked object; empty if it is not known."""


def method_authorization(app: App, policies: Policies, body: CodeBody) -> Iterator[Link]:
    """Yield a link for each authorisation check that a method makes."""
    for check in (
        *_called_checks(app, body),
        *_constructor_checks(app, body),
        *_attribute_checks(body),
    ):
        yield from _decision_links(app, policies, check)


def route_authorization(
    app: App, policies: Policies, routes: Iterable[Node], binds: Iterable[Link]
) -> Graph:
    """Return links for the `can:` middleware of routes; `binds` tell the model of each route parameter."""
    models: dict[tuple[str, str], str] = {}
    for link in binds:
        parameter = str(link.attributes.get("parameter", ""))
        models[link.source, parameter] = link.target.removeprefix("class:")
    links: list[Link] = []
    for route in routes:
        for written in _middleware_of(route):
            match = _CAN_MIDDLEWARE.fullmatch(str(written))
            if match is None:
                continue
            subject = (match[2] or "").split(",")[0].strip()
            model = subject if "\\" in subject else models.get((route.key, subject), "")
            ability = match[1].strip()
            check = AuthorizationCheck(
                route.key,
                route.uri,
                route.line,
                False,
                ability,
                model,
            )
            links += _decision_links(app, policies, check)
    return Graph(links=tuple(links))


def _middleware_of(route: Node) -> Iterator[Json]:
    """Yield the middleware of a route and of its controller."""
    for name in ("middleware", "controller_middleware"):
        words = route.attributes.get(name)
        if isinstance(words, list):
            yield from words


def _called_checks(app: App, body: CodeBody) -> Iterator[AuthorizationCheck]:
    """Yield the checks that calls in a body make: `$this->authorize('update', $post)` and its relatives."""
    for call, conditional in body.calls:
        position = _ability_position(call)
        if position is None:
            continue
        model = _class_of_subject(body, first_array_value(argument_at(call, position + 1)))
        for written in array_values(argument_at(call, position)):
            ability = text_or_constant(app, written, body.owner)
            if ability and "\\" not in ability:
                yield AuthorizationCheck(
                    body.key,
                    body.uri,
                    call.line,
                    conditional,
                    ability,
                    model,
                )


def _ability_position(call: program_tree.Call) -> int | None:
    """Return the position of the ability among the arguments; None if the call checks nothing."""
    name, owner = called_name(call), receiver(call)
    if name == "authorizeForUser":
        return 1
    if isinstance(owner, program_tree.ClassName):
        is_check = owner.name.lower() in GATES and name in GATE_CHECKS
    elif name == "authorize":
        is_check = isinstance(owner, program_tree.Variable) and owner.name.lstrip("$") == "this"
    else:
        is_check = name in USER_CHECKS and owner is not None
    return 0 if is_check else None


def _class_of_subject(body: CodeBody, subject: SyntaxNode | None) -> str:
    """Return the class of the checked object if the code tells it."""
    if subject is None:
        return ""
    return class_of(subject, body.owner) or next(iter(body.classes_of(subject)), "")


def _constructor_checks(app: App, body: CodeBody) -> Iterator[AuthorizationCheck]:
    """Yield the checks that `authorizeResource` in the controller's constructor adds to this action."""
    constructor = app.find_method(body.owner, "__construct")
    ability = RESOURCE_ABILITIES.get(body.function.name) if body.function else None
    if constructor is None or ability is None:
        return
    declaring, function = constructor
    constructor_body = CodeBody(declaring.uri, body.owner, function, function.body.statements)
    for call, conditional in constructor_body.calls:
        if called_name(call) == "authorizeResource":
            model = class_of(first_array_value(argument_at(call, 0)), body.owner)
            yield AuthorizationCheck(
                body.key,
                declaring.uri,
                call.line,
                conditional,
                ability,
                model,
            )


def _attribute_checks(body: CodeBody) -> Iterator[AuthorizationCheck]:
    """Yield the checks that `#[Authorize]` on a method declares."""
    attributes = body.function.attributes if body.function else ()
    for attribute in attributes:
        if not isinstance(attribute, program_tree.New):
            continue
        if not class_of(attribute).endswith("\\Attributes\\Controllers\\Authorize"):
            continue
        ability = text_of(argument_at(attribute, 0, "ability"))
        if not ability:
            continue
        subject = first_array_value(argument_at(attribute, 1, "models"))
        parameter_types = body.variable_types.get(text_of(subject) or "", ())
        model = class_of(subject, body.owner) or next(iter(parameter_types), "")
        yield AuthorizationCheck(
            body.key,
            body.uri,
            attribute.line,
            False,
            ability,
            model,
        )


def _decision_links(app: App, policies: Policies, check: AuthorizationCheck) -> Iterator[Link]:
    """Yield the link to the policy method or to the standalone ability; nothing if neither exists."""
    attributes: dict[str, Json] = {"ability": check.ability, "model": check.model or None}
    guard = policies.find(check.model) if check.model else None
    method = (
        app.find_method(guard.policy, _policy_method_name(check.ability)) if guard else None
    )
    if guard and method:
        declaring, function = method
        yield Link(
            "AUTHORIZED_BY",
            check.source,
            f"method:{declaring.name}::{function.name}",
            check.uri,
            check.line,
            guard.confidence,
            check.conditional,
            attributes={**attributes, "policy": guard.policy},
        )
    elif check.ability in policies.abilities:
        yield Link(
            "AUTHORIZED_BY",
            check.source,
            policies.abilities[check.ability].key,
            check.uri,
            check.line,
            "declared",
            check.conditional,
            attributes=attributes,
        )


def _policy_method_name(ability: str) -> str:
    """Return the policy method of an ability: `force-delete` is decided by `forceDelete`."""
    first, *rest = ability.split("-")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)
