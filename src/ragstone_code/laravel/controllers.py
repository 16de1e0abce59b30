"""What actions do: which request validates them, which models they use, what they return and what they ask the gate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ragstone.code import tree
from ragstone.types import Alias, Graph, Json, Link, Node
from ragstone_code.laravel.app import App, AppClass, class_aliases
from ragstone_code.laravel.authorization import method_authorization
from ragstone_code.laravel.code_bodies import CodeBody
from ragstone_code.laravel.kinds import COMPONENTS, FORM_REQUESTS, RESOURCES
from ragstone_code.laravel.policies import Policies
from ragstone_code.laravel.requests import find_inline_validation, read_form_request
from ragstone_code.laravel.syntax import SyntaxNode, argument_at, called_name, class_of, receiver, text_of, walk

MAKING = ("app", "resolve", "make")
CALLS = 16
"""How many names of calls are kept of a method: they are words it can be found by."""


@dataclass
class Actions:
    """What is gathered from the methods of controllers."""

    app: App
    policies: Policies
    models: frozenset[str]
    """Full names of models, in lower case."""
    nodes: dict[str, Node] = field(default_factory=dict)
    links: dict[tuple[str, str, str], Link] = field(default_factory=dict)

    def link(self, link: Link) -> None:
        """Keep a link; of two between the same nodes, the first counts."""
        self.links.setdefault((link.kind, link.source, link.target), link)

    def add(self, kind: str, scope: CodeBody, name: str, *, line: int, how: str) -> None:
        """Keep a link from a method to a class."""
        target = f"class:{self.app.declared_name(name)}"
        self.link(Link(kind, scope.key, target, scope.uri, line, attributes={"how": how}))


def actions(app: App, handled: Iterable[str], policies: Policies, models: Iterable[AppClass]) -> Graph:
    """Return controllers and their methods; `handled` are the keys of methods and classes that routes lead to."""
    found = Actions(app, policies, frozenset(model.name.lower() for model in models))
    for key in dict.fromkeys(handled):
        kind, _, name = key.partition(":")
        owner, _, method = name.partition("::")
        known = app.find_class(owner)
        if known is None:
            continue
        controller = app.own_class_node(known, "component" if app.is_a(known.name, COMPONENTS) else "controller")
        found.nodes.setdefault(controller.key, controller)
        written = app.find_method(owner, method) if kind == "method" else None
        if written:
            _action(found, CodeBody(written[0].uri, known.name, written[1], written[1].body.statements), key)
    _targets(found)
    nodes = tuple(found.nodes.values())
    return Graph(nodes=nodes, links=tuple(found.links.values()), aliases=class_aliases(nodes) + _methods(nodes))


def _methods(nodes: Iterable[Node]) -> tuple[Alias, ...]:
    """Return the names people write for a method."""
    made = []
    for node in nodes:
        if node.kind == "controller_method":
            owner, _, name = node.key.removeprefix("method:").partition("::")
            short = owner.rpartition("\\")[2]
            made += [Alias(f"{owner}{mark}{name}", node.key, "method", node.uri) for mark in ("@", "::")]
            made += [Alias(f"{short}{mark}{name}", node.key, "short_method", node.uri) for mark in ("@", "::", ".")]
    return tuple(made)


def _action(found: Actions, scope: CodeBody, key: str) -> None:
    """Take in one method that serves a route."""
    function = scope.function
    if function is None:
        return
    _parameters(found, scope, function)
    _body(found, scope)
    if function.returns:
        for name in _all(function.returns):
            if found.app.is_a(name, RESOURCES) and found.app.find_class(name):
                found.add("RETURNS", scope, name, line=function.line, how="return type")
    for link in method_authorization(found.app, found.policies, scope):
        found.link(link)
    attributes: dict[str, Json] = {}
    fields, line = find_inline_validation(scope)
    if line:
        attributes |= {"validates": list(fields), "validates_line": line}
    renders = list(dict.fromkeys(_rendered(scope)))
    if renders:
        attributes["renders"] = list(renders)
    calls = list(dict.fromkeys(name for call, _ in scope.calls if len(name := called_name(call)) > 2))
    if calls:
        attributes["calls"] = list(calls[:CALLS])
    asks = [dict(one.attributes) for one in found.links.values() if one.kind == "AUTHORIZED_BY" and one.source == key]
    if asks:
        attributes["authorizes"] = list(asks)
    short = f"{scope.owner.rpartition(chr(92))[2]}@{function.name}"
    found.nodes[key] = Node(
        key, "controller_method", short, scope.uri, function.line, function.line_end,
        doc=function.doc, language="php", framework="laravel", attributes=attributes,
    )  # fmt: skip


def _all(typed: tree.Typed) -> Iterator[str]:
    """Yield every class of a written type, those inside of it too."""
    yield from typed.names
    for inner in typed.inner:
        yield from _all(inner)


def _parameters(found: Actions, scope: CodeBody, function: tree.Function) -> None:
    """Take in form requests and models that the method is given."""
    for one in function.parameters:
        for name in one.type.names if one.type else ():
            if found.app.is_a(name, FORM_REQUESTS):
                found.add("VALIDATED_BY", scope, name, line=function.line, how="type")
            elif name.lower() in found.models:
                found.add("USES_MODEL", scope, name, line=function.line, how="parameter")


def _body(found: Actions, scope: CodeBody) -> None:
    """Take in models that are asked or made, resources that are given back, requests of the container."""
    for part, _ in walk(scope.statements):
        name, how = _named(part, scope.owner)
        if not name:
            continue
        if how in MAKING and not isinstance(part.function, tree.Static):
            if found.app.is_a(name, FORM_REQUESTS):
                found.add("VALIDATED_BY", scope, name, line=part.line, how=how)
        elif name.lower() in found.models:
            found.add("USES_MODEL", scope, name, line=part.line, how=how)
        elif found.app.find_class(name) and found.app.is_a(name, RESOURCES):
            found.add("RETURNS", scope, name, line=part.line, how=how)


def _named(part: SyntaxNode, owner: str) -> tuple[str, str]:
    """Return the class that an expression is about, and how: made, asked statically, or given to a call."""
    if isinstance(part, tree.New):
        return class_of(part, owner), "new"
    if not isinstance(part, tree.Call):
        return "", ""
    if isinstance(part.function, tree.Static):
        return class_of(receiver(part), owner), called_name(part)
    if called_name(part) in MAKING or called_name(part) in ("toResource", "toResourceCollection"):
        return class_of(argument_at(part, 0), owner), called_name(part)
    return "", ""


def _rendered(scope: CodeBody) -> Iterator[str]:
    """Yield the views and pages that a method shows."""
    for call, _ in scope.calls:
        name, at = called_name(call), receiver(call)
        page = name == "render" and isinstance(at, tree.ClassName) and at.name.endswith("Inertia")
        view = name in ("view", "inertia") and at is None
        held = at.name if isinstance(at, (tree.Member, tree.ClassName)) else ""
        factory = name == "make" and (held == "view" or str(held).endswith("\\View"))
        text = text_of(argument_at(call, 0)) if page or view or factory else None
        if text:
            yield text


def _targets(found: Actions) -> None:
    """Give a node to every request and resource that was linked."""
    for kind, _, target in list(found.links):
        known = found.app.find_class(target.removeprefix("class:"))
        if target in found.nodes or known is None:
            continue
        if kind == "VALIDATED_BY":
            found.nodes[target] = found.app.own_class_node(known, "request", read_form_request(found.app, known))
        elif kind == "RETURNS":
            found.nodes[target] = found.app.own_class_node(known, "resource")
