"""Which node a person means: by its key, by a name it has, or by a path; and what to say where that is not clear."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

from ragstone.errors import InputError, NotFound
from ragstone.protocols import DocumentReader
from ragstone.types import Alias, Node, Scope

_SHOWN: Final = 8
_NEAR: Final = 5
_MOST_NAMES: Final = 20_000
_WEAK: Final = frozenset(("route_resource", "former_table"))
"""Names that many have, or that something had once: only where nothing else has the name."""
_PARAMETER: Final = re.compile(r"\{[^}]*\}|<[^>\s]+>")
"""A parameter in the path of a route: aliases have it bare, as people name it differently."""
_PARTED: Final = re.compile(r"[\\.:@#/ ]")
_LOOSE: Final = frozenset(("short_class", "short_method", "route_resource", "column", "former_table"))
"""Names that are used where nothing has the name in full."""


def found(store: DocumentReader, scope: Scope, name: str, *, kinds: Sequence[str] | None = None) -> list[Node]:
    """Return the nodes that a name stands for: those that have it in full, or else those a framework knows."""
    name = name.strip()
    bare = name.lstrip("/\\")
    exact = _of_kinds(store.graph.nodes(scope, keys=[name, f"file:{name}"]), kinds)
    if exact:
        return [node for node in exact if node.key == exact[0].key]
    aliases = store.graph.find_aliases(scope, [name, bare, _PARAMETER.sub("{}", bare).rstrip("/")])
    for chosen in _narrowed(aliases, name):
        keys = list(dict.fromkeys(alias.key for alias in chosen))
        collections = {alias.collection for alias in chosen}
        nodes = [node for node in store.graph.nodes(scope, keys=keys) if node.collection in collections]
        if nodes := _of_kinds(nodes, kinds):
            return [node for node in nodes if node.framework] or nodes
    return []


def _narrowed(aliases: list[Alias], name: str) -> list[list[Alias]]:
    """Return choices of aliases, the strictest first; a bare word is nothing's name in full."""
    full = [alias for alias in aliases if alias.kind not in _LOOSE]
    written = [alias for alias in aliases if alias.name == name]
    if not _PARTED.search(name):
        own = [alias for alias in aliases if alias.kind not in _WEAK]
        return [[alias for alias in own if alias.name == name], own, aliases]
    return [[alias for alias in full if alias.name == name], full, written, aliases]


def _of_kinds(nodes: list[Node], kinds: Sequence[str] | None) -> list[Node]:
    return nodes if kinds is None else [node for node in nodes if node.kind in kinds]


def one(store: DocumentReader, scope: Scope, name: str, *, kinds: Sequence[str] | None = None) -> Node:
    """Return the node a name stands for; `NotFound` with names like it, `InputError` where it stands for several."""
    nodes = found(store, scope, name, kinds=kinds)
    if len(nodes) == 1:
        return nodes[0]
    if nodes:
        keys = ", ".join(node.key for node in nodes[:_SHOWN]) + (", …" if len(nodes) > _SHOWN else "")
        raise InputError(f"{name!r} stands for {len(nodes)} things", hint=f"say which: {keys}")
    raise NotFound(f"nothing in the graph is called {name!r}", hint=_near(store, scope, name, kinds))


def _near(store: DocumentReader, scope: Scope, name: str, kinds: Sequence[str] | None) -> str:
    """Return names that are like one that is not there, as a hint."""
    nodes = store.graph.nodes(scope, kinds=kinds, limit=_MOST_NAMES)
    if not nodes:
        return "`ragstone sync` makes the graph, of code in a language that is known"
    bare = name.rpartition(":")[2].casefold()
    keys: dict[str, list[str]] = {}
    for node in nodes:
        for one in (node.name, node.key.partition(":")[2]):
            keys.setdefault(one.casefold(), []).append(node.key)
    near = get_close_matches(bare, keys, n=_NEAR, cutoff=0.6) or [one for one in keys if bare and bare in one]
    shown = list(dict.fromkeys(keys[one][0] for one in near))[:_NEAR]
    return f"perhaps {', '.join(shown)}" if shown else "`ragstone graph report` says what is known"
