"""Nodes, links and names of a Python framework's graph while it is put together, each once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ragstone.errors import RagstoneError
from ragstone.types import Alias, Confidence, Graph, Json, Link, Node
from ragstone_code.prose import rendered
from ragstone_code.python.values import (
    CallResult,
    ClassValue,
    ExternalName,
    FunctionValue,
    UnknownValue,
    Value,
    full_name,
)

PARAMETER: Final = re.compile(r"\{[^{}]*\}")
METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD")
Location = tuple[str, int]
FAILURES: Final = (RagstoneError, ValueError, TypeError, LookupError, AttributeError, RecursionError)
NOTHING: Final[Mapping[str, Json]] = {}


@dataclass(frozen=True, slots=True)
class RouteGuard:
    """What stands before a route: a decorator, a dependency, a permission."""

    name: str
    full: str
    uri: str
    line: int
    parameters: tuple[str, ...] = ()
    value: Value = None
    """The function or class of the project that does it."""
    conditional: bool = False


@dataclass(frozen=True, slots=True)
class RouteDefinition:
    """A route, before it is a node."""

    methods: tuple[str, ...]
    """None for any."""
    uri: str
    """With its parameters in braces, without a slash before it."""
    name: str | None
    handler: Value
    place: Location
    method: str = ""
    """The method of a class that serves it."""
    guards: tuple[RouteGuard, ...] = ()
    conditional: bool = False
    attributes: Mapping[str, Json] = field(default_factory=dict)


class GraphBuilder:
    """What one framework makes of a project."""

    def __init__(self, framework: str) -> None:
        self.framework = framework
        self.nodes: dict[str, Node] = {}
        self.links: dict[tuple[str, str, str, str], Link] = {}
        self.aliases: dict[tuple[str, str, str], Alias] = {}
        self.remarks: dict[str, None] = {}

    def add_node(self, node: Node) -> str:
        """Keep a node, unless its key is known, and return the key."""
        self.nodes.setdefault(node.key, node)
        return node.key

    def add_link(
        self, kind: str, ends: tuple[str, str], place: Location, more: Mapping[str, Json] = NOTHING, *,
        how: Confidence = "evaluated",
    ) -> None:  # fmt: skip
        """Keep a link: of `more`, `order` and `conditional` are its own, whatever else is named is an attribute."""
        attributes = {name: value for name, value in more.items() if name not in ("order", "conditional")}
        order = more.get("order")
        label = str(more.get("name") or more.get("column") or more.get("parameter") or order)
        counted = order if isinstance(order, int) else 0
        made = Link(kind, *ends, *place, how, bool(more.get("conditional")), counted, attributes)
        self.links.setdefault((kind, *ends, label), made)

    def add_alias(self, name: str, key: str, kind: str, uri: str) -> None:
        """Keep another name of a node."""
        if name:
            self.aliases.setdefault((name, key, kind), Alias(name, key, kind, uri))

    def add_remark(self, place: Location, said: str) -> None:
        """Keep what could not be known."""
        self.remarks.setdefault(f"{place[0]}:{place[1]}: {said}" if place[1] else f"{place[0]}: {said}")

    def run_pass(self, name: str, read: Callable[[], None]) -> None:
        """Do one pass; one that fails on a strange program says so and leaves the others whole."""
        try:
            read()
        except FAILURES as failed:
            self.remarks.setdefault(f"{name}: not read to the end ({type(failed).__name__}: {failed})")

    def build(self) -> Graph:
        """Return all of it, with prose."""
        whole = Graph(
            tuple(self.nodes.values()),
            tuple(self.links.values()),
            tuple(self.aliases.values()),
            remarks=tuple(self.remarks),
        )
        return whole + Graph(rendered=rendered(whole))

    # ── classes and functions ─────────────────────────────────────────────────────────────────────

    def add_class(self, one: ClassValue, kind: str, **attributes: Json) -> str:
        """Keep a class of the project as what the framework makes of it."""
        key = f"class:{one.full}"
        made = one.definition
        if key in self.nodes and self.nodes[key].kind == "class":
            del self.nodes[key]
        self.add_alias(one.full, key, "class", one.uri)
        self.add_alias(made.short, key, "short_class", one.uri)
        signature = f"class {made.short}({', '.join(made.extends)})" if made.extends else f"class {made.short}"
        place = (one.uri, made.line, made.line_end)
        return self.add_node(
            Node(key, kind, made.short, *place, signature, made.doc, "python", self.framework, attributes)
        )

    def add_function(self, one: FunctionValue, kind: str = "") -> str:
        """Keep a function or method of the project."""
        made = one.definition
        word = "method" if one.owner is not None else "function"
        key = f"{word}:{one.full}"
        signature = f"def {made.name}({', '.join(parameter.name for parameter in made.parameters)})"
        self.add_alias(one.full, key, "method", one.uri)
        short = f"{one.owner.definition.short}.{made.name}" if one.owner is not None else made.name
        self.add_alias(short, key, "short_method", one.uri)
        place = (one.uri, made.line, made.line_end)
        named = Node(key, kind or word, made.name, *place, signature, made.doc, "python", self.framework)
        return self.add_node(named)

    # ── routes ────────────────────────────────────────────────────────────────────────────────────

    def add_route(self, one: RouteDefinition) -> str:
        """Keep a route with what serves and guards it."""
        wanted: list[str] = [method for method in METHODS if method in one.methods and method != "HEAD"] or sorted(
            one.methods
        )
        verbs = "|".join(wanted) if one.methods else "ANY"
        key = f"route:{verbs} {one.uri or '/'}"
        attributes: dict[str, Json] = {
            "methods": list(wanted), "uri": one.uri or "/", "name": one.name,
            "action": _action(one), "controller": _controller(one), "method": one.method or None,
            "middleware": [_said(guard) for guard in one.guards], **one.attributes,
        }  # fmt: skip
        self.add_node(Node(key, "route", f"{verbs} {one.uri or '/'}", *one.place, one.place[1], language="python",
                       framework=self.framework, attributes=attributes))  # fmt: skip
        if one.name:
            self.add_alias(one.name, key, "route_name", one.place[0])
        plain = PARAMETER.sub("{}", one.uri).strip("/") or "/"
        for name in (plain, *(f"{method} {plain}" for method in wanted or METHODS[:5])):
            self.add_alias(name, key, "uri", one.place[0])
        self._handled(one, key)
        for order, guard in enumerate(one.guards):
            self.add_guard(key, guard, order, conditional=one.conditional)
        return key

    def _handled(self, one: RouteDefinition, key: str) -> None:
        if isinstance(one.handler, FunctionValue):
            kind = "" if one.handler.owner is None else "controller_method"
            target = self.add_function(one.handler, kind)
            self.add_link(
                "HANDLED_BY", (key, target), one.place, {"conditional": one.conditional, "method_exists": True}
            )
        elif isinstance(one.handler, ClassValue):
            self._by_class(one, one.handler, key)

    def _by_class(self, one: RouteDefinition, handler: ClassValue, key: str) -> None:
        """Link a route to the method of a class that serves it, to the class where the framework's own does."""
        owner = self.add_class(handler, "controller")
        names = [one.method] if one.method else [method.lower() for method in METHODS]
        found = [(name, handler.find(name)) for name in names]
        written = [value for _, (_, value) in ((n, f) for n, f in found if f) if isinstance(value, FunctionValue)]
        for value in written:
            target = self.add_function(value, "controller_method")
            more: dict[str, Json] = {"method_exists": True, "controller": handler.full, "conditional": one.conditional}
            self.add_link("HANDLED_BY", (key, target), one.place, more)
        if not written:
            more = {"method_exists": False, "method": one.method, "conditional": one.conditional}
            self.add_link("HANDLED_BY", (key, owner), one.place, more)

    def add_guard(self, source: str, guard: RouteGuard, order: int, *, conditional: bool = False) -> None:
        """Keep what guards a route, and the function or class of the project behind it."""
        key = f"middleware:{guard.full}"
        value = guard.value
        own = value if isinstance(value, FunctionValue | ClassValue) else None
        place = (own.uri, own.line, own.definition.line_end) if own is not None else ("", 0, 0)
        doc = own.definition.doc if own is not None else ""
        self.add_node(
            Node(key, "middleware", guard.name, *place, "", doc, "python", self.framework, {"full": guard.full})
        )
        for name in (guard.name, guard.full):
            self.add_alias(name, key, "middleware", place[0])
        more: dict[str, Json] = {
            "order": order,
            "conditional": conditional or guard.conditional,
            "parameters": list(guard.parameters),
            "written": _said(guard),
        }
        self.add_link("GUARDED_BY", (source, key), (guard.uri, guard.line), more)
        if own is not None:
            target = self.add_function(own) if isinstance(own, FunctionValue) else self.add_class(own, "class")
            self.add_link("HANDLED_BY", (key, target), (own.uri, own.line), how="declared")


