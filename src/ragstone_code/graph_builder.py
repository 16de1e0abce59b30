"""Nodes, links and names of a Python framework's graph while it is put together, each once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ragstone.errors import RagstoneError
from ragstone.types import Alias, Confidence, Graph, Json, Link, Node
from ragstone_code.prose import rendered
from ragstone_code.python.values import Classed, Func, Made, Named, Unknown, Value, name_of

PARAMETER: Final = re.compile(r"\{[^{}]*\}")
METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD")
Place = tuple[str, int]
FAILURES: Final = (RagstoneError, ValueError, TypeError, LookupError, AttributeError, RecursionError)
NOTHING: Final[Mapping[str, Json]] = {}


@dataclass(frozen=True, slots=True)
class Guard:
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
class Route:
    """A route, before it is a node."""

    methods: tuple[str, ...]
    """None for any."""
    uri: str
    """With its parameters in braces, without a slash before it."""
    name: str | None
    handler: Value
    place: Place
    method: str = ""
    """The method of a class that serves it."""
    guards: tuple[Guard, ...] = ()
    conditional: bool = False
    attributes: Mapping[str, Json] = field(default_factory=dict)


class Woven:
    """What one framework makes of a project."""

    def __init__(self, framework: str) -> None:
        self.framework = framework
        self.nodes: dict[str, Node] = {}
        self.links: dict[tuple[str, str, str, str], Link] = {}
        self.aliases: dict[tuple[str, str, str], Alias] = {}
        self.remarks: dict[str, None] = {}

    def node(self, node: Node) -> str:
        """Keep a node, unless its key is known, and return the key."""
        self.nodes.setdefault(node.key, node)
        return node.key

    def link(
        self, kind: str, ends: tuple[str, str], place: Place, more: Mapping[str, Json] = NOTHING, *,
        how: Confidence = "evaluated",
    ) -> None:  # fmt: skip
        """Keep a link: of `more`, `order` and `conditional` are its own, whatever else is named is an attribute."""
        attributes = {name: value for name, value in more.items() if name not in ("order", "conditional")}
        order = more.get("order")
        label = str(more.get("name") or more.get("column") or more.get("parameter") or order)
        counted = order if isinstance(order, int) else 0
        made = Link(kind, *ends, *place, how, bool(more.get("conditional")), counted, attributes)
        self.links.setdefault((kind, *ends, label), made)

    def alias(self, name: str, key: str, kind: str, uri: str) -> None:
        """Keep another name of a node."""
        if name:
            self.aliases.setdefault((name, key, kind), Alias(name, key, kind, uri))

    def remark(self, place: Place, said: str) -> None:
        """Keep what could not be known."""
        self.remarks.setdefault(f"{place[0]}:{place[1]}: {said}" if place[1] else f"{place[0]}: {said}")

    def part(self, name: str, read: Callable[[], None]) -> None:
        """Do one pass; one that fails on a strange program says so and leaves the others whole."""
        try:
            read()
        except FAILURES as failed:
            self.remarks.setdefault(f"{name}: not read to the end ({type(failed).__name__}: {failed})")

    def graph(self) -> Graph:
        """Return all of it, with prose."""
        whole = Graph(
            tuple(self.nodes.values()),
            tuple(self.links.values()),
            tuple(self.aliases.values()),
            remarks=tuple(self.remarks),
        )
        return whole + Graph(rendered=rendered(whole))

    # ── classes and functions ─────────────────────────────────────────────────────────────────────

    def of_class(self, one: Classed, kind: str, **attributes: Json) -> str:
        """Keep a class of the project as what the framework makes of it."""
        key = f"class:{one.full}"
        made = one.definition
        if key in self.nodes and self.nodes[key].kind == "class":
            del self.nodes[key]
        self.alias(one.full, key, "class", one.uri)
        self.alias(made.short, key, "short_class", one.uri)
        signature = f"class {made.short}({', '.join(made.extends)})" if made.extends else f"class {made.short}"
        place = (one.uri, made.line, made.line_end)
        return self.node(Node(key, kind, made.short, *place, signature, made.doc, "python", self.framework, attributes))

    def of_function(self, one: Func, kind: str = "") -> str:
        """Keep a function or method of the project."""
        made = one.definition
        word = "method" if one.owner is not None else "function"
        key = f"{word}:{one.full}"
        signature = f"def {made.name}({', '.join(parameter.name for parameter in made.parameters)})"
        self.alias(one.full, key, "method", one.uri)
        short = f"{one.owner.definition.short}.{made.name}" if one.owner is not None else made.name
        self.alias(short, key, "short_method", one.uri)
        place = (one.uri, made.line, made.line_end)
        named = Node(key, kind or word, made.name, *place, signature, made.doc, "python", self.framework)
        return self.node(named)

    # ── routes ────────────────────────────────────────────────────────────────────────────────────

    def route(self, one: Route) -> str:
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
        self.node(Node(key, "route", f"{verbs} {one.uri or '/'}", *one.place, one.place[1], language="python",
                       framework=self.framework, attributes=attributes))  # fmt: skip
        if one.name:
            self.alias(one.name, key, "route_name", one.place[0])
        plain = PARAMETER.sub("{}", one.uri).strip("/") or "/"
        for name in (plain, *(f"{method} {plain}" for method in wanted or METHODS[:5])):
            self.alias(name, key, "uri", one.place[0])
        self._handled(one, key)
        for order, guard in enumerate(one.guards):
            self.guard(key, guard, order, conditional=one.conditional)
        return key

    def _handled(self, one: Route, key: str) -> None:
        if isinstance(one.handler, Func):
            kind = "" if one.handler.owner is None else "controller_method"
            target = self.of_function(one.handler, kind)
            self.link("HANDLED_BY", (key, target), one.place, {"conditional": one.conditional, "method_exists": True})
        elif isinstance(one.handler, Classed):
            self._by_class(one, one.handler, key)

    def _by_class(self, one: Route, handler: Classed, key: str) -> None:
        """Link a route to the method of a class that serves it, to the class where the framework's own does."""
        owner = self.of_class(handler, "controller")
        names = [one.method] if one.method else [method.lower() for method in METHODS]
        found = [(name, handler.find(name)) for name in names]
        written = [value for _, (_, value) in ((n, f) for n, f in found if f) if isinstance(value, Func)]
        for value in written:
            target = self.of_function(value, "controller_method")
            more: dict[str, Json] = {"method_exists": True, "controller": handler.full, "conditional": one.conditional}
            self.link("HANDLED_BY", (key, target), one.place, more)
        if not written:
            more = {"method_exists": False, "method": one.method, "conditional": one.conditional}
            self.link("HANDLED_BY", (key, owner), one.place, more)

    def guard(self, source: str, guard: Guard, order: int, *, conditional: bool = False) -> None:
        """Keep what guards a route, and the function or class of the project behind it."""
        key = f"middleware:{guard.full}"
        value = guard.value
        own = value if isinstance(value, Func | Classed) else None
        place = (own.uri, own.line, own.definition.line_end) if own is not None else ("", 0, 0)
        doc = own.definition.doc if own is not None else ""
        self.node(Node(key, "middleware", guard.name, *place, "", doc, "python", self.framework, {"full": guard.full}))
        for name in (guard.name, guard.full):
            self.alias(name, key, "middleware", place[0])
        more: dict[str, Json] = {
            "order": order,
            "conditional": conditional or guard.conditional,
            "parameters": list(guard.parameters),
            "written": _said(guard),
        }
        self.link("GUARDED_BY", (source, key), (guard.uri, guard.line), more)
        if own is not None:
            target = self.of_function(own) if isinstance(own, Func) else self.of_class(own, "class")
            self.link("HANDLED_BY", (key, target), (own.uri, own.line), how="declared")


