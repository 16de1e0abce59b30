"""From names in a question to nodes of the graph, through the aliases that are stored."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ragstone.protocols import DocumentReader
from ragstone.text import query_terms, terms
from ragstone.types import Alias, Node, Scope
from ragstone_code.questions.mentions import Mention, mentions, normalised

_MOST_ROUTES: Final = 20_000
_ORDER: Final = (
    "route_name", "uri", "table", "class", "short_class", "method", "short_method", "event", "middleware",
    "route_resource", "config", "column", "migration", "former_table",
)  # fmt: skip
"""Which kind of alias is meant where one name has several: `users` beside `route` is one, beside `table` another."""


_SAID: Final = {
    "table": ("table",), "resource": ("route_resource",), "resources": ("route_resource",), "event": ("event",),
    "apiresource": ("route_resource",), "middleware": ("middleware",), "route": ("route_name", "uri"),
    "endpoint": ("route_name", "uri"), "uri": ("uri",), "url": ("uri",), "config": ("config",), "column": ("column",),
}  # fmt: skip
"""Kinds of alias that the word beside a name says it is."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """What a name stands for: one node, or several where the name does not tell them apart."""

    mention: Mention
    alias: str
    """The kind of alias it was found by."""
    nodes: tuple[Node, ...]

    @property
    def node(self) -> Node:
        """Return the likeliest."""
        return self.nodes[0]


@dataclass(frozen=True, slots=True)
class Linked:
    """The names of a question: those that are known, and those that should be and are not."""

    anchors: tuple[Anchor, ...]
    unknown: tuple[Mention, ...]
    mentions: tuple[Mention, ...]


def link(store: DocumentReader, scope: Scope, question: str) -> Linked:
    """Return what the names of a question stand for, in the order they are written."""
    return resolve(store, scope, question, mentions(question))


def resolve(store: DocumentReader, scope: Scope, question: str, named: Sequence[Mention]) -> Linked:
    """Return what these names stand for; other words of the question tell same names apart."""
    aliases = _by_name(
        store.graph.find_aliases(scope, list(dict.fromkeys(form for one in named for form in one.forms)))
    )
    meant = [(one, _meant(one, aliases)) for one in named]
    keys = list(dict.fromkeys(alias.key for _, found in meant for alias in found))
    nodes = {node.key: node for node in store.graph.nodes(scope, keys=keys, limit=max(len(keys), 1))} if keys else {}
    words = frozenset(query_terms(question))
    anchors: list[Anchor] = []
    unknown: list[Mention] = []
    for mention, found in meant:
        candidates = [nodes[alias.key] for alias in found if alias.key in nodes]
        if mention.methods:
            candidates = [node for node in candidates if _answers(node, mention.methods)]
        if not candidates and (mention.methods or (mention.cue in ("route", "endpoint") and "/" in mention.text)):
            candidates = _by_pattern(store, scope, mention)
        if candidates:
            alias = found[0].kind if found else "uri"
            chosen = candidates if alias == "route_resource" else _narrowed(candidates, words, mention)
            anchors.append(Anchor(mention, alias, tuple(chosen)))
        elif not mention.plain and (mention.cue or mention.methods):
            unknown.append(mention)
    return Linked(tuple(_longest(anchors)), tuple(unknown), tuple(named))


def _by_name(aliases: Iterable[Alias]) -> dict[str, list[Alias]]:
    found: dict[str, list[Alias]] = {}
    for alias in aliases:
        found.setdefault(alias.name.lower(), []).append(alias)
    return found


def _meant(mention: Mention, aliases: dict[str, list[Alias]]) -> list[Alias]:
    """Return the aliases of the first form that is one, all of the kind that is likeliest."""
    for form in mention.forms:
        found = [one for one in aliases.get(form.lower(), ()) if not mention.kinds or one.kind in mention.kinds]
        if found:
            kind = min((one.kind for one in found), key=lambda kind: _rank(kind, mention))
            same = [one for one in found if one.kind.removeprefix("short_") == kind.removeprefix("short_")]
            exact = [one for one in same if one.name == form]
            return exact or same
    return []


def _rank(kind: str, mention: Mention) -> tuple[bool, int]:
    """Return how late a kind of alias comes: first what the word beside the name says."""
    return kind not in _SAID.get(mention.cue, ()), _ORDER.index(kind) if kind in _ORDER else len(_ORDER)


def _answers(node: Node, methods: Sequence[str]) -> bool:
    """Return whether a route answers one of these HTTP methods."""
    own = node.attributes.get("methods")
    if not isinstance(own, list) or "ANY" in methods:
        return True
    asked = {"GET" if method == "HEAD" else method for method in methods}
    return bool(asked & {str(method) for method in own})


def _by_pattern(store: DocumentReader, scope: Scope, mention: Mention) -> list[Node]:
    """Return the routes that a URI with values in it, or without its prefix, can only be."""
    asked = mention.forms[0]
    routes = [
        node
        for node in store.graph.nodes(scope, kinds=("route",), limit=_MOST_ROUTES)
        if _answers(node, mention.methods)
    ]
    matching = [node for node in routes if re.fullmatch(_pattern(str(node.attributes.get("uri", ""))), asked)]
    if not matching and "/" in asked:
        matching = [node for node in routes if normalised(str(node.attributes.get("uri", ""))).endswith(f"/{asked}")]
    least = min((str(node.attributes.get("uri", "")).count("{") for node in matching), default=0)
    return [node for node in matching if str(node.attributes.get("uri", "")).count("{") == least]


def _pattern(uri: str) -> str:
    """Return the expression for the URIs a route's URI stands for."""
    pieces = re.split(r"(/?\{[^}]*\})", uri)
    return "".join(_piece(one) if one.endswith("}") else re.escape(one) for one in pieces)


