"""Cutting plain text: by characters, by sentences, by tokens, and by its paragraphs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from ragstone.chunk.pack import Unit, check_sizes, pack
from ragstone.chunk.recipes import PROSE_SIZE, named
from ragstone.chunk.spans import Cut, chunks_of
from ragstone.text.sentences import SENTENCE, WORD, prose_units, sentence_starts, sentence_units

if TYPE_CHECKING:
    from ragstone.types import Chunk, Document

_STEPS: Final = 20
"""An endless sentence is packed in steps of this part of the size, so that its overlap is as fine."""


class Chars:
    """Equal slices, each sharing `overlap` characters with the one before it."""

    def __init__(self, *, size: int = 1000, overlap: int = 200) -> None:
        """Keep the sizes, in characters."""
        check_sizes(size, overlap)
        self.size, self.overlap = size, overlap
        self.recipe = named("chars", size, overlap)

    def chunk(self, document: Document) -> list[Chunk]:
        """Return the chunks of a document."""
        end = len(document.text)
        last = max(end - self.overlap, 1)
        starts = range(0, min(end, last), self.size - self.overlap)
        return chunks_of(document, (Cut(at, min(at + self.size, end)) for at in starts))


class Sentences:
    """Whole sentences up to a size in characters; the overlap goes back to a sentence's start."""

    def __init__(self, *, size: int = 2000, overlap: int = 200) -> None:
        """Keep the sizes, in characters."""
        check_sizes(size, overlap)
        self.size, self.overlap = size, overlap
        self.recipe = named("sentences", size, overlap)

    def chunk(self, document: Document) -> list[Chunk]:
        """Return the chunks of a document."""
        text = document.text
        cuts = pack(list(self._units(text)), len(text), size=self.size, overlap=self.overlap)
        return chunks_of(document, (Cut(*cut) for cut in cuts))

    def _units(self, text: str) -> Iterator[Unit]:
        starts = sentence_starts(text)
        for start, stop in pairwise([*starts, len(text)]):
            if stop - start <= self.size:
                yield Unit(start, stop - start, SENTENCE)
                continue
            step = max(1, self.size // _STEPS)
            for at in range(start, stop, step):
                yield Unit(at, min(step, stop - at), SENTENCE if at == start else WORD)


class Tokens:
    """Whole sentences up to a size in tokens; the overlap goes back to a sentence's start."""

    def __init__(self, *, size: int = 512, overlap: int = 64) -> None:
        """Keep the sizes, in estimated tokens."""
        check_sizes(size, overlap)
        self.size, self.overlap = size, overlap
        self.recipe = named("tokens", size, overlap)

    def chunk(self, document: Document) -> list[Chunk]:
        """Return the chunks of a document."""
        text = document.text
        units = list(sentence_units(text, 0, len(text), size=self.size))
        cuts = pack(units, len(text), size=self.size, overlap=self.overlap)
        return chunks_of(document, (Cut(*cut) for cut in cuts))


class Prose:
    """Whole paragraphs up to a size in tokens; a long paragraph is parted between sentences, pages are never mixed."""

    def __init__(self, *, size: int = PROSE_SIZE, overlap: int = 0) -> None:
        """Keep the sizes, in estimated tokens."""
        check_sizes(size, overlap)
        self.size, self.overlap = size, overlap
        self.recipe = named("prose", size, overlap)

    def chunk(self, document: Document) -> list[Chunk]:
        """Return the chunks of a document."""
        text = document.text
        borders = sorted({0, len(text), *(mark.start for mark in document.marks if 0 < mark.start < len(text))})
        return chunks_of(document, (cut for start, end in pairwise(borders) for cut in self._cuts(text, start, end)))

    def _cuts(self, text: str, start: int, end: int) -> Iterator[Cut]:
        units = list(prose_units(text, start, end, size=self.size, fine=self.overlap > 0))
        yield from (Cut(*cut) for cut in pack(units, end, size=self.size, overlap=self.overlap))
