"""A space of a store and its index, and what tells whether the index answers as the store has it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from ragstone.store.sqlite import SqliteStore
from ragstone.store.vector_rows import SqliteVectorRows
from ragstone.testing.store_case import prepare
from ragstone.types import CollectionKey, Scope, Space
from ragstone.vectors.codecs import codec
from ragstone.vectors.space_index import SpaceIndex
from ragstone.vectors.turbo.index import TurboIndex

if TYPE_CHECKING:
    from ragstone.protocols import VectorIndex, VectorRows
    from ragstone.types import Matrix, SpaceInfo

DIMENSION = 16
TEXTS = 400
MANY = 150
"""More than a tail in these tests."""


class Rows(SqliteVectorRows):
    """The store's rows, and how many ids were listed to fill an index."""

    listed = 0

    def ids_after(self, row_id: int) -> list[int]:
        ids = super().ids_after(row_id)
        self.listed += len(ids)
        return ids


def turbo_of(folder: Path | None, info: SpaceInfo, rows: VectorRows) -> SpaceIndex:
    """Return the index of a space that uses turbo."""
    row_codec = codec(info.storage, DIMENSION)

    def opened(stamp: str) -> VectorIndex:
        return TurboIndex(folder, DIMENSION, rows=rows, codec=row_codec, stamp=stamp)

    return SpaceIndex(info, rows, opened)


class World:
    """A store with texts, one space of it, and an index of that."""

    def __init__(self, folder: Path, storage: str = "int10") -> None:
        self.folder = folder
        self.store = SqliteStore(folder / "ragstone.db")
        self.store.ensure_collection(CollectionKey("p", "c"))
        self.store.put(
            CollectionKey("p", "c"),
            [prepare(f"{n}.md", [f"text number {n}"]) for n in range(TEXTS)],
        )
        self.info = self.store.vectors.ensure_space(
            CollectionKey("p", "c"), Space("fake", "m", DIMENSION), storage=storage
        )
        self.texts = [
            one.text_id
            for one in self.store.vectors.pending(Scope("p"), self.info.id, limit=TEXTS)
        ]
        drawn = np.random.default_rng(7).standard_normal((TEXTS, DIMENSION)).astype(np.float32)
        self.vectors: Matrix = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
        self.codec = codec(storage, DIMENSION)
        self.rows = Rows(self.store._database, "p", self.info.id)
        self.index = self.opened()

    def put(self, first: int, last: int) -> int:
        """Store the vectors of these texts, as a backfill does; return how many were new."""
        rows = self.codec.encode(self.vectors[first:last])
        return self.store.vectors.put(
            "p", self.info.id, zip(self.texts[first:last], rows, strict=True)
        )

    def opened(self) -> SpaceIndex:
        """Return an index of the space in its folder."""
        return turbo_of(self.folder / "turbo", self.info, cast("VectorRows", self.rows))

    def another(self) -> SpaceIndex:
        """Return an index of the same space as another process has it, which knows only the store."""
        return turbo_of(None, self.info, self.store.vectors.rows("p", self.info.id))

    def texts_near(self, number: int, index: SpaceIndex | None = None) -> int:
        """Return which text is nearest to a text's vector."""
        (hit,) = (index or self.index).search(self.vectors[number], 1)
        (row,) = self.rows.by_id([hit.id])
        return self.texts.index(row.text_id)


def same_answers(world: World, numbers: Sequence[int], *, within: float) -> None:
    """Fail unless the index answers as one that has read everything from the store."""
    told = world.another()
    for number in numbers:
        ours, theirs = (index.search(world.vectors[number], 5) for index in (world.index, told))
        assert [hit.id for hit in ours] == [hit.id for hit in theirs]
        assert [hit.score for hit in ours] == pytest.approx(
            [hit.score for hit in theirs], abs=within
        )
