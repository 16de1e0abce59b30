"""One intent about one node, the graph it is answered from, and the answer to it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ragstone.code.method_names import METHOD_KINDS, owner_key
from ragstone.protocols import DocumentReader
from ragstone.types import Json, Link, Node, Scope, Walked
from ragstone_code.questions.graph_paths import find_paths
from ragstone_code.questions.intents import Intent, roles_of
from ragstone_code.questions.mentions import Mention
from ragstone_code.questions.named_nodes import Anchor

MAX_PATHS: Final = 1000
_MAX_NODES: Final = 20_000
_MAX_NODES_OF_FILE: Final = 5000

ALL_CALLS: Final = "all calls of all files"
"""The places that a negative answer about calls has searched."""

Place = tuple[str, int]
"""A file and a line."""


@dataclass(frozen=True, slots=True)
class GraphQuery:
    """One intent about one node."""

    store: DocumentReader
    scope: Scope
    text: str
    """The question in lower case, without its names."""
    anchor: Anchor
    intent: Intent
    others: tuple[Anchor, ...] = ()
    """The other names in the question."""
    mentions: tuple[Mention, ...] = ()
    """Everything in the question that can be a name, also if it matches no node."""

    @property
    def node(self) -> Node:
        """Return the node that the question is about."""
        return self.anchor.node

    @property
    def candidates(self) -> list[GraphQuery]:
        """Return this query for each node that the name can refer to."""
        return [
            replace(self, anchor=replace(self.anchor, nodes=(node,)))
            for node in self.anchor.nodes
        ]

    @property
    def role(self) -> str:
        """Return the role in which the node is asked about."""
        roles = roles_of(self.node, self.anchor.alias)
        return next(
            (role for role in self.intent.anchors if role in roles), self.intent.anchors[0]
        )

    def walk(self, target: str = "", via: tuple[str, ...] = ()) -> list[Walked]:
        """Return the paths from the node to the intent's target, or to another target over other links."""
        start = self.role
        if start == "class":
            start = next((role for role in self.intent.anchors if role != "class"), "class")
        walked: list[Walked] = []
        for steps in find_paths(
            start,
            target or self.intent.target,
            via or self.intent.via,
            self.intent.back,
        ):
            walked += self.store.graph.walk(
                self.scope,
                [self.node.key],
                steps,
                limit=MAX_PATHS,
            )
        return walked

    def links_from(self, keys: Sequence[str], *kinds: str) -> list[Link]:
        """Return the links of these kinds that start at the nodes."""
        return self.store.graph.links(self.scope, keys, kinds=kinds) if keys else []

    def links_to(self, keys: Sequence[str], *kinds: str) -> list[Link]:
        """Return the links of these kinds that end at the nodes."""
        return self.store.graph.links(self.scope, keys, kinds=kinds, back=True) if keys else []

    def nodes(self, keys: Iterable[str]) -> dict[str, Node]:
        """Return the nodes with these keys, by key."""
        unique_keys = list(dict.fromkeys(keys))
        if not unique_keys:
            return {}
        nodes = self.store.graph.nodes(
            self.scope,
            keys=unique_keys,
            limit=len(unique_keys),
        )
        return {node.key: node for node in nodes}

    def nodes_of_kind(self, *kinds: str) -> list[Node]:
        """Return all nodes of these kinds."""
        return self.store.graph.nodes(self.scope, kinds=kinds, limit=_MAX_NODES)

    def methods_of(self, class_node: Node) -> list[Node]:
        """Return the methods of a class that are declared in the class's file."""
        if not class_node.uri:
            return []
        return [
            node
            for node in self.nodes_of_file(class_node.uri)
            if node.kind in METHOD_KINDS and owner_key(node.key) == class_node.key
        ]

    def nodes_of_file(self, uri: str) -> list[Node]:
        """Return the nodes in a file."""
        return self.store.graph.nodes(self.scope, uris=[uri], limit=_MAX_NODES_OF_FILE)

    def negative_part(
        self, facts: dict[str, Json], sentence: str, looked_in: list[str]
    ) -> AnswerPart:
        """Return the answer that there is nothing; `looked_in` are the places that were searched."""
        places = place_of(self.node)
        return AnswerPart(
            facts, sentence, places, [self.node], negative=True, looked_in=looked_in
        )

    def other_names(self) -> list[str]:
        """Return the identifiers in the question that do not belong to the name of the node."""
        own = self.anchor.mention.text
        names = [
            mention.text
            for mention in self.mentions
            if not mention.plain and mention.text not in own and own not in mention.text
        ]
        names += [other.mention.name for other in self.others if other.mention.code]
        return list(dict.fromkeys(names))

    def asked_first(self, links: Iterable[Link]) -> list[Link]:
        """Return links with those first whose source or file is another name in the question."""
        others = self.other_nodes()
        files = [node.uri for node in others if node.kind == "file"]
        asked = {*files, *(node.key for node in others)}
        return sorted(links, key=lambda link: asked.isdisjoint((link.source, link.uri)))

    def other_nodes(self) -> list[Node]:
        """Return the nodes of the other names in the question."""
        nodes: list[Node] = []
        for anchor in self.others:
            nodes += anchor.nodes
        return nodes


