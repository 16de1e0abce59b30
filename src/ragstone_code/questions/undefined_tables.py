"""Tables that no migration creates: models, foreign keys and migrations can still refer to them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ragstone.protocols import DocumentReader
from ragstone.types import GraphAnswer, Link, Node, Scope, weakest_confidence
from ragstone_code.questions.graph_query import (
    folders_of,
    join_names,
    link_place_text,
    place_text,
    places_of_links,
    places_of_nodes,
    plain_name,
    string_list,
)
from ragstone_code.questions.mentions import Mention

_VERBS: Final = {
    "MAPS_TO": "uses it",
    "ALTERS": "alters it",
    "RENAMES": "renames it",
    "DROPS": "drops it",
}
_MAX_LINKS: Final = 200
_MAX_NODES: Final = 20_000


@dataclass(frozen=True, slots=True)
class UndefinedTable:
    """A table without a node, with the links and the foreign keys that refer to it."""

    node: Node
    links: tuple[Link, ...]
    referring: tuple[Node, ...]
    """The tables with a foreign key to it."""


def undefined_table(name: str) -> Node:
    """Return a node for a table that the graph only refers to, if at all."""
    return Node(f"table:{name}", "table", name)


def find_undefined_table(
    store: DocumentReader, scope: Scope, mentions: Iterable[Mention]
) -> UndefinedTable | None:
    """Return the first mentioned table without a node that something refers to, or None."""
    names: dict[str, None] = {}
    for mention in mentions:
        if mention.cue == "table":
            names.update(dict.fromkeys(mention.forms))
    if not names:
        return None
    tables = store.graph.nodes(scope, kinds=("table",), limit=_MAX_NODES)
    for name in names:
        node = undefined_table(name)
        links = store.graph.links(
            scope, [node.key], kinds=tuple(_VERBS), back=True, limit=_MAX_LINKS
        )
        referring = [table for table in tables if _foreign_keys(table, name)]
        if links or referring:
            return UndefinedTable(node, tuple(links), tuple(referring))
    return None


def describe_undefined_table(
    store: DocumentReader, scope: Scope, table: UndefinedTable, intent: str
) -> GraphAnswer:
    """Return the answer that no migration creates the table, and who refers to it."""
    looked_in = folders_of(store.graph.nodes(scope, kinds=("migration",), limit=_MAX_NODES))
    sources = list(dict.fromkeys(link.source for link in table.links))
    texts = [
        f"{plain_name(link.source)} {_VERBS[link.kind]} ({link_place_text(link)})"
        for link in table.links
    ]
    for other in table.referring:
        for key in _foreign_keys(other, table.node.name):
            column = key.partition("->")[0]
            texts.append(f"{other.name}.{column} refers to it{place_text(other)}")
    searched = f"; looked in {join_names(looked_in, 5)}" if looked_in else ""
    name = table.node.name
    sentence = f"No migration creates the table {name}{searched}. {join_names(texts)}."
    referred_by = [*map(plain_name, sources), *(other.name for other in table.referring)]
    nodes = store.graph.nodes(scope, keys=sources, limit=_MAX_LINKS)
    return GraphAnswer(
        intent,
        sentence,
        {"table": name, "migrations": [], "referred_by": list(referred_by)},
        nodes=(*nodes, *table.referring),
        evidence=(*places_of_links(table.links), *places_of_nodes(table.referring)),
        confidence=weakest_confidence(table.links),
        negative=True,
        looked_in=tuple(looked_in),
    )


def _foreign_keys(table: Node, name: str) -> list[str]:
    """Return the foreign keys of a table that refer to the table of this name: `customer_id->clients.id`."""
    keys = string_list(table.attributes.get("foreign_keys"))
    targets = {key: key.partition("->")[2].rpartition(".")[0] for key in keys}
    return [key for key, target in targets.items() if target.lower() == name.lower()]
