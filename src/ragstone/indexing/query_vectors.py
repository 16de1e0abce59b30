"""Vectors of queries that were asked before: compressed, for 24 hours, in the home folder.

A second file has the vectors of the fixed texts that cosines are compared with, for good. A query is not stored, only its
hash. If the cache is full, the entries that are most alike go first: one of two
similar queries is enough to have, and unusual ones are kept.
"""

from __future__ import annotations

import hashlib
import math
import os
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ragstone.protocols import Codec
    from ragstone.types import Matrix, Space

MAX_QUERIES: Final = 1000
SECONDS_KEPT: Final = 24 * 3600
_KEPT_SHARE: Final = 0.9
"""When the cache is full it shrinks to this share, so that vectors are compared only once in a while."""
_KEY_BYTES: Final = 16
_HEAD: Final = struct.Struct(f"<{_KEY_BYTES}sdI")
"""The key, the time and the checksum before each row."""


class QueryVectors:
    """The cached query vectors of one space. Safe to use from several threads; processes share the file."""

    def __init__(
        self,
        path: Path | None,
        codec: Codec,
        *,
        max_queries: int = MAX_QUERIES,
        seconds_kept: float = SECONDS_KEPT,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Take the file, None for memory only, and the codec of the vectors. Nothing is read yet."""
        self._path = path
        self._codec = codec
        self._max = max_queries
        self._seconds_kept = seconds_kept
        self._now = now
        self._entries: dict[bytes, tuple[float, bytes]] | None = None
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Return the number of cached vectors."""
        with self._lock:
            return len(self._load())

    def get(self, query: str) -> Matrix | None:
        """Return the vector of a query, or None if it is not stored or too old."""
        with self._lock:
            entry = self._load().get(_key(query))
            if entry is None or self._is_old(entry[0]):
                return None
            return self._decode(entry[1])

    def add(self, query: str, vector: Matrix) -> Matrix:
        """Store a vector and return it as the next `get` does, so that both answers are the same."""
        row = self._codec.encode(vector.reshape(1, -1))[0]
        key, moment = _key(query), self._now()
        with self._lock:
            entries = self._load()
            entries[key] = (moment, row)
            if len(entries) > self._max:
                self._shrink(entries)
                self._rewrite(entries)
            else:
                self._append(key, moment, row)
        return self._decode(row)

    def complete(
        self, texts: Sequence[str], embed: Callable[[Sequence[str]], Matrix]
    ) -> list[Matrix]:
        """Return the vectors of texts; those that are missing are embedded and stored."""
        vectors = {text: self.get(text) for text in texts}
        missing = [text for text, vector in vectors.items() if vector is None]
        for text, vector in zip(missing, embed(missing) if missing else (), strict=True):
            vectors[text] = self.add(text, vector)
        return [vector for vector in vectors.values() if vector is not None]

    def _decode(self, row: bytes) -> Matrix:
        vector: Matrix = self._codec.decode([row])[0]
        return vector

    def _is_old(self, moment: float) -> bool:
        return not 0 <= self._now() - moment <= self._seconds_kept

    def _shrink(self, entries: dict[bytes, tuple[float, bytes]]) -> None:
        """Remove old entries; then, while there are too many, the older one of the two most similar queries."""
        for key in [key for key, (moment, _) in entries.items() if self._is_old(moment)]:
            del entries[key]
        keys = list(entries)
        vectors = self._codec.decode([entries[key][1] for key in keys])
        cosines = vectors @ vectors.T
        for number in range(len(keys)):
            cosines[number, number] = -1
        while len(entries) > self._max * _KEPT_SHARE:
            first, second = divmod(int(cosines.argmax()), len(keys))
            older = min((first, second), key=lambda number: entries[keys[number]][0])
            del entries[keys[older]]
            cosines[older, :] = -1
            cosines[:, older] = -1

    # ── the file ──────────────────────────────────────────────────────────────────────────────────

    def _load(self) -> dict[bytes, tuple[float, bytes]]:
        if self._entries is None:
            self._entries = dict(self._read())
        return self._entries

    def _read(self) -> Iterator[tuple[bytes, tuple[float, bytes]]]:
        """Yield the sound entries of the file; a damaged one is left out."""
        if self._path is None:
            return
        try:
            data = self._path.read_bytes()
        except OSError:
            return
        length = self._codec.row_bytes
        for start in range(0, len(data), _HEAD.size + length):
            head = data[start : start + _HEAD.size]
            row = data[start + _HEAD.size : start + _HEAD.size + length]
            if len(row) < length:
                return
            key, moment, checksum = _HEAD.unpack(head)
            is_sound = checksum == zlib.crc32(row) and self._codec.sound([row])[0]
            if is_sound and not self._is_old(moment):
                yield key, (moment, row)

    def _append(self, key: bytes, moment: float, row: bytes) -> None:
        # A cache that cannot be written costs a request, not an answer.
        with suppress(OSError):
            self._write("ab", _record(key, moment, row), self._path)

    def _rewrite(self, entries: dict[bytes, tuple[float, bytes]]) -> None:
        if self._path is None:
            return
        data = b"".join(_record(key, moment, row) for key, (moment, row) in entries.items())
        temporary = self._path.with_suffix(f".{os.getpid()}.tmp")
        with suppress(OSError):
            self._write("wb", data, temporary)
            temporary.replace(self._path)

    def _write(self, mode: str, data: bytes, path: Path | None) -> None:
        if path is None:
            return
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with open(path, mode, opener=_open_private, buffering=0) as file:
            file.write(data)


class VectorCaches:
    """The cached vectors of services, a file for each space and use. Safe to use from several threads."""

    def __init__(
        self, folder: Callable[[], Path | None], codec: Callable[[int], Codec]
    ) -> None:
        """Take functions that return the folder, None for memory only, and the codec of a dimension."""
        self._folder = folder
        self._codec = codec
        self._caches: dict[tuple[str, str], QueryVectors] = {}
        self._lock = threading.Lock()

    def queries(self, space: Space) -> QueryVectors:
        """Return the cache of queries, which forgets them after 24 hours."""
        return self._open(space, "queries", SECONDS_KEPT)

    def fixed(self, space: Space) -> QueryVectors:
        """Return the cache of texts that never change."""
        return self._open(space, "fixed", math.inf)

    def _open(self, space: Space, use: str, seconds_kept: float) -> QueryVectors:
        key = (space.fingerprint, use)
        with self._lock:
            if key not in self._caches:
                folder = self._folder()
                path = folder / f"{space.fingerprint[:16]}.{use}" if folder else None
                codec = self._codec(space.dimension)
                self._caches[key] = QueryVectors(path, codec, seconds_kept=seconds_kept)
            return self._caches[key]


def _key(query: str) -> bytes:
    return hashlib.sha256(query.encode("utf-8", "surrogatepass")).digest()[:_KEY_BYTES]


def _record(key: bytes, moment: float, row: bytes) -> bytes:
    return _HEAD.pack(key, moment, zlib.crc32(row)) + row


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
