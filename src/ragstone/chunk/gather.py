"""Pieces of code put together to chunks: small neighbours share one, what is too big is parted by its own chunker."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from ragstone.chunk.spans import Cut
from ragstone.text.sentences import weigh

_TINY: Final = 8
"""A piece below size / TINY goes with any neighbour that it fits beside."""
_MOST_NAMES: Final = 40


@dataclass(frozen=True, slots=True)
class Piece:
    """A definition, or a run of what stands between two."""

    start: int
    end: int
    names: tuple[str, ...]
    header: str


Kind = TypeVar("Kind", bound=Piece)


@dataclass(frozen=True, slots=True)
class Gather:
    """How pieces of a text become chunks of a size; neighbours below size / small share one."""

    text: str
    size: int
    small: int

    def cuts(self, pieces: Sequence[Kind], parted: Callable[[Kind], Iterator[Cut]]) -> Iterator[Cut]:
        """Yield the cuts of neighbouring pieces; `parted` gives those of a piece that is too big for one chunk."""
        group: list[Kind] = []
        weight = 0
        for piece in pieces:
            own = weigh(self.text, piece.start, piece.end, self.size)
            if own > self.size and weight <= self.size // _TINY:
                yield from parted(_led_by(group, piece))
                group, weight = [], 0
                continue
            if group and not self._joins(weight, own):
                yield _merged(group)
                group, weight = [], 0
            if own > self.size:
                yield from parted(piece)
                continue
            group.append(piece)
            weight += own
        if group:
            yield _merged(group)

    def _joins(self, weight: int, own: int) -> bool:
        if weight + own > self.size:
            return False
        small = self.size // self.small
        return (weight <= small and own <= small) or min(weight, own) <= self.size // _TINY


def listed(names: Sequence[str]) -> str:
    """Return the names that a chunk is found by, as many as a chunk may have."""
    return " ".join(names[:_MOST_NAMES])


def by_last_part(names: Sequence[str]) -> dict[str, list[str]]:
    """Return names by the word behind their last dot, without the signs that languages put around it; each once."""
    found: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        found.setdefault(name.rpartition(".")[2].strip("$@?!="), []).append(name)
    return found


def _led_by(group: Sequence[Kind], piece: Kind) -> Kind:
    """Return the piece with the tiny ones before it as its beginning."""
    if not group:
        return piece
    names = piece.names + tuple(name for before in group for name in before.names)
    return replace(piece, start=group[0].start, names=names)


def _merged(pieces: Sequence[Piece]) -> Cut:
    """Return the cut of pieces that share a chunk."""
    names = list(dict.fromkeys(name for piece in pieces for name in piece.names))
    return Cut(pieces[0].start, pieces[-1].end, symbol=listed(names), header=pieces[-1].header)
