"""Descriptions of routes, tables and models in plain sentences, which a word search can match."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from ragstone.types import Graph, Json, Link, Node, Rendered

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_VERBS: Final = {
    "GET": "get, show, list",
    "POST": "create, add, submit",
    "PUT": "replace, change, update",
    "PATCH": "change, update",
    "DELETE": "delete, remove",
}
_SYNONYMS: Final = (
    ("create add new make register insert submit store build", "create, add, make, save a new"),
    ("remove delete destroy clear purge drop discard", "delete, remove"),
    ("update edit change set rename modify save toggle switch", "update, edit, change, save"),
    ("show view read fetch find display load open detail details", "show, view, see, get"),
    ("list index browse search overview", "list, show all, search"),
    ("send mail notify share invite", "send, notify"),
    ("login authenticate signin", "log in, sign in"),
    ("logout signout", "log out, sign out"),
    ("signup enroll", "sign up, create an account"),
    ("export download", "download, export"),
    ("import upload attach", "upload, import"),
    ("restore recover undo", "restore, bring back"),
    (
        "pause stop disable suspend lock block ban archive close",
        "stop, block, close, switch off",
    ),
    ("resume start enable activate unlock unblock reopen", "start, allow, switch on"),
    ("subscribe follow watch", "follow, subscribe"),
    ("unsubscribe unfollow unwatch cancel", "unsubscribe, cancel, end"),
    ("transfer move migrate", "move, hand over"),
    ("pay charge checkout buy purchase", "pay, buy"),
)
"""Verbs in names, and the words that people use for them."""


class Description(NamedTuple):
    """The text about a node, and words for finding it that are not shown."""

    title: str
    text: str
    words: str = ""


class _LinkIndex:
    """The nodes of a graph by key, and its links by source and target."""

    def __init__(self, graph: Graph) -> None:
        self.nodes = {node.key: node for node in graph.nodes}
        self.links_from: dict[str, list[Link]] = defaultdict(list)
        self.links_to: dict[str, list[Link]] = defaultdict(list)
        for link in graph.links:
            self.links_from[link.source].append(link)
            self.links_to[link.target].append(link)

    def targets(self, key: str, kind: str) -> list[str]:
        """Return the keys of the targets of a node's links."""
        return [link.target for link in self.links_from[key] if link.kind == kind]

    def target_names(self, keys: Iterable[str], kind: str) -> list[str]:
        """Return the names of the targets of several nodes' links."""
        names: list[str] = []
        for key in keys:
            names.extend(_name(target) for target in self.targets(key, kind))
        return names

    def source_names(self, key: str, kind: str) -> list[str]:
        """Return the names of the sources of the links to a node."""
        return [_name(link.source) for link in self.links_to[key] if link.kind == kind]


def describe_nodes(graph: Graph) -> tuple[Rendered, ...]:
    """Return a description of every route, table and model that has a file."""
    index = _LinkIndex(graph)
    descriptions: list[Rendered] = []
    for node in graph.nodes:
        describe = _DESCRIBERS.get(node.kind)
        if describe and node.uri:
            descriptions.append(render(node, describe(index, node)))
    return tuple(descriptions)


def render(node: Node, description: Description) -> Rendered:
    """Return the description of a node as a document of its kind."""
    title, text, words = description
    return Rendered(node.key, node.kind, title, text, node.uri, node.line, words)


def action_words(name: str) -> str:
    """Return the plain words for the verbs in a name; empty if it has none."""
    own_words = {word.lower() for word in _WORD.findall(name)}
    texts = [text for verbs, text in _SYNONYMS if not own_words.isdisjoint(verbs.split())]
    return ", ".join(texts)


def split_words(*texts: str) -> str:
    """Return the distinct words of names: `OrderDetailView` gives order, detail and view."""
    words: dict[str, None] = {}
    for text in texts:
        for word in _WORD.findall(text):
            if len(word) > 1:
                words[word.lower()] = None
    return " ".join(words)


