"""The nodes that a question without names can be about, ranked by the hits of a search."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from ragstone.protocols import DocumentReader
from ragstone.text import query_terms, terms
from ragstone.types import Hit, Node, Scope
from ragstone_code.questions.graph_paths import find_paths
from ragstone_code.questions.graph_query import plain_name, string_list
from ragstone_code.questions.intents import RankedIntent, resource_actions

_RANK_OFFSET: Final = 4.0
"""Added to the rank of a hit before the division, so that the first hits do not decide alone."""
_LINKED_FACTOR: Final = 0.6
"""Factor for a node that is one or two links away from a hit."""
_NAME_BONUS: Final = 1.0
"""Bonus if all words of a node's name are in the question."""
_LONG_NAME_BONUS: Final = 0.25
"""Bonus for each further word of a name: `database_hosts` is more likely than `databases`."""
_MATCHING_VERB_FACTOR: Final = 1.5
"""Factor for a route whose action fits the verbs of the question."""
_OTHER_VERB_FACTOR: Final = 0.7
_METHODS: Final[Mapping[str, tuple[str, ...]]] = {
    "store": ("POST",),
    "update": ("PUT", "PATCH"),
    "destroy": ("DELETE",),
    "show": ("GET",),
    "index": ("GET",),
}
"""HTTP methods of each resource action."""
_NEAR_LINKS: Final = (
    "HANDLED_BY",
    "MAPS_TO",
    "LISTENS",
    "CREATES",
    "ALTERS",
    "RENAMES",
    "PROTECTED_BY",
    "OBSERVED_BY",
    "FIRES",
    "VALIDATED_BY",
    "DISPATCHES",
    "BINDS",
)
_COMMON_KINDS: Final = frozenset(
    {"class", "method", "function", "constructor", "file", "trait", "interface", "column"}
)
"""Kinds of which every file has many; a hit on one of them says nothing."""
_MAX_FILES: Final = 12
_MAX_NODES_OF_FILES: Final = 5000
_MAX_LINKED_PATHS: Final = 20
_PARAMETER: Final = re.compile(r"\{[^}]*\}|<[^>]*>")
_NOISE_WORDS: Final = frozenset({"api", "rest", "v1", "v2", "web"})
_WORD: Final = re.compile("[a-z]+")
_WEB_ONLY: Final = re.compile(
    r"\bweb (?:interface|site|pages?|ui|routes?|forms?|views?)\b|\bweb(?:site|page)s?\b|\bin (?:the|a) browser\b|"
    r"\bnot (?:\w+ ){0,2}api\b|\b(?:user|graphical) interface\b"
)
"""Words that ask for the pages of an application and not for its API."""
_API_GUARDS: Final = frozenset({"api", "auth:api", "auth:sanctum"})


def kinds_of(intents: Sequence[RankedIntent]) -> tuple[str, ...]:
    """Return the kinds of nodes that the intents can be about."""
    kinds: list[str] = []
    for ranked in intents:
        kinds += [kind for kind in ranked.intent.anchors if kind not in _COMMON_KINDS]
    return tuple(dict.fromkeys(kinds))


def rank_candidates(
    store: DocumentReader,
    scope: Scope,
    question: str,
    *,
    hits: Iterable[Sequence[Hit]],
    intents: Sequence[RankedIntent],
) -> list[tuple[Node, float]]:
    """Return the nodes that a question can be about with their scores, best first; `hits` are lists of a search."""
    finder = _CandidateFinder(store, scope, kinds_of(intents))
    scores: dict[str, float] = {}
    nodes: dict[str, Node] = {}
    for hit_list in hits:
        for node, score in finder.find(hit_list):
            nodes[node.key] = node
            scores[node.key] = scores.get(node.key, 0.0) + score
    words = _question_words(question)
    actions = resource_actions(_WORD.findall(question.lower()))
    kind_factors = _kind_factors(intents)
    rows: list[tuple[Node, float]] = []
    web_only = bool(_WEB_ONLY.search(question.lower()))
    for key, node in nodes.items():
        if web_only and _is_api_route(node):
            continue
        name_factor = 1 + _NAME_BONUS * _name_similarity(node, words)
        score = (
            scores[key] * kind_factors[node.kind] * name_factor * _verb_factor(node, actions)
        )
        rows.append((node, score))
    return sorted(rows, key=lambda row: (-row[1], row[0].key))


def shares_word(
    node: Node, question: str, intents: Iterable[RankedIntent], description: str
) -> bool:
    """Return whether a question has a word of a node's name or description, apart from the words that ask."""
    for ranked in intents:
        for cue, _ in ranked.intent.cues:
            question = cue.sub(" ", question)
    words = frozenset(query_terms(question))
    own_words = set(terms(f"{plain_name(node.key)} {node.name} {description}"))
    for attribute in ("name", "action", "uri"):
        own_words.update(terms(str(node.attributes.get(attribute) or "")))
    return not words.isdisjoint(own_words)


