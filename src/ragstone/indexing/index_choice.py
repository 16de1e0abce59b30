"""Opens the vector index that the settings choose for a space."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone import registry
from ragstone.protocols import IndexedText, IndexSettings, VectorIndex
from ragstone.store.home_folder import VECTORS
from ragstone.vectors.space_index import SpaceIndex

if TYPE_CHECKING:
    from ragstone.indexing.components import Components
    from ragstone.protocols import DocumentStore
    from ragstone.types import SpaceInfo


def open_space_index(components: Components, project: str, info: SpaceInfo) -> SpaceIndex:
    """Return the index of a space; its first search opens the chosen vector index."""
    chosen = components.settings.rag.vector_store
    make_index = registry.load("vector_index", components.parts.vector_index)
    store = components.store
    rows = store.vectors.rows(project, info.id)
    folder: Path | None = None
    if not components.in_memory:
        folder = components.home / VECTORS / f"{info.id}-{info.space.fingerprint[:16]}"
    path: Path | None = None
    if chosen.path is not None:
        path = components.settings.root / Path(chosen.path).expanduser()

    def texts(row_ids: Sequence[int]) -> list[IndexedText]:
        return _indexed_texts(store, project, info, row_ids)

    def open_index(stamp: str) -> VectorIndex:
        settings = IndexSettings(
            name=_index_name(components.home, project, info),
            stamp=stamp,
            rows=rows,
            codec=components.codec(info),
            texts=texts,
            folder=folder,
            path=path,
            url=chosen.url or "",
            api_key=chosen.api_key or "",
        )
        index: VectorIndex = make_index(settings)
        return index

    return SpaceIndex(info, rows, open_index)


def _indexed_texts(
    store: DocumentStore, project: str, info: SpaceInfo, row_ids: Sequence[int]
) -> list[IndexedText]:
    """Return the texts of rows, by collection."""
    texts = []
    for collection in store.collections(project):
        chunk_ids = store.vectors.locate(collection.key.scope, info.id, row_ids)
        chunks = store.chunks(project, list(chunk_ids.values()))
        for row_id, chunk_id in chunk_ids.items():
            stored = chunks.get(chunk_id)
            if stored is None:  # damaged, or removed a moment ago
                continue
            chunk = stored.chunk
            span = chunk.span
            texts.append(
                IndexedText(
                    row_id,
                    collection.name,
                    chunk.hash.hex(),
                    stored.uri,
                    span.line_start,
                    span.line_end,
                    chunk.text,
                )
            )
    return texts


def _index_name(home: Path, project: str, info: SpaceInfo) -> str:
    """Return a name that no other home, project or space has on a shared server."""
    identity = f"{home.resolve()}\n{project}\n{info.id}\n{info.space.fingerprint}"
    return f"ragstone-{hashlib.sha256(identity.encode()).hexdigest()[:32]}"
