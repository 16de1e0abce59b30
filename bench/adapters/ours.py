"""Ragstone: vectors as rows of the store, searched through the turbo index."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bench.matrix import Floats
    from ragstone.indexing.components import Components

PROJECT = COLLECTION = "default"
BATCH = 30_000
DIMENSION = 384


class Turbo:
    """The rows of the store and the turbo index of them."""

    effort = 0
    _index: Any
    _info: Any
    _texts: list[int]

    def load_library(self) -> None:
        """Import the packages that are used."""
        from ragstone import engine, registry  # noqa: F401 - the import is the work
        from ragstone.vectors import codecs  # noqa: F401 - as above

        for group, name in (("store", "sqlite"), ("vector_index", "turbo")):
            registry.load(group, name)

    def prepare(self, folder: Path, count: int) -> None:
        """Store the texts of the vectors and note their ids and space: peers get ids as well."""
        from ragstone.types import (
            Chunk,
            CollectionKey,
            Document,
            PreparedDocument,
            Scope,
            Space,
            Span,
        )

        parts = self._parts(folder)
        parts.store.ensure_collection(CollectionKey(PROJECT, COLLECTION))
        for start in range(0, count, BATCH):
            batch = []
            for number in range(start, min(count, start + BATCH)):
                text = str(number)
                span = Span(0, len(text), 0, len(text), 1, 1)
                batch.append(
                    PreparedDocument(
                        Document(uri=text, text=text), (Chunk(text=text, span=span, order=0),)
                    )
                )
            parts.store.put(CollectionKey(PROJECT, COLLECTION), batch)
        self._info = parts.store.vectors.ensure_space(
            CollectionKey(PROJECT, COLLECTION), Space("bench", "bench", DIMENSION)
        )
        self._texts = []
        here, space = Scope(PROJECT), self._info.id
        while pending := parts.store.vectors.pending(
            here, space, after=(self._texts or [0])[-1], limit=BATCH
        ):
            self._texts += [one.text_id for one in pending]
        parts.close()

    def build(self, folder: Path, vectors: Floats) -> None:
        """Encode and store the rows as an engine does, in larger batches, then write the index."""
        parts = self._parts(folder)
        codec = parts.codec(self._info)
        for start in range(0, len(vectors), BATCH):
            texts = self._texts[start : start + BATCH]
            rows = codec.encode(vectors[start : start + BATCH])
            parts.store.vectors.put(PROJECT, self._info.id, zip(texts, rows, strict=True))
        parts.space_index(PROJECT, self._info).flush()
        parts.close()

    def open(self, folder: Path) -> None:
        """Open the store and map the index."""
        from ragstone.types import Scope

        parts = self._parts(folder)
        (info,) = parts.store.vectors.spaces(Scope(PROJECT))
        self._index = parts.space_index(PROJECT, info)

    def search(self, query: Floats, k: int) -> list[int]:
        """Return the nearest ids; rows are numbered from 1 in the order they were stored."""
        return [scored.id - 1 for scored in self._index.search(query, k)]

    def _parts(self, folder: Path) -> Components:
        from ragstone import Workspace

        return Workspace.open(folder).components
