"""Opens the vector index that the settings choose for a space."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone import registry
from ragstone.protocols import IndexSettings, VectorIndex
from ragstone.store.home import VECTORS
from ragstone.types import Scope
from ragstone.vectors.space_index import SpaceIndex

if TYPE_CHECKING:
    from ragstone.indexing.components import Components
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

    def text_keys(row_ids: Sequence[int]) -> dict[int, str]:
        chunk_ids = store.vectors.locate(Scope(project), info.id, row_ids)
        chunks = store.chunks(project, list(chunk_ids.values()))
        return {
            row_id: chunks[chunk_id].chunk.hash.hex()
            for row_id, chunk_id in chunk_ids.items()
            if chunk_id in chunks
        }

    def open_index(stamp: str) -> VectorIndex:
        settings = IndexSettings(
            name=_index_name(components.home, project, info),
            stamp=stamp,
            rows=rows,
            codec=components.codec(info),
            text_keys=text_keys,
            folder=folder,
            path=path,
            url=chosen.url or "",
            api_key=chosen.api_key or "",
        )
        index: VectorIndex = make_index(settings)
        return index

    return SpaceIndex(info, rows, open_index)


def _index_name(home: Path, project: str, info: SpaceInfo) -> str:
    """Return a name that no other home, project or space has on a shared server."""
    identity = f"{home.resolve()}\n{project}\n{info.id}\n{info.space.fingerprint}"
    return f"ragstone-{hashlib.sha256(identity.encode()).hexdigest()[:32]}"
