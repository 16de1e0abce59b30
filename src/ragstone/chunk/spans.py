"""From cuts to chunks: exact slices with byte offsets, lines and page, in one pass over the text.

Lines are counted as editors do, by "\\n" (and so "\\r\\n"); a lone "\\r" does not start one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Final, NamedTuple

from ragstone.types import Chunk, Document, Mark, Span

_INDENTATION: Final = " \t"
_LINE_ENDS: Final = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"


class Cut(NamedTuple):
    """A slice to be made of a document's text, from `start` to before `end`."""

    start: int
    end: int
    symbol: str = ""
    header: str = ""
    kind: str = ""


def chunks_of(document: Document, cuts: Iterable[Cut]) -> list[Chunk]:
    """Return the chunks of cuts given in order; white space at their ends is trimmed, empty ones are left out."""
    text = document.text
    kept = _trimmed(text, cuts)
    spans = _spans(text, kept, sorted(document.marks, key=lambda mark: mark.start))
    return [
        Chunk(text[cut.start : cut.end], span, order, cut.kind or document.kind, cut.symbol, cut.header)
        for order, (cut, span) in enumerate(zip(kept, spans, strict=True))
    ]


def _trimmed(text: str, cuts: Iterable[Cut]) -> list[Cut]:
    """Return the cuts without white space at their ends, and without those that another holds wholly."""
    kept: list[Cut] = []
    for cut in cuts:
        start, end = trim(text, cut.start, cut.end)
        if start == end:
            continue
        if kept and start >= kept[-1].start and end <= kept[-1].end:
            continue
        while kept and start <= kept[-1].start and end >= kept[-1].end:
            kept.pop()
        kept.append(cut._replace(start=start, end=end))
    return kept


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the slice without blank lines and spaces at its ends; the first line keeps its indentation."""
    piece = text[start:end]
    body = piece.lstrip()
    if not body:
        return start, start
    first = end - len(body)
    indented = start + len(text[start:first].rstrip(_INDENTATION))
    at_line_start = indented == 0 or text[indented - 1] in _LINE_ENDS
    return (indented if at_line_start else first), first + len(body.rstrip())


def _spans(text: str, cuts: list[Cut], marks: list[Mark]) -> list[Span]:
    """Return the spans of trimmed cuts whose starts do not decrease."""
    plain = text.isascii()
    starts = [mark.start for mark in marks]
    spans: list[Span] = []
    at, byte, line = 0, 0, 1
    for cut in cuts:
        start, end = cut.start, cut.end
        byte = start if plain else byte + _byte_length(text[at:start])
        line += text.count("\n", at, start)
        at = start
        byte_end = end if plain else byte + _byte_length(text[start:end])
        line_end = line + text.count("\n", start, end)
        page = bisect_right(starts, start) - 1
        if page < 0:
            spans.append(Span(start, end, byte, byte_end, line, line_end))
        else:
            mark = marks[page]
            spans.append(Span(start, end, byte, byte_end, line, line_end, mark.number, mark.label, mark.unit))
    return spans


def _byte_length(piece: str) -> int:
    return len(piece) if piece.isascii() else len(piece.encode("utf-8", "surrogatepass"))
