"""turbovec in place of the scan, where it is installed: the same slots in its four-bit codes.

Its file is a cache of a cache; whatever is wrong with the file or the package means no accelerator, never an error.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from ragstone.config import cores
from ragstone.errors import StoreError
from ragstone.vectors.allowed import AllowedSet
from ragstone.vectors.codes_file import covered, sound_codes, write_codes
from ragstone.vectors.shortlist import Width
from ragstone.vectors.view import Ids, View

if TYPE_CHECKING:
    from ragstone.protocols import Matrix

BATCH = 8192
PIECE = 1024  # rows added at a time: in the processor's cache, a tenth quicker than 8192
BITS = 4
# By the root of the dimension: what a cosine of its codes is off. Of 384 numbers, .0128: three deviations among the 200
# nearest of 100k MiniLM vectors (.0042), 2.6 among all of them and among random ones (.0049). Of the true ten nearest
# of 400 queries 2 in 4,000 lay outside.
SLACK = 0.25
LARGEST_DIMENSION = 16_384
FROM_ROWS = 20_000  # below that there is little for it to gain; not measured finely
AFTER_SEARCHES = 32  # a process that asks this often is likely to stay; loading at 100k pays back after some 500
BESIDE = 4096  # rows worth a thread of their own
RESAVE_BELOW = 0.75  # of the rows covered: the file is written again, and nothing so old is loaded

_WARMING = threading.Lock()  # held while turbovec makes what it makes once in a process

Fetch = Callable[[Ids], "tuple[Ids, Matrix]"]
"""Returns the ids the store still has, ascending, and their unit vectors."""

FAILURES = (ValueError, OSError, RuntimeError, TypeError, AttributeError, StoreError)
"""All that a foreign package or a damaged row can do; each only means that the scan goes on answering."""


class Codes(Protocol):
    """What is used of a turbovec index."""

    def __len__(self) -> int:
        """Return how many vectors it has."""

    def add(self, vectors: Matrix, *, chunk_size: int) -> None:
        """Take vectors in, at the positions behind the last; a chunk size of 0: all in one go."""

    def search(
        self, queries: Matrix, k: int, mask: NDArray[np.bool_] | None = None, *, chunk_size: int
    ) -> tuple[Matrix, NDArray[np.int64]]:
        """Return scores and positions of the nearest, one row per query."""

    def write(self, path: str, *, durable: bool) -> None:
        """Write all of it to a file; durable: so that a power cut leaves it whole."""


class Accelerator:
    """A turbovec index whose positions are the slots of one generation of the turbo index."""

    def __init__(self, generation: str, index: Codes) -> None:
        """Hold an index of that generation."""
        self.generation = generation
        self._index = index

    def __len__(self) -> int:
        """Return how many slots it covers."""
        return len(self._index)

    def covers(self, view: View) -> bool:
        """Return whether it can answer for all slots of a view."""
        return self.generation == view.generation and len(self) >= view.count

    def extend(self, view: View, fetch: Fetch) -> None:
        """Take in the slots of a view that are not covered yet."""
        for first in range(len(self), view.count, BATCH):
            slots = np.arange(first, min(first + BATCH, view.count), dtype=np.int64)
            ids = view.ids_at(slots)
            order = np.argsort(ids, kind="stable")
            found, unit = fetch(ids)
            vectors = np.zeros((len(ids), unit.shape[1]), np.float32)
            # Slots keep their place even where the store has no row for them any more.
            vectors[order[np.searchsorted(ids[order], found)]] = unit
            self.add(vectors)

    def add(self, unit: Matrix) -> None:
        """Take in unit vectors for the slots behind those that are covered."""
        for first in range(0, len(unit), PIECE):
            self._index.add(unit[first : first + PIECE], chunk_size=0)

    def nearest(self, query: Matrix, width: Width, mask: NDArray[np.bool_] | None) -> Ids | None:
        """Return the nearest slots; None where it has grown past what the mask knows, or is being added to."""
        try:
            scores, slots = self._index.search(query[None], width.finer, mask=mask, chunk_size=0)
        except FAILURES:
            return None
        listed = scores[0].tolist()  # best first
        last = len(listed)
        if last > width.hits:
            border = listed[width.hits - 1] - SLACK / len(query) ** 0.5
            while listed[last - 1] < border:
                last -= 1
        nearest: Ids = slots[0, :last].astype(np.int64, copy=False)
        return nearest

    def save(self, folder: Path) -> None:
        """Write it beside the segments."""
        # By itself: as bytes it would need its size again in memory. A file that a power cut spoils is made anew.
        write_codes(folder, self.generation, partial(self._index.write, durable=False), covered=len(self))


class Accelerators:
    """Decides when turbovec is worth its loading time, and keeps what was loaded."""

    def __init__(self, folder: Path | None, dimension: int, *, fetch: Fetch, wanted: bool | None) -> None:
        """Keep the wish: True at once, False never, None when a process has searched for a while."""
        self._dimension, self._fetch = dimension, fetch
        self._possible = wanted is not False and dimension % 8 == 0 and dimension <= LARGEST_DIMENSION
        self._eager = wanted is True
        self._patience = 0 if self._eager else AFTER_SEARCHES
        self._folder = folder
        self._loaded: Accelerator | None = None
        self._changing = threading.Lock()  # held by whoever makes an accelerator or adds to it
        self._following: threading.Thread | None = None
        self._room: Matrix = np.empty((0, dimension), np.float32)
        self._life = 0
        self._at_rest = True

    def shortlist(self, view: View, query: Matrix, width: Width, *, allowed: AllowedSet | None) -> Ids | None:
        """Return the ids of the vectors that may be nearest, None where the scan has to answer."""
        accelerator = self._ready(view)
        if accelerator is None:
            return None
        barred = view.barred if allowed is None else allowed.barred(view)
        mask = np.zeros(len(accelerator), np.bool_) if barred is not None or len(accelerator) > view.count else None
        if mask is not None:
            mask[: view.count] = True if barred is None else barred == 0
        slots = accelerator.nearest(query, width, mask)
        # Without a mask it may have grown under the search, past what the view knows.
        grown = mask is None and len(accelerator) != view.count
        return None if slots is None or grown else view.ids_at(slots)

    def warm(self, folder: Path | None) -> None:
        """Have turbovec make what it makes once in a process, for the first vectors: that takes it 0.1 s."""
        if self._possible and self._loaded is None and folder is not None and (turbovec := package()) is not None:
            with _WARMING, suppress(*FAILURES):
                some: Codes = turbovec.TurboQuantIndex(dim=self._dimension, bit_width=BITS)
                some.add(np.eye(1, self._dimension, dtype=np.float32), chunk_size=0)

    def wait(self) -> None:
        """Wait for what is being taken in, in any thread."""
        following = self._following
        if following is not None:
            following.join()

    def follow(self, view: View, laid: Matrix, folder: Path | None) -> None:
        """Take in what was just laid into a view, so that it has not to be read again; an empty one starts with it.

        Many are taken in beside what the caller does next: as they are where nobody can change them any more, else as
        a copy where that is worth it.
        """
        self._join()
        if not self._possible or not self._changing.acquire(blocking=False):
            return  # another thread is at it: what it does not see now, it reads from the store later
        try:
            own = self._own(laid) if len(laid) >= BESIDE else None
        except BaseException:
            self._changing.release()
            raise
        if own is not None:
            following = threading.Thread(target=self._follow, args=(view, own, folder), daemon=True)
            with suppress(RuntimeError):  # no more threads to be had
                following.start()
                self._following = following
                return
        self._follow(view, laid, folder)

    def _own(self, laid: Matrix) -> Matrix | None:
        """Return what another thread may take in: what nobody can change, or a copy of it; None where neither pays.

        A copy is made where the one before was, which nobody reads any more: memory never used before costs more.
        """
        if _settled(laid):
            return laid
        if cores() == 1:
            return None
        if len(self._room) < len(laid):
            try:
                self._room = np.empty_like(laid)
            except MemoryError:
                return None
        room: Matrix = self._room[: len(laid)]
        room[:] = laid
        return room

    def _follow(self, view: View, laid: Matrix, folder: Path | None) -> None:
        """Do so; lets go of `_changing`."""
        life = self._life
        try:
            before = view.count - len(laid)
            following = self._loaded
            if following is None and folder is not None and before == 0:
                following = open_accelerator(None, view.generation, self._dimension)
                self._possible = following is not None
            if following is None or following.generation != view.generation or len(following) != before:
                return
            self._loaded = None  # until all of it is in
            with _WARMING:  # or it would be made a second time
                following.add(laid)
            self._loaded = following if life == self._life else None
        except FAILURES:
            return
        finally:
            self._changing.release()

    def save(self, view: View, folder: Path | None) -> None:
        """Write turbovec's file where there is none, or it covers too little of the view."""
        self._rest()
        if not self._possible or folder is None or view.count < FROM_ROWS:
            return
        if covered(folder, view.generation) >= RESAVE_BELOW * view.count:
            return
        with self._changing:
            accelerator = self._loaded
            if accelerator is None or accelerator.generation != view.generation:
                accelerator = open_accelerator(folder, view.generation, self._dimension)
            if accelerator is None:
                return
            try:
                accelerator.extend(view, self._fetch)
                accelerator.save(folder)
            except FAILURES:
                return
            self._loaded = accelerator

    def close(self) -> None:
        """Let go of memory."""
        self._life += 1
        self._rest()
        self._loaded = None

    def _join(self) -> None:
        """Wait for what is being taken in, in the thread that has it taken in."""
        self.wait()
        self._following = None

    def _rest(self) -> None:
        """Wait for what is being taken in, and let go of the room for copies."""
        self._join()
        self._room = self._room[:0].copy()

    def _ready(self, view: View) -> Accelerator | None:
        """Return an accelerator for the view; where it is time to load one, that is begun and nobody waits for it."""
        if not self._possible or view.count < FROM_ROWS:
            return None
        loaded = self._loaded
        if loaded is not None and loaded.covers(view):
            if not self._at_rest:
                self._at_rest = True
                view.rest()  # from now on the planes are hardly looked at
            return loaded
        self._patience -= 1
        if self._patience >= 0 or not self._changing.acquire(blocking=False):
            return None
        if self._eager:
            return self._load(view)
        loading = threading.Thread(target=self._load, args=(view,), name="ragstone-turbovec", daemon=True)
        try:
            loading.start()
        except RuntimeError:  # no more threads to be had: the scan answers, and there may be one later
            self._patience = AFTER_SEARCHES
            self._changing.release()
        return None

    def _load(self, view: View) -> Accelerator | None:
        """Return an accelerator for the view, kept from now on; None where there is none. Lets go of `_changing`."""
        life = self._life
        try:
            loaded = self._brought_up(view)
            if loaded is None or life != self._life:  # closed in the meantime
                return None
            self._loaded = loaded
            self._at_rest = False
            return loaded
        finally:
            self._changing.release()

    def _brought_up(self, view: View) -> Accelerator | None:
        """Return the accelerator brought up to the view, None where that is not possible or would take too long."""
        loaded = self._loaded
        if loaded is None or loaded.generation != view.generation:
            loaded = open_accelerator(self._folder, view.generation, self._dimension)
        if loaded is None:
            self._possible = False
            return None
        if len(loaded) < RESAVE_BELOW * view.count and not self._eager:
            self._patience = AFTER_SEARCHES
            return None
        try:
            loaded.extend(view, self._fetch)
        except FAILURES:
            self._possible = False
            return None
        return loaded


def _settled(matrix: Matrix) -> bool:
    """Return whether nobody can change a matrix any more, not even by the one it is a part of."""
    owner = matrix if matrix.base is None else matrix.base
    return isinstance(owner, np.ndarray) and not owner.flags.writeable


def package() -> ModuleType | None:
    """Return turbovec, or None where it cannot be imported."""
    try:
        return importlib.import_module("turbovec")
    except ImportError:
        return None


def open_accelerator(folder: Path | None, generation: str, dimension: int) -> Accelerator | None:
    """Return the saved accelerator, an empty one where none can be read, None without turbovec."""
    turbovec = package()
    if turbovec is None:
        return None
    path = sound_codes(folder, generation) if folder else None
    try:
        if path is not None:
            # By turbovec from its file: from bytes it takes three times as long, and keeps other threads waiting.
            index = turbovec.TurboQuantIndex.load(str(path))
            if index.dim == dimension and index.bit_width == BITS:
                return Accelerator(generation, index)
        return Accelerator(generation, turbovec.TurboQuantIndex(dim=dimension, bit_width=BITS))
    except FAILURES:
        return None
