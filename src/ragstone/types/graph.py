"""What code means: nodes and links of a project, and what a question about them is answered with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

Json: TypeAlias = str | int | float | bool | None | list[Any] | dict[str, Any]
"""What JSON can say. It does not name itself: validators such as pydantic cannot follow an alias that does."""

Confidence = Literal["runtime", "evaluated", "declared", "convention", "heuristic"]
CONFIDENCES: Final[tuple[Confidence, ...]] = (
    "runtime",
    "evaluated",
    "declared",
    "convention",
    "heuristic",
)
"""How a link is known, surest first: told by the running framework, evaluated from its files, written down, following
from the framework's naming rules, or guessed and said to be."""


@dataclass(frozen=True, slots=True)
class Node:
    """Something a project has: a symbol, a route, a table, a run. Its key stays as long as it is the same thing."""

    key: str
    kind: str
    name: str
    uri: str = ""
    """The file that gives it; empty for what has no file, such as middleware of the framework's own."""
    line: int = 0
    line_end: int = 0
    signature: str = ""
    doc: str = ""
    language: str = ""
    framework: str = ""
    attributes: Mapping[str, Json] = field(default_factory=dict)
    collection: str = field(default="", compare=False)
    """Where it was found; nothing before it is stored."""

    @property
    def place(self) -> str:
        """Return `path:line`, or nothing where there is no file."""
        return f"{self.uri}:{self.line}" if self.uri and self.line else self.uri


@dataclass(frozen=True, slots=True)
class Link:
    """One written relation: from a node to a node, with the line that says so."""

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


@dataclass(frozen=True, slots=True)
class Alias:
    """Another name of a node, as people write it in a question."""

    name: str
    key: str
    kind: str
    """route_name, uri, class, short_class, method, short_method, table, former_table, column, middleware, config, …"""
    uri: str = ""
    """The file that gives it."""
    collection: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A reference that no written type decides: kept to be searched, never made a link."""

    kind: str
    source: str
    name: str
    receiver: str
    uri: str
    line: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Rendered:
    """Prose about a node, so that plain words find it: stored as a document of the node's kind."""

    key: str
    kind: str
    title: str
    text: str
    uri: str
    line: int


@dataclass(frozen=True, slots=True)
class Graph:
    """What one pass over a project gives."""

    nodes: tuple[Node, ...] = ()
    links: tuple[Link, ...] = ()
    aliases: tuple[Alias, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()
    rendered: tuple[Rendered, ...] = ()
    remarks: tuple[str, ...] = ()
    """What could not be known, and why: `routes/web.php:12: the prefix is read from the environment`."""

    def __add__(self, other: Graph) -> Graph:
        """Return both."""
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
    """One hop of a typed path: along links of these kinds, with or against their direction."""

    kinds: tuple[str, ...]
    back: bool = False
    to: tuple[str, ...] = ()
    """Kinds of nodes that count; all where empty."""


@dataclass(frozen=True, slots=True)
class Walked:
    """A path that was found: its nodes from anchor to target, and the links between them."""

    nodes: tuple[Node, ...]
    links: tuple[Link, ...]

    @property
    def confidence(self) -> Confidence:
        """Return the weakest on the path."""
        return max(
            (link.confidence for link in self.links), key=CONFIDENCES.index, default="declared"
        )


@dataclass(frozen=True, slots=True)
class GraphAnswer:
    """What the graph says to a question: facts by name, a sentence, and where each is written."""

    intent: str
    said: str
    facts: Mapping[str, Json]
    nodes: tuple[Node, ...] = ()
    paths: tuple[Walked, ...] = ()
    evidence: tuple[tuple[str, int], ...] = ()
    """(file, line) of everything the answer rests on, the most telling first."""
    confidence: Confidence = "declared"
    negative: bool = False
    """Whether the answer is that there is none; `looked_in` says where that was looked for."""
    looked_in: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that touched a file or some lines of it; who wrote it is a name, never an address."""

    hash: str
    when: float
    """When it was written, in seconds since 1970."""
    author: str
    subject: str
    paths: tuple[str, ...] = ()
    """What the file was called in it, seen from the root that was asked about: another name before a rename."""
    boundary: bool = False
    """Whether the history at hand begins here (a shallow clone): the file was there, perhaps long before."""


@dataclass(frozen=True, slots=True)
class Affected:
    """Something that depends on what is looked at: how far away, by which links, and how surely."""

    key: str
    hops: int
    links: tuple[Link, ...]
    """From the thing itself to what is looked at, each with the line that says so."""

    @property
    def confidence(self) -> Confidence:
        """Return the weakest on the way."""
        return max(
            (link.confidence for link in self.links), key=CONFIDENCES.index, default="declared"
        )

    @property
    def conditional(self) -> bool:
        """Return whether a link on the way holds in some cases only."""
        return any(link.conditional for link in self.links)


@dataclass(frozen=True, slots=True)
class Impact:
    """What depends on a file or a symbol."""

    roots: tuple[str, ...]
    """The keys that were asked about."""
    groups: tuple[tuple[str, tuple[Affected, ...]], ...] = ()
    """By kind of node, routes first; the nearest and surest of each first."""
    more: bool = False
    """Whether there is more than was looked for."""

    @property
    def total(self) -> int:
        """Return how many things are affected."""
        return sum(len(found) for _, found in self.groups)


@dataclass(frozen=True, slots=True)
class Related:
    """Something that hangs together with what was asked about: how far away, and by which links."""

    node: Node
    hops: int
    links: tuple[Link, ...]
    """From what was asked about to this, each with the line that says so."""

    @property
    def confidence(self) -> Confidence:
        """Return the weakest on the way."""
        return max(
            (link.confidence for link in self.links), key=CONFIDENCES.index, default="declared"
        )


@dataclass(frozen=True, slots=True)
class Story:
    """What is known of one node: its links by kind, each with its place, and what nothing written decides."""

    node: Node
    out_of: tuple[tuple[str, tuple[Link, ...]], ...] = ()
    """Links that lead away from it, by kind."""
    into: tuple[tuple[str, tuple[Link, ...]], ...] = ()
    """Links that lead to it, by kind."""
    nodes: Mapping[str, Node] = field(default_factory=dict)
    """The other ends of those links, by key; what has no node is left out."""
    unresolved: tuple[Unresolved, ...] = ()
    """What is used in it and could be anything of that name."""
    confidence: Confidence = "declared"
    """The weakest of its links."""
    more: bool = False
    """Whether there are more links than are told."""


@dataclass(frozen=True, slots=True)
class Change:
    """Something that changed a file, a symbol or a table: a recorded run, a migration, a commit."""

    kind: str
    """run, migration, commit."""
    key: str
    title: str
    text: str
    when: float | None
    """In seconds since 1970; None where it is not known."""
    uri: str = ""
    line: int = 0
    exact: bool = True
    """Whether it is said of this very thing, and not only of the file it is in."""
