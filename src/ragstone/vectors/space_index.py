"""One space, ready to be asked: its turbo index, brought level with the store before every search."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ragstone.background import Aside, Once
from ragstone.protocols import VectorRows
from ragstone.types import Scored, SpaceInfo
from ragstone.vectors.cache import Encoded
from ragstone.vectors.catch_up import catch_up
from ragstone.vectors.rows import codec, read_rows
from ragstone.vectors.turbo import TAIL, TurboIndex
from ragstone.vectors.unit import products, unit_query, unit_rows

if TYPE_CHECKING:
    from ragstone.protocols import Keep, Matrix

LEAST_SQUARE = 0.5  # of a length: a row of nothing but zeros has 0, any other 1


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
        self._aside = Aside()
        self.damaged = 0
        self._index: TurboIndex | None = None

    def search(self, vector: Matrix, k: int, *, allowed: Sequence[int] | None = None) -> list[Scored]:
        """Return the k nearest vector rows by cosine, best first."""
        return self._level().search(vector, k, allowed=allowed)

    def cosines(self, chunk_ids: Sequence[int]) -> Callable[[Matrix], dict[int, float]]:
        """Return what gives a vector's cosine with each of these chunks, those without a vector left out."""
        found = self._rows.by_chunk(chunk_ids) if chunk_ids else {}
        sound, vectors = read_rows(self._codec, list(found.values()))
        held = found if all(sound) else list(compress(found, sound))

        def of(vector: Matrix) -> dict[int, float]:
            if not held:
                return {}
            scores = products(vectors, unit_query(vector, self._space.dimension))
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

    def put(self, vectors: Matrix, keep: Keep) -> int:
        """Have vectors stored as rows of the space and return how many were new; a search finds them from then on.

        They need not be read back where they are sure to be the rows behind the last of a level index. Ids only grow
        and are given out in order: so many new rows, and so many ids from the first behind the last before to the last
        now, are these and no others. What is not sure the next search reads from the store, as it would after any other
        process's write.
        """
        unit = unit_rows(vectors, self._space.dimension)
        epoch, last = self._rows.newest()
        ahead = self._ahead(unit, epoch, last) if len(unit) >= TAIL else None
        try:
            rows = self._codec.encode(unit)
            new = keep(rows)
            # One that is just being brought level is not waited for.
            if new == len(rows) > 0 and self._levelling.acquire(blocking=False):
                try:
                    self._take(unit, rows, ahead, epoch=epoch, last=last)
                finally:
                    self._levelling.release()
        finally:
            if ahead is not None:
                ahead.forget()  # nobody looks at the caller's vectors any more
        return new

    def flush(self) -> None:
        """Make what the store has quick to open next time."""
        self._level().flush()

    def close(self) -> None:
        """Let go of files and memory."""
        with self._levelling:
            self._let_go()

    def _let_go(self) -> None:
        if self._index is not None:
            self._index.close()
            self._index = None

    def _ahead(self, unit: Matrix, epoch: str, last: int) -> Once[Encoded | None] | None:
        """Return what gives vectors as the index will have them, worked out while they are stored; None where that is
        not known: an index that is not level or just brought level, or of another epoch, which may be a newer one."""
        if not self._levelling.acquire(blocking=False):
            return None
        try:
            if self._index is not None and epoch != self._epoch:
                return None
            index = self._opened(epoch)
        finally:
            self._levelling.release()
        if index.high_water != last or not index.laid_at_once(len(unit)):
            return None
        if not last:
            self._aside(index.warm)
        return self._aside(lambda: index.encoded(unit) if _whole(unit) else None)

    def _take(
        self, unit: Matrix, rows: Sequence[bytes], ahead: Once[Encoded | None] | None, *, epoch: str, last: int
    ) -> None:
        """Take rows in that were stored behind a last one, if they are all there is behind it and the index is level
        with it; with `_levelling` held."""
        first = next(iter(self._rows.data_after(last, 1)), 0)
        if self._rows.newest() != (epoch, first + len(rows) - 1):
            return
        index = self._opened(epoch)
        if index.high_water != last:
            return
        encoded = None if ahead is None else ahead()
        vectors = unit if encoded is not None else self._as_stored(unit, rows)
        if vectors is not None:
            index.upsert(range(first, first + len(rows)), vectors, ahead=encoded)

    def _as_stored(self, unit: Matrix, rows: Sequence[bytes]) -> Matrix | None:
        """Return vectors as the store gives them back, None where one is left out then.

        So many that they are laid into segments are as good as they came: a shortlist is made by them, and what is
        compared is fetched. Where another process keeps the folder they are compared themselves until it lets go.
        """
        if len(unit) < TAIL:
            sound, vectors = read_rows(self._codec, rows)
            return vectors if all(sound) else None
        return unit if _whole(unit) else None

    def _level(self) -> TurboIndex:
        """Return the index with every row of the store in it; rows that were deleted mean a new index."""
        epoch, last = self._rows.newest()
        index = self._index
        if index is not None and epoch == self._epoch and index.high_water >= last:
            return index
        with self._levelling:
            index = self._opened(epoch)
            if index.high_water < last:
                bad: list[int] = []
                catch_up(index, self._rows, self._codec, bad)
                self.damaged += len(bad)
            return index

    def _opened(self, epoch: str) -> TurboIndex:
        """Return the index of an epoch, as level as it was left; with `_levelling` held."""
        if self._index is None or epoch != self._epoch:
            self._let_go()
            stamp = f"{epoch}:{self._space.fingerprint}:{self._codec.name}"
            self._index = TurboIndex(
                self._folder, self._space.dimension, rows=self._rows, codec=self._codec, stamp=stamp
            )
            self._epoch = epoch
            self.damaged = 0
        return self._index


def _whole(unit: Matrix) -> bool:
    """Return whether no row is nothing but zeros."""
    return bool(np.all(np.vecdot(unit, unit) > LEAST_SQUARE))
