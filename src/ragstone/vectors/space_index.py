"""One space, ready to be asked: its turbo index, brought level with the store before every search."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ragstone.protocols import VectorRows
from ragstone.types import Scored, SpaceInfo
from ragstone.vectors.catch_up import catch_up
from ragstone.vectors.rows import codec, read_rows
from ragstone.vectors.turbo import TurboIndex
from ragstone.vectors.unit import unit_query

if TYPE_CHECKING:
    from ragstone.protocols import Matrix


class SpaceIndex:
    """The `Nearest` of a space: a `TurboIndex` that follows the store's rows."""

    def __init__(self, folder: Path | None, info: SpaceInfo, rows: VectorRows) -> None:
        """Keep what is needed to open the index; the first search opens it."""
        self._folder = folder
        self._space = info.space
        self._rows = rows
        self._codec = codec(info.storage, info.space.dimension)
        self._epoch = ""
        self._levelling = threading.Lock()
        self.damaged = 0
        self._index: TurboIndex | None = None

    def search(self, vector: Matrix, k: int, *, allowed: Sequence[int] | None = None) -> list[Scored]:
        """Return the k nearest vector rows by cosine, best first."""
        return self._level().search(vector, k, allowed=allowed)

    def cosines(self, chunk_ids: Sequence[int]) -> Callable[[Matrix], dict[int, float]]:
        """Return what gives a vector's cosine with each of these chunks, those without a vector left out."""
        found = self._rows.by_chunk(chunk_ids) if chunk_ids else {}
        sound = self._codec.sound(list(found.values()))
        held = {chunk: data for (chunk, data), fit in zip(found.items(), sound, strict=True) if fit}

        def of(vector: Matrix) -> dict[int, float]:
            if not held:
                return {}
            scores = self._codec.scores(unit_query(vector, self._space.dimension), list(held.values()))
            return dict(zip(held, scores.tolist(), strict=True))

        return of

    def vectors(self, text_ids: Sequence[int]) -> Matrix:
        """Return one row per text, zero where a text has no vector yet."""
        rows = self._rows.by_text(text_ids)
        sound, vectors = read_rows(self._codec, [row.data for row in rows])
        texts = (row.text_id for row, fit in zip(rows, sound, strict=True) if fit)
        found = {text_id: place for place, text_id in enumerate(texts)}
        matrix = np.zeros((len(text_ids), self._space.dimension), dtype=np.float32)
        places = [place for place, text_id in enumerate(text_ids) if text_id in found]
        if places:
            matrix[places] = vectors[[found[text_ids[place]] for place in places]]
        return matrix

    def flush(self) -> None:
        """Make what the store has quick to open next time."""
        self._level().flush()

    def close(self) -> None:
        """Let go of files and memory."""
        if self._index is not None:
            self._index.close()
            self._index = None

    def _level(self) -> TurboIndex:
        """Return the index with every row of the store in it; rows that were deleted mean a new index."""
        epoch, last = self._rows.newest()
        index = self._index
        if index is not None and epoch == self._epoch and index.high_water >= last:
            return index
        with self._levelling:
            if self._index is None or epoch != self._epoch:
                self.close()
                stamp = f"{epoch}:{self._space.fingerprint}:{self._codec.name}"
                self._index = TurboIndex(
                    self._folder, self._space.dimension, rows=self._rows, codec=self._codec, stamp=stamp
                )
                self._epoch = epoch
                self.damaged = 0
            if self._index.high_water < last:
                bad: list[int] = []
                catch_up(self._index, self._rows, self._codec, bad)
                self.damaged += len(bad)
            return self._index
