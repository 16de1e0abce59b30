"""qdrant-edge: a shard with a graph over 4-bit codes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.adapters import library

if TYPE_CHECKING:
    from bench.matrix import Floats

M, EF_BUILD, EF_SEARCH = 16, 100, 128
BATCH = 16_000


class Qdrant:
    """A shard of bare vectors, cosine."""

    effort = EF_SEARCH
    _shard: Any
    _parameters: Any

    def load_library(self) -> None:
        """Import it."""
        library("qdrant_edge")

    def prepare(self, folder: Path, count: int) -> None:
        """Do nothing."""

    def build(self, folder: Path, vectors: Floats) -> None:
        """Add in batches, then build the graph."""
        edge = library("qdrant_edge")

        quantised = edge.TurboQuantQuantizationConfig(bits=edge.TurboQuantBitSize.Bits4)
        graph = edge.HnswIndexConfig(m=M, ef_construct=EF_BUILD, full_scan_threshold=1_000)
        width = edge.EdgeVectorParams(
            size=vectors.shape[1],
            distance=edge.Distance.Cosine,
            quantization_config=quantised,
            hnsw_config=graph,
        )
        (folder / "shard").mkdir()
        shard = edge.EdgeShard.create(
            str(folder / "shard"), edge.EdgeConfig(vectors={"v": width})
        )
        for start in range(0, len(vectors), BATCH):
            part = vectors[start : start + BATCH].tolist()
            points = [edge.Point(start + number, {"v": row}) for number, row in enumerate(part)]
            shard.update(edge.UpdateOperation.upsert_points(points))
        shard.optimize()
        shard.flush()
        shard.close()

    def open(self, folder: Path) -> None:
        """Load the shard; one that looks wider compares twice as many exactly, as codes alone never find enough."""
        edge = library("qdrant_edge")

        self._shard = edge.EdgeShard.load(str(folder / "shard"))
        exact = (
            edge.QuantizationSearchParams(rescore=True, oversampling=2.0)
            if self.effort != EF_SEARCH
            else None
        )
        self._parameters = edge.SearchParams(hnsw_ef=self.effort, quantization=exact)

    def search(self, query: Floats, k: int) -> list[int]:
        """Return the nearest ids."""
        edge = library("qdrant_edge")

        request = edge.QueryRequest(
            limit=k,
            query=edge.Query.Nearest(query.tolist(), using="v"),
            params=self._parameters,
            with_payload=False,
        )
        return [int(point.id) for point in self._shard.query(request)]
