"""Texts: each is stored once in a project, compressed, under the first bytes of its hash.

The key is only a hint: whether a stored text is the one that is searched for is decided by comparing the texts. So a
short key is enough, and two texts with the same key do no harm: the second is stored under more bytes of its hash.
A stored text that does not match its key is damaged; it is repaired in place when the same text is stored again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
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


@dataclass(slots=True)
class TextPlan:
    """The ids of the texts of some chunks, and the rows that must be written for them."""

    ids: list[int] = field(default_factory=list)
    added: list[TextRow] = field(default_factory=list)
    repaired: list[tuple[str | bytes, int]] = field(default_factory=list)

    def write(self, db: sqlite3.Connection) -> None:
        """Write new and repaired texts."""
        db.executemany(_REPAIR, self.repaired)
        db.executemany(_ADD, self.added)


def plan_texts(
    db: sqlite3.Connection, project: int, chunks: Sequence[Chunk], *, last_id: int
) -> TextPlan:
    """Return the id of each chunk's text in a project; new texts get ids after `last_id`."""
    plan = TextPlan()
    ids: dict[bytes, int] = {}
    new_keys: set[bytes] = set()
    for chunk in chunks:
        digest = chunk.hash
        if digest not in ids:
            text = embedding_text(chunk.header, chunk.text)
            same, damaged, keys = _find(db, project, digest, text)
            if same is not None:
                ids[digest] = same
            elif damaged is not None:
                ids[digest] = damaged
                plan.repaired.append((pack_body(text), damaged))
            else:
                key = _free_key(digest, keys | new_keys)
                new_keys.add(key)
                ids[digest] = last_id + len(plan.added) + 1
                plan.added.append((ids[digest], project, key, pack_body(text)))
        plan.ids.append(ids[digest])
    return plan


def _find(
    db: sqlite3.Connection, project: int, digest: bytes, text: str
) -> tuple[int | None, int | None, set[bytes]]:
    """Return the row of a text, else a damaged row that was this text, and the keys that are taken."""
    damaged = None
    keys = set()
    for number, key, body in db.execute(_FIND, (project, digest[: KEY_BYTES[0]], digest)):
        keys.add(key)
        if digest.startswith(key):
            stored = _readable(body)
            if stored == text:
                return number, None, keys
            if stored is None or not hash_of(stored).startswith(key):
                damaged = number
    return None, damaged, keys


def _free_key(digest: bytes, taken: set[bytes]) -> bytes:
    """Return the shortest prefix of a hash that is not taken."""
    for size in KEY_BYTES:
        if digest[:size] not in taken:
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
