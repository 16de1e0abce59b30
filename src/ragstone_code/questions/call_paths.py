"""Answers how one function reaches another: the shortest chain of written calls."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ragstone.protocols import DocumentReader
from ragstone.types import GraphAnswer, Json, Link, Node, Scope, Unresolved
from ragstone_code.questions.graph_query import (
    link_place_text,
    place_text,
    place_texts,
    places_of_links,
    places_of_nodes,
    plain_name,
    short_name,
)
from ragstone_code.questions.named_nodes import Anchor
from ragstone_code.questions.unresolved_calls import (
    is_possible_call,
    places_of_calls,
    unresolved_note,
)

_ASKS_FOR_PATH: Final = re.compile(
    r"\breach(?:es)?\b|\bleads? to\b|\bends? up (?:in|calling)\b|\b(?:path|way|chain|route) from\b|\bget from\b"
)
_ASKS_FOR_CALL: Final = re.compile(r"^(?:do|does|did|can)\b.*\b(?:call|invoke|use|reach)\b")
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
    if not _ASKS_FOR_PATH.search(text) and not _ASKS_FOR_CALL.search(text):
        return None
    named = _named_code(anchors)
    if len(named) < 2:
        return None
    starts, ends = named[0].nodes, named[1].nodes
    graph = _CallGraph(store, scope)
    path = graph.shortest_path(starts, ends)
    if path is None:
        return _no_path(starts, ends, graph.unresolved_calls(starts, ends))
    nodes = (*starts, *ends)
    sentence = _path_sentence(starts, path)
    if _ASKS_FOR_CALL.search(text):
        sentence = f"{'Yes' if len(path) == 1 else 'Not directly'}: {sentence}"
    return GraphAnswer(
        "call_path",
        sentence,
        {"path": [plain_name(link.target) for link in path]},
        nodes,
        evidence=(*places_of_links(path), *places_of_nodes(nodes)),
    )


def _no_path(
    starts: Sequence[Node], ends: Sequence[Node], unresolved: Sequence[Unresolved]
) -> GraphAnswer:
    """Return the answer that no chain is known; it lists the calls that may be a direct call."""
    nodes = (*starts, *ends)
    places = places_of_calls(unresolved)
    facts: dict[str, Json] = {"path": []}
    if places:
        facts["unresolved"] = place_texts(places)
    sentence = (
        f"No chain of at most {_MAX_HOPS} calls with written types leads from"
        f" {plain_name(starts[0].key)} to {plain_name(ends[0].key)};"
        " calls whose receiver has no written type are not followed"
        f"{unresolved_note(unresolved)}."
    )
    evidence = (*places, *places_of_nodes(nodes))
    return GraphAnswer("call_path", sentence, facts, nodes, evidence=evidence)


def _named_code(anchors: Sequence[Anchor]) -> list[Anchor]:
    """Return the functions and classes that a question names, in its order."""
    named: dict[int, Anchor] = {}
    for anchor in anchors:
        if anchor.node.kind in _CODE_KINDS:
            named.setdefault(anchor.mention.at, anchor)
    return [named[at] for at in sorted(named)]


def _path_sentence(starts: Sequence[Node], path: Sequence[Link]) -> str:
    """Return a chain of calls as a sentence."""
    source = path[0].source
    places = {node.key: place_text(node) for node in starts}
    steps = [f"{plain_name(link.target)} ({link_place_text(link)})" for link in path]
    return f"{plain_name(source)}{places.get(source, '')} calls {', which calls '.join(steps)}."


@dataclass(frozen=True, slots=True)
class _CallGraph:
    """The calls between the functions of a project."""

    store: DocumentReader
    scope: Scope

    def shortest_path(self, starts: Sequence[Node], ends: Sequence[Node]) -> list[Link] | None:
        """Return the links of the shortest chain of calls; None if there is none."""
        targets = set(self._own_keys(ends))
        level = self._own_keys(starts)
        ways: dict[str, list[Link]] = {key: [] for key in level}
        for _ in range(_MAX_HOPS):
            new: dict[str, list[Link]] = {}
            for link in self.store.graph.links(self.scope, level, kinds=("CALLS",)):
                if link.target not in ways:
                    new.setdefault(link.target, [*ways[link.source], link])
            reached = [key for key in new if key in targets]
            if reached:
                return new[reached[0]]
            if not new or len(ways) > _MAX_REACHED:
                return None
            ways |= new
            level = list(new)
        return None

    def unresolved_calls(
        self, starts: Sequence[Node], ends: Sequence[Node]
    ) -> list[Unresolved]:
        """Return the calls in the first functions that may call one of the others."""
        names = {short_name(node) for node in ends}
        rows = self.store.graph.unresolved(self.scope, sources=self._own_keys(starts))
        return [row for row in rows if row.name in names and is_possible_call(row)]

    def _own_keys(self, nodes: Sequence[Node]) -> list[str]:
        """Return the keys of functions and of the functions inside them; of a class, also those of its methods."""
        keys = [node.key for node in nodes]
        for node in nodes:
            start = plain_name(node.key)
            uris = [node.uri] if node.uri else []
            members = self.store.graph.nodes(self.scope, uris=uris, limit=_MAX_MEMBERS)
            for member in members:
                if plain_name(member.key).startswith((f"{start}.", f"{start}::")):
                    keys.append(member.key)
        return keys
