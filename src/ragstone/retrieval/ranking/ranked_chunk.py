"""A candidate on its way to a hit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ragstone.types import ChunkOutline

_SCORE_DIGITS: Final = 5


@dataclass(slots=True)
class RankedChunk:
    """A candidate: its score, the boosts that changed it, and the chunks that it shows, in document order."""

    row: ChunkOutline
    score: float
    members: tuple[ChunkOutline, ...] = ()
    boosts: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        """Make the chunk its own only member if there are no others."""
        self.members = self.members or (self.row,)

    @property
    def doc_id(self) -> str:
        """Return the public id of the chunk."""
        return f"{self.row.uri}__chunk_{self.row.order}"

    @property
    def document(self) -> tuple[str, str]:
        """Return the collection and the uri of the document."""
        return self.row.collection, self.row.uri

    def boost(self, name: str, factor: float) -> None:
        """Multiply the score and record the reason."""
        self.score *= factor
        self.boosts = (*self.boosts, (name, factor))

    def add(self, name: str, amount: float) -> None:
        """Add to the score and record the reason as a factor."""
        if amount > 0 and self.score > 0:
            self.boost(name, 1.0 + amount / self.score)

    @property
    def is_code(self) -> bool:
        """Return whether the chunk is part of a code file."""
        return self.row.document_kind == "code"


def sort_by_score(ranked: Iterable[RankedChunk]) -> list[RankedChunk]:
    """Return the candidates, best first; equal scores are ordered by place, not by the time of storing.

    Scores of the same text may differ in their last digits, depending on its vector's place in memory.
    """

    def sort_key(entry: RankedChunk) -> tuple[float, str, int, int]:
        row = entry.row
        score = round(entry.score, _SCORE_DIGITS)
        return -score, row.uri, row.order, row.id

    return sorted(ranked, key=sort_key)
