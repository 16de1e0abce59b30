"""Every index of the package passes the contract tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.protocols import IndexedText, VectorIndex
from ragstone.testing.vector_index import VectorIndexContract
from ragstone.vectors.codecs.rows import CompactCodec, Int10Codec
from ragstone.vectors.exact import ExactIndex
from ragstone.vectors.file_index import FileIndex
from ragstone.vectors.turbo.index import TurboIndex


class TestExactIndex(VectorIndexContract):
    def make(self) -> VectorIndex:
        return ExactIndex(self.dimension)


class TestFileIndex(VectorIndexContract):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path / "shared"

    def make(self) -> VectorIndex:
        codec = Int10Codec(self.dimension)
        row = codec.encode(self.vectors(1))[0]
        return FileIndex(
            self.folder,
            "space",
            codec,
            rows=lambda ids: dict.fromkeys(ids, row),
            texts=lambda ids: [
                IndexedText(row_id, "default", f"text {row_id}", "a.md", 1, 1, "text")
                for row_id in ids
            ],
        )


class TestTurboIndexInMemory(VectorIndexContract):
    is_exact = False

    def make(self) -> VectorIndex:
        return TurboIndex(None, self.dimension)


class TestTurboIndexInAFolder(VectorIndexContract):
    is_exact = False

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path / "turbo"

    def make(self) -> VectorIndex:
        return TurboIndex(self.folder, self.dimension, stamp="store 1")


class TestTurboIndexOfAnOddDimension(TestTurboIndexInAFolder):
    dimension = 67


def test_an_index_of_compact_rows_finds_the_same_neighbours() -> None:
    contract = TestExactIndex()
    vectors = contract.vectors(50)
    index = TurboIndex(None, contract.dimension, codec=CompactCodec(contract.dimension))
    index.upsert(range(1, 51), vectors)
    index.flush()
    assert [index.search(vector, 1)[0].id for vector in vectors] == list(range(1, 51))
