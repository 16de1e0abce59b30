"""Controllers and their actions: the requests, models, resources, views and policies that each action uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from ragstone.types import Alias, Graph, Json, Link, Node
from ragstone_code import program_tree
from ragstone_code.laravel.app import App, AppClass, class_aliases
from ragstone_code.laravel.authorization import method_authorization
from ragstone_code.laravel.class_kinds import COMPONENTS, FORM_REQUESTS, RESOURCES
from ragstone_code.laravel.code_bodies import CodeBody
from ragstone_code.laravel.policies import Policies
from ragstone_code.laravel.requests import find_inline_validation, read_form_request
from ragstone_code.laravel.syntax import (
    SyntaxNode,
    argument_at,
    called_name,
    class_of,
    receiver,
    text_of,
    walk,
)

CONTAINER_CALLS: Final = ("app", "resolve", "make")
"""Calls that ask the container for an object of a class."""
RESOURCE_CALLS: Final = ("toResource", "toResourceCollection")
MAX_CALLS: Final = 16
"""Number of called names that are stored with a method, as words to find it by."""


def read_controllers(
    app: App, handlers: Iterable[str], policies: Policies, models: Iterable[AppClass]
) -> Graph:
    """Return the controllers and their actions; `handlers` are the keys of methods and classes that routes lead to."""
    model_names = frozenset(model.name.lower() for model in models)
    reader = ControllerReader(app, policies, model_names)
    for key in dict.fromkeys(handlers):
        reader.read_handler(key)
    reader.add_target_nodes()
    nodes = tuple(reader.nodes.values())
    aliases = class_aliases(nodes) + _method_aliases(nodes)
    return Graph(nodes=nodes, links=tuple(reader.links.values()), aliases=aliases)


def _method_aliases(nodes: Iterable[Node]) -> tuple[Alias, ...]:
    """Return the names by which people refer to an action: `Controller@method` and its variants."""
    aliases: list[Alias] = []
    for node in nodes:
        if node.kind != "controller_method":
            continue
        owner, _, method = node.key.removeprefix("method:").partition("::")
        short = owner.rpartition("\\")[2]
        for separator in ("@", "::"):
            aliases.append(
                Alias(
                    f"{owner}{separator}{method}",
                    node.key,
                    "method",
                    node.uri,
                )
            )
        for separator in ("@", "::", "."):
            aliases.append(
                Alias(
                    f"{short}{separator}{method}",
                    node.key,
                    "short_method",
                    node.uri,
                )
            )
    return tuple(aliases)


@dataclass
class ControllerReader:
    """Collects nodes and links from the actions of controllers."""

    app: App
    policies: Policies
    models: frozenset[str]
    """Qualified names of the models, in lower case."""
    nodes: dict[str, Node] = field(default_factory=dict)
    links: dict[tuple[str, str, str], Link] = field(default_factory=dict)

    def read_handler(self, key: str) -> None:
        """Add the controller of a handler and, if the handler is a method, the action."""
        kind, _, name = key.partition(":")
        owner, _, method = name.partition("::")
        controller = self.app.find_class(owner)
        if controller is None:
            return
        is_component = self.app.is_a(controller.name, COMPONENTS)
        node = self.app.own_class_node(
            controller, "component" if is_component else "controller"
        )
        self.nodes.setdefault(node.key, node)
        declared = self.app.find_method(owner, method) if kind == "method" else None
        if declared:
            declaring, function = declared
            body = CodeBody(declaring.uri, controller.name, function, function.body.statements)
            self._read_action(body, function, key)

    def add_target_nodes(self) -> None:
        """Add a node for every request and resource that a link leads to."""
        for kind, _, target in list(self.links):
            app_class = self.app.find_class(target.removeprefix("class:"))
            if target in self.nodes or app_class is None:
                continue
            if kind == "VALIDATED_BY":
                attributes = read_form_request(self.app, app_class)
                self.nodes[target] = self.app.own_class_node(app_class, "request", attributes)
            elif kind == "RETURNS":
                self.nodes[target] = self.app.own_class_node(app_class, "resource")

    def _add_link(self, link: Link) -> None:
        """Add a link; of two links of one kind between the same nodes, the first wins."""
        self.links.setdefault((link.kind, link.source, link.target), link)

    def _add_class_link(
        self, kind: str, body: CodeBody, class_name: str, *, line: int, how: str
    ) -> None:
        """Add a link from a method to a class."""
        target = f"class:{self.app.declared_name(class_name)}"
        self._add_link(
            Link(
                kind,
                body.key,
                target,
                body.uri,
                line,
                attributes={"how": how},
            )
        )

    def _read_action(self, body: CodeBody, function: program_tree.Function, key: str) -> None:
        """Add the node of an action and its links."""
        self._read_parameters(body, function)
        self._read_body(body)
        self._read_return_type(body, function)
        for link in method_authorization(self.app, self.policies, body):
            self._add_link(link)
        short = body.owner.rpartition("\\")[2]
        self.nodes[key] = Node(
            key,
            "controller_method",
            f"{short}@{function.name}",
            body.uri,
            function.line,
            function.line_end,
            doc=function.doc,
            language="php",
            framework="laravel",
            attributes=self._action_attributes(body, key),
        )

    def _action_attributes(self, body: CodeBody, key: str) -> dict[str, Json]:
        """Return what an action validates, renders, calls and authorises."""
        attributes: dict[str, Json] = {}
        fields, line = find_inline_validation(body)
        if line:
            attributes["validates"] = list(fields)
            attributes["validates_line"] = line
        renders = list(dict.fromkeys(_rendered_views(body)))
        if renders:
            attributes["renders"] = renders
        names = (called_name(call) for call, _ in body.calls)
        calls = list(dict.fromkeys(name for name in names if len(name) > 2))
        if calls:
            attributes["calls"] = calls[:MAX_CALLS]
        own_links = (link for link in self.links.values() if link.source == key)
        authorizes = [
            dict(link.attributes) for link in own_links if link.kind == "AUTHORIZED_BY"
        ]
        if authorizes:
            attributes["authorizes"] = authorizes
        return attributes

    def _read_parameters(self, body: CodeBody, function: program_tree.Function) -> None:
        """Add links to the form requests and models among the parameters."""
        for parameter in function.parameters:
            names = parameter.type.names if parameter.type else ()
            for name in names:
                if self.app.is_a(name, FORM_REQUESTS):
                    self._add_class_link(
                        "VALIDATED_BY", body, name, line=function.line, how="type"
                    )
                elif name.lower() in self.models:
                    self._add_class_link(
                        "USES_MODEL", body, name, line=function.line, how="parameter"
                    )

    def _read_body(self, body: CodeBody) -> None:
        """Add links to the models, resources and container-made requests in a body."""
        for node, _ in walk(body.statements):
            name, how = _class_in_use(node, body.owner)
            if not name:
                continue
            if how in CONTAINER_CALLS and not isinstance(node.function, program_tree.Static):
                if self.app.is_a(name, FORM_REQUESTS):
                    self._add_class_link("VALIDATED_BY", body, name, line=node.line, how=how)
            elif name.lower() in self.models:
                self._add_class_link("USES_MODEL", body, name, line=node.line, how=how)
            elif self._is_own_resource(name):
                self._add_class_link("RETURNS", body, name, line=node.line, how=how)

    def _read_return_type(self, body: CodeBody, function: program_tree.Function) -> None:
        """Add links to the resources in the declared return type."""
        if not function.returns:
            return
        for name in _type_names(function.returns):
            if self._is_own_resource(name):
                self._add_class_link(
                    "RETURNS", body, name, line=function.line, how="return type"
                )

    def _is_own_resource(self, name: str) -> bool:
        """Return whether a class of the application is an API resource."""
        return self.app.find_class(name) is not None and self.app.is_a(name, RESOURCES)


def _type_names(declared: program_tree.Typed) -> Iterator[str]:
    """Yield every class name of a type, also inside generics."""
    yield from declared.names
    for inner in declared.inner:
        yield from _type_names(inner)


def _class_in_use(node: SyntaxNode, owner: str) -> tuple[str, str]:
    """Return the class that an expression uses, and how: `new`, a static method's name, or a helper's name."""
    if isinstance(node, program_tree.New):
        return class_of(node, owner), "new"
    if not isinstance(node, program_tree.Call):
        return "", ""
    name = called_name(node)
    if isinstance(node.function, program_tree.Static):
        return class_of(receiver(node), owner), name
    if name in CONTAINER_CALLS or name in RESOURCE_CALLS:
        return class_of(argument_at(node, 0), owner), name
    return "", ""


def _rendered_views(body: CodeBody) -> Iterator[str]:
    """Yield the views and Inertia pages that a method renders."""
    for call, _ in body.calls:
        if _renders_view(call):
            text = text_of(argument_at(call, 0))
            if text:
                yield text


def _renders_view(call: program_tree.Call) -> bool:
    """Return whether a call renders a view: `view()`, `inertia()`, `Inertia::render()` or `View::make()`."""
    name, owner = called_name(call), receiver(call)
    if owner is None:
        return name in ("view", "inertia")
    if not isinstance(owner, (program_tree.Member, program_tree.ClassName)):
        return False
    if name == "render":
        return isinstance(owner, program_tree.ClassName) and owner.name.endswith("Inertia")
    return name == "make" and (owner.name == "view" or str(owner.name).endswith("\\View"))
