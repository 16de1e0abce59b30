"""The turbo index on disk: a header and segment files that any number of processes map and one at a time extends.

Slots first, header last: whatever a dead writer left above the header's counts is never looked at. Nothing in the
folder is needed; all that is wrong with it (missing, damaged, cut off, of another store or space) means the same:
an empty view, which the caller fills from the store's rows again.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ragstone.vectors.folder_lock import try_lock
from ragstone.vectors.header import NAME, Header, array_of, read_header, text_of, write_header
from ragstone.vectors.planes import SEED, Planes
from ragstone.vectors.private_files import make_folder
from ragstone.vectors.segments import CAPACITY, Layout, Segment, Slots, added, hold_slots, map_segment, write_slots
from ragstone.vectors.unit import column_sums
from ragstone.vectors.view import Ids, View

if TYPE_CHECKING:
    from ragstone.protocols import Matrix

ATTEMPTS = 3  # a writer may replace the files between our look at the header and at them
SUFFIX = ".planes"


@dataclass(frozen=True, slots=True)
class Encoded:
    """Vectors as slots have them, around the centre of the view they are for or, where it has none, around theirs."""

    before: Matrix | None
    centre: Matrix
    sums: NDArray[np.float64]
    words: NDArray[np.uint64]
    codes: NDArray[np.uint8]

    def fits(self, view: View, count: int) -> bool:
        """Return whether so many vectors would come out as these for a view."""
        if len(self.words) != count:
            return False
        if self.before is None or view.centre is None:
            return self.before is view.centre
        return np.array_equal(self.before, view.centre)


class SegmentCache:
    """Reads and writes views; in memory where there is no folder."""

    def __init__(self, folder: Path | None, planes: Planes, *, dimension: int, stamp: str) -> None:
        """Keep where it is and whose it is."""
        self.folder = folder
        self._planes = planes
        self._layout = Layout(planes.words, planes.code_bytes)
        self._dimension, self._stamp = dimension, stamp
        self._foreign = ""

    def load(self) -> View:
        """Return what the folder holds, an empty view where that cannot be trusted."""
        for _ in range(ATTEMPTS if self.folder else 0):
            header = read_header(self.folder) if self.folder else None
            if header is None:
                break
            if not header.fits(self._stamp, self._dimension, SEED):
                self._foreign = header.token
                break
            view = self._open(header)
            if view is not None:
                return view
        return self.empty()

    def empty(self) -> View:
        """Return a view of nothing, whose files will have new names."""
        return View(secrets.token_hex(4))

    def recentred(self, view: View) -> View:
        """Return a view of nothing around the centre that another view's vectors have."""
        if view.total is None:
            return self.empty()
        centre = self._planes.centre(view.total, view.count)
        return replace(self.empty(), centre=centre, centred_on=view.count, high_water=view.high_water)

    @contextmanager
    def writing(self) -> Iterator[bool]:
        """Yield whether this process may write now; in memory always."""
        if self.folder is None:
            yield True
            return
        make_folder(self.folder)
        with try_lock(self.folder) as held:
            yield held

    def latest(self, view: View) -> View:
        """Return the view to go on from: ours, or the one another process has written meanwhile."""
        header = read_header(self.folder) if self.folder else None
        if self.folder is None or (header is not None and header.token == view.token):
            return view
        if header is None or header.token == self._foreign:
            return self._renamed(view)
        if not header.fits(self._stamp, self._dimension, SEED):
            # Someone with another idea of the store took the folder over after us: it is theirs, we go on in memory.
            self.folder = None
            return view
        return self._open(header) or self._renamed(view)

    def encoded(self, view: View, unit: Matrix) -> Encoded:
        """Return unit vectors as slots behind a view would have them."""
        sums = column_sums(unit)
        centre = self._planes.centre(sums, len(unit)) if view.centre is None else view.centre
        return Encoded(view.centre, centre, sums, *self._planes.encode(unit, centre))

    def append(self, view: View, ids: Ids, unit: Matrix, *, ahead: Encoded | None = None) -> View:
        """Return the view with unit vectors behind; written, but not counted before `commit`.

        `ahead` is what they were encoded to before it was their turn, of use if the centre is still the same.
        """
        done = ahead if ahead is not None and ahead.fits(view, len(ids)) else self.encoded(view, unit)
        centred_on = len(ids) if view.centre is None else view.centred_on
        total = done.sums if view.total is None else view.total + done.sums
        slots = Slots(ids, done.words, done.codes)
        return self._placed(replace(view, centre=done.centre, centred_on=centred_on, total=total), slots)

    def commit(self, view: View) -> View:
        """Return the view as other processes see it from now on."""
        if self.folder is None:
            return view
        view = replace(view, token=secrets.token_hex(8))
        none = np.empty(0, np.float32)
        write_header(
            self.folder,
            Header(
                stamp=self._stamp,
                dimension=self._dimension,
                seed=SEED,
                generation=view.generation,
                token=view.token,
                high_water=view.high_water,
                counts=[segment.count for segment in view.segments],
                checksums=list(view.checksums),
                centre=text_of(none if view.centre is None else view.centre),
                centred_on=view.centred_on,
                total=text_of(none if view.total is None else view.total),
                dead=text_of(view.dead),
            ),
        )
        self._sweep(keep=view.generation)
        return view

    def clear(self) -> None:
        """Remove all files of the cache; one that cannot be removed is never read again."""
        if self.folder is None or not self.folder.is_dir():
            return
        with try_lock(self.folder):
            (self.folder / NAME).unlink(missing_ok=True)
            self._sweep(keep="")

    def _open(self, header: Header) -> View | None:
        """Return the view a header tells of, None where the files do not agree with it."""
        folder = self.folder or Path()
        try:
            segments = tuple(
                map_segment(folder / f"{header.generation}-{number}{SUFFIX}", self._layout, count)
                for number, count in enumerate(header.counts)
            )
            centre = array_of(header.centre, np.float32)
            total = array_of(header.total, np.float64)
            dead = array_of(header.dead, np.int64)
        except (OSError, ValueError, TypeError):
            return None
        if [segment.checksum() for segment in segments] != header.checksums:
            return None
        if len(dead) and not 0 <= dead.min() <= dead.max() < sum(header.counts):
            return None
        if segments and (len(centre), len(total)) != (self._planes.width, self._dimension):
            return None
        return View(
            header.generation,
            segments,
            tuple(header.checksums),
            centre if len(centre) else None,
            header.centred_on,
            total if len(total) else None,
            dead,
            header.high_water,
            header.token,
        )

    def _renamed(self, view: View) -> View:
        """Return the same view written again under new names, since the files it had are no longer to be relied on."""
        fresh = replace(view, generation=secrets.token_hex(4), segments=(), checksums=())
        for segment in view.segments:
            fresh = self._placed(fresh, segment.slots())
        return fresh

    def _placed(self, view: View, slots: Slots) -> View:
        """Return the view with slots written behind, over as many segments as they need."""
        segments, checksums = list(view.segments), list(view.checksums)
        at = 0
        while at < len(slots.ids):
            partial = segments.pop() if segments and segments[-1].count < CAPACITY else None
            first = partial.count if partial else 0
            part = slots.part(at, at + CAPACITY - first)
            segment = self._extended(partial, f"{view.generation}-{len(segments)}{SUFFIX}", part)
            before = checksums[len(segments)] if partial else 0
            checksums[len(segments) :] = [added(before, part.checksum())]
            segments.append(segment)
            at += len(part.ids)
        return replace(view, segments=tuple(segments), checksums=tuple(checksums))

    def _extended(self, before: Segment | None, name: str, slots: Slots) -> Segment:
        if self.folder is None:
            return hold_slots(before, self._layout, slots)
        return write_slots(self.folder / name, self._layout, before.count if before else 0, slots)

    def _sweep(self, *, keep: str) -> None:
        """Remove the files of other generations; where the system will not let go of one, it stays for next time."""
        if self.folder is None:
            return
        for path in self.folder.iterdir():
            ours = path.suffix in (SUFFIX, ".turbovec") or path.name.startswith(f".{NAME}.")
            if ours and (not keep or not path.name.startswith(keep)):
                try:
                    path.unlink(missing_ok=True)
                except OSError:  # or a folder that turbovec's file was written in when its process died
                    import_module("shutil").rmtree(path, ignore_errors=True)
