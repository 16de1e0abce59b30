"""Finds the node that a person means by a key, a name or a path."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

from ragstone.code.method_names import last_part, methods_named, nodes_imported_as
from ragstone.errors import InputError, NotFound
from ragstone.protocols import GraphReader
from ragstone.types import Alias, Node, Scope

_MAX_LISTED: Final = 8
_MAX_SUGGESTIONS: Final = 5
_MAX_NAMES: Final = 20_000
_WEAK_KINDS: Final = frozenset(("route_resource", "former_table", "uri"))
"""Aliases that many nodes have, that a node had once, or the path of a route: they need another sign than one word."""
_LOOSE_KINDS: Final = frozenset(
    ("short_class", "short_method", "route_resource", "column", "former_table")
)
"""Aliases that are used only if no node has the full name."""
_NAMED_AFTER_CODE: Final = frozenset(("route", "middleware"))
"""Kinds of nodes that can have the name of the function or class behind them."""
_ROUTE_PARAMETER: Final = re.compile(r"\{[^}]*\}|<[^>\s]+>")
"""A parameter in the path of a route: aliases have it empty, because people name it differently."""
_ENDPOINT: Final = re.compile(
    r"((?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|ANY)(?:\|[A-Z]+)*) +(\S+)", re.IGNORECASE
)
"""HTTP methods and the path of a route: `GET /songs/{song}`."""
_SEPARATOR: Final = re.compile(r"[\\.:@#/ ]")


def find_node(
    graph: GraphReader, scope: Scope, name: str, *, kinds: Sequence[str] | None = None
) -> Node:
    """Return the node with a name; `NotFound` with similar names, `InputError` if several nodes have it."""
    nodes = find_nodes(graph, scope, name, kinds=kinds)
    if not nodes:
        hint = _suggest(graph, scope, name, kinds)
        raise NotFound(f"nothing in the graph is called {name!r}", hint=hint)
    if len(nodes) > 1:
        keys = [node.key for node in nodes[:_MAX_LISTED]]
        if len(set(keys)) < len(keys):  # the same file is in several collections
            keys = [f"{node.key} of the collection {node.collection}" for node in nodes]
            keys = keys[:_MAX_LISTED]
        if len(nodes) > _MAX_LISTED:
            keys.append("…")
        hint = f"say which: {', '.join(keys)}"
        raise InputError(f"{name!r} stands for {len(nodes)} things", hint=hint)
    return nodes[0]


def find_nodes(
    graph: GraphReader, scope: Scope, name: str, *, kinds: Sequence[str] | None = None
) -> list[Node]:
    """Return the nodes that a name can mean: by full name if possible, those of a framework before others.

    A word that is no alias means the methods of any class with this name.
    """
    name = name.strip()
    bare = name.lstrip("/\\")
    exact = _filter_kinds(graph.nodes(scope, keys=[name, f"file:{name}"]), kinds)
    if exact:
        best = exact[0].key
        return [node for node in exact if node.key == best]
    spellings = [name, bare, _ROUTE_PARAMETER.sub("{}", bare).rstrip("/")]
    aliases = graph.find_aliases(scope, spellings)
    for choice in _choices(aliases, name):
        nodes = _filter_kinds(_nodes_of_aliases(graph, scope, choice), kinds)
        if nodes:
            nodes = [node for node in nodes if node.framework] or nodes
            nodes = _with_methods_of_same_name(graph, scope, nodes, name)
            return _without_own_names(graph, scope, _filter_kinds(nodes, kinds))
    return _filter_kinds(_nodes_without_alias(graph, scope, name), kinds)


def _nodes_without_alias(graph: GraphReader, scope: Scope, name: str) -> list[Node]:
    """Return the nodes that a name without an alias can mean: routes, imported code, or methods of any class."""
    endpoint = _ENDPOINT.fullmatch(name)
    if endpoint:
        nodes = find_nodes(graph, scope, endpoint[2])
        return [node for node in nodes if _answers_method(node, endpoint[1].upper())]
    if _SEPARATOR.search(name):
        return nodes_imported_as(graph, scope, name)
    return methods_named(graph, scope, name)


def _with_methods_of_same_name(
    graph: GraphReader, scope: Scope, nodes: list[Node], name: str
) -> list[Node]:
    """Return the nodes of a word, with the methods spelt like it if the nodes are plain functions.

    A method has no alias without its class, but the word means it no less than a function.
    """
    if _SEPARATOR.search(name) or any(
        node.kind != "function" or node.framework for node in nodes
    ):
        return nodes
    methods = methods_named(graph, scope, name)
    return [*nodes, *(node for node in methods if last_part(node.name) == name)]


def _answers_method(node: Node, methods: str) -> bool:
    """Return whether a node is a route that answers one of some HTTP methods: `GET`, `GET|POST`."""
    own_methods = node.attributes.get("methods")
    if not isinstance(own_methods, list):
        return False
    asked = methods.replace("HEAD", "GET").split("|")
    return "ANY" in asked or not {*asked}.isdisjoint(map(str, own_methods))


def _without_own_names(graph: GraphReader, scope: Scope, nodes: list[Node]) -> list[Node]:
    """Return the nodes without routes and middleware whose code is among them: its connections name them.

    Frameworks of Python name a route or a guard after its function, so the name means the function.
    """
    named = [node.key for node in nodes if node.kind in _NAMED_AFTER_CODE]
    if not named or len(nodes) == len(named):
        return nodes
    keys = {node.key for node in nodes}
    handled = graph.links(scope, named, kinds=("HANDLED_BY",))
    served = {link.source for link in handled if link.target in keys}
    return [node for node in nodes if node.key not in served]


def _nodes_of_aliases(graph: GraphReader, scope: Scope, aliases: Sequence[Alias]) -> list[Node]:
    keys = dict.fromkeys(alias.key for alias in aliases)
    collections = {alias.collection for alias in aliases}
    nodes = graph.nodes(scope, keys=list(keys))
    return [node for node in nodes if node.collection in collections]


def _choices(aliases: list[Alias], name: str) -> list[list[Alias]]:
    """Return groups of aliases to try, the strictest first; a name of one word is never a full name."""
    if _SEPARATOR.search(name):
        full = [alias for alias in aliases if alias.kind not in _LOOSE_KINDS]
        return [_spelled(full, name), full, _spelled(aliases, name), aliases]
    strong = [alias for alias in aliases if alias.kind not in _WEAK_KINDS]
    return [_spelled(strong, name), strong, aliases]


def _spelled(aliases: list[Alias], name: str) -> list[Alias]:
    """Return the aliases with exactly this spelling."""
    return [alias for alias in aliases if alias.name == name]


def _filter_kinds(nodes: list[Node], kinds: Sequence[str] | None) -> list[Node]:
    if kinds is None:
        return nodes
    return [node for node in nodes if node.kind in kinds]


def _suggest(graph: GraphReader, scope: Scope, name: str, kinds: Sequence[str] | None) -> str:
    """Return a hint with names that are similar to an unknown one."""
    nodes = graph.nodes(scope, kinds=kinds, limit=_MAX_NAMES)
    if not nodes:
        return "`ragstone sync` makes the graph, of code in a language that is known"
    keys: dict[str, str] = {}
    for node in nodes:
        keys.setdefault(node.name.casefold(), node.key)
        keys.setdefault(node.key.partition(":")[2].casefold(), node.key)
    bare = name.rpartition(":")[2].casefold()
    similar = get_close_matches(bare, keys, n=_MAX_SUGGESTIONS, cutoff=0.6)
    if not similar and bare:
        similar = [other for other in keys if bare in other]
    similar_keys = dict.fromkeys(keys[other] for other in similar)
    suggestions = list(similar_keys)[:_MAX_SUGGESTIONS]
    if not suggestions:
        kinds = sorted({node.kind for node in nodes})
        return f"it has names of these kinds: {', '.join(kinds)}"
    return f"perhaps {', '.join(suggestions)}"
