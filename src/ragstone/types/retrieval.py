"""The result of a retrieval: the graph's answer, the chunks behind it, and the chunks that the search found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ragstone.types.graph import GraphAnswer, Json, Walked
from ragstone.types.search import Hit


@dataclass(frozen=True, slots=True)
class CodeAnswer:
    """The question engine's result for one question."""

    answer: GraphAnswer | None
    intent: str = ""
    anchors: tuple[str, ...] = ()
    """Keys of the nodes that the question names."""
    unknown: tuple[str, ...] = ()
    """Names in the question or its hints that match no node."""
    notes: tuple[str, ...] = ()
    walked: tuple[Walked, ...] = ()
    """The paths from the nodes that the hints name, nearest first; they do not depend on the question."""


@dataclass(frozen=True, slots=True)
class CodeGuess:
    """An answer about a node that a search found, with the share of the evidence that led to the node."""

    key: str
    share: float
    answer: GraphAnswer
    is_shown: bool = True
    """Whether the answer may be shown as a sentence; otherwise only its evidence is."""


@dataclass(frozen=True, slots=True)
class RetrieveLimits:
    """Limits of a retrieval."""

    source_types: Sequence[str] | None = None
    """Only chunks of these kinds of documents, or that hold nodes of these kinds: code, route, migration, …"""
    must_include_paths: Sequence[str] = ()
    """Files, folders or patterns whose best chunks are in the result in any case."""
    include_run_summaries: bool = True
    min_score: float = 0.25
    """Search hits with a lower score are left out; the evidence of the graph stays."""


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Chunks for a question: the evidence of the graph first and labelled, then search hits."""

    query: str
    chunks: tuple[Hit, ...]
    answer: GraphAnswer | None = None
    debug: Mapping[str, Json] = field(default_factory=dict)
    """strategy, latency_ms, total_candidates, scores, anchors, intent, skipped, unknown, conditional, notes."""
    notes: tuple[str, ...] = ()
    """Why the index could not be brought up to date before, and the options that the plan does not include."""
    downgraded: tuple[str, ...] = ()
    """Options that were switched off because the project's plan does not include them."""

    @property
    def unknown(self) -> tuple[str, ...]:
        """Return the names of the question that the index does not have."""
        names = self.debug.get("unknown")
        return tuple(map(str, names)) if isinstance(names, list) else ()
