"""Answers how one function reaches another: the shortest chain of written calls."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ragstone.protocols import DocumentReader
from ragstone.types import GraphAnswer, Link, Node, Scope
from ragstone_code.questions.anchors import Anchor
from ragstone_code.questions.graph_query import (
    link_place_text,
    place_text,
    places_of_links,
    places_of_nodes,
    plain_name,
)

_ASKS_FOR_PATH: Final = re.compile(
    r"\breach(?:es)?\b|\bleads? to\b|\bends? up (?:in|calling)\b|\b(?:path|way|chain|route) from\b|\bget from\b"
)
_CODE_KINDS: Final = frozenset(
    {"function", "method", "controller_method", "constructor", "class"}
)
_MAX_HOPS: Final = 8
_MAX_REACHED: Final = 20_000
_MAX_MEMBERS: Final = 5_000


def find_call_path(
    store: DocumentReader, scope: Scope, text: str, anchors: Sequence[Anchor]
) -> GraphAnswer | None:
    """Return the chain of calls between the first two functions of a question; None if it asks for no chain.

    `text` is the question without its names.
    """
    if not _ASKS_FOR_PATH.search(text):
        return None
    named: dict[int, Anchor] = {}
    for anchor in anchors:
        if anchor.node.kind in _CODE_KINDS:
            named.setdefault(anchor.mention.at, anchor)
    if len(named) < 2:
        return None
    starts, ends, *_ = [named[at].nodes for at in sorted(named)]
    path = _shortest_path(store, scope, starts, ends)
    start, end = plain_name(starts[0].key), plain_name(ends[0].key)
    if path is None:
        sentence = (
            f"No chain of at most {_MAX_HOPS} calls with written types leads from {start} to {end};"
            " calls whose receiver has no written type are not followed."
        )
        return GraphAnswer(
            "call_path",
            sentence,
            {"path": []},
            tuple((*starts, *ends)),
            evidence=tuple(places_of_nodes([*starts, *ends])),
        )
    texts = [plain_name(path[0].source) if path else start]
    texts += [f"{plain_name(link.target)} ({link_place_text(link)})" for link in path]
    nodes = {node.key: node for node in (*starts, *ends)}
    first = nodes.get(path[0].source) if path else None
    place = place_text(first) if first else ""
    return GraphAnswer(
        "call_path",
        f"{texts[0]}{place} calls {', which calls '.join(texts[1:])}.",
        {"path": [plain_name(link.target) for link in path]},
        tuple((*starts, *ends)),
        evidence=tuple([*places_of_links(path), *places_of_nodes([*starts, *ends])]),
    )


def _shortest_path(
    store: DocumentReader, scope: Scope, starts: Sequence[Node], ends: Sequence[Node]
) -> list[Link] | None:
    """Return the links of the shortest chain of calls; None if there is none."""
    targets = {key for node in ends for key in _own_keys(store, scope, node)}
    level = [key for node in starts for key in _own_keys(store, scope, node)]
    ways: dict[str, list[Link]] = {key: [] for key in level}
    for _ in range(_MAX_HOPS):
        next_level: list[str] = []
        for link in store.graph.links(scope, level, kinds=("CALLS",)):
            if link.target in ways:
                continue
            ways[link.target] = [*ways[link.source], link]
            if link.target in targets:
                return ways[link.target]
            next_level.append(link.target)
        level = next_level
        if not level or len(ways) > _MAX_REACHED:
            break
    return None


def _own_keys(store: DocumentReader, scope: Scope, node: Node) -> list[str]:
    """Return the key of a function and of the functions inside it; of a class, also those of its methods."""
    if not node.uri:
        return [node.key]
    start = plain_name(node.key)
    members = store.graph.nodes(scope, uris=[node.uri], limit=_MAX_MEMBERS)
    inner = [
        member.key
        for member in members
        if plain_name(member.key).startswith((f"{start}.", f"{start}::"))
    ]
    return [node.key, *inner]
