"""Fitting pieces into a budget: whole ones first, then the sentences that answer; never a token too many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ragstone.retrieval.context.fence import new_mark
from ragstone.retrieval.context.layout import Layout
from ragstone.types import Cited, LeftOut

Count = Callable[[str], int]
"""Returns how many tokens a text has, or more."""
Shorten = Callable[[Cited, int], Cited | None]
"""Returns the best exact slice of a piece that is at most so many characters long, None where there is none."""

_LEAST_CHARACTERS: Final = 80
"""A slice shorter than this says nothing."""
_TRIES: Final = 4
NO_ROOM: Final = "no room left in the budget"


@dataclass(slots=True)
class Fitted:
    """A text inside its budget, and what became of each piece."""

    text: str = ""
    tokens: int = 0
    taken: list[Cited] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    framed: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """What a text is put together from: its format, its task, what was sent before, and how tokens are counted."""

    layout: Layout
    task: str
    mark: str
    before: Sequence[str]
    count: Count

    def text(self, pieces: Sequence[Cited]) -> str:
        """Return the whole text with these pieces."""
        head, tail = self.layout.frame(self.mark, self.task)
        told = self.layout.before(self.before) if self.before else ""
        body = "".join(self.layout.piece(piece, number) for number, piece in enumerate(pieces, 1))
        return f"{head}{told}{body}{tail}".rstrip("\n")

    def size(self, pieces: Sequence[Cited]) -> int:
        """Return how many tokens the whole text would have."""
        return self.count(self.text(pieces))


def page(
    layout: Layout, task: str, pieces: Sequence[Cited], before: Sequence[str], count: Count
) -> Page:
    """Return a page whose mark is in none of its texts."""
    held = [
        task,
        *before,
        *(text for piece in pieces for text in (piece.text, piece.place, piece.uri, piece.doc_id)),
    ]
    return Page(layout, task, new_mark(held), before, count)


def fit(blank: Page, pieces: Sequence[Cited], budget: int, shorten: Shorten) -> Fitted:
    """Return the text with as many pieces as the budget allows, best first; empty where not even its frame fits."""
    done = Fitted()
    blank = _with_room(blank, budget)
    if blank.size([]) > budget:
        done.left_out = [LeftOut(piece.doc_id, piece.place, NO_ROOM) for piece in pieces]
        return done
    done.framed = True
    for piece in pieces:
        if blank.size([*done.taken, piece]) <= budget:
            done.taken.append(piece)
            continue
        part = _part(blank, done.taken, piece, budget, shorten)
        if part is None:
            done.left_out.append(LeftOut(piece.doc_id, piece.place, NO_ROOM))
        else:
            done.taken.append(part)
            done.left_out.append(
                LeftOut(piece.doc_id, piece.place, "shortened to the part that answers")
            )
    done.text = blank.text(done.taken)
    done.tokens = blank.count(done.text)
    return done


def _with_room(blank: Page, budget: int) -> Page:
    """Return the page without the list of what was sent before, where that list alone is too long."""
    while blank.before and blank.size([]) > budget // 2:
        blank = replace(blank, before=blank.before[: len(blank.before) // 2])
    return blank


def _part(
    blank: Page, taken: Sequence[Cited], piece: Cited, budget: int, shorten: Shorten
) -> Cited | None:
    """Return as much of a piece as fits, None where that is too little to be of use."""
    used = blank.size(taken)
    whole = blank.size([*taken, piece]) - used
    characters = len(piece.text)
    for _ in range(_TRIES):
        characters = int(characters * 0.9 * max(0, budget - used) / max(1, whole))
        if characters < _LEAST_CHARACTERS:
            return None
        part = shorten(piece, characters)
        if part is None:
            return None
        size = blank.size([*taken, part])
        if size <= budget:
            return part
        characters, whole = len(part.text), size - used
    return None
