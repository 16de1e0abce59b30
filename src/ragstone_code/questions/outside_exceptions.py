"""Answers about exceptions of other packages: the places in the project that raise them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ragstone.protocols import DocumentReader
from ragstone.types import GraphAnswer, Scope, Unresolved
from ragstone_code.questions.graph_query import (
    MAX_NAMED,
    Place,
    join_names,
    place_texts,
    plain_name,
)
from ragstone_code.questions.mentions import Mention
from ragstone_code.questions.named_nodes import LinkedNames

_RAISES: Final = "RAISES"
"""The kind of an unresolved reference to a type that is raised and that no file of the project defines."""
_ASKS_FOR_RAISES: Final = re.compile(r"\b(?:rais(?:e|es|ed|ing)|thr(?:ow|ows|owing|own))\b")
_SEPARATOR: Final = re.compile(r"::|[.\\]")
_MAX_ROWS: Final = 1000


def find_raises_of_outside_exception(
    store: DocumentReader, scope: Scope, linked: LinkedNames, text: str
) -> GraphAnswer | None:
    """Return where an exception is raised that no file defines; None if the question names none that is raised.

    `text` is the question in lower case without its names. If the question also names files, only these count.
    """
    if not _ASKS_FOR_RAISES.search(text):
        return None
    files = {anchor.node.uri for anchor in linked.anchors if anchor.node.kind == "file"}
    for mention in _unlinked_mentions(linked):
        rows = _raises_of(store, scope, mention)
        if files:
            rows = [row for row in rows if row.uri in files]
        if rows:
            return _answer(store, scope, mention.name, rows)
    return None


def _unlinked_mentions(linked: LinkedNames) -> list[Mention]:
    """Return the mentions in a question that match no node."""
    matched = {anchor.mention.text for anchor in linked.anchors}
    return [mention for mention in linked.mentions if mention.text not in matched]


def _raises_of(store: DocumentReader, scope: Scope, mention: Mention) -> list[Unresolved]:
    """Return the references that raise an exception of this name; its package counts only if it is written."""
    *owners, name = _SEPARATOR.split(mention.name)
    if not name:
        return []
    rows = store.graph.unresolved(scope, name=name, limit=_MAX_ROWS)
    raises = [row for row in rows if row.kind == _RAISES and row.name == name]
    same_owner = [row for row in raises if owners and row.receiver.split(".")[-1] == owners[-1]]
    return sorted(same_owner or raises, key=lambda row: (row.uri, row.line))


def _answer(
    store: DocumentReader, scope: Scope, name: str, rows: Iterable[Unresolved]
) -> GraphAnswer:
    """Return the places of the references as an answer."""
    rows = list(rows)
    keys = list(dict.fromkeys(row.source for row in rows))
    nodes = store.graph.nodes(scope, keys=keys, limit=len(keys))
    places: list[Place] = list(dict.fromkeys((row.uri, row.line) for row in rows))
    texts = dict.fromkeys(f"{plain_name(row.source)} ({row.uri}:{row.line})" for row in rows)
    return GraphAnswer(
        "event_dispatch",
        f"{name} is raised in {join_names(list(texts), MAX_NAMED)}; no file here defines it.",
        {"dispatched_from": place_texts(places)},
        nodes=tuple(nodes),
        evidence=tuple(places),
    )
