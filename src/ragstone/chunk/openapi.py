"""Cutting the description of an API: one chunk for each endpoint, everything else by its keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from ragstone.chunk.lines import chunk_by_lines
from ragstone.chunk.packing import check_sizes
from ragstone.chunk.setting_keys import PARSERS, cut_keys, parse_top_level
from ragstone.chunk.setting_parsers import KeyParser, KeyPart
from ragstone.chunk.sizes import CODE_SIZE, format_recipe
from ragstone.chunk.spans import TextSlice, build_chunks
from ragstone.text.tokens import weigh
from ragstone.types import Chunk, Document
from ragstone.types.documents import API_ENDPOINT

_METHODS: Final = frozenset("get put post delete options head patch trace query".split())
_ENDPOINT_KEYS: Final = ("paths", "webhooks")


class OpenApiChunker:
    """Cuts endpoints, with method and path as symbol and header; a long one is parted between its keys."""

    def __init__(self, *, size: int = CODE_SIZE) -> None:
        """Keep the size, in estimated tokens."""
        check_sizes(size)
        self.size = size
        self.recipe = format_recipe("openapi", size)

    def chunk(self, document: Document) -> list[Chunk]:
        """Return the chunks of a document."""
        text, parts = parse_top_level(document)
        if not parts:
            return chunk_by_lines(document, size=self.size)
        parser = PARSERS[document.language]
        return build_chunks(document, self._cut(text, parts, parser))

    def _cut(
        self, text: str, parts: Sequence[KeyPart], parser: KeyParser
    ) -> Iterator[TextSlice]:
        for has_endpoints, group in groupby(parts, key=lambda part: part.key in _ENDPOINT_KEYS):
            if not has_endpoints:
                yield from cut_keys(text, list(group), parser, size=self.size)
                continue
            for part in group:
                for path_part in _parse_inside(text, part, parser) or [part]:
                    yield from self._cut_path(text, path_part, parser)

    def _cut_path(
        self, text: str, path_part: KeyPart, parser: KeyParser
    ) -> Iterator[TextSlice]:
        """Yield the endpoints of one path; keys before the first one or after one go with it."""
        group: list[KeyPart] = []
        name = ""
        for part in _parse_inside(text, path_part, parser):
            if part.key.lower() in _METHODS:
                if name:
                    yield from self._cut_endpoint(text, group, parser, name)
                    group = []
                name = f"{part.key.upper()} {path_part.key}"
            group.append(part)
        if not group:
            group = [path_part]
        yield from self._cut_endpoint(text, group, parser, name or path_part.key)

    def _cut_endpoint(
        self, text: str, parts: list[KeyPart], parser: KeyParser, name: str
    ) -> Iterator[TextSlice]:
        start = parts[0].start
        end = parts[-1].end
        if weigh(text, start, end, self.size) <= self.size:
            parts = [KeyPart(start, end, (), -1)]
        label = " ".join(name.split())
        for piece in cut_keys(text, parts, parser, size=self.size):
            yield piece._replace(symbol=label, header=label, kind=API_ENDPOINT)


def _parse_inside(text: str, part: KeyPart, parser: KeyParser) -> list[KeyPart]:
    return parser(text, part) if part.inside >= 0 else []
