"""The graph of the code: nodes and links, and answers to questions about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

Json: TypeAlias = str | int | float | bool | None | list[Any] | dict[str, Any]
"""A JSON value. The alias is not recursive, because validators such as pydantic cannot resolve that."""

TYPE_KINDS: Final = frozenset(
    ("class", "interface", "trait", "enum", "struct", "record", "object", "protocol")
)
"""Kinds of nodes that have methods."""

Confidence = Literal["runtime", "evaluated", "declared", "convention", "heuristic"]
CONFIDENCES: Final[tuple[Confidence, ...]] = (
    "runtime",
    "evaluated",
    "declared",
    "convention",
    "heuristic",
)
"""How sure a link is, surest first: listed by the running framework, evaluated from its files, written in the code,
derived from the framework's naming rules, or guessed."""


@dataclass(frozen=True, slots=True)
class Node:
    """A symbol, a route, a table or a run of a project. Its key identifies it across updates."""

    key: str
    kind: str
    name: str
    uri: str = ""
    """The file that defines it; empty if there is none, as for middleware of the framework."""
    line: int = 0
    line_end: int = 0
    signature: str = ""
    doc: str = ""
    language: str = ""
    framework: str = ""
    attributes: Mapping[str, Json] = field(default_factory=dict)
    collection: str = field(default="", compare=False)
    """The collection of the node; empty before it is stored."""

    @property
    def place(self) -> str:
        """Return `path:line`, the path if the line is unknown, or an empty text if there is no file."""
        if self.uri and self.line:
            return f"{self.uri}:{self.line}"
        return self.uri


@dataclass(frozen=True, slots=True)
class Link:
    """A relation from one node to another, with the line that declares it."""

    kind: str
    source: str
    target: str
    uri: str
    line: int
    confidence: Confidence = "declared"
    conditional: bool = False
    order: int = 0
    attributes: Mapping[str, Json] = field(default_factory=dict)
    collection: str = field(default="", compare=False)


def weakest_confidence(links: Iterable[Link]) -> Confidence:
    """Return the weakest confidence of some links; `declared` if there are none."""
    confidences = [link.confidence for link in links]
    return max(confidences, key=CONFIDENCES.index, default="declared")


@dataclass(frozen=True, slots=True)
class Alias:
    """Another name of a node, as users write it in a question."""

    name: str
    key: str
    kind: str
    """route_name, uri, class, short_class, method, short_method, table, former_table, column, middleware, config, …"""
    uri: str = ""
    """The file that defines it."""
    collection: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A reference that no declared type resolves. It can be searched, but is not a link."""

    kind: str
    source: str
    name: str
    receiver: str
    uri: str
    line: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Rendered:
    """Text about a node, stored as a document of the node's kind so that a word search finds it."""

    key: str
    kind: str
    title: str
    text: str
    uri: str
    line: int
    words: str = ""
    """Words that people use for the node: indexed and embedded with the text, never shown."""


