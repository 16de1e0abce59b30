"""Requests and results of a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypedDict

from ragstone.types.documents import Metadata, Slice, Span, Value, cite_slices, is_summary
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
"""Whether a hit matches its file now: it does, it does after this call read the file again, or unknown."""
Mode = Literal["hybrid", "words", "vectors"]
Fusion = Literal["weighted", "rrf"]


class SearchOptions(TypedDict, total=False):
    """Options of a search besides the query and top_k."""

    hybrid: bool
    """False searches the vectors only; `mode` is more exact."""
    mode: Mode | None
    fusion: Fusion | None
    """How the lists are merged; the setting decides if left out."""
    mmr: bool
    """Prefer hits that differ from each other."""
    rerank: str | None
    """The name of a reranker for the best candidates."""
    embedder: str | None
    """Only the vectors of this embedder (`provider` or `provider:model`); the active ones if left out."""
    filters: Mapping[str, object] | None
    """Only documents that match these path globs, kinds, languages or metadata."""
    min_score: float | None
    """Leave out hits with a lower score, 0 to 1."""
    compress: bool
    """Return only the sentences or lines that answer, as `slices` of each hit."""
    compress_results: bool
    """Another name of `compress`."""
    merge: bool
    """Return neighbouring chunks as one hit; on by default."""
    collection: str | Sequence[str] | None
    """Only these collections; all of the project if left out."""
    memory: bool | str | Sequence[str]
    """True also searches all conversations of the project, a name only that one; off by default."""
    fresh: bool
    """Check every hit against its file and index changes first; on by default."""


@dataclass(frozen=True, slots=True)
class Request:
    """All inputs of a search."""

    query: str
    scope: Scope
    top_k: int = 5
    mode: Mode = "hybrid"
    fusion: Fusion = "weighted"
    mmr: bool = False
    rerank: str | None = None
    embedder: str | None = None
    filter: Filter | None = None
    min_score: float | None = None
    compress: bool = False
    merge: bool = True
    candidates: int = 200


@dataclass(frozen=True, slots=True)
class ListTrace:
    """The rank of a hit in one list, and its part of the score."""

    name: str
    rank: int
    score: float
    normalised: float
    weight: float


@dataclass(frozen=True, slots=True)
class PathStep:
    """A node on the way to a hit in the code graph, and the link that leads to it."""

    node: str
    link: str = ""
    """The kind of the link from the node before; empty for the first node."""
    place: str = ""
    """The `path:line` that declares the link."""


@dataclass(frozen=True, slots=True)
class Trace:
    """How the score of a hit was computed."""

    lists: tuple[ListTrace, ...] = ()
    boosts: tuple[tuple[str, float], ...] = ()
    merged: tuple[int, ...] = ()
    fused: float = 0.0
    confidence: float = 1.0
    path: tuple[PathStep, ...] = ()
    """The way in the code graph from the node in question to this hit; only of a hit with the label `graph`."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that answers the query, with its exact position."""

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
    duplicates: tuple[str, ...] = ()
    trace: Trace = field(default_factory=Trace)
    freshness: Freshness = "unverifiable"
    label: str = ""
    """`graph` if the hit is evidence of a graph answer, `path` if the request named its path, else empty."""
    content_hash: str = ""
    """Hash of the file that the text was read from; empty if it came from no file."""
    ingested_at: str = ""
    """When the document was stored, as ISO 8601 text in UTC; empty if it is not stored."""
    slices: tuple[Slice, ...] = ()
    """The parts of a compressed hit, in order; its text has a gap mark between them. Empty for other hits."""

    @property
    def distance(self) -> float:
        """Return one minus the score, for callers that expect small values for near texts."""
        return 1.0 - self.score

    @property
    def content(self) -> str:
        """Return the text, under the name that document bases use."""
        return self.text

    @property
    def path(self) -> str:
        """Return the path or name of the document; of a summary, the file that it is about."""
        if self.is_summary:
            return str(self.metadata["file"])
        return self.source_doc_id

    @property
    def lines(self) -> tuple[int, int]:
        """Return the first and the last line of the passage; of a summary, those of the file that it is about."""
        if not self.is_summary:
            return self.span.line_start, self.span.line_end
        lines = self.metadata.get("lines")
        if isinstance(lines, tuple | list):
            return int(lines[0] or 0), int(lines[-1] or 0)
        line = int(str(self.metadata.get("line") or 0))
        return line, line

    @property
    def source_file(self) -> str:
        """Return the path of the passage, under the name that document bases use."""
        return self.path

    @property
    def type(self) -> str:
        """Return the kind of the document, under the name that document bases use."""
        return self.kind

    @property
    def page(self) -> int | None:
        """Return the page, slide or sheet of the passage; None if its format has none."""
        return self.span.page

    @property
    def is_summary(self) -> bool:
        """Return whether Ragstone wrote the text, about a node of the code graph; no file contains it."""
        return is_summary(self.source_doc_id, self.metadata)

    @property
    def citation(self) -> str:
        """Return the citation. A summary is cited by its node's file, line and kind, and says what it is."""
        if self.is_summary:
            place = f"{self.metadata['file']}:{self.metadata.get('line')}"
            return f"{place} ({self.kind}, summary by Ragstone)"
        if self.slices:
            return cite_slices(self.source_doc_id, self.slices)
        return self.span.citation(self.source_doc_id)


@dataclass(frozen=True, slots=True)
class RemotePassage:
    """A passage that another server found. Everything but the text may be unknown."""

    text: str
    path: str = ""
    line_start: int | None = None
    line_end: int | None = None
    page: int | None = None
    score: float | None = None
    title: str = ""
    kind: str = ""
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Dropped:
    """A candidate that is not among the hits, with the reason."""

    doc_id: str
    score: float
    reason: str
    citation: str = ""
    """Path and lines, or the page."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """A search in full: the terms of the query, the weights of the lists, the hits and the dropped candidates."""

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
    """The ledger of the scan before the search, if the scan found changes."""
    suggestion: str = ""
    """The query with other spellings, if words of it are in no document in scope and near ones are."""
    downgraded: tuple[str, ...] = ()
    """Options that were switched off because the project's plan does not include them."""
