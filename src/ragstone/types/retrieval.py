"""What a retrieval gives: what the graph says, the chunks behind it, the chunks that search found, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ragstone.types.graph import GraphAnswer, Json
from ragstone.types.search import Hit


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Chunks for a question, evidence of the graph first and labelled; and the graph's own answer where it has one."""

    query: str
    chunks: tuple[Hit, ...]
    answer: GraphAnswer | None = None
    debug: Mapping[str, Json] = field(default_factory=dict)
    """strategy, latency_ms, total_candidates, scores, anchors, intent, and what was skipped, unknown, conditional."""