@dataclass(slots=True)
class AnswerPart:
    """The answer to one intent."""

    facts: dict[str, Json]
    said: str
    """The answer as a sentence."""
    evidence: list[Place] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    walked: list[Walked] = field(default_factory=list)
    negative: bool = False
    looked_in: list[str] = field(default_factory=list)


def class_name(key: str) -> str:
    """Return the class in a key: `method:App\\Song::play` has `App\\Song`."""
    return key.partition(":")[2].partition("::")[0]


def plain_name(key: str) -> str:
    """Return a key without its kind, as people write the name."""
    return key.partition(":")[2]


def short_name(node: Node) -> str:
    """Return a name as calls write it, without its class."""
    return re.split(r"[.:@#\\]", node.name)[-1]


def name_of_all(nodes: Sequence[Node]) -> str:
    """Return the full name of a node; the name and the number of several that have the same name."""
    if len(nodes) == 1:
        return plain_name(nodes[0].key)
    return f"any of the {len(nodes)} {short_name(nodes[0])}"


def table_name(key: str) -> str:
    """Return the table in a key; a dropped table has its migration after a `#`."""
    return plain_name(key).partition("#")[0]


def place_of(node: Node) -> list[Place]:
    """Return the place of a node as a list; empty if the node has no file."""
    return [(node.uri, node.line)] if node.uri and node.line else []


def place_texts(places: Iterable[Place]) -> list[Json]:
    """Return places as facts: `file:line`."""
    return [f"{uri}:{line}" for uri, line in places]


def places_of_nodes(nodes: Iterable[Node]) -> list[Place]:
    """Return the places of nodes that have a file."""
    places: list[Place] = []
    for node in nodes:
        places += place_of(node)
    return places


def places_of_links(links: Iterable[Link]) -> list[Place]:
    """Return the places of links that have a file, each once."""
    return list(
        dict.fromkeys((link.uri, link.line) for link in links if link.uri and link.line)
    )


def last_links(walked: Iterable[Walked]) -> list[Link]:
    """Return the last link of each path."""
    return [path.links[-1] for path in walked]


def last_nodes(walked: Iterable[Walked]) -> list[Node]:
    """Return the nodes at the end of the paths, each once."""
    nodes = {path.nodes[-1].key: path.nodes[-1] for path in walked}
    return list(nodes.values())


def place_text(node: Node) -> str:
    """Return ` (file:line)` for a sentence; empty if the node has no file."""
    return f" ({node.place})" if node.place else ""


def link_place_text(link: Link) -> str:
    """Return `file:line` of a link."""
    return f"{link.uri}:{link.line}"


def class_text(node: Node) -> str:
    """Return a class name with its place, for a sentence."""
    return f"{class_name(node.key)}{place_text(node)}"


MAX_NAMED: Final = 8
"""Names with their places in a sentence about code; the evidence has all places."""


def join_names(names: Sequence[str], max_names: int = 12) -> str:
    """Return names as an enumeration for a sentence: `a, b and c`, or `a, b and 7 more`."""
    displayed = list(names[:max_names])
    hidden = len(names) - len(displayed)
    if hidden:
        return f"{', '.join(displayed)} and {hidden} more"
    if len(displayed) > 1:
        return f"{', '.join(displayed[:-1])} and {displayed[-1]}"
    return "".join(displayed)


def string_list(value: Json) -> list[str]:
    """Return a list attribute as strings; empty if the attribute is no list."""
    return [str(element) for element in value] if isinstance(value, list) else []


def unique(names: Iterable[str]) -> list[str]:
    """Return the non-empty names once each, in order."""
    return [name for name in dict.fromkeys(names) if name]


def folders_of(nodes: Iterable[Node]) -> list[str]:
    """Return the folders of nodes, sorted."""
    return unique(sorted({node.uri.rpartition("/")[0] for node in nodes}))
