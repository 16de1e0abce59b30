"""The files of the turbo index: a header and segments that many processes map and one at a time replaces.

Segments are written first, the header last: files that a dead writer left are not in the header and never read.
The files are a cache. If they are missing, damaged, or of another store or space, the index starts empty and is
filled from the rows of the store.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
from filelock import FileLock, Timeout

from ragstone.vectors.turbo.bit_planes import SEED, BitPlanes
from ragstone.vectors.turbo.header import (
    NAME,
    TEMPORARY_PREFIX,
    Header,
    array_to_text,
    read_header,
    text_to_array,
    write_header,
)
from ragstone.vectors.turbo.private_files import make_folder
from ragstone.vectors.turbo.segments import Segment, map_segment, write_segment
from ragstone.vectors.turbo.snapshot import IndexSnapshot

ATTEMPTS = 3
"""A writer may replace the files after we read the header and before we map them."""
SUFFIX = ".planes"
OLD_SUFFIX = ".turbovec"
"""Other files that version 0.1 wrote; they are removed."""


class SegmentFiles:
    """Reads and writes snapshots in a folder. Without a folder nothing is written."""

    def __init__(
        self, folder: Path | None, planes: BitPlanes, *, dimension: int, stamp: str
    ) -> None:
        """Store the folder and the stamp of the store and space it belongs to."""
        self._folder = folder
        self._planes = planes
        self._dimension = dimension
        self._stamp = stamp
        self._outdated_token = ""

    def use_memory(self) -> None:
        """Stop using the folder."""
        self._folder = None

    def load(self) -> IndexSnapshot:
        """Return the snapshot in the folder; an empty one if the files cannot be used."""
        for _ in range(ATTEMPTS):
            header = self._read_header()
            if header is None:
                break
            if not self._is_ours(header):
                self._outdated_token = header.token
                break
            snapshot = self._map(header)
            if snapshot is not None:
                return snapshot
        return IndexSnapshot()

    @contextmanager
    def lock(self) -> Iterator[bool]:
        """Yield whether this process may write now; it does not wait for another one."""
        if self._folder is None:
            yield True
            return
        make_folder(self._folder)
        lock = FileLock(self._folder / "lock", mode=0o600, blocking=False)
        try:
            lock.acquire()
        except Timeout:
            yield False
            return
        try:
            yield True
        finally:
            lock.release()

    def latest(self, snapshot: IndexSnapshot) -> IndexSnapshot:
        """Return the snapshot to continue from: ours, or a newer one of another process. Call it with the lock."""
        header = self._read_header()
        if header is None or header.token in (snapshot.token, self._outdated_token):
            return snapshot
        if not self._is_ours(header):
            # A process that knows a newer state of the store has replaced our files: the folder is its own now.
            self.use_memory()
            return snapshot
        return self._map(header) or snapshot

    def save_segments(self, snapshot: IndexSnapshot) -> IndexSnapshot:
        """Write the segments that have no file, and return the snapshot with all segments mapped."""
        if self._folder is None:
            return snapshot
        segments = [self._save(self._folder, segment) for segment in snapshot.segments]
        return replace(snapshot, segments=tuple(segments))

    def commit(self, snapshot: IndexSnapshot) -> IndexSnapshot:
        """Make a snapshot the one that other processes read, and return it as it was written."""
        if self._folder is None:
            return snapshot
        saved = replace(self.save_segments(snapshot), token=secrets.token_hex(8))
        files = [segment.file for segment in saved.segments if segment.file]
        centre = saved.centre
        if centre is None:
            centre = np.empty(0, np.float32)
        header = Header(
            stamp=self._stamp,
            dimension=self._dimension,
            seed=SEED,
            token=saved.token,
            segments=files,
            centre=array_to_text(centre),
            centred_on=saved.centred_on,
            deleted=array_to_text(saved.deleted),
        )
        write_header(self._folder, header)
        self._remove_files(self._folder, keep={file.name for file in files})
        return saved

    def clear(self) -> None:
        """Remove all files of the index."""
        if self._folder is None or not self._folder.is_dir():
            return
        with self.lock():
            (self._folder / NAME).unlink(missing_ok=True)
            self._remove_files(self._folder, keep=set())

    def _read_header(self) -> Header | None:
        if self._folder is None:
            return None
        return read_header(self._folder)

    def _is_ours(self, header: Header) -> bool:
        return (header.stamp, header.dimension, header.seed) == (
            self._stamp,
            self._dimension,
            SEED,
        )

    def _map(self, header: Header) -> IndexSnapshot | None:
        """Return the snapshot of a header; None if a file is missing or damaged."""
        folder = self._folder or Path()
        try:
            segments = [
                map_segment(folder, file, words=self._planes.words) for file in header.segments
            ]
            centre = text_to_array(header.centre, np.float32)
            deleted = text_to_array(header.deleted, np.int64)
        except (OSError, ValueError, TypeError):
            return None
        snapshot = IndexSnapshot(
            tuple(segments), centre, header.centred_on, deleted, header.token
        )
        if not segments:
            return replace(snapshot, centre=None)
        if len(centre) != self._planes.width:
            return None
        if len(deleted) and not 0 <= deleted.min() <= deleted.max() < len(snapshot.ids):
            return None
        return snapshot

    def _save(self, folder: Path, segment: Segment) -> Segment:
        if segment.file and (folder / segment.file.name).exists():
            return segment
        return write_segment(folder / f"{secrets.token_hex(8)}{SUFFIX}", segment)

    def _remove_files(self, folder: Path, *, keep: set[str]) -> None:
        """Remove files of the index that the header does not name."""
        for path in folder.iterdir():
            is_ours = path.suffix in (SUFFIX, OLD_SUFFIX) or path.name.startswith(
                TEMPORARY_PREFIX
            )
            if not is_ours or path.name in keep:
                continue
            try:
                path.unlink(missing_ok=True)
            except OSError:
                # A folder of version 0.1, or a file that another process has mapped on Windows.
                shutil.rmtree(path, ignore_errors=True)
