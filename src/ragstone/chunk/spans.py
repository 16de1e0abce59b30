"""Turning slices of a text into chunks with byte offsets, lines and pages.

Lines are counted as editors do, by `\\n`; a lone `\\r` does not start one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from ragstone.types import Chunk, Document, Mark, Span

_CLOSING: Final = re.compile(r"(?:\W|\b(?:end|fi|done|esac)\b)*+")
"""Text that only closes what is before it: braces, `end`, lines of dashes."""
_INDENTATION: Final = " \t"
_LINE_ENDS: Final = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"


class TextSlice(NamedTuple):
    """A slice of a document's text from `start` to before `end`, and what its chunk says about it."""

    start: int
    end: int
    symbol: str = ""
    header: str = ""
    kind: str = ""


def build_chunks(document: Document, slices: Iterable[TextSlice]) -> list[Chunk]:
    """Return the chunks of ordered slices, without white space at their ends and without empty ones."""
    text = document.text
    trimmed = _trim_slices(text, slices)
    marks = sorted(document.marks, key=lambda mark: mark.start)
    chunks = []
    for order, (piece, span) in enumerate(
        zip(trimmed, _build_spans(text, trimmed, marks), strict=True)
    ):
        kind = piece.kind or document.kind
        chunks.append(
            Chunk(
                text[piece.start : piece.end],
                span,
                order,
                kind,
                piece.symbol,
                piece.header,
            )
        )
    return chunks


def join_closings(text: str, slices: Iterable[TextSlice]) -> list[TextSlice]:
    """Return slices of code; one that only closes a definition is joined with its neighbour.

    A chunk of braces has hardly more than its header, so it would match the header's words best.
    """
    joined: list[TextSlice] = []
    opening: int | None = None
    for piece in slices:
        is_closing = _CLOSING.fullmatch(text, piece.start, piece.end) is not None
        if is_closing and joined:
            joined[-1] = joined[-1]._replace(end=piece.end)
            continue
        if opening is not None:
            piece = piece._replace(start=opening)
            opening = None
        if is_closing:
            opening = piece.start
        else:
            joined.append(piece)
    if opening is not None:
        joined.append(TextSlice(opening, len(text)))
    return joined


def common_start(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the names that all paths start with."""
    shortest = min(paths, key=len, default=())
    for index, name in enumerate(shortest):
        if any(path[index] != name for path in paths):
            return shortest[:index]
    return shortest


def _trim_slices(text: str, slices: Iterable[TextSlice]) -> list[TextSlice]:
    """Return the slices trimmed, without those that lie inside another."""
    trimmed: list[TextSlice] = []
    for piece in slices:
        start, end = trim(text, piece.start, piece.end)
        if start == end:
            continue
        piece = piece._replace(start=start, end=end)
        if trimmed and _covers(trimmed[-1], piece):
            continue
        while trimmed and _covers(piece, trimmed[-1]):
            trimmed.pop()
        trimmed.append(piece)
    return trimmed


def _covers(outer: TextSlice, inner: TextSlice) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the slice without blank lines and spaces at its ends; the first line keeps its indentation."""
    body = text[start:end].lstrip()
    if not body:
        return start, start
    first = end - len(body)
    last = first + len(body.rstrip())
    before = text[start:first].rstrip(_INDENTATION)
    indented = start + len(before)
    is_line_start = indented == 0 or text[indented - 1] in _LINE_ENDS
    return (indented if is_line_start else first), last


def _build_spans(text: str, slices: Sequence[TextSlice], marks: Sequence[Mark]) -> list[Span]:
    """Return the spans of trimmed slices, whose starts do not decrease."""
    mark_starts = [mark.start for mark in marks]
    spans: list[Span] = []
    position = byte = 0
    line = 1
    for piece in slices:
        before, inside = (
            text[position : piece.start],
            text[piece.start : piece.end],
        )
        position = piece.start
        byte += _count_bytes(before)
        line += before.count("\n")
        span = Span(
            start=piece.start,
            end=piece.end,
            byte_start=byte,
            byte_end=byte + _count_bytes(inside),
            line_start=line,
            line_end=line + inside.count("\n"),
        )
        index = bisect_right(mark_starts, piece.start) - 1
        if index >= 0:
            mark = marks[index]
            span = replace(
                span,
                page=mark.number,
                page_label=mark.label,
                unit=mark.unit,
            )
        spans.append(span)
    return spans


def _count_bytes(text: str) -> int:
    if text.isascii():
        return len(text)
    return len(text.encode("utf-8", "surrogatepass"))
