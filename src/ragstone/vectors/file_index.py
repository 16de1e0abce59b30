"""An exact index that also writes one text file for each collection, which can be committed, read and shared.

A file has one line per vector: the document, its lines, the beginning of the text, the hash of the text and the encoded
row. Another machine that has the same texts takes their vectors from the files and embeds nothing. Row numbers are not
in the files, because they differ between machines.
"""

from __future__ import annotations

import base64
import binascii
import glob
import json
import os
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

from ragstone.errors import StoreError
from ragstone.protocols import Codec, IndexedText, IndexSettings
from ragstone.types import Matrix
from ragstone.vectors.exact import ExactIndex

FORMAT = "ragstone vectors 1"
SUFFIX = ".vectors.jsonl"
_SHOWN_CHARACTERS: Final = 80


@dataclass(frozen=True, slots=True)
class IndexLine:
    """A line of an index file. Only the hash and the row are used; the rest is for people."""

    document: str
    lines: tuple[int, int]
    begins: str
    hash: str
    row: bytes

    @classmethod
    def of(cls, text: IndexedText, row: bytes) -> IndexLine:
        """Return the line of a text and its encoded vector."""
        begins = " ".join(text.text.split())[:_SHOWN_CHARACTERS]
        lines = (text.line_start, text.line_end)
        return cls(text.uri, lines, begins, text.hash, row)

    def write(self) -> str:
        """Return the line as JSON."""
        first, last = self.lines
        fields = {
            "document": self.document,
            "lines": f"{first}-{last}",
            "begins": self.begins,
            "text": self.hash,
            "vector": base64.b64encode(self.row).decode(),
        }
        return json.dumps(fields, ensure_ascii=False)


