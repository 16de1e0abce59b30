"""Marks the words of a query in a text, and chooses the lines that a closed hit shows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from ragstone.surfaces.present.excerpt_lines import choose_lines
from ragstone.text import terms
from ragstone.types import Hit, Span

_WORD: Final = re.compile(r"\w+")
_PREVIEW_LINES: Final = 3
_WINDOW: Final = 220
"""Characters of a long line that a preview shows, around the first marked word."""
_SLACK: Final = 20
"""A line that is longer by so few characters is shown whole."""


@dataclass(frozen=True, slots=True)
class LinePart:
    """A part of a line; it is marked if it is a word of the query."""

    text: str
    is_marked: bool = False
    is_passage: bool = False
    """Whether it belongs to the passage that a document was opened for."""


@dataclass(frozen=True, slots=True)
class MarkedLine:
    """A line of a document in segments. Its number is 0 if the format has no lines."""

    number: int
    segments: tuple[LinePart, ...]

    @property
    def text(self) -> str:
        """Return the text of the line."""
        return "".join(segment.text for segment in self.segments)

    @property
    def marks(self) -> int:
        """Return how many words of the query the line has."""
        return sum(segment.is_marked for segment in self.segments)


def mark_hit(hit: Hit, query_terms: Sequence[str]) -> list[list[MarkedLine]]:
    """Return the lines of a hit with marks: one list for each slice, and one list if the hit is not compressed."""
    slices = [(part.text, part.span) for part in hit.slices] or [(hit.text, hit.span)]
    query_set = frozenset(query_terms)
    # A text about a node of the graph is not in a file, and a line of a PDF cannot be counted by a reader.
    has_lines = hit.span.page is None and not hit.is_summary
    return [_mark_slice(text, span, query_set, has_lines) for text, span in slices]


def preview_lines(
    blocks: Sequence[Sequence[MarkedLine]], *, has_headings: bool
) -> list[MarkedLine]:
    """Return the few lines with the most words of the query, in their order; the first lines if there is none.

    A line of Markdown comes with its heading.
    """
    lines = [line for line in chain.from_iterable(blocks) if _has_text(line)]
    best = sorted(range(len(lines)), key=lambda place: -lines[place].marks)
    texts = {place: line.text for place, line in enumerate(lines)}
    chosen = choose_lines(texts, best, _PREVIEW_LINES, has_headings=has_headings)
    return [_shorten(lines[place]) for place in chosen]


def mark_words(
    text: str, query_set: frozenset[str], *, is_passage: bool = False
) -> Sequence[LinePart]:
    """Return a text in segments; words are marked if one of their terms is in the query."""
    segments: list[LinePart] = []
    end = 0
    for word in _WORD.finditer(text):
        if query_set.isdisjoint(terms(word.group())):
            continue
        if word.start() > end:
            segments.append(LinePart(text[end : word.start()], is_passage=is_passage))
        segments.append(LinePart(word.group(), is_marked=True, is_passage=is_passage))
        end = word.end()
    if end < len(text):
        segments.append(LinePart(text[end:], is_passage=is_passage))
    return segments


def _mark_slice(
    text: str, span: Span, query_set: frozenset[str], has_lines: bool
) -> list[MarkedLine]:
    lines = text.removesuffix("\n").split("\n")
    return [
        MarkedLine(
            span.line_start + offset if has_lines else 0, tuple(mark_words(line, query_set))
        )
        for offset, line in enumerate(lines)
    ]


def _has_text(line: MarkedLine) -> bool:
    return bool(line.text.strip())


def _shorten(line: MarkedLine) -> MarkedLine:
    """Return a line of at most the window's length, with its first marked word inside."""
    if len(line.text) <= _WINDOW + _SLACK:
        return line
    segments = list(line.segments)
    if not segments[0].is_marked and line.marks and len(segments[0].text) > _WINDOW // 3:
        segments[0] = LinePart("…" + segments[0].text[-(_WINDOW // 3) :])
    cropped = MarkedLine(line.number, tuple(segments))
    if len(cropped.text) <= _WINDOW + _SLACK:
        return cropped
    parts: list[LinePart] = []
    room = _WINDOW
    for segment in segments:
        parts.append(LinePart(segment.text[:room], segment.is_marked))
        room -= len(segment.text)
        if room <= 0:
            parts.append(LinePart("…"))
            break
    return MarkedLine(line.number, tuple(parts))