def _piece(parameter: str) -> str:
    slash = "/" if parameter.startswith("/") else ""
    return f"(?:{slash}[^/]+)?" if parameter.endswith("?}") else f"{slash}[^/]+"


def _narrowed(nodes: Sequence[Node], words: frozenset[str], mention: Mention) -> list[Node]:
    """Return the nodes that share most with the question, the likeliest first."""
    if len(nodes) == 1:
        return list(nodes)
    own = frozenset(terms(mention.text))
    shared = {node.key: len((words - own) & frozenset(terms(f"{node.key} {node.uri}"))) for node in nodes}
    most = max(shared.values())
    best = [node for node in nodes if shared[node.key] == most]
    return sorted(best, key=lambda node: (_aside(node), len(node.key), node.key))


def _aside(node: Node) -> tuple[bool, bool, bool, bool]:
    """Return what makes a node less likely to be meant: it is gone, no file has it, a test does, no framework knows."""
    tests = bool(re.search(r"(^|/)tests?(/|$)", node.uri, re.IGNORECASE))
    return bool(node.attributes.get("dropped")), not node.uri, tests, not node.framework


def _longest(anchors: Sequence[Anchor]) -> list[Anchor]:
    """Return the anchors without those that lie inside another one, and each node's first only.

    The routes of a resource and a class of that name are both kept: what is asked tells which is meant.
    """
    kept: list[Anchor] = []
    for one in sorted(anchors, key=lambda anchor: (anchor.mention.plain, -len(anchor.mention.text))):
        over = [other for other in kept if _meet(one.mention, other.mention)]
        inside = [other for other in over if (other.alias == "route_resource") == (one.alias == "route_resource")]
        if not inside and not any(other.nodes == one.nodes for other in kept):
            kept.append(one)
    return sorted(kept, key=lambda anchor: anchor.mention.at)


def _meet(one: Mention, other: Mention) -> bool:
    return one.at < other.at + len(other.text) and other.at < one.at + len(one.text)