def _is_api_route(node: Node) -> bool:
    """Return whether a route belongs to an API: by its path or by its middleware."""
    if node.kind != "route":
        return False
    path = f"/{node.attributes.get('uri') or ''}/"
    guards = string_list(node.attributes.get("middleware"))
    return "/api/" in path or not _API_GUARDS.isdisjoint(guards)


def _kind_factors(intents: Sequence[RankedIntent]) -> dict[str, float]:
    """Return a factor for each kind of node by the weight of its intents; 1 for the strongest."""
    strongest = max(ranked.weight for ranked in intents)
    factors: dict[str, float] = {}
    for ranked in intents:
        factor = (ranked.weight / strongest) ** 2
        for kind in ranked.intent.anchors:
            factors[kind] = max(factors.get(kind, 0.0), factor)
    return factors


@dataclass(frozen=True)
class _CandidateFinder:
    """Finds the nodes of some kinds that hits lead to."""

    store: DocumentReader
    scope: Scope
    kinds: Sequence[str]

    def find(self, hits: Sequence[Hit]) -> Iterator[tuple[Node, float]]:
        """Yield the nodes that hits describe or contain, and nodes linked to them, with their scores."""
        described = self._described_nodes(hits)
        file_nodes = self._nodes_of_files(hits)
        for rank, hit in enumerate(hits):
            score = 1.0 / (_RANK_OFFSET + rank)
            key = hit.metadata.get("key")
            if key is not None:
                nodes = [described[str(key)]] if str(key) in described else []
            else:
                nodes = [node for node in file_nodes if _contains(hit, node)]
                score /= max(1, len(nodes))
            for node in nodes:
                if node.kind in self.kinds:
                    yield node, score
                else:
                    yield from (
                        (linked, score * _LINKED_FACTOR) for linked in self._linked_nodes(node)
                    )

    def _described_nodes(self, hits: Sequence[Hit]) -> dict[str, Node]:
        """Return the nodes that hits describe, by key."""
        keys = [str(hit.metadata["key"]) for hit in hits if "key" in hit.metadata]
        if not keys:
            return {}
        nodes = self.store.graph.nodes(
            self.scope,
            keys=keys,
            limit=len(keys),
        )
        return {node.key: node for node in nodes}

    def _nodes_of_files(self, hits: Sequence[Hit]) -> list[Node]:
        """Return the nodes in the files of the first hits."""
        uris = dict.fromkeys(hit.source_doc_id for hit in hits if "key" not in hit.metadata)
        files = list(uris)[:_MAX_FILES]
        if not files:
            return []
        return self.store.graph.nodes(self.scope, uris=files, limit=_MAX_NODES_OF_FILES)

    def _linked_nodes(self, node: Node) -> list[Node]:
        """Return the nodes of the right kinds that are at most two links away."""
        for kind in self.kinds:
            for steps in find_paths(node.kind, kind, _NEAR_LINKS):
                if len(steps) > 2:
                    continue
                walked = self.store.graph.walk(
                    self.scope,
                    [node.key],
                    steps,
                    limit=_MAX_LINKED_PATHS,
                )
                ends = (path.nodes[-1] for path in walked)
                linked = {end.key: end for end in ends if end.kind in self.kinds}
                if linked:
                    return list(linked.values())
        return []


def _contains(hit: Hit, node: Node) -> bool:
    """Return whether a node is in the lines of a hit."""
    return (
        node.uri == hit.source_doc_id and hit.span.line_start <= node.line <= hit.span.line_end
    )


def _name_similarity(node: Node, words: frozenset[str]) -> float:
    """Return the share of a name's words that the question has, higher for longer names; the best name counts."""
    similarities = [0.0]
    for name_words in _name_words(node):
        own_words = frozenset(name_words) - _NOISE_WORDS
        if own_words:
            share = len(own_words & words) / len(own_words)
            similarities.append(share * (1 + _LONG_NAME_BONUS * (len(own_words) - 1)))
    return max(similarities)


def _name_words(node: Node) -> list[list[str]]:
    """Return the words of each current and former name of a node; a route has the words of its path."""
    if node.kind == "route":
        path = _PARAMETER.sub(" ", str(node.attributes.get("uri") or ""))
        return [query_terms(path)]
    former_names = node.attributes.get("former_names")
    names = [node.name]
    if isinstance(former_names, list):
        names += map(str, former_names)
    return [terms(name) for name in names]


def _question_words(question: str) -> frozenset[str]:
    """Return the words of a question, and each pair of neighbours as the words of one name."""
    words = list(query_terms(question))
    for first, second in pairwise(_WORD.findall(question.lower())):
        words += terms(f"{first}_{second}")
    return frozenset(words)


def _verb_factor(node: Node, actions: frozenset[str]) -> float:
    """Return a factor for a route by whether its HTTP methods fit the verbs of the question."""
    if node.kind != "route" or not actions:
        return 1.0
    methods = node.attributes.get("methods")
    own_methods = {str(method) for method in methods} if isinstance(methods, list) else set()
    fits = any(not own_methods.isdisjoint(_METHODS[action]) for action in actions)
    return _MATCHING_VERB_FACTOR if fits else _OTHER_VERB_FACTOR
