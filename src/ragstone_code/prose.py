"""Prose about routes, tables and models of a graph, so that plain words have text to match."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Final

from ragstone.types import Graph, Link, Node, Rendered

PIECES: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
VERBS: Final = {
    "GET": "get, show, list",
    "POST": "create, add, submit",
    "PUT": "replace, change, update",
    "PATCH": "change, update",
    "DELETE": "delete, remove",
}


class _Known:
    """A graph by its links."""

    def __init__(self, graph: Graph) -> None:
        self.nodes = {node.key: node for node in graph.nodes}
        self.out: dict[str, list[Link]] = defaultdict(list)
        self.back: dict[str, list[Link]] = defaultdict(list)
        for link in graph.links:
            self.out[link.source].append(link)
            self.back[link.target].append(link)

    def to(self, key: str, *kinds: str) -> list[str]:
        """Return the names of what a node is linked to."""
        return [_name(link.target) for link in self.out[key] if link.kind in kinds]

    def of(self, key: str, *kinds: str) -> list[str]:
        """Return the names of what is linked to a node."""
        return [_name(link.source) for link in self.back[key] if link.kind in kinds]


def rendered(graph: Graph) -> tuple[Rendered, ...]:
    """Return the prose of every route, table and model that has a file."""
    known = _Known(graph)
    found = []
    for node in graph.nodes:
        saying = _SAYING.get(node.kind)
        if saying and node.uri:
            title, text = saying(known, node)
            found.append(Rendered(node.key, node.kind, title, text, node.uri, node.line))
    return tuple(found)


def words(*texts: str) -> str:
    """Return the words of names, each once: `OrderDetailView` has order, detail and view."""
    found = (word.lower() for text in texts for word in PIECES.findall(text))
    return " ".join(dict.fromkeys(word for word in found if len(word) > 1))


def _name(key: str) -> str:
    return key.partition(":")[2]


def _sentence(label: str, parts: Iterable[str]) -> str:
    said = ", ".join(dict.fromkeys(part for part in parts if part))
    return f"{label}: {said}." if said else ""


def _lines(*said: str) -> str:
    return "\n".join(one for one in said if one)


def _route(known: _Known, node: Node) -> tuple[str, str]:
    name = str(node.attributes.get("name") or "")
    methods = node.attributes.get("methods")
    handlers = [link.target for link in known.out[node.key] if link.kind == "HANDLED_BY"]
    docs = [known.nodes[key].doc.partition("\n")[0] for key in handlers if key in known.nodes]
    verbs = (
        [VERBS[one] for one in methods if isinstance(one, str) and one in VERBS] if isinstance(methods, list) else []
    )
    text = _lines(
        f"Route {node.name}" + (f", named {name}." if name else "."),
        _sentence("Served by", (_name(key) for key in handlers)),
        _sentence("Guarded by", known.to(node.key, "GUARDED_BY")),
        _sentence("Validated by", (one for key in handlers for one in known.to(key, "VALIDATED_BY"))),
        _sentence("Returns", (one for key in handlers for one in known.to(key, "RETURNS"))),
        _sentence("Models", (one for key in handlers for one in known.to(key, "USES_MODEL"))),
        " ".join(docs).strip(),
        _sentence("Words", [words(node.name.partition(" ")[2], name, *map(_name, handlers)), *verbs]),
    )
    return f"Route {node.name}", text


def _table(known: _Known, node: Node) -> tuple[str, str]:
    columns = node.attributes.get("columns")
    named = [
        f"{one['name']} ({one.get('type', '')}{', may be null' if one.get('nullable') else ''})"
        for one in (columns if isinstance(columns, list) else [])
        if isinstance(one, dict)
    ]
    keys = node.attributes.get("foreign_keys")
    migrations = node.attributes.get("migrations")
    text = _lines(
        f"Table {node.name}.",
        _sentence("Columns", named),
        _sentence("Foreign keys", map(str, keys if isinstance(keys, list) else [])),
        _sentence("Model", known.of(node.key, "MAPS_TO")),
        _sentence("Migrations", map(str, migrations if isinstance(migrations, list) else [])),
    )
    return f"Table {node.name}", text


def _model(known: _Known, node: Node) -> tuple[str, str]:
    relations = [
        f"{link.attributes.get('name')} ({link.attributes.get('type')} {_name(link.target)})"
        for link in known.out[node.key]
        if link.kind == "RELATES"
    ]
    fields = node.attributes.get("fields")
    text = _lines(
        f"Model {_name(node.key)}.",
        node.doc.partition("\n\n")[0],
        _sentence("Table", known.to(node.key, "MAPS_TO")),
        _sentence("Fields", map(str, fields if isinstance(fields, list) else [])),
        _sentence("Relations", relations),
        _sentence("Used by", known.of(node.key, "USES_MODEL")),
    )
    return f"Model {node.name}", text


_SAYING: Final[dict[str, Callable[[_Known, Node], tuple[str, str]]]] = {
    "route": _route,
    "table": _table,
    "model": _model,
}
