"""The index of one space: opened on first use and brought up to date with the store before every search."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from itertools import compress

import numpy as np

from ragstone.errors import ConfigError, ProviderError, StoreOffline
from ragstone.protocols import SharedVectors, VectorIndex, VectorRows
from ragstone.types import Matrix, Scored, SpaceInfo
from ragstone.vectors.codecs import codec, read_rows
from ragstone.vectors.exact import best
from ragstone.vectors.normalise import check_k, id_array, products, unit_query

BATCH = 8192
"""Rows that are read from the store at a time."""


class SpaceIndex:
    """The index of a space: a vector index that follows the rows in the store.

    The store is the truth; the index only copies from it. Rows of a space are never changed in place, and
    deleting one gives the space a new epoch, which means a new index. So within one epoch an index can only lack
    rows, and it lacks none if it holds as many as the store. The check costs one lookup of a version number per
    search. If the version has changed and the counts differ, the index first reads the rows with ids above the
    largest id it has read. Ids need not be committed in order: if it still lacks rows after that, it compares all
    ids of the space with its own.

    An index on a server may be out of reach. Then a search compares the stored rows, and `problem` says why.
    """

    def __init__(
        self, info: SpaceInfo, rows: VectorRows, open_index: Callable[[str], VectorIndex]
    ) -> None:
        """Store the arguments; the first search calls `open_index` with the stamp of the stored rows."""
        self.problem = ""
        self._space = info.space
        self._rows = rows
        self._open = open_index
        self._codec = codec(info.storage, info.space.dimension)
        self._lock = threading.Lock()
        self._index: VectorIndex | None = None
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
        try:
            hits = self._current().search(vector, k, allowed=allowed)
        except ProviderError as error:
            self.problem = str(error)
            return self._search_rows(vector, k, allowed)
        self.problem = ""
        return hits

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
        """Add all rows of the store and save the index, so that the next process opens it quickly.

        If a server is out of reach, the next search adds the rows. A wrong setting is an error of the search.
        """
        try:
            self._current().flush()
        except (ProviderError, ConfigError, StoreOffline) as error:
            self.problem = str(error)

    def shared_rows(self, text_keys: Sequence[str]) -> dict[str, bytes]:
        """Return the encoded vectors of another machine that the index knows for these hashes of texts."""
        index = self._current()
        if not isinstance(index, SharedVectors):
            return {}
        return index.shared_rows(text_keys)

    def close(self) -> None:
        """Release files and memory."""
        with self._lock:
            self._close_index()

    def _search_rows(
        self, vector: Matrix, k: int, allowed: Sequence[int] | None
    ) -> list[Scored]:
        """Return the k nearest by comparing the stored rows, a batch at a time."""
        check_k(k)
        query = unit_query(vector, self._space.dimension)
        ids = self._rows.ids_after(0) if allowed is None else sorted(set(allowed))
        hits: list[Scored] = []
        for start in range(0, len(ids), BATCH):
            rows = self._rows.data(ids[start : start + BATCH])
            sound, vectors = read_rows(self._codec, list(rows.values()))
            sound_ids = id_array(list(compress(rows, sound)))
            hits += best(sound_ids, products(vectors, query), k)
        hits.sort(key=lambda hit: (-hit.score, hit.id))
        return hits[:k]

    def _current(self) -> VectorIndex:
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

    def _open_index(self, *, epoch: str) -> VectorIndex:
        return self._open(f"{epoch}:{self._space.fingerprint}:{self._codec.name}")

    def _close_index(self) -> None:
        if self._index is not None:
            self._index.close()
        self._index = None
        self._version = ("", -1)
        self._last_id = 0
        self._damaged = set()

    def _catch_up(self, index: VectorIndex) -> None:
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

    def _lacks_rows(self, index: VectorIndex) -> bool:
        """Return whether the index holds fewer rows than the store had at the last check.

        That may also happen without a write: if the files were damaged, another process may have replaced them by
        files with fewer rows.
        """
        return index.count() + len(self._damaged) < self._row_count

    def _add_missing(self, index: VectorIndex, ids: Sequence[int]) -> None:
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
