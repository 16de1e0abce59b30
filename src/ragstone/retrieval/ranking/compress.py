"""The lines or sentences of a chunk that answer, as exact slices of it."""

from __future__ import annotations

import re
from typing import Final

from ragstone.text import terms

_LINE: Final = re.compile(r"[^\n]*\n?")
_SENTENCE: Final = re.compile(r".+?(?:[.!?。！？]['\")\]]*(?=\s)|\n\s*\n|\Z)\s*", re.S)
_ENOUGH: Final = 0.5  # pieces with at least this share of the best piece's matches stay


def answering_slice(text: str, query_terms: list[str], *, by_lines: bool) -> tuple[int, int]:
    """Return (start, end) of the shortest run of whole pieces that holds every piece that answers well."""
    wanted = set(query_terms)
    pieces = [m.span() for m in (_LINE if by_lines else _SENTENCE).finditer(text) if m.group().strip()]
    matches = [len(wanted & set(terms(text[a:b]))) for a, b in pieces]
    best = max(matches, default=0)
    if not best:
        return 0, len(text)
    good = [i for i, count in enumerate(matches) if count >= best * _ENOUGH]
    start, end = pieces[good[0]][0], pieces[good[-1]][1]
    return start, start + len(text[start:end].rstrip())


def best_slice(text: str, query_terms: list[str], most: int, *, by_lines: bool) -> tuple[int, int] | None:
    """Return (start, end) of the run of whole pieces, at most so many characters, that holds most of the query.

    Of runs that hold as much, the longest; None where no piece is short enough.
    """
    wanted = set(query_terms)
    pieces = [m.span() for m in (_LINE if by_lines else _SENTENCE).finditer(text) if m.group().strip()]
    found = [wanted & set(terms(text[a:b])) for a, b in pieces]
    best: tuple[int, int, int, int] | None = None
    first = 0
    for last in range(len(pieces)):
        while first <= last and _length(text, pieces, first, last) > most:
            first += 1
        if first > last:
            continue
        matched = len(set().union(*found[first : last + 1]))
        start, end = pieces[first][0], pieces[first][0] + _length(text, pieces, first, last)
        best = max(filter(None, (best, (matched, end - start, -start, end))))
    return None if best is None else (-best[2], best[3])


def _length(text: str, pieces: list[tuple[int, int]], first: int, last: int) -> int:
    return len(text[pieces[first][0] : pieces[last][1]].rstrip())
