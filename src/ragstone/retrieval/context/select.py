"""Two selections become one: what a caller chose by its own means, and what was retrieved, ranked by relevance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.text import terms
from ragstone.types import Hit, Span


@dataclass(frozen=True, slots=True)
class Candidate:
    """A piece that a caller wants to show: its text, what to call it, and how relevant it is, if that is known."""

    text: str
    source: str
    score: float | None = None


def as_hits(
    candidates: Sequence[Candidate], wanted: Sequence[str], cosines: Sequence[float | None]
) -> list[Hit]:
    """Return a caller's pieces as hits; where no score was given, words and meaning say how relevant one is."""
    return [
        _hit(
            one, number, one.score if one.score is not None else relevance(one.text, wanted, cosine)
        )
        for number, (one, cosine) in enumerate(zip(candidates, cosines, strict=True))
    ]


def relevance(text: str, wanted: Sequence[str], cosine: float | None) -> float:
    """Return how well a text answers, 0 to 1: the share of the task's words it has, and its nearness."""
    held = set(terms(text))
    share = sum(term in held for term in wanted) / len(wanted) if wanted else 0.0
    return share if cosine is None else min(1.0, max(0.0, (share + max(0.0, cosine)) / 2))


def merged(own: Sequence[Hit], found: Sequence[Hit]) -> list[Hit]:
    """Return both lists as one, best first; a text that is in both is taken from the caller's."""
    held = {" ".join(hit.text.split()) for hit in own}
    fresh = [hit for hit in found if " ".join(hit.text.split()) not in held]
    return sorted((*own, *fresh), key=lambda hit: -hit.score)


def _hit(one: Candidate, number: int, score: float) -> Hit:
    size = len(one.text.encode("utf-8", "surrogatepass"))
    span = Span(0, len(one.text), 0, size, 1, 1 + one.text.count("\n"))
    name = f"{one.source}__own_{number}"
    return Hit(
        name, one.text, min(1.0, max(0.0, score)), {}, one.source, number, "", span, kind="own"
    )
