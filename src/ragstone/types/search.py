"""What comes out of a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

from ragstone.types.documents import Metadata, Span, Value
from ragstone.types.reports import SyncReport
from ragstone.types.storage import Scope

Operator = Literal["eq", "ne", "in", "gt", "gte", "lt", "lte", "glob", "exists"]


@dataclass(frozen=True, slots=True)
class Condition:
    """One test on a document: a field (`path`, `kind`, `language`, `title`, `meta.<key>`), an operator, a value."""

    field: str
    operator: Operator
    value: Value


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions that must all hold."""

    conditions: tuple[Condition, ...] = ()


Freshness = Literal["fresh", "refreshed", "unverifiable"]
"""Whether a hit says what its file says now: it does, it does since it was read again in this call, or who knows."""
Mode = Literal["hybrid", "words", "vectors"]
Fusion = Literal["weighted", "rrf"]


class SearchOptions(TypedDict, total=False):
    """What a caller may say about a search beside the query and top_k."""

    hybrid: bool
    """False asks the vectors alone; `mode` says it more exactly."""
    mode: Mode | None
    fusion: Fusion | None
    """How the lists become one; the settings' choice where left out."""
    mmr: bool
    """Prefer hits that differ from each other."""
    rerank: str | None
    """The name of a reranker for a second look."""
    filters: Mapping[str, Any] | None
    """Only documents that pass: path globs, kind, language, metadata."""
    min_score: float | None
    """Leave out hits below this, 0 to 1."""
    compress: bool
    """Only the sentences or lines that answer."""
    merge: bool
    """Tell neighbouring chunks as one hit; on unless said otherwise."""
    collection: str | Sequence[str] | None
    """Only these collections; all of the project where left out."""
    memory: bool | str | Sequence[str]
    """True looks in all conversations of the project too, a name in that one; never unless asked for."""
    fresh: bool
    """Check every hit against its file before it is shown, and bring in what changed; on unless said otherwise."""


@dataclass(frozen=True, slots=True)
class Request:
    """Everything that decides what a search returns."""

    query: str
    scope: Scope
    top_k: int = 5
    mode: Mode = "hybrid"
    fusion: Fusion = "weighted"
    mmr: bool = False
    rerank: str | None = None
    filter: Filter | None = None
    min_score: float | None = None
    compress: bool = False
    merge: bool = True
    candidates: int = 200


@dataclass(frozen=True, slots=True)
class ListTrace:
    """Where a hit stood in one list, and what that gave it."""

    name: str
    rank: int
    score: float
    normalised: float
    weight: float


@dataclass(frozen=True, slots=True)
class Trace:
    """How a hit came to its score."""

    lists: tuple[ListTrace, ...] = ()
    boosts: tuple[tuple[str, float], ...] = ()
    merged: tuple[int, ...] = ()
    fused: float = 0.0
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Hit:
    """A piece that answers, with the exact place it stands."""

    doc_id: str
    text: str
    score: float
    metadata: Metadata
    source_doc_id: str
    chunk_index: int
    collection: str
    span: Span
    kind: str = "text"
    language: str = ""
    title: str = ""
    symbol: str = ""
    header: str = ""
    also_at: tuple[str, ...] = ()
    trace: Trace = field(default_factory=Trace)
    freshness: Freshness = "unverifiable"
    label: str = ""
    """What brought it where that was not the search alone: `graph` for evidence of an answer, `path` for what was asked
    to be there."""

    @property
    def distance(self) -> float:
        """Return the score turned round, for callers that expect small to be near."""
        return 1.0 - self.score

    @property
    def place(self) -> str:
        """Return the citation; what is told about a route or a table by where that is written, and its kind."""
        if self.source_doc_id.startswith("graph:") and self.metadata.get("file"):
            return f"{self.metadata['file']}:{self.metadata.get('line')} ({self.kind})"
        return self.span.place(self.source_doc_id)


@dataclass(frozen=True, slots=True)
class Dropped:
    """A candidate that was not shown, and why."""

    doc_id: str
    score: float
    reason: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """A search told in full: how the query was read, which lists answered, what was left out."""

    query: str
    query_type: str
    terms: tuple[str, ...]
    weights: Mapping[str, float]
    coverage: Mapping[str, float]
    candidates: int
    hits: tuple[Hit, ...]
    dropped: tuple[Dropped, ...]
    notes: tuple[str, ...]
    milliseconds: float
    sync: SyncReport | None = None
    """The ledger of the scan that came before the search, if there was one and something changed."""
