"""Samples of texts that a query's cosines are compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from cachetools import LRUCache

from ragstone.errors import ProviderError
from ragstone.retrieval.ranking.background import (
    SAMPLE,
    SMALL_SAMPLE,
    UNRELATED_TEXTS,
    Background,
    Calibration,
)
from ragstone.vectors.codecs import read_rows
from ragstone.vectors.normalise import products, unit_query, unit_rows

if TYPE_CHECKING:
    from ragstone.indexing.components import Components
    from ragstone.protocols import DocumentReader
    from ragstone.types import Matrix, Scope, SpaceInfo

_SAMPLES_CACHED: Final = 64


class BackgroundSamples:
    """Calibrates the cosines of queries; a sample is read once per state of its scope."""

    def __init__(self, components: Components) -> None:
        """Take the components; nothing is read yet."""
        self._components = components
        self._samples: LRUCache[tuple[int, int, Scope], Matrix] = LRUCache(_SAMPLES_CACHED)
        self._unrelated: dict[str, Matrix] = {}

    def calibrate(
        self,
        scope: Scope,
        view: DocumentReader,
        generation: int,
        info: SpaceInfo,
        vector: Matrix,
    ) -> Calibration:
        """Return the scale of the cosines of a query's vector."""
        key = (generation, info.id, scope)
        sample = self._samples.get(key)
        if sample is None:
            sample = self._read_sample(scope, view, info)
            self._samples[key] = sample
        query = unit_query(vector, info.space.dimension)
        return Calibration(
            unrelated=_background(self._unrelated_vectors(info), query),
            collection=_background(sample, query),
            chunks=info.embedded,
        )

    def _read_sample(self, scope: Scope, view: DocumentReader, info: SpaceInfo) -> Matrix:
        """Return the vectors of some chunks in scope, evenly spread; of unrelated texts too if there are few."""
        ids = view.vectors.ids_in(scope, info.id)
        step = max(1, -(-len(ids) // SAMPLE))
        rows = view.vectors.rows(scope.project, info.id).data(ids[::step])
        _, sample = read_rows(self._components.codec(info), list(rows.values()))
        if len(sample) >= SMALL_SAMPLE:
            return sample
        return np.concatenate([sample, self._unrelated_vectors(info)])

    def _unrelated_vectors(self, info: SpaceInfo) -> Matrix:
        """Return the vectors of texts about unrelated subjects, which are embedded once per space: 20 ms.

        There are none while the service of the embedder fails: the vector of a query may be cached.
        """
        key = info.space.fingerprint
        if key not in self._unrelated:
            embedder = self._components.embedder_of(info.space)
            try:
                vectors = embedder.embed(list(UNRELATED_TEXTS), "document")
            except ProviderError:
                return np.zeros((0, info.space.dimension), np.float32)
            self._unrelated[key] = unit_rows(vectors, info.space.dimension)
        return self._unrelated[key]


def _background(sample: Matrix, query: Matrix) -> Background:
    """Return the background of a query in a sample; that of a typical model if the sample is empty."""
    if not len(sample):
        return Background()
    return Background.of(products(sample, query).tolist())