class FileIndex(ExactIndex):
    """A `VectorIndex` in memory that also writes its vectors to text files.

    A file keeps the lines of documents that this machine does not have: they belong to another branch or machine.
    """

    def __init__(
        self,
        folder: Path | None,
        stem: str,
        codec: Codec,
        *,
        rows: Callable[[Sequence[int]], Mapping[int, bytes]],
        texts: Callable[[Sequence[int]], Iterable[IndexedText]],
    ) -> None:
        """Take the folder and the last part of the files' names, and functions that return rows and texts of ids."""
        super().__init__(codec.dimension)
        self._folder = folder
        self._stem = stem
        self._codec = codec
        self._fetch_rows = rows
        self._fetch_texts = texts
        self._shared: dict[str, bytes] | None = None
        self._is_changed = False
        self._deleted: set[str] = set()
        """Hashes of texts whose vectors were deleted."""

    def upsert(self, ids: Sequence[int], vectors: Matrix) -> None:
        """Add vectors; an id that the index holds gets the new vector."""
        super().upsert(ids, vectors)
        self._is_changed = True

    def delete(self, ids: Sequence[int]) -> int:
        """Remove vectors and return how many there were."""
        self._deleted.update(text.hash for text in self._fetch_texts(ids))
        self._is_changed = True
        return super().delete(ids)

    def shared_rows(self, text_keys: Sequence[str]) -> dict[str, bytes]:
        """Return the encoded vectors that the files have for these hashes of texts."""
        if self._shared is None:
            self._shared = {}
            for path in self._paths():
                self._shared |= {line.hash: line.row for line in self._read_file(path)}
        return {key: self._shared[key] for key in text_keys if key in self._shared}

    def flush(self) -> None:
        """Write the files of changed collections. If that fails, other machines lose time, and no data is lost."""
        if not self._is_changed or self._folder is None:
            return
        by_collection: dict[str, list[IndexedText]] = defaultdict(list)
        for text in self._fetch_texts(self._contents.ids.tolist()):
            by_collection[text.collection].append(text)
        for collection, texts in by_collection.items():
            path = self._folder / f"{quote(collection, safe='')}-{self._stem}{SUFFIX}"
            # Another process may have added vectors since the file was read.
            before = list(self._read_file(path))
            lines = self._merge(before, texts)
            if lines != before:
                with suppress(OSError):
                    self._write_file(path, lines)
        self._is_changed = False
        self._deleted.clear()
        self._shared = None

    def drop(self) -> None:
        """Remove everything, the files too."""
        super().drop()
        self._is_changed = False
        self._deleted.clear()
        self._shared = None
        for path in self._paths():
            path.unlink(missing_ok=True)

    def close(self) -> None:
        """Release the memory; the files stay."""
        super().drop()
        self._is_changed = False
        self._shared = None

    def _merge(
        self, before: Sequence[IndexLine], texts: Sequence[IndexedText]
    ) -> list[IndexLine]:
        """Return the lines of a file: those of documents that are elsewhere, and one for each text."""
        lines_before = [line for line in before if line.hash not in self._deleted]
        rows = self._rows_of(texts, {line.hash: line.row for line in lines_before})
        present = {text.uri for text in texts}
        lines = {line.hash: line for line in lines_before if line.document not in present}
        for text in texts:
            if text.hash in rows:
                lines[text.hash] = IndexLine.of(text, rows[text.hash])
        return sorted(lines.values(), key=lambda line: (line.document, line.lines, line.hash))

    def _rows_of(
        self, texts: Sequence[IndexedText], file_rows: Mapping[str, bytes]
    ) -> dict[str, bytes]:
        """Return the encoded vectors by the hash of their text; those that the file lacks are read from the store."""
        hashes = {text.row_id: text.hash for text in texts if text.hash not in file_rows}
        fetched = self._fetch_rows(list(hashes))
        return {**file_rows, **{hashes[row_id]: row for row_id, row in fetched.items()}}

    def _paths(self) -> list[Path]:
        """Return the files of all collections; one without a collection in its name is of an earlier version."""
        if self._folder is None:
            return []
        pattern = f"*{glob.escape(self._stem)}{SUFFIX}"
        return sorted(path for path in self._folder.glob(pattern) if path.is_file())

    def _header(self) -> dict[str, object]:
        return {
            "format": FORMAT,
            "dimension": self._codec.dimension,
            "storage": self._codec.name,
        }

    def _read_file(self, path: Path) -> Iterator[IndexLine]:
        """Yield every valid line. A damaged line costs one vector, which is made again."""
        try:
            lines = path.read_bytes().splitlines()
        except OSError:
            return
        if not lines or _parse(lines[0]) != self._header():
            return
        for line in lines[1:]:
            fields = _parse(line)
            row = _decode(fields.get("vector"))
            if row is not None and fields.get("text") and self._codec.sound([row])[0]:
                yield IndexLine(
                    str(fields.get("document", "")),
                    _parse_lines(fields.get("lines")),
                    str(fields.get("begins", "")),
                    str(fields["text"]),
                    row,
                )

    def _write_file(self, path: Path, lines: Iterable[IndexLine]) -> None:
        """Replace the file in one step, so that a reader never sees half of it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        try:
            with open(handle, "w", encoding="utf-8", errors="replace", newline="\n") as file:
                file.write(json.dumps(self._header()) + "\n")
                for line in lines:
                    file.write(line.write() + "\n")
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def open_index(settings: IndexSettings) -> FileIndex:
    """Return the index with its files in the chosen folder, or in the home folder if none is chosen."""
    folder = settings.path or settings.folder
    if folder is not None and folder.exists() and not folder.is_dir():
        raise StoreError(f"{folder} is a file.", hint="name a folder: the index files go there")
    return FileIndex(
        folder,
        _file_stem(settings),
        settings.codec,
        rows=settings.rows.data,
        texts=settings.texts,
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


def _parse_lines(text: object) -> tuple[int, int]:
    """Return the first and the last line of `3-5`; zeros if it is something else."""
    first, _, last = str(text).partition("-")
    if not (first.isdecimal() and last.isdecimal()):
        return 0, 0
    return int(first), int(last)


def _decode(text: object) -> bytes | None:
    if not isinstance(text, str):
        return None
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
