"""A document for its page: its lines, grouped by chunks and by pages, with a passage marked."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from ragstone.surfaces.web.highlight import LinePart, mark_words
from ragstone.types import Mark, StoredChunk

MAX_LINES = 1500
"""Longer documents are visible in parts."""


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line with its number from 1."""

    number: int
    text: str
    chunk: int | None
    """The order of the chunk that the line belongs to; None between chunks."""
    page: int
    """The position of its page in the document; 0 if the document has no pages."""
    start: int
    """The position of its first character in the document."""

    @property
    def end(self) -> int:
        """Return the position after its last character."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Passage:
    """Characters of a document to mark, and the terms of the query to mark in them."""

    start: int
    end: int
    terms: frozenset[str] = frozenset()

    @property
    def exists(self) -> bool:
        """Return whether there is something to mark."""
        return self.end > self.start

    def segments(self, line: TextLine) -> Sequence[LinePart]:
        """Return a line in segments: before the passage, in it with marked words, and after it."""
        first = min(max(self.start - line.start, 0), len(line.text))
        last = max(min(self.end - line.start, len(line.text)), first)
        if not self.exists or first == last:
            return (LinePart(line.text),)
        outside = [LinePart(line.text[:first]), LinePart(line.text[last:])]
        inside = mark_words(line.text[first:last], self.terms, is_passage=True)
        return [part for part in (outside[0], *inside, outside[1]) if part.text]


NO_PASSAGE: Final = Passage(0, 0)


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Lines of one chunk, or lines between chunks."""

    chunk: StoredChunk | None
    lines: Sequence[TextLine]


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """A page, slide or sheet with its blocks; a document without pages is one part."""

    label: str
    number: int
    blocks: Sequence[LineBlock]


@dataclass(frozen=True, slots=True)
class DocumentView:
    """The parts to show, and the lines that are visible."""

    parts: list[DocumentPart] = field(default_factory=list)
    first: int = 1
    last: int = 0
    total: int = 0
    passage: Passage = NO_PASSAGE
    passage_line: int = 0
    """The first line of the passage; 0 without one."""


def view_document(
    text: str,
    chunks: Sequence[StoredChunk],
    marks: Sequence[Mark],
    *,
    line: int = 0,
    page: int = 0,
    passage: Passage = NO_PASSAGE,
) -> DocumentView:
    """Return the part of a document around a passage, a line or a page."""
    lines = _number_lines(text, chunks, marks)
    passage_line = _first_line(lines, passage)
    target = passage_line or line
    if page:
        numbers = [mark.number for mark in marks]
        position = numbers.index(page) + 1 if page in numbers else 1
        target = next((entry.number for entry in lines if entry.page == position), 1)
    start = (min(max(target, 1), len(lines)) - 1) // MAX_LINES * MAX_LINES if lines else 0
    visible = lines[start : start + MAX_LINES]
    if not visible:
        return DocumentView()
    parts = list(_group(visible, chunks, marks))
    return DocumentView(
        parts, visible[0].number, visible[-1].number, len(lines), passage, passage_line
    )


def _first_line(lines: Sequence[TextLine], passage: Passage) -> int:
    """Return the number of the first line with characters of a passage; 0 if there is none."""
    if not passage.exists:
        return 0
    position = bisect_right(lines, passage.start, key=lambda line: line.start)
    inside = (line for line in lines[max(position - 1, 0) :] if line.end > passage.start)
    return next((line.number for line in inside if line.start < passage.end), 0)


def _number_lines(
    text: str, chunks: Sequence[StoredChunk], marks: Sequence[Mark]
) -> list[TextLine]:
    """Return all lines with their chunk and page. Chunks may overlap: the first one has the line."""
    owners: dict[int, int] = {}
    for stored in chunks:
        span = stored.chunk.span
        for number in range(span.line_start, span.line_end + 1):
            owners.setdefault(number, stored.chunk.order)
    lines = []
    page = position = 0
    for number, line in enumerate(text.split("\n"), start=1):
        while page < len(marks) and marks[page].start <= position:
            page += 1
        lines.append(TextLine(number, line, owners.get(number), page, position))
        position += len(line) + 1
    if lines and not lines[-1].text:  # the text ends with a line break
        lines.pop()
    return lines


def _group(
    lines: Sequence[TextLine], chunks: Sequence[StoredChunk], marks: Sequence[Mark]
) -> Iterator[DocumentPart]:
    by_order = {stored.chunk.order: stored for stored in chunks}
    for page, page_lines in groupby(lines, key=lambda line: line.page):
        blocks = [
            LineBlock(None if order is None else by_order[order], list(block))
            for order, block in groupby(page_lines, key=lambda line: line.chunk)
        ]
        mark = marks[page - 1] if page else None
        yield DocumentPart(_label(mark), mark.number if mark else 0, blocks)


def _label(mark: Mark | None) -> str:
    """Return the name of a part: `Page 3`, `Slide 2`, `Sheet Costs`; empty without pages."""
    if mark is None:
        return ""
    return f"{(mark.unit or 'page').capitalize()} {mark.label or mark.number}"
