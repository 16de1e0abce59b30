"""The lines or sentences of a chunk that answer a query, as exact slices of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ragstone.text import terms

_LINE: Final = re.compile(r"[^\n]*\n?")
_SENTENCE: Final = re.compile(r".+?(?:[.!?。！？]['\")\]]*(?=\s)|\n\s*\n|\Z)\s*", re.S)
_MIN_SHARE: Final = 0.5
"""Pieces with at least this share of the best piece's matches are included. Not set by an eval."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A line or sentence: its place in the text, and the terms of the query in it."""

    start: int
    end: int
    matches: frozenset[str]


def answering_slice(text: str, query_terms: list[str], *, by_lines: bool) -> tuple[int, int]:
    """Return (start, end) of the shortest run of whole pieces that includes every piece that answers well."""
    pieces = _split(text, query_terms, by_lines=by_lines)
    best = max((len(piece.matches) for piece in pieces), default=0)
    if not best:
        return 0, len(text)
    good = [piece for piece in pieces if len(piece.matches) >= best * _MIN_SHARE]
    return _run_bounds(text, good[0], good[-1])


def best_slice(
    text: str, query_terms: list[str], most: int, *, by_lines: bool
) -> tuple[int, int] | None:
    """Return (start, end) of the run of whole pieces, up to `most` characters, with the most terms of the query.

    Of runs with equally many terms it is the longest, then the first; None if every piece is too long.
    """
    pieces = _split(text, query_terms, by_lines=by_lines)
    best: tuple[int, int, int] | None = None
    best_bounds: tuple[int, int] | None = None
    first = 0
    for last, piece in enumerate(pieces):
        while first <= last and _run_length(text, pieces[first], piece) > most:
            first += 1
        if first > last:
            continue
        matches = frozenset[str]().union(*(other.matches for other in pieces[first : last + 1]))
        start, end = _run_bounds(text, pieces[first], piece)
        quality = (len(matches), end - start, -start)
        if best is None or quality > best:
            best, best_bounds = quality, (start, end)
    return best_bounds


def _split(text: str, query_terms: list[str], *, by_lines: bool) -> list[_Piece]:
    """Return the lines or sentences of a text that are not blank."""
    query_term_set = frozenset(query_terms)
    pattern = _LINE if by_lines else _SENTENCE
    pieces = []
    for match in pattern.finditer(text):
        if match.group().strip():
            pieces.append(
                _Piece(match.start(), match.end(), query_term_set & set(terms(match.group())))
            )
    return pieces


def _run_bounds(text: str, first: _Piece, last: _Piece) -> tuple[int, int]:
    """Return (start, end) from one piece to another, without the space at the end."""
    return first.start, first.start + _run_length(text, first, last)


def _run_length(text: str, first: _Piece, last: _Piece) -> int:
    return len(text[first.start : last.end].rstrip())
