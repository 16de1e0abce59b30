"""What a question without names may be about: the nodes that search finds for it, the likeliest first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from ragstone.protocols import DocumentReader
from ragstone.text import query_terms, terms
from ragstone.types import Hit, Node, Scope
from ragstone_code.questions.intents import Wanted, verbs
from ragstone_code.questions.plan import paths

_LATE: Final = 4.0
"""Added to a hit's rank before it is turned round: the first hits should not decide alone."""
_REACHED: Final = 0.6
"""What a node counts that is one or two links away from what was found."""
_SAME_WORDS: Final = 1.0
"""What it adds that all words of a node's name are in the question."""
_VERB, _OTHER_VERB = 1.5, 0.7
"""What a route's share is multiplied by when the verbs of the question are those of its action, or of another one."""
_METHODS: Final[Mapping[str, tuple[str, ...]]] = {
    "store": ("POST",),
    "update": ("PUT", "PATCH"),
    "destroy": ("DELETE",),
    "show": ("GET",),
    "index": ("GET",),
}
_NEAR: Final = (
    *("HANDLED_BY", "MAPS_TO", "LISTENS", "CREATES", "ALTERS", "RENAMES", "PROTECTED_BY", "OBSERVED_BY", "FIRES"),
    *("VALIDATED_BY", "DISPATCHES", "BINDS"),
)
_ANYTHING: Final = frozenset({"class", "method", "function", "constructor", "file", "trait", "interface", "column"})
"""Kinds that every file is full of: that one was found says nothing."""
_MOST_FILES: Final = 12
_LONGER: Final = 0.25
"""What each further word of a name adds that is in the question: `database_hosts` is meant before `databases`."""
_PARAMETER: Final = re.compile(r"\{[^}]*\}|<[^>]*>")
_NOISE: Final = frozenset({"api", "rest", "v1", "v2", "web"})
_WORD: Final = re.compile("[a-z]+")


def kinds_of(wanted: Sequence[Wanted]) -> tuple[str, ...]:
    """Return the kinds of nodes that what is asked can be asked of."""
    return tuple(dict.fromkeys(kind for one in wanted for kind in one.intent.anchors if kind not in _ANYTHING))


def candidates(
    store: DocumentReader, scope: Scope, question: str, *, hits: Iterable[Sequence[Hit]], wanted: Sequence[Wanted]
) -> list[tuple[Node, float]]:
    """Return the nodes a question may be about with their shares, best first."""
    kinds = kinds_of(wanted)
    shares: dict[str, float] = {}
    nodes: dict[str, Node] = {}
    for found in hits:
        for node, share in _found(store, scope, found, kinds):
            nodes[node.key] = node
            shares[node.key] = shares.get(node.key, 0.0) + share
    words = _with_pairs(question)
    actions = verbs(_WORD.findall(question.lower()))
    fits = _fits(wanted)
    scored = [
        (node, shares[key] * fits[node.kind] * (1 + _SAME_WORDS * _shared(node, words)) * _by_verb(node, actions))
        for key, node in nodes.items()
    ]
    return sorted(scored, key=lambda row: (-row[1], row[0].key))


def _fits(wanted: Sequence[Wanted]) -> dict[str, float]:
    """Return how much of what is asked each kind of node can be asked, 1 for what is asked most."""
    most = max(one.weight for one in wanted)
    fits: dict[str, float] = {}
    for one in wanted:
        for kind in one.intent.anchors:
            fits[kind] = max(fits.get(kind, 0.0), (one.weight / most) ** 2)
    return fits


def _found(
    store: DocumentReader, scope: Scope, hits: Sequence[Hit], kinds: Sequence[str]
) -> Iterable[tuple[Node, float]]:
    """Yield the nodes that hits are about or hold, and those that are near them and can be asked."""
    files = list(dict.fromkeys(hit.source_doc_id for hit in hits if "key" not in hit.metadata))[:_MOST_FILES]
    inside = store.graph.nodes(scope, uris=files, limit=5000) if files else []
    keys = [str(hit.metadata["key"]) for hit in hits if "key" in hit.metadata]
    told = {node.key: node for node in store.graph.nodes(scope, keys=keys, limit=max(1, len(keys)))} if keys else {}
    for rank, hit in enumerate(hits):
        share = 1.0 / (_LATE + rank)
        if "key" in hit.metadata:
            about = [told[key] for key in (str(hit.metadata["key"]),) if key in told]
        else:
            about = [node for node in inside if _holds(hit, node)]
            share /= max(1, len(about))
        for node in about:
            if node.kind in kinds:
                yield node, share
            else:
                yield from ((one, share * _REACHED) for one in _near(store, scope, node, kinds))


def _holds(hit: Hit, node: Node) -> bool:
    return node.uri == hit.source_doc_id and hit.span.line_start <= node.line <= hit.span.line_end


def _near(store: DocumentReader, scope: Scope, node: Node, kinds: Sequence[str]) -> list[Node]:
    """Return what can be asked and is at most two links away."""
    for kind in kinds:
        for steps in paths(node.kind, kind, _NEAR):
            if len(steps) > 2:
                continue
            walked = store.graph.walk(scope, [node.key], steps, limit=20)
            found = {path.nodes[-1].key: path.nodes[-1] for path in walked if path.nodes[-1].kind in kinds}
            if found:
                return list(found.values())
    return []


def _shared(node: Node, words: frozenset[str]) -> float:
    """Return the share of a node's own words that the question has, more where there are more of them."""
    return max((_share(frozenset(own) - _NOISE, words) for own in _own_words(node)), default=0.0)


def _own_words(node: Node) -> list[list[str]]:
    """Return the words of each name a node has or had; a route's are those of its path."""
    if node.kind == "route":
        return [query_terms(_PARAMETER.sub(" ", str(node.attributes.get("uri") or "")))]
    former = node.attributes.get("former_names")
    return [terms(name) for name in (node.name, *(map(str, former) if isinstance(former, list) else ()))]


def _share(own: frozenset[str], words: frozenset[str]) -> float:
    return len(own & words) / len(own) * (1 + _LONGER * (len(own) - 1)) if own else 0.0


def _with_pairs(question: str) -> frozenset[str]:
    """Return the words of a question, and those that two of them side by side would be as one name."""
    raw = _WORD.findall(question.lower())
    pairs = (term for one, other in pairwise(raw) for term in terms(f"{one}_{other}"))
    return frozenset((*query_terms(question), *pairs))


def _by_verb(node: Node, actions: frozenset[str]) -> float:
    if node.kind != "route" or not actions:
        return 1.0
    methods = node.attributes.get("methods")
    own = [str(one) for one in methods] if isinstance(methods, list) else []
    return _VERB if any(method in _METHODS[action] for action in actions for method in own) else _OTHER_VERB
