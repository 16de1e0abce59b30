"""The lines or sentences of a chunk that answer, as an exact slice of it."""

from __future__ import annotations

import re
from typing import Final

from ragstone.words import terms

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
