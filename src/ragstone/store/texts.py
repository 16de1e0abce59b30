"""Texts: each is stored once in a project, compressed, under the first bytes of its hash.

The key is only a hint: whether a stored text is the one that is searched for is decided by comparing the texts. So a
short key is enough, and two texts with the same key do no harm: the second is stored under more bytes of its hash.
A stored text that does not match its key is damaged; it is repaired in place when the same text is stored again.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from ragstone.errors import StoreDamaged
from ragstone.store.codec import pack_body, unpack_body
from ragstone.types import Chunk, Span, embedding_text

KEY_BYTES: Final = (8, 16, 32)
# A key is a prefix of the hash, so all keys of a text are between its shortest key and the whole hash.
# Bodies are read as bytes: one that is not UTF-8 must not fail the statement.
_FIND: Final = (
    "SELECT id, hash, CAST(body AS BLOB) FROM texts WHERE project = ? AND hash BETWEEN ? AND ?"
)
_ADD: Final = "INSERT INTO texts (id, project, hash, body) VALUES (?, ?, ?, ?)"
_REPAIR: Final = "UPDATE texts SET body = ? WHERE id = ?"
_ANYWHERE: Final = Span(0, 0, 0, 0, 1, 1)

TextRow = tuple[int, int, bytes, str | bytes]


class TextPlan:
    """Finds or plans the rows of texts in one project; `write` writes the planned ones."""

    def __init__(self, db: sqlite3.Connection, project: int, *, last_id: int) -> None:
        """Take the transaction and the project; new texts get ids after `last_id`."""
        self._db = db
        self._project = project
        self._next_id = last_id + 1
        self._ids: dict[bytes, int] = {}
        self._taken_keys: set[bytes] = set()
        self._added: list[TextRow] = []
        self._repaired: list[tuple[str | bytes, int]] = []

    @property
    def has_repairs(self) -> bool:
        """Return whether a damaged text will be replaced."""
        return bool(self._repaired)

    def text_id(self, chunk: Chunk) -> int:
        """Return the id of a chunk's text; plan a row if the project does not have the text."""
        digest = chunk.hash
        if digest not in self._ids:
            text = embedding_text(chunk.header, chunk.text)
            self._ids[digest] = self._find_or_plan(digest, text)
        return self._ids[digest]

    def write(self) -> None:
        """Write new and repaired texts."""
        self._db.executemany(_REPAIR, self._repaired)
        self._db.executemany(_ADD, self._added)

    def _find_or_plan(self, digest: bytes, text: str) -> int:
        damaged = None
        for number, key, body in self._rows_like(digest):
            self._taken_keys.add(key)
            stored = _readable(body)
            if stored == text:
                return number
            if stored is None or not hash_of(stored).startswith(key):
                damaged = number
        if damaged is not None:
            self._repaired.append((pack_body(text), damaged))
            return damaged
        return self._plan(digest, text)

    def _rows_like(self, digest: bytes) -> list[tuple[int, bytes, bytes]]:
        """Return the rows with a key that is a prefix of a hash."""
        rows = self._db.execute(_FIND, (self._project, digest[: KEY_BYTES[0]], digest))
        return [row for row in rows if digest.startswith(row[1])]

    def _plan(self, digest: bytes, text: str) -> int:
        number = self._next_id
        self._next_id += 1
        key = self._free_key(digest)
        self._taken_keys.add(key)
        self._added.append((number, self._project, key, pack_body(text)))
        return number

    def _free_key(self, digest: bytes) -> bytes:
        """Return the shortest prefix of a hash that is not taken."""
        for size in KEY_BYTES:
            if digest[:size] not in self._taken_keys:
                return digest[:size]
        return digest


def sound(key: bytes, stored: str | bytes) -> str | None:
    """Return a stored text, or None if it cannot be read or does not match its key."""
    text = _readable(stored)
    if text is None or not isinstance(key, bytes) or not hash_of(text).startswith(key):
        return None
    return text


def damaged_texts(db: sqlite3.Connection) -> list[int]:
    """Return the ids of all damaged texts."""
    rows = db.execute("SELECT id, hash, CAST(body AS BLOB) FROM texts")
    return [number for number, key, body in rows if sound(key, body) is None]


def hash_of(text: str) -> bytes:
    """Return the hash of which the key of a text is a prefix."""
    return Chunk(text, _ANYWHERE, 0).hash


def split_header(text: str, length: int) -> tuple[str, str]:
    """Return the header and the chunk's own text of a stored text; the header has the given length."""
    return (text[:length], text[length + 1 :]) if length else ("", text)


def _readable(stored: str | bytes) -> str | None:
    try:
        return unpack_body(stored)
    except StoreDamaged:
        return None
