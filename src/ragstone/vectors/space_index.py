"""The index of one space: opened on first use and brought up to date with the store before every search."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from itertools import compress
from pathlib import Path

import numpy as np

from ragstone.protocols import VectorRows
from ragstone.types import Matrix, Scored, SpaceInfo
from ragstone.vectors.codecs import codec, read_rows
from ragstone.vectors.normalise import products, unit_query
from ragstone.vectors.turbo.index import TurboIndex

BATCH = 8192
"""Rows that are read from the store at a time."""


class SpaceIndex:
    """The `Nearest` of a space: a vector index that follows the rows in the store.

    The store is the truth; the index only copies from it. Rows of a space are never changed in place, and
    deleting one gives the space a new epoch, which means a new index. So within one epoch an index can only lack
    rows, and it lacks none if it holds as many as the store. The check costs one lookup of a version number per
    search. If the version has changed and the counts differ, the index first reads the rows with ids above the
    largest id it has read. Ids need not be committed in order: if it still lacks rows after that, it compares all
    ids of the space with its own.
    """

    def __init__(self, folder: Path | None, info: SpaceInfo, rows: VectorRows) -> None:
        """Store the arguments; the first search opens the index."""
        self._folder = folder
        self._space = info.space
        self._rows = rows
        self._codec = codec(info.storage, info.space.dimension)
        self._lock = threading.Lock()
        self._index: TurboIndex | None = None
        self._version = ("", -1)
        self._row_count = 0
        self._last_id = 0
        self._damaged: set[int] = set()

    @property
    def damaged(self) -> int:
        """Return how many stored rows are not vectors and are left out."""
        return len(self._damaged)

    def search(
        self, vector: Matrix, k: int, *, allowed: Sequence[int] | None = None
    ) -> list[Scored]:
        """Return the k nearest vector rows by cosine, best first."""
        return self._current().search(vector, k, allowed=allowed)

    def cosines(self, chunk_ids: Sequence[int]) -> Callable[[Matrix], dict[int, float]]:
        """Return a function that gives the cosine of a vector with each of these chunks.

        Chunks without a vector are left out. The rows are read now, so that the query can be embedded in
        another thread.
        """
        rows = self._rows.by_chunk(chunk_ids)
        sound, vectors = read_rows(self._codec, list(rows.values()))
        sound_chunks = list(compress(rows, sound))

        def score(vector: Matrix) -> dict[int, float]:
            if not sound_chunks:
                return {}
            query = unit_query(vector, self._space.dimension)
            scores = products(vectors, query)
            return dict(zip(sound_chunks, scores.tolist(), strict=True))

        return score

    def vectors(self, text_ids: Sequence[int]) -> Matrix:
        """Return one row per text; a text without a vector has zeros."""
        rows = self._rows.by_text(text_ids)
        sound, vectors = read_rows(self._codec, [row.data for row in rows])
        sound_texts = [row.text_id for row in compress(rows, sound)]
        by_text = dict(zip(sound_texts, vectors, strict=True))
        matrix = np.zeros((len(text_ids), self._space.dimension), np.float32)
        for place, text_id in enumerate(text_ids):
            if text_id in by_text:
                matrix[place] = by_text[text_id]
        return matrix

    def flush(self) -> None:
        """Add all rows of the store and write the index to disk, so that the next process opens it quickly."""
        self._current().flush()

    def close(self) -> None:
        """Release files and memory."""
        with self._lock:
            self._close_index()

    def _current(self) -> TurboIndex:
        """Return the index with every row of the store in it."""
        version = self._rows.version()
        index = self._index
        if index is not None and version == self._version and not self._lacks_rows(index):
            return index
        with self._lock:
            if self._index is None or version[0] != self._version[0]:
                self._close_index()
                self._index = self._open_index(epoch=version[0])
            self._catch_up(self._index)
            self._version = version
            return self._index

    def _open_index(self, *, epoch: str) -> TurboIndex:
        stamp = f"{epoch}:{self._space.fingerprint}:{self._codec.name}"
        return TurboIndex(
            self._folder, self._space.dimension, rows=self._rows, codec=self._codec, stamp=stamp
        )

    def _close_index(self) -> None:
        if self._index is not None:
            self._index.close()
        self._index = None
        self._version = ("", -1)
        self._last_id = 0
        self._damaged = set()

    def _catch_up(self, index: TurboIndex) -> None:
        """Add the rows of the store that the index lacks."""
        self._row_count = self._rows.count()
        if not self._lacks_rows(index):
            return
        newer = self._rows.ids_after(self._last_id)
        self._add_missing(index, newer)
        if newer:
            self._last_id = newer[-1]
        if self._lacks_rows(index):
            self._add_missing(index, self._rows.ids_after(0))

    def _lacks_rows(self, index: TurboIndex) -> bool:
        """Return whether the index holds fewer rows than the store had at the last check.

        That may also happen without a write: if the files were damaged, another process may have replaced them by
        files with fewer rows.
        """
        return index.count() + len(self._damaged) < self._row_count

    def _add_missing(self, index: TurboIndex, ids: Sequence[int]) -> None:
        """Add those of these rows that the index lacks; note the ids of rows that are not vectors."""
        held = set(compress(ids, index.has(ids)))
        excluded = held | self._damaged
        missing = [row_id for row_id in ids if row_id not in excluded]
        for start in range(0, len(missing), BATCH):
            rows = self._rows.data(missing[start : start + BATCH])
            sound, vectors = read_rows(self._codec, list(rows.values()))
            sound_ids = list(compress(rows, sound))
            index.upsert(sound_ids, vectors)
            self._damaged.update(rows.keys() - set(sound_ids))
