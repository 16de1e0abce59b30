"""Cutting plain text by characters, by sentences, by tokens, and by paragraphs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from ragstone.chunk.packing import check_sizes, pack_units
from ragstone.chunk.sizes import PROSE_SIZE, format_recipe
from ragstone.chunk.spans import TextSlice, build_chunks
from ragstone.text.sentences import (
    SENTENCE,
    WORD,
    prose_units,
    sentence_starts,
    sentence_units,
)
from ragstone.text.units import Unit
from ragstone.types import Chunk, Document

_PAGE_START: Final = 100
"""Characters of the beginning of a page that its further chunks have as their header."""
_STEPS: Final = 20
"""A sentence above the size is packed in steps of this part of the size, so that its overlap is exact."""


class CharacterChunker:
    """Cuts equal slices; each shares `overlap` characters with the one before it."""

    def __init__(self, *, size: int = 1000, overlap: int = 200) -> None:
        """Keep the sizes, in characters."""
        check_sizes(size, overlap)
        self.size = size
        self.overlap = overlap
        self.recipe = format_recipe("chars", size, overlap)

    def chunk(self, document: Document) -> list[Chunk]:
        """Return the chunks of a document."""
        end = len(document.text)
        last_start = max(end - self.overlap, 1)
        step = self.size - self.overlap
        starts = range(0, min(end, last_start), step)
        slices = []
        for start in starts:
            stop = min(start + self.size, end)
            slices.append(TextSlice(start, stop))
        return build_chunks(document, slices)


class SentenceChunker:
    """Cuts whole sentences up to a size in characters; the overlap starts at a sentence."""

    def __init__(self, *, size: int = 2000, overlap: int = 200) -> None:
        """Keep the sizes, in characters."""
        check_sizes(size, overlap)
        self.size = size
        self.overlap = overlap
        self.recipe = format_recipe("sentences", size, overlap)

    def chunk(self, document: Document) -> list[Chunk]:
        """Return the chunks of a document."""
        units = list(self._split(document.text))
        return _pack_document(document, units, size=self.size, overlap=self.overlap)

    def _split(self, text: str) -> Iterator[Unit]:
        """Yield the sentences; one above the size is split into equal steps."""
        step = max(1, self.size // _STEPS)
        borders = [*sentence_starts(text), len(text)]
        for start, stop in pairwise(borders):
            if stop - start <= self.size:
                yield Unit(start, stop - start, SENTENCE)
                continue
            border = SENTENCE
            for position in range(start, stop, step):
                length = min(step, stop - position)
                yield Unit(position, length, border)
                border = WORD


class TokenChunker:
    """Cuts whole sentences up to a size in tokens; the overlap starts at a sentence."""

    def __init__(self, *, size: int = 512, overlap: int = 64) -> None:
        """Keep the sizes, in estimated tokens."""
        check_sizes(size, overlap)
        self.size = size
        self.overlap = overlap
        self.recipe = format_recipe("tokens", size, overlap)

    def chunk(self, document: Document) -> list[Chunk]:
        """Return the chunks of a document."""
        text = document.text
        units = list(sentence_units(text, 0, len(text), size=self.size))
        return _pack_document(document, units, size=self.size, overlap=self.overlap)


class ProseChunker:
    """Cuts whole paragraphs up to a size in tokens, and long ones between sentences. Pages are never mixed."""

    def __init__(self, *, size: int = PROSE_SIZE, overlap: int = 0) -> None:
        """Keep the sizes, in estimated tokens."""
        check_sizes(size, overlap)
        self.size = size
        self.overlap = overlap
        self.recipe = format_recipe("prose", size, overlap)

    def chunk(self, document: Document) -> list[Chunk]:
        """Return the chunks of a document."""
        slices: list[TextSlice] = []
        for start, end in split_at_marks(document):
            units = list(
                prose_units(
                    document.text,
                    start,
                    end,
                    size=self.size,
                    fine=self.overlap > 0,
                )
            )
            ranges = pack_units(units, end, size=self.size, overlap=self.overlap)
            header = _page_start(document, start, end)
            for place, (first, last) in enumerate(ranges):
                slices.append(TextSlice(first, last, header=header if place else ""))
        return build_chunks(document, slices)


def _page_start(document: Document, start: int, end: int) -> str:
    """Return the first words of a page, which often name its subject; nothing if the document has no pages."""
    if not any(not mark.unit for mark in document.marks):
        return ""
    words = document.text[start:end][: 4 * _PAGE_START].split()
    header = ""
    for word in words:
        if len(header) + len(word) >= _PAGE_START:
            break
        header = f"{header} {word}".lstrip()
    return header


def split_at_marks(document: Document) -> list[tuple[int, int]]:
    """Return (start, end) of the parts between the marks of a document, such as its pages."""
    end = len(document.text)
    starts = {mark.start for mark in document.marks if 0 < mark.start < end}
    borders = sorted({0, end, *starts})
    return list(pairwise(borders))


def _pack_document(
    document: Document, units: Sequence[Unit], *, size: int, overlap: int
) -> list[Chunk]:
    ranges = pack_units(units, len(document.text), size=size, overlap=overlap)
    slices = [TextSlice(start, end) for start, end in ranges]
    return build_chunks(document, slices)
