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
    most_matches = max((len(piece.matches) for piece in pieces), default=0)
    if most_matches == 0:
        return 0, len(text)
    min_matches = most_matches * _MIN_SHARE
    good = [piece for piece in pieces if len(piece.matches) >= min_matches]
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
    run: list[_Piece] = []
    for piece in pieces:
        run.append(piece)
        while run and _run_length(text, run[0], piece) > most:
            run.pop(0)
        if not run:
            continue
        start, end = _run_bounds(text, run[0], piece)
        quality = (_count_matches(run), end - start, -start)
        if best is None or quality > best:
            best = quality
            best_bounds = (start, end)
    return best_bounds


def _split(text: str, query_terms: list[str], *, by_lines: bool) -> list[_Piece]:
    """Return the lines or sentences of a text that are not blank."""
    query_term_set = frozenset(query_terms)
    pattern = _LINE if by_lines else _SENTENCE
    pieces = []
    for match in pattern.finditer(text):
        piece_text = match.group()
        if piece_text.strip():
            matches = query_term_set.intersection(terms(piece_text))
            start, end = match.span()
            pieces.append(_Piece(start, end, matches))
    return pieces


def _count_matches(run: list[_Piece]) -> int:
    """Return the number of different query terms in a run."""
    matches: set[str] = set()
    for piece in run:
        matches |= piece.matches
    return len(matches)


def _run_bounds(text: str, first: _Piece, last: _Piece) -> tuple[int, int]:
    """Return (start, end) from one piece to another, without the space at the end."""
    length = _run_length(text, first, last)
    return first.start, first.start + length


def _run_length(text: str, first: _Piece, last: _Piece) -> int:
    run = text[first.start : last.end]
    return len(run.rstrip())