@dataclass(frozen=True, slots=True)
class Graph:
    """The nodes and links of a project, or of a part of it."""

    nodes: tuple[Node, ...] = ()
    links: tuple[Link, ...] = ()
    aliases: tuple[Alias, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()
    rendered: tuple[Rendered, ...] = ()
    remarks: tuple[str, ...] = ()
    """Facts that could not be determined: `routes/web.php:12: the prefix is read from the environment`."""

    def __add__(self, other: Graph) -> Graph:
        """Return both graphs as one."""
        return Graph(
            self.nodes + other.nodes,
            self.links + other.links,
            self.aliases + other.aliases,
            self.unresolved + other.unresolved,
            self.rendered + other.rendered,
            self.remarks + other.remarks,
        )


@dataclass(frozen=True, slots=True)
class Step:
    """One hop of a path: along links of these kinds, or against their direction if `back`."""

    kinds: tuple[str, ...]
    back: bool = False
    to: tuple[str, ...] = ()
    """The kinds of nodes to reach; all if empty."""


@dataclass(frozen=True, slots=True)
class Walked:
    """A path in the graph: its nodes from anchor to target, and the links between them."""

    nodes: tuple[Node, ...]
    links: tuple[Link, ...]

    @property
    def confidence(self) -> Confidence:
        """Return the weakest confidence on the path."""
        return weakest_confidence(self.links)


@dataclass(frozen=True, slots=True)
class GraphAnswer:
    """The answer of the graph to a question: facts by name, a sentence, and the evidence."""

    intent: str
    said: str
    facts: Mapping[str, Json]
    nodes: tuple[Node, ...] = ()
    paths: tuple[Walked, ...] = ()
    evidence: tuple[tuple[str, int], ...] = ()
    """The (file, line) pairs that support the answer, the most important first."""
    confidence: Confidence = "declared"
    negative: bool = False
    """Whether the answer is that there is none; `looked_in` lists the places that were searched."""
    looked_in: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that changed a file or some of its lines. The author is a name, never an address."""

    hash: str
    when: float
    """The time of the commit, in seconds since 1970."""
    author: str
    subject: str
    paths: tuple[str, ...] = ()
    """The paths of the file in this commit, relative to the root; they differ before a rename."""
    boundary: bool = False
    """Whether the local history begins here (a shallow clone), so that the file may be older."""


@dataclass(frozen=True, slots=True)
class Affected:
    """A node that depends on the roots of an impact: its distance and the links between them."""

    key: str
    hops: int
    links: tuple[Link, ...]
    """The links from this node to the root."""

    @property
    def confidence(self) -> Confidence:
        """Return the weakest confidence of the links."""
        return weakest_confidence(self.links)

    @property
    def conditional(self) -> bool:
        """Return whether a link holds in some cases only."""
        return any(link.conditional for link in self.links)


@dataclass(frozen=True, slots=True)
class Impact:
    """The nodes that depend on a file or a symbol."""

    roots: tuple[str, ...]
    """The keys of the nodes that the question is about."""
    groups: tuple[tuple[str, tuple[Affected, ...]], ...] = ()
    """The nodes by kind, routes first; in each group the nearest and surest first."""
    more: bool = False
    """Whether the search stopped at its limit."""

    @property
    def total(self) -> int:
        """Return the number of affected nodes."""
        return sum(len(nodes) for _, nodes in self.groups)


@dataclass(frozen=True, slots=True)
class Related:
    """A node that is connected to the start node: its distance and the links between them."""

    node: Node
    hops: int
    links: tuple[Link, ...]
    """The links from the start node to this node."""

    @property
    def confidence(self) -> Confidence:
        """Return the weakest confidence of the links."""
        return weakest_confidence(self.links)


@dataclass(frozen=True, slots=True)
class Story:
    """A node with its links by kind and its unresolved references."""

    node: Node
    out_of: tuple[tuple[str, tuple[Link, ...]], ...] = ()
    """Links that start at the node, by kind."""
    into: tuple[tuple[str, tuple[Link, ...]], ...] = ()
    """Links that end at the node, by kind."""
    nodes: Mapping[str, Node] = field(default_factory=dict)
    """The nodes at the other ends of the links, by key; ends without a node are left out."""
    unresolved: tuple[Unresolved, ...] = ()
    """References in the node that may mean any definition of their name."""
    confidence: Confidence = "declared"
    """The weakest confidence of its links."""
    more: bool = False
    """Whether the node has more links than are listed."""


@dataclass(frozen=True, slots=True)
class Change:
    """A recorded run, a migration or a commit that changed a file, a symbol or a table."""

    kind: str
    """run, migration, commit."""
    key: str
    title: str
    text: str
    when: float | None
    """The time in seconds since 1970; None if unknown."""
    uri: str = ""
    line: int = 0
    exact: bool = True
    """Whether it changed the symbol or table itself; False if only its file is known to have changed."""
