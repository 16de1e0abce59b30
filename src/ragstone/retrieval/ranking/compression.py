"""The lines or sentences of a text that answer a query, as exact slices of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from ragstone.text import terms
from ragstone.text.sentences import sentence_starts
from ragstone.types import Slice, Span
from ragstone.types.documents import is_code

GAP: Final = "\n[…]\n"
"""Separates two slices in the text of a compressed hit."""
_LINE: Final = re.compile(r"[^\n]*\n?")
_MIN_SHARE: Final = 0.5
"""Pieces with at least this share of the best piece's matches are included. Not set by an eval."""
_LINE_KINDS: Final = frozenset({"config", "data", "package", "openapi"})
_BEFORE_HEADER: Final = ("@", "#[", "# ", "//", "/*", "* ", "*/")
"""Starts of a decorator or comment, which belongs to the line after it."""
_CLOSING: Final = (")", "]", "}")
"""Starts of a line that ends a signature or a block."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A line or sentence: its place in the text, and the terms of the query in it."""

    start: int
    end: int
    matches: frozenset[str]
    covered: frozenset[str]
    """The matches, and for a line also those of the decorators and lines above it that it belongs to."""
    is_header: bool = False
    """Whether the lines after it belong to it, so that a slice should not end with it."""


def is_cut_by_lines(kind: str) -> bool:
    """Return whether documents of a kind are shortened by lines; all others are shortened by sentences."""
    return kind in _LINE_KINDS or is_code(kind)


def answering_slices(
    text: str, query_terms: Sequence[str], *, by_lines: bool
) -> list[tuple[int, int]]:
    """Return (start, end) of each run of pieces that answer well; the whole text if no piece has a term.

    A piece between two runs shares too few terms with the query, so it is left out.
    """
    pieces = _split(text, query_terms, by_lines=by_lines)
    most_matches = max((len(piece.matches) for piece in pieces), default=0)
    if most_matches == 0:
        return [(0, len(text))]
    min_matches = most_matches * _MIN_SHARE
    runs: list[list[_Piece]] = [[]]
    for piece in pieces:
        if len(piece.matches) >= min_matches:
            runs[-1].append(piece)
        elif runs[-1]:
            runs.append([])
    return [_run_bounds(text, run[0], run[-1]) for run in runs if run]


def cut_slices(text: str, span: Span, bounds: Sequence[tuple[int, int]]) -> tuple[Slice, ...]:
    """Return the slices of a text, each with its own span."""
    slices = []
    for start, end in bounds:
        slices.append(Slice(text[start:end], span.narrowed(text, start, end)))
    return tuple(slices)


def join_slices(slices: Sequence[Slice]) -> str:
    """Return the texts of slices as one, with a gap mark between them."""
    return GAP.join(part.text for part in slices)


def outer_span(slices: Sequence[Slice]) -> Span:
    """Return the span from the first slice to the last; it includes the gaps between them."""
    return slices[0].span.extended_to(slices[-1].span)


def best_slice(
    text: str, query_terms: Sequence[str], most: int, *, by_lines: bool
) -> tuple[int, int] | None:
    """Return (start, end) of the run of whole pieces, up to `most` characters, with the most terms of the query.

    A line counts for the header that it belongs to as well, and a run ends with no header if it has another line. Of
    runs with equally many terms the one with the most text about them is best; None if every piece is too long.
    """
    pieces = _split(text, query_terms, by_lines=by_lines)
    best: tuple[int, ...] | None = None
    best_bounds: tuple[int, int] | None = None
    run: list[_Piece] = []
    for piece in pieces:
        run.append(piece)
        while run and _run_length(text, run[0], piece) > most:
            run.pop(0)
        if not run:
            continue
        whole_run = _without_last_headers(run)
        start, end = _run_bounds(text, whole_run[0], whole_run[-1])
        quality = (*_rate(whole_run), end - start, -start)
        if best is None or quality > best:
            best = quality
            best_bounds = (start, end)
    return best_bounds


def _without_last_headers(run: list[_Piece]) -> list[_Piece]:
    """Return a run without the headers at its end; the whole run if it has only headers."""
    last = next((piece for piece in reversed(run) if not piece.is_header), run[-1])
    return run[: run.index(last) + 1]


def _rate(run: list[_Piece]) -> tuple[int, bool, int, int]:
    """Return how well a run answers: the most query terms, then no header at its end, then the most text about them."""
    covered: set[str] = set()
    matches: set[str] = set()
    characters = 0
    for piece in run:
        covered |= piece.covered
        matches |= piece.matches
        characters += len(piece.covered) * (piece.end - piece.start)
    return len(covered), not run[-1].is_header, len(matches), characters


def _split(text: str, query_terms: Sequence[str], *, by_lines: bool) -> list[_Piece]:
    """Return the lines or sentences of a text that are not blank."""
    query_term_set = frozenset(query_terms)
    pieces = []
    for start, end in _line_bounds(text) if by_lines else _sentence_bounds(text):
        piece_text = text[start:end]
        if piece_text.strip():
            matches = query_term_set.intersection(terms(piece_text))
            pieces.append(_Piece(start, end, matches, covered=matches))
    if by_lines:
        return _add_headers(text, pieces)
    return pieces


def _add_headers(text: str, lines: Sequence[_Piece]) -> list[_Piece]:
    """Return the lines with the terms of the decorators and lines above them that they belong to."""
    code = [text[line.start : line.end].expandtabs() for line in lines]
    indents = [len(line) - len(line.lstrip()) for line in code]
    above: list[tuple[int, frozenset[str]]] = []
    result = []
    precedes = False
    for line, text_of_line, indent, next_indent in zip(
        lines, code, indents, [*indents[1:], 0], strict=False
    ):
        start = text_of_line.lstrip()
        belongs = precedes or start.startswith(_CLOSING)
        _leave_blocks(above, indent if belongs else indent - 1)
        covered = line.matches.union(*(header_terms for _, header_terms in above))
        above.append((indent, covered))
        precedes = start.startswith(_BEFORE_HEADER)
        is_header = precedes or next_indent > indent
        result.append(replace(line, covered=covered, is_header=is_header))
    return result


def _leave_blocks(above: list[tuple[int, frozenset[str]]], most: int) -> None:
    """Remove the last lines that are indented deeper than `most` columns."""
    while above and above[-1][0] > most:
        above.pop()


def _line_bounds(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _LINE.finditer(text)]


def _sentence_bounds(text: str) -> list[tuple[int, int]]:
    return list(pairwise([*sentence_starts(text), len(text)]))


def _run_bounds(text: str, first: _Piece, last: _Piece) -> tuple[int, int]:
    """Return (start, end) from one piece to another, without the space at the end."""
    length = _run_length(text, first, last)
    return first.start, first.start + length


def _run_length(text: str, first: _Piece, last: _Piece) -> int:
    run = text[first.start : last.end]
    return len(run.rstrip())
