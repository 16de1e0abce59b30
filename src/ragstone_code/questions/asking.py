"""What one question is answered from: the node it is about, the words it asks with, and the store behind both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from ragstone.protocols import DocumentReader
from ragstone.types import Json, Link, Node, Scope, Walked
from ragstone_code.questions.intents import Intent, roles
from ragstone_code.questions.link import Anchor
from ragstone_code.questions.plan import paths

MOST_PATHS: Final = 1000

Place = tuple[str, int]
"""A file and a line."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One intent about one node."""

    store: DocumentReader
    scope: Scope
    text: str
    """The question in lower case, without its names."""
    anchor: Anchor
    intent: Intent
    others: tuple[Anchor, ...] = ()
    """What else the question names."""

    @property
    def node(self) -> Node:
        """Return what is asked about."""
        return self.anchor.node

    @property
    def role(self) -> str:
        """Return what it is asked as."""
        own = roles(self.node, self.anchor.alias)
        return next((one for one in self.intent.anchors if one in own), self.intent.anchors[0])

    def walk(self, target: str = "", via: tuple[str, ...] = ()) -> list[Walked]:
        """Return the paths from the node to what the intent looks for, or to another target."""
        start = self.role if self.role != "class" else _stands_for(self.intent)
        found: list[Walked] = []
        for steps in paths(start, target or self.intent.target, via or self.intent.via, self.intent.back):
            found += self.store.graph.walk(self.scope, [self.node.key], steps, limit=MOST_PATHS)
        return found

    def links(self, keys: Sequence[str], *kinds: str, back: bool = False) -> list[Link]:
        """Return links of these kinds from some nodes, or to them."""
        return self.store.graph.links(self.scope, keys, kinds=kinds, back=back) if keys else []

    def nodes(self, keys: Iterable[str]) -> dict[str, Node]:
        """Return nodes by key."""
        wanted = list(dict.fromkeys(keys))
        found = self.store.graph.nodes(self.scope, keys=wanted, limit=max(1, len(wanted))) if wanted else []
        return {node.key: node for node in found}

    def kind(self, *kinds: str) -> list[Node]:
        """Return all nodes of these kinds."""
        return self.store.graph.nodes(self.scope, kinds=kinds, limit=20_000)


@dataclass(slots=True)
class Part:
    """What the graph says to one intent."""

    facts: dict[str, Json]
    said: str
    evidence: list[Place] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    walked: list[Walked] = field(default_factory=list)
    negative: bool = False
    looked_in: list[str] = field(default_factory=list)


def _stands_for(intent: Intent) -> str:
    """Return the role that a class plays in an intent that any class may be asked for."""
    return next((one for one in intent.anchors if one != "class"), "class")


def full_name(key: str) -> str:
    """Return the class that a key is of: `method:App\\Song::play` → `App\\Song`."""
    return key.partition(":")[2].partition("::")[0]


def called(key: str) -> str:
    """Return a key as people write it: without what kind of thing it is."""
    return key.partition(":")[2]


def place_of(node: Node) -> list[Place]:
    """Return where a node stands, nothing where it has no file."""
    return [(node.uri, node.line)] if node.uri and node.line else []


def places(links: Iterable[Link]) -> list[Place]:
    """Return the lines that say so."""
    return list(dict.fromkeys((link.uri, link.line) for link in links if link.uri and link.line))


def ends(walked: Iterable[Walked]) -> list[Node]:
    """Return what paths end at, each once."""
    return list({path.nodes[-1].key: path.nodes[-1] for path in walked}.values())


def at(node: Node) -> str:
    """Return ` (file:line)` for a sentence, nothing where there is no file."""
    return f" ({node.place})" if node.place else ""


def listed(names: Sequence[str], most: int = 12) -> str:
    """Return names for a sentence."""
    shown = list(names[:most])
    rest = len(names) - len(shown)
    if rest:
        return f"{', '.join(shown)} and {rest} more"
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else "".join(shown)


def strings(value: Json) -> list[str]:
    """Return a list of texts that an attribute holds."""
    return [str(one) for one in value] if isinstance(value, list) else []


def looked(found: Iterable[str]) -> list[str]:
    """Return files and folders once each, in order."""
    return [one for one in dict.fromkeys(found) if one]


def folder(uri: str) -> str:
    """Return the folder a file lies in."""
    return uri.rpartition("/")[0]