def guard_of(value: Value, place: Place, *, conditional: bool = False) -> Guard:
    """Return a guard made of a decorator, a dependency or a class."""
    parameters: tuple[str, ...] = ()
    behind = value
    if isinstance(value, Made):
        parameters = tuple(str(one) for one in value.args if isinstance(one, str | int))
        behind = value.on if isinstance(value.on, Func | Classed) and not value.method else value
        conditional = conditional or value.conditional
    full = name_of(value).removesuffix("()") or "unknown"
    return Guard(full.rpartition(".")[2], full, *place, parameters, behind, conditional)


def _said(guard: Guard) -> str:
    return f"{guard.name}:{','.join(guard.parameters)}" if guard.parameters else guard.name


def _controller(one: Route) -> str | None:
    handler = one.handler
    if isinstance(handler, Func):
        return handler.owner.full if handler.owner is not None else handler.full
    return name_of(handler) or None


def _action(one: Route) -> str:
    handler = one.handler
    if isinstance(handler, Unknown) or handler is None:
        return "unknown"
    name = name_of(handler)
    return f"{name}.{one.method}" if one.method and isinstance(handler, Classed | Named) else name


def joined(parts: Sequence[str]) -> str:
    """Return parts of a path as one, with one slash between them and none before."""
    return re.sub(r"/{2,}", "/", "/".join(part for part in parts if part)).lstrip("/")
