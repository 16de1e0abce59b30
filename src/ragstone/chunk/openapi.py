"""Cutting the description of an API: a chunk per endpoint, everything else by its keys."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Final

from ragstone.chunk.keys import SPLITS, key_cuts, top_parts
from ragstone.chunk.lines import cut_lines
from ragstone.chunk.pack import check_sizes
from ragstone.chunk.recipes import CODE_SIZE, named
from ragstone.chunk.spans import Cut, chunks_of
from ragstone.chunk.trees import Part, Split
from ragstone.text.sentences import weigh

if TYPE_CHECKING:
    from ragstone.types import Chunk, Document

_METHODS: Final = frozenset("get put post delete options head patch trace query".split())
_ENDPOINTS: Final = ("paths", "webhooks")


class OpenApi:
    """Endpoints, each with its method and path as symbol and header; a long one is parted between its keys."""

    def __init__(self, *, size: int = CODE_SIZE) -> None:
        """Keep the size, in estimated tokens."""
        check_sizes(size)
        self.size = size
        self.recipe = named("openapi", size)

    def chunk(self, document: Document) -> list[Chunk]:
        """Return the chunks of a document."""
        text, parts = top_parts(document)
        if not parts:
            return chunks_of(document, (Cut(*cut) for cut in cut_lines(text, 0, len(text), size=self.size)))
        return chunks_of(document, self._cuts(text, parts, SPLITS[document.language]))

    def _cuts(self, text: str, parts: list[Part], split: Split) -> Iterator[Cut]:
        for endpoints, group in groupby(parts, key=lambda part: part.path[-1:] in [(name,) for name in _ENDPOINTS]):
            if not endpoints:
                yield from key_cuts(text, list(group), split, size=self.size)
                continue
            for part in group:
                items = split(text, part) if part.inside >= 0 else []
                for item in items or [part]:
                    yield from self._endpoints(text, item, split)

    def _endpoints(self, text: str, item: Part, split: Split) -> Iterator[Cut]:
        """Yield the endpoints of one path; what stands before the first or behind one goes with it."""
        path = item.path[-1] if item.path else ""
        group: list[Part] = []
        name = ""
        for part in split(text, item) if item.inside >= 0 else []:
            method = part.path[-1] if part.path else ""
            if method.lower() in _METHODS:
                if name:
                    yield from self._endpoint(text, group, split, name)
                    group = []
                name = f"{method.upper()} {path}"
            group.append(part)
        yield from self._endpoint(text, group or [item], split, name or path)

    def _endpoint(self, text: str, parts: list[Part], split: Split, name: str) -> Iterator[Cut]:
        whole = [Part(parts[0].start, parts[-1].end, (), -1)] if self._fits(text, parts) else parts
        name = " ".join(name.split())
        for cut in key_cuts(text, whole, split, size=self.size):
            yield cut._replace(symbol=name, header=name)

    def _fits(self, text: str, parts: list[Part]) -> bool:
        return weigh(text, parts[0].start, parts[-1].end, self.size) <= self.size
