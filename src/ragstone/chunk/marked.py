"""Cutting what has places of its own: slides and chapters are never mixed, so that a citation names the right one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from ragstone.chunk.markdown import Markdown
from ragstone.chunk.recipes import PROSE_SIZE, named
from ragstone.chunk.spans import Cut, chunks_of

if TYPE_CHECKING:
    from ragstone.types import Chunk, Document


class Marked:
    """Every slide or chapter by itself, cut like Markdown where it is long."""

    def __init__(self, *, size: int = PROSE_SIZE, overlap: int = 0) -> None:
        """Keep the sizes, in estimated tokens."""
        self._inside = Markdown(size=size, overlap=overlap)
        self.recipe = named("marked", size, overlap)

    def chunk(self, document: Document) -> list[Chunk]:
        """Return the chunks of a document."""
        return chunks_of(document, self._cuts(document))

    def _cuts(self, document: Document) -> Iterator[Cut]:
        text = document.text
        borders = sorted({0, len(text), *(mark.start for mark in document.marks if 0 < mark.start < len(text))})
        for start, end in pairwise(borders):
            for cut in self._inside.cuts(text[start:end]):
                yield cut._replace(start=cut.start + start, end=cut.end + start)
