"""The ranked lists a query gave, before they are fused, the rows behind them, and what in them is no answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ragstone.retrieval.ranking.fuse import Fused
from ragstone.retrieval.ranking.order import Ranked, looked_at
from ragstone.types import ChunkOutline, Dropped, Scored, SpaceInfo, StoredChunk

# So many of those left out are told.
MOST_DROPPED: Final = 50
# A hit that shares no word with the query must be nearer than this.
NOISE: Final = 0.15
# Where no word of the query is in the index at all, it must also stand out from the middle of the 50 nearest: five
# nonsense queries over 3,674 texts reached .30 to .36 with a middle of .24 to .27, a true paraphrase over 201 texts .38
# with one of .21. Not set by an eval.
STANDS_OUT, OF_NEAREST = 1.5, 50


@dataclass(slots=True)
class Lists:
    """The ranked lists a query gave, before they are fused."""

    rows: dict[str, list[Scored]] = field(default_factory=dict)
    coverage: dict[str, float] = field(default_factory=dict)
    spaces: dict[str, SpaceInfo] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    outlines: dict[int, ChunkOutline] = field(default_factory=dict)
    """Of chunks that are likely to be looked at, read while there was time."""
    terms: list[str] = field(default_factory=list)
    """What words are asked for."""
    met: bool = False
    """Whether a word of the query is in the index, where the words have no list of their own."""

    def take(self, info: SpaceInfo, near: list[Scored]) -> None:
        """Add a space's list; spaces of one model, stored in two ways, are one list."""
        same = [name for name, other in self.spaces.items() if other.space.fingerprint == info.space.fingerprint]
        name = same[0] if same else info.space.embedder
        if not same and name in self.rows:
            name = f"{info.space.embedder}:{info.space.model}"
        rows = {row.id: row for row in (*self.rows.get(name, ()), *near)}
        self.rows[name] = sorted(rows.values(), key=lambda row: (-row.score, row.id))
        self.coverage[name] = min(1.0, self.coverage.get(name, 0.0) + info.coverage)
        self.spaces[name] = info


class Whole:
    """The rows of one search that were read with their texts, each once."""

    def __init__(self, read: Callable[[Sequence[int]], dict[int, StoredChunk]]) -> None:
        """Take what reads them."""
        self._read = read
        self.rows: dict[int, StoredChunk] = {}
        self.gone: set[int] = set()
        """Those that were asked for and are not there: damaged, or removed meanwhile."""

    def read(self, chunks: Iterable[int]) -> None:
        """Read those that were not read before."""
        missing = [chunk for chunk in chunks if chunk not in self.rows]
        if missing:
            self.rows.update(self._read(missing))
            self.gone.update(chunk for chunk in missing if chunk not in self.rows)

    def texts(self, ranked: Sequence[Ranked], *, shown: int) -> dict[int, str]:
        """Return the texts that are compared with each other where so many are shown."""
        wanted = looked_at(ranked, shown)
        self.read(wanted)
        return {chunk: self.rows[chunk].chunk.text for chunk in wanted if chunk in self.rows}


def alike(fused: Fused, floors: Mapping[str, float]) -> tuple[list[Scored], list[Dropped]]:
    """Return the best that have anything to do with the query, and some of those that have not.

    Some vector is always the nearest. One that shares no word with the query and lies in the noise is no answer.
    """
    related = {
        row.id for name, rows in fused.lists.items() for row in rows if name == "words" or row.score > floors[name]
    }
    unlike = [one for one in fused.best if one.id not in related]
    kept = [one for one in fused.best if one.id in related] if unlike else fused.best
    reason = "no word and hardly any meaning in common with the query"
    return kept, [Dropped(f"chunk {one.id}", one.score, reason) for one in unlike[:MOST_DROPPED]]


def floor(near: Sequence[Scored], related: float) -> float:
    """Return the cosine that stands out from the other near ones, and never more than what is surely related."""
    scores = sorted(row.score for row in near[:OF_NEAREST])
    half = len(scores) // 2
    # By hand: `statistics` brings decimals, fractions and random numbers with it, 4 ms of a first search.
    middle = (scores[half] + scores[~half]) / 2 if scores else 0.0
    return min(related, max(NOISE, STANDS_OUT * middle))


def left_out(ranked: Sequence[Ranked], copies: Sequence[Ranked], chosen: Sequence[Ranked]) -> list[Dropped]:
    """Return those that are not shown, and why."""
    shown = {member.id for entry in chosen for member in entry.members}
    dropped = [Dropped(entry.doc_id, entry.score, "ranked lower") for entry in ranked if entry.row.id not in shown]
    return dropped[:MOST_DROPPED] + [Dropped(entry.doc_id, entry.score, "same text as a hit above") for entry in copies]
