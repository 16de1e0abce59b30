"""Fits pieces into a token budget: whole pieces first, then the sentences of a piece that answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ragstone.retrieval.context.fence import COSTLIEST_MARK, new_mark
from ragstone.retrieval.context.formatters import ContextFormatter
from ragstone.types import Cited, LeftOut

CountTokens = Callable[[str], int]
"""Returns the number of tokens in a text; an estimate is never too low."""
ShortenPiece = Callable[[Cited, int], Cited | None]
"""Returns the best slice of a piece up to a number of characters; None if there is none."""

NO_ROOM: Final = "no room left in the budget"
_SHORTENED: Final = "shortened to the part that answers"
_MIN_CHARACTERS: Final = 80
"""A shorter slice is of no use."""
_MAX_ATTEMPTS: Final = 4
_STEP: Final = 10
_SAFETY_SHARE: Final = 0.9
"""Tokens are not spread evenly over a text, so a slice is aimed at this share of the room."""


@dataclass(slots=True)
class FittedText:
    """A text inside its budget, the pieces in it and the pieces left out."""

    text: str = ""
    tokens: int = 0
    pieces: list[Cited] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    has_frame: bool = False
    """Whether the budget holds at least the text without any piece."""


@dataclass(frozen=True, slots=True)
class ContextPage:
    """Renders pieces as the text of one context."""

    formatter: ContextFormatter
    task: str
    mark: str
    shown_places: Sequence[str]
    count: CountTokens

    def render(self, pieces: Sequence[Cited]) -> str:
        """Return the full text with these pieces."""
        head, tail = self.formatter.frame(self.mark, self.task)
        shown_line = ""
        if self.shown_places:
            shown_line = self.formatter.format_shown(self.shown_places)
        formatted = [
            self.formatter.format_piece(piece, number, self.mark)
            for number, piece in enumerate(pieces, 1)
        ]
        body = "".join(formatted)
        return f"{head}{shown_line}{body}{tail}".rstrip("\n")

    def count_tokens(self, pieces: Sequence[Cited]) -> int:
        """Return the number of tokens in the full text with these pieces, whichever random mark it has."""
        costliest = replace(self, mark=COSTLIEST_MARK)
        return max(self.count(self.render(pieces)), self.count(costliest.render(pieces)))


def new_page(
    formatter: ContextFormatter,
    task: str,
    pieces: Sequence[Cited],
    shown_places: Sequence[str],
    count: CountTokens,
) -> ContextPage:
    """Return a page with a mark that occurs in none of its texts."""
    texts = [task, *shown_places]
    for piece in pieces:
        texts += [piece.text, piece.citation, piece.path, piece.doc_id]
    return ContextPage(formatter, task, new_mark(texts), shown_places, count)


def fit_pieces(
    page: ContextPage, pieces: Sequence[Cited], budget: int, shorten: ShortenPiece
) -> FittedText:
    """Return the text with as many pieces as the budget allows, best first; empty if not even the frame fits."""
    fitted = FittedText()
    page = _limit_shown_places(page, budget)
    if page.count_tokens([]) > budget:
        fitted.left_out = [LeftOut(piece.doc_id, piece.citation, NO_ROOM) for piece in pieces]
        return fitted
    fitted.has_frame = True
    for piece in pieces:
        if page.count_tokens([*fitted.pieces, piece]) <= budget:
            fitted.pieces.append(piece)
            continue
        part = _fit_part(page, fitted.pieces, piece, budget, shorten)
        if part is not None:
            part = _lengthen(part, page, fitted.pieces, piece, budget, shorten)
        reason = NO_ROOM
        if part is not None:
            fitted.pieces.append(part)
            reason = _SHORTENED
        fitted.left_out.append(LeftOut(piece.doc_id, piece.citation, reason))
    fitted.text = page.render(fitted.pieces)
    fitted.tokens = page.count(fitted.text)
    return fitted


def smallest_budget(
    page: ContextPage, pieces: Sequence[Cited], budget: int, shorten: ShortenPiece
) -> int:
    """Return the first larger budget that holds a piece or a part of one.

    It is looked for in steps of ten and then in steps of one, so that one token less is too small.
    """
    shortest = min((page.count_tokens([piece]) for piece in pieces), default=budget + 1)
    tens = range(budget + _STEP, shortest, _STEP)
    enough = next((larger for larger in tens if _fits(page, pieces, larger, shorten)), shortest)
    ones = range(max(budget + 1, enough - _STEP), enough)
    return next((larger for larger in ones if _fits(page, pieces, larger, shorten)), enough)


def _fits(
    page: ContextPage, pieces: Sequence[Cited], budget: int, shorten: ShortenPiece
) -> bool:
    return bool(fit_pieces(page, pieces, budget, shorten).pieces)


def _limit_shown_places(page: ContextPage, budget: int) -> ContextPage:
    """Return the page with fewer shown places, until the frame takes at most half of the budget."""
    while page.shown_places and page.count_tokens([]) > budget // 2:
        half = len(page.shown_places) // 2
        page = replace(page, shown_places=page.shown_places[:half])
    return page


def _fit_part(
    page: ContextPage,
    pieces: Sequence[Cited],
    piece: Cited,
    budget: int,
    shorten: ShortenPiece,
) -> Cited | None:
    """Return the part of a piece that fits after the other pieces; None if it would be too short."""
    used = page.count_tokens(pieces)
    room = max(0, budget - used)
    characters = len(piece.text)
    tokens = page.count_tokens([*pieces, piece]) - used
    for _ in range(_MAX_ATTEMPTS):
        characters = int(characters * _SAFETY_SHARE * room / max(1, tokens))
        if characters < _MIN_CHARACTERS:
            return None
        part = shorten(piece, characters)
        if part is None:
            return None
        total = page.count_tokens([*pieces, part])
        if total <= budget:
            return part
        characters = len(part.text)
        tokens = total - used
    return None


def _lengthen(
    part: Cited,
    page: ContextPage,
    pieces: Sequence[Cited],
    piece: Cited,
    budget: int,
    shorten: ShortenPiece,
) -> Cited:
    """Return the longest part of a piece that was found to fit after the other pieces; at least `part`."""
    used = page.count_tokens(pieces)
    tokens = page.count_tokens([*pieces, part]) - used
    fitting = len(part.text)
    too_many = min(len(piece.text), fitting * (budget - used) // max(1, tokens) + _STEP)
    for _ in range(_MAX_ATTEMPTS):
        characters = (fitting + too_many + 1) // 2
        longer = shorten(piece, characters)
        if longer is not None and page.count_tokens([*pieces, longer]) <= budget:
            fitting = characters
            part = longer
        else:
            too_many = characters
    return part