def guard_from_value(value: Value, place: Location, *, conditional: bool = False) -> RouteGuard:
    """Return a guard made of a decorator, a dependency or a class."""
    parameters: tuple[str, ...] = ()
    behind = value
    if isinstance(value, CallResult):
        parameters = tuple(str(one) for one in value.args if isinstance(one, str | int))
        behind = value.on if isinstance(value.on, FunctionValue | ClassValue) and not value.method else value
        conditional = conditional or value.conditional
    full = full_name(value).removesuffix("()") or "unknown"
    return RouteGuard(full.rpartition(".")[2], full, *place, parameters, behind, conditional)


def _said(guard: RouteGuard) -> str:
    return f"{guard.name}:{','.join(guard.parameters)}" if guard.parameters else guard.name


def _controller(one: RouteDefinition) -> str | None:
    handler = one.handler
    if isinstance(handler, FunctionValue):
        return handler.owner.full if handler.owner is not None else handler.full
    return full_name(handler) or None


def _action(one: RouteDefinition) -> str:
    handler = one.handler
    if isinstance(handler, UnknownValue) or handler is None:
        return "unknown"
    name = full_name(handler)
    return f"{name}.{one.method}" if one.method and isinstance(handler, ClassValue | ExternalName) else name


def join_path(parts: Sequence[str]) -> str:
    """Return parts of a path as one, with one slash between them and none before."""
    return re.sub(r"/{2,}", "/", "/".join(part for part in parts if part)).lstrip("/")