def _name(key: str) -> str:
    return key.partition(":")[2]


def _sentence(label: str, parts: Iterable[str]) -> str:
    """Return `label: part, part.` with distinct parts; an empty text if there are none."""
    distinct_parts = dict.fromkeys(part for part in parts if part)
    if not distinct_parts:
        return ""
    return f"{label}: {', '.join(distinct_parts)}."


def _lines(*sentences: str) -> str:
    return "\n".join(sentence for sentence in sentences if sentence)


def _list(value: Json) -> list[Json]:
    if isinstance(value, list):
        return value
    return []


def _describe_route(index: _LinkIndex, node: Node) -> Description:
    route_name = str(node.attributes.get("name") or "")
    title = f"Route {node.name}"
    heading = f"{title}."
    if route_name:
        heading = f"{title}, named {route_name}."
    handlers = index.targets(node.key, "HANDLED_BY")
    handler_names = [_name(key) for key in handlers]
    docs = [index.nodes[key].doc.partition("\n")[0] for key in handlers if key in index.nodes]
    path = node.name.partition(" ")[2]
    actions = [action_words(name.rpartition(".")[2]) for name in handler_names]
    words = [split_words(path, route_name, *handler_names), *actions, *_verb_words(node)]
    text = _lines(
        heading,
        _sentence("Served by", handler_names),
        _sentence("Guarded by", index.target_names([node.key], "GUARDED_BY")),
        _sentence("Validated by", index.target_names(handlers, "VALIDATED_BY")),
        _sentence("Returns", index.target_names(handlers, "RETURNS")),
        _sentence("Models", index.target_names(handlers, "USES_MODEL")),
        " ".join(docs).strip(),
    )
    return Description(title, text, ", ".join(dict.fromkeys(filter(None, words))))


def _verb_words(route: Node) -> list[str]:
    words: list[str] = []
    for method in _list(route.attributes.get("methods")):
        if isinstance(method, str) and method in _VERBS:
            words.append(_VERBS[method])
    return words


def _describe_table(index: _LinkIndex, node: Node) -> Description:
    title = f"Table {node.name}"
    text = _lines(
        f"{title}.",
        _sentence("Columns", _column_texts(node)),
        _sentence("Foreign keys", map(str, _list(node.attributes.get("foreign_keys")))),
        _sentence("Model", index.source_names(node.key, "MAPS_TO")),
        _sentence("Migrations", map(str, _list(node.attributes.get("migrations")))),
    )
    return Description(title, text)


def _column_texts(table: Node) -> list[str]:
    texts: list[str] = []
    for column in _list(table.attributes.get("columns")):
        if isinstance(column, dict):
            nullable = ""
            if column.get("nullable"):
                nullable = ", may be null"
            texts.append(f"{column['name']} ({column.get('type', '')}{nullable})")
    return texts


def _describe_model(index: _LinkIndex, node: Node) -> Description:
    text = _lines(
        f"Model {_name(node.key)}.",
        node.doc.partition("\n\n")[0],
        _sentence("Table", index.target_names([node.key], "MAPS_TO")),
        _sentence("Fields", map(str, _list(node.attributes.get("fields")))),
        _sentence("Relations", _relation_texts(index, node)),
        _sentence("Used by", index.source_names(node.key, "USES_MODEL")),
    )
    return Description(f"Model {node.name}", text)


def _relation_texts(index: _LinkIndex, model: Node) -> list[str]:
    texts: list[str] = []
    for link in index.links_from[model.key]:
        if link.kind == "RELATES":
            name = link.attributes.get("name")
            relation_type = link.attributes.get("type")
            texts.append(f"{name} ({relation_type} {_name(link.target)})")
    return texts


_DESCRIBERS: Final[dict[str, Callable[[_LinkIndex, Node], Description]]] = {
    "route": _describe_route,
    "table": _describe_table,
    "model": _describe_model,
}
