"""Joins a caller's own pieces with retrieved hits in one ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.text import terms
from ragstone.types import Hit, Span


@dataclass(frozen=True, slots=True)
class Candidate:
    """A piece of the caller: its text, the name of its source, and its relevance if the caller has one."""

    text: str
    source: str
    score: float | None = None


def score_candidates(
    candidates: Sequence[Candidate],
    query_terms: Sequence[str],
    cosines: Sequence[float | None],
) -> list[Hit]:
    """Return candidates as hits; a candidate without a score gets one from its terms and its cosine."""
    hits = []
    for number, candidate in enumerate(candidates):
        score = candidate.score
        if score is None:
            score = estimate_relevance(candidate.text, query_terms, cosines[number])
        hits.append(_to_hit(candidate, number, score))
    return hits


def estimate_relevance(text: str, query_terms: Sequence[str], cosine: float | None) -> float:
    """Return the relevance of a text, 0 to 1: the mean of its share of the query terms and its cosine."""
    text_terms = set(terms(text))
    share = 0.0
    if query_terms:
        share = sum(term in text_terms for term in query_terms) / len(query_terms)
    if cosine is None:
        return share
    return min(1.0, (share + max(0.0, cosine)) / 2)


def merge_hits(own: Sequence[Hit], retrieved: Sequence[Hit]) -> list[Hit]:
    """Return both lists as one, best first; a text in both lists is kept from the caller's."""
    own_texts = {_join_words(hit.text) for hit in own}
    new = [hit for hit in retrieved if _join_words(hit.text) not in own_texts]
    return sorted((*own, *new), key=lambda hit: -hit.score)


def _join_words(text: str) -> str:
    return " ".join(text.split())


def _to_hit(candidate: Candidate, number: int, score: float) -> Hit:
    text = candidate.text
    size = len(text.encode("utf-8", "surrogatepass"))
    return Hit(
        doc_id=f"{candidate.source}__own_{number}",
        text=text,
        score=min(1.0, max(0.0, score)),
        metadata={},
        source_doc_id=candidate.source,
        chunk_index=number,
        collection="",
        span=Span(0, len(text), 0, size, 1, 1 + text.count("\n")),
        kind="own",
    )
