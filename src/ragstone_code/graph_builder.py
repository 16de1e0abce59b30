"""The builder of a framework's graph: it collects nodes, links and names and keeps each of them once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from ragstone.types import Alias, Confidence, Graph, Json, Link, Node
from ragstone_code.descriptions import describe_nodes
from ragstone_code.frameworks.passes import run_pass
from ragstone_code.frameworks.rejections import rejected_statuses
from ragstone_code.python.values import ClassValue, FunctionValue
from ragstone_code.route_definition import METHODS, Location, RouteDefinition, RouteGuard

PARAMETER: Final = re.compile(r"\{[^{}]*\}")
NO_ATTRIBUTES: Final[Mapping[str, Json]] = {}


class GraphBuilder:
    """Collects the graph of one framework."""

    def __init__(self, framework: str) -> None:
        self.framework = framework
        self.nodes: dict[str, Node] = {}
        self.links: dict[tuple[str, str, str, str], Link] = {}
        self.aliases: dict[tuple[str, str, str], Alias] = {}
        self.remarks: dict[str, None] = {}

    def add_node(self, node: Node) -> str:
        """Add a node, unless its key exists, and return the key."""
        self.nodes.setdefault(node.key, node)
        return node.key

    def add_link(
        self,
        kind: str,
        ends: tuple[str, str],
        location: Location,
        attributes: Mapping[str, Json] = NO_ATTRIBUTES,
        *,
        how: Confidence = "evaluated",
    ) -> None:
        """Add a link. `order` and `conditional` among the attributes become fields of the link."""
        remaining = {
            name: value
            for name, value in attributes.items()
            if name not in ("order", "conditional")
        }
        order = attributes.get("order")
        # Links with the same ends differ by the first of these attributes.
        label = (
            attributes.get("name")
            or attributes.get("column")
            or attributes.get("parameter")
            or order
        )
        position = 0
        if isinstance(order, int):
            position = order
        link = Link(
            kind,
            *ends,
            *location,
            how,
            bool(attributes.get("conditional")),
            position,
            remaining,
        )
        self.links.setdefault((kind, *ends, str(label)), link)

    def add_alias(self, name: str, key: str, kind: str, uri: str) -> None:
        """Add another name of a node; an empty name is ignored."""
        if name:
            self.aliases.setdefault((name, key, kind), Alias(name, key, kind, uri))

    def add_remark(self, location: Location, text: str) -> None:
        """Add a remark about a problem."""
        uri, line = location
        if line:
            self.remarks.setdefault(f"{uri}:{line}: {text}")
        else:
            self.remarks.setdefault(f"{uri}: {text}")

    def run_pass(self, name: str, run: Callable[[], None]) -> None:
        """Run one pass; if it fails on an unusual program, add a remark instead of raising."""
        run_pass(name, run, None, partial(self._note_failure, name))

    def _note_failure(self, name: str, reason: str) -> None:
        self.remarks.setdefault(f"{name}: not read to the end ({reason})")

    def build(self) -> Graph:
        """Return the graph with descriptions of its nodes."""
        graph = Graph(
            tuple(self.nodes.values()),
            tuple(self.links.values()),
            tuple(self.aliases.values()),
            remarks=tuple(self.remarks),
        )
        return graph + Graph(rendered=describe_nodes(graph))

    # ── classes and functions ─────────────────────────────────────────────────────────────────────

    def add_class(self, class_value: ClassValue, kind: str, **attributes: Json) -> str:
        """Add a class of the project with a kind, and return its key; it replaces a node of kind `class`."""
        key = f"class:{class_value.full}"
        definition = class_value.definition
        if key in self.nodes and self.nodes[key].kind == "class":
            del self.nodes[key]
        self.add_alias(class_value.full, key, "class", class_value.uri)
        self.add_alias(definition.short, key, "short_class", class_value.uri)
        signature = f"class {definition.short}"
        if definition.extends:
            signature = f"class {definition.short}({', '.join(definition.extends)})"
        node = Node(
            key,
            kind,
            definition.short,
            class_value.uri,
            definition.line,
            definition.line_end,
            signature,
            definition.doc,
            "python",
            self.framework,
            attributes,
        )
        return self.add_node(node)

    def add_function(self, function: FunctionValue, kind: str = "") -> str:
        """Add a function or method of the project, and return its key."""
        definition = function.definition
        default_kind = "function"
        short_name = definition.name
        if function.owner is not None:
            default_kind = "method"
            short_name = f"{function.owner.definition.short}.{definition.name}"
        key = f"{default_kind}:{function.full}"
        self.add_alias(function.full, key, "method", function.uri)
        self.add_alias(short_name, key, "short_method", function.uri)
        parameters = ", ".join(parameter.name for parameter in definition.parameters)
        node = Node(
            key,
            kind or default_kind,
            definition.name,
            function.uri,
            definition.line,
            definition.line_end,
            f"def {definition.name}({parameters})",
            definition.doc,
            "python",
            self.framework,
            _rejections(function),
        )
        return self.add_node(node)

    # ── routes ────────────────────────────────────────────────────────────────────────────────────

    def add_route(self, route: RouteDefinition) -> str:
        """Add a route with its names, its handler and its guards, and return its key."""
        method_text = "ANY"
        if route.methods:
            method_text = "|".join(route.verbs)
        name = f"{method_text} {route.uri or '/'}"
        uri, line = route.place
        node = Node(
            f"route:{name}",
            "route",
            name,
            uri,
            line,
            line,
            language="python",
            framework=self.framework,
            attributes=_route_attributes(route),
        )
        key = self.add_node(node)
        self._add_route_aliases(route, key)
        self._link_handler(route, key)
        for order, guard in enumerate(route.guards):
            self.add_guard(key, guard, order, conditional=route.conditional)
        return key

    def _add_route_aliases(self, route: RouteDefinition, key: str) -> None:
        uri = route.place[0]
        if route.name:
            self.add_alias(route.name, key, "route_name", uri)
        path = PARAMETER.sub("{}", route.uri).strip("/") or "/"
        self.add_alias(path, key, "uri", uri)
        for verb in route.verbs or METHODS[:5]:
            self.add_alias(f"{verb} {path}", key, "uri", uri)

    def _link_handler(self, route: RouteDefinition, key: str) -> None:
        handler = route.handler
        if isinstance(handler, ClassValue):
            self._link_handler_class(route, handler, key)
        elif isinstance(handler, FunctionValue):
            kind = ""
            if handler.owner is not None:
                kind = "controller_method"
            target = self.add_function(handler, kind)
            attributes: dict[str, Json] = {
                "conditional": route.conditional,
                "method_exists": True,
            }
            self.add_link("HANDLED_BY", (key, target), route.place, attributes)

    def _link_handler_class(
        self,
        route: RouteDefinition,
        handler: ClassValue,
        key: str,
    ) -> None:
        """Link a route to the methods of its handler class; to the class if the framework provides the method."""
        class_key = self.add_class(handler, "controller")
        names = [route.method]
        if not route.method:
            names = [method.lower() for method in METHODS]
        functions = _find_methods(handler, names)
        for function in functions:
            target = self.add_function(function, "controller_method")
            attributes: dict[str, Json] = {
                "method_exists": True,
                "controller": handler.full,
                "conditional": route.conditional,
            }
            self.add_link("HANDLED_BY", (key, target), route.place, attributes)
        if not functions:
            attributes = {
                "method_exists": False,
                "method": route.method,
                "conditional": route.conditional,
            }
            self.add_link("HANDLED_BY", (key, class_key), route.place, attributes)

    def add_guard(
        self,
        source: str,
        guard: RouteGuard,
        order: int,
        *,
        conditional: bool = False,
    ) -> None:
        """Add a guard with a link from its route, and the function or class of the project behind it."""
        key = f"middleware:{guard.full}"
        implementation = guard.value
        uri, line, line_end, doc = "", 0, 0, ""
        if isinstance(implementation, FunctionValue | ClassValue):
            uri = implementation.uri
            line = implementation.line
            line_end = implementation.definition.line_end
            doc = implementation.definition.doc
        node = Node(
            key,
            "middleware",
            guard.name,
            uri,
            line,
            line_end,
            "",
            doc,
            "python",
            self.framework,
            {"full": guard.full},
        )
        self.add_node(node)
        for name in (guard.name, guard.full):
            self.add_alias(name, key, "middleware", uri)
        attributes: dict[str, Json] = {
            "order": order,
            "conditional": conditional or guard.conditional,
            "parameters": list(guard.parameters),
            "written": guard.written,
        }
        self.add_link("GUARDED_BY", (source, key), (guard.uri, guard.line), attributes)
        if isinstance(implementation, FunctionValue):
            self.add_link(
                "HANDLED_BY",
                (key, self.add_function(implementation)),
                (uri, line),
                how="declared",
            )
        elif isinstance(implementation, ClassValue):
            self.add_link(
                "HANDLED_BY",
                (key, self.add_class(implementation, "class", **_rejections(implementation))),
                (uri, line),
                how="declared",
            )


def _rejections(value: FunctionValue | ClassValue) -> dict[str, Json]:
    """Return the statuses with which code turns requests away, as attributes of its node."""
    statuses = rejected_statuses(value)
    return {"rejects": list(statuses)} if statuses else {}


def _route_attributes(route: RouteDefinition) -> dict[str, Json]:
    return {
        "methods": list(route.verbs),
        "uri": route.uri or "/",
        "name": route.name,
        "action": route.action,
        "controller": route.controller,
        "method": route.method or None,
        "middleware": [guard.written for guard in route.guards],
        **route.attributes,
    }


def _find_methods(class_value: ClassValue, names: Sequence[str]) -> list[FunctionValue]:
    """Return the methods of a class, own or inherited in the project, by name."""
    methods: list[FunctionValue] = []
    for name in names:
        located = class_value.find(name)
        if located and isinstance(located[1], FunctionValue):
            methods.append(located[1])
    return methods


def join_path(parts: Sequence[str]) -> str:
    """Return parts of a path joined by single slashes, without a leading slash."""
    path = "/".join(part for part in parts if part)
    return re.sub(r"/{2,}", "/", path).lstrip("/")
