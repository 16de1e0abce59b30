"""An exact index with one text file per space, which can be committed and shared.

The file has one line per vector: the hash of the text and the encoded row. Another machine that has the same texts
takes their vectors from the file and embeds nothing. Row numbers are not in the file, because they differ between
machines. The lines are sorted, so that two versions of the file differ only in the vectors that differ.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ragstone.errors import StoreError
from ragstone.protocols import Codec, IndexSettings
from ragstone.types import Matrix
from ragstone.vectors.exact import ExactIndex

FORMAT = "ragstone vectors 1"
SUFFIX = ".vectors.jsonl"


class FileIndex(ExactIndex):
    """A `VectorIndex` in memory that also writes its vectors to a text file.

    The file keeps the vectors of texts that this machine does not have: they belong to another branch or machine.
    """

    def __init__(
        self,
        path: Path | None,
        codec: Codec,
        *,
        rows: Callable[[Sequence[int]], Mapping[int, bytes]],
        text_keys: Callable[[Sequence[int]], Mapping[int, str]],
    ) -> None:
        """Take the path of the file, and functions that return the encoded rows and the text hashes of ids."""
        super().__init__(codec.dimension)
        self._path = path
        self._codec = codec
        self._fetch_rows = rows
        self._fetch_keys = text_keys
        self._shared: dict[str, bytes] | None = None
        self._unwritten: set[int] = set()
        self._deleted_keys: set[str] = set()

    def upsert(self, ids: Sequence[int], vectors: Matrix) -> None:
        """Add vectors; an id that the index holds gets the new vector."""
        super().upsert(ids, vectors)
        self._unwritten.update(ids)

    def delete(self, ids: Sequence[int]) -> int:
        """Remove vectors and return how many there were."""
        self._deleted_keys.update(self._fetch_keys(ids).values())
        self._unwritten.difference_update(ids)
        return super().delete(ids)

    def shared_rows(self, text_keys: Sequence[str]) -> dict[str, bytes]:
        """Return the encoded vectors that the file has for these hashes of texts."""
        shared = self._load()
        return {key: shared[key] for key in text_keys if key in shared}

    def flush(self) -> None:
        """Add new vectors to the file. A file that cannot be written costs other machines time, and no data."""
        ids = sorted(self._unwritten)
        keys = self._fetch_keys(ids)
        rows = self._fetch_rows(list(keys))
        added = {keys[row_id]: row for row_id, row in rows.items()}
        self._unwritten.clear()
        # Another process may have added vectors since the file was read.
        entries = dict(self._read_file())
        before = dict(entries)
        for key in self._deleted_keys:
            entries.pop(key, None)
        self._deleted_keys.clear()
        entries.update((key, row) for key, row in added.items() if key not in entries)
        if entries != before:
            with suppress(OSError):
                self._write_file(entries)
        self._shared = entries

    def drop(self) -> None:
        """Remove everything, the file too."""
        super().drop()
        self._unwritten.clear()
        self._deleted_keys.clear()
        self._shared = None
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Release the memory; the file stays."""
        super().drop()
        self._shared = None

    def _load(self) -> dict[str, bytes]:
        if self._shared is None:
            self._shared = dict(self._read_file())
        return self._shared

    def _header(self) -> dict[str, object]:
        return {
            "format": FORMAT,
            "dimension": self._codec.dimension,
            "storage": self._codec.name,
        }

    def _read_file(self) -> Iterator[tuple[str, bytes]]:
        """Yield the hash and the row of every valid line. A damaged line costs one vector, which is made again."""
        if self._path is None:
            return
        try:
            lines = self._path.read_bytes().splitlines()
        except OSError:
            return
        if not lines or _parse(lines[0]) != self._header():
            return
        for line in lines[1:]:
            entry = _parse(line)
            key, row = entry.get("text"), _decode(entry.get("vector"))
            if isinstance(key, str) and row is not None and self._codec.sound([row])[0]:
                yield key, row

    def _write_file(self, entries: Mapping[str, bytes]) -> None:
        """Replace the file in one step, so that a reader never sees half of it."""
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self._path.parent, suffix=SUFFIX)
        try:
            with open(handle, "w", encoding="ascii", newline="\n") as file:
                file.write(json.dumps(self._header()) + "\n")
                for key in sorted(entries):
                    vector = base64.b64encode(entries[key]).decode()
                    file.write(json.dumps({"text": key, "vector": vector}) + "\n")
            os.replace(name, self._path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def open_index(settings: IndexSettings) -> FileIndex:
    """Return the index with its file in the chosen folder, or in the home folder if none is chosen."""
    folder = settings.path or settings.folder
    path = None
    if folder is not None:
        path = folder / f"{_file_stem(settings)}{SUFFIX}"
        if path.is_dir():
            raise StoreError(
                f"{path} is a folder.", hint="move it away: the index file goes there"
            )
    return FileIndex(
        path, settings.codec, rows=settings.rows.data, text_keys=settings.text_keys
    )


def _file_stem(settings: IndexSettings) -> str:
    """Return a name that is the same on every machine: the fingerprint of the space, and the storage."""
    _, fingerprint, storage = settings.stamp.split(":")
    return f"{fingerprint[:16]}-{storage}"


def _parse(line: bytes) -> dict[str, object]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return entry if isinstance(entry, dict) else {}


def _decode(text: object) -> bytes | None:
    if not isinstance(text, str):
        return None
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
