"""Texts: each once in a project, squeezed, and found by the first bytes of its hash.

The key only says where to look. Whether a text is the one that is there is seen by comparing them, so that a short key
is enough and nobody gains by making two texts with the same one: the second is kept under more bytes of its hash.
A stored text that is not the one its key was made of is damaged: it is mended where it lies when it is put again.
Stores of before have the whole hash in every row, and texts as they stand; `squeeze` makes them like the others.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Final

from ragstone.errors import StoreDamaged
from ragstone.store.codec import pack_body, unpack_body
from ragstone.types import Chunk, Span, embedding_text

KEY_BYTES: Final = (8, 16, 32)
_BATCH: Final = 2000
_AT_ONCE: Final = 64  # texts to a statement: a third of the time of one to a statement
# Bodies are read as bytes wherever one that is no UTF-8 must not take the others of a statement down.
# A key is a beginning of the hash, so all that can be meant lie between the shortest and the whole.
_FIND: Final = """
    WITH wanted (short, whole) AS (VALUES {})
    SELECT wanted.whole, t.id, t.hash, CAST(t.body AS BLOB) FROM wanted
    CROSS JOIN texts t ON t.project = ? AND t.hash BETWEEN wanted.short AND wanted.whole"""
_FIND_ONE: Final = _FIND.format("(?, ?)")
_FIND_MANY: Final = _FIND.format(", ".join(["(?, ?)"] * _AT_ONCE))
_OLD: Final = "SELECT id, hash, CAST(body AS BLOB) FROM texts WHERE id > ? AND length(hash) = ? ORDER BY id LIMIT ?"
_CHANGE: Final = "UPDATE OR IGNORE texts SET hash = ?, body = ? WHERE id = ?"  # a key that is taken: it stays long
ADD: Final = "INSERT INTO texts (id, project, hash, body) VALUES (?, ?, ?, ?)"
MEND: Final = "UPDATE texts SET body = ? WHERE id = ?"
_NOWHERE: Final = Span(0, 0, 0, 0, 1, 1)

Row = tuple[int, int, bytes, str | bytes]
"""What `ADD` takes: number, project, key, packed text."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Where the texts of chunks lie: the number of each, rows for `ADD`, and (text, number) for `MEND`."""

    numbers: list[int]
    added: list[Row]
    mended: list[tuple[str | bytes, int]]


def placed(db: sqlite3.Connection, project: int, chunks: Sequence[Chunk], *, last: int) -> Placed:
    """Return where each chunk's text is in the project, or will be: new ones are numbered from behind `last`."""
    digests = [chunk.hash for chunk in chunks]
    wanted = {digest: embedding_text(one.header, one.text) for digest, one in zip(digests, chunks, strict=True)}
    numbers: dict[bytes, int] = {}
    taken: set[bytes] = set()
    broken: dict[int, bytes] = {}
    for digest, number, key, body in _found(db, project, list(wanted)):
        taken.add(key)
        if digest.startswith(key):
            found = _readable(body)
            if found == wanted[digest]:
                numbers[digest] = number
            elif found is None or not hash_of(found).startswith(key):
                broken.setdefault(number, digest)
    mended = {digest: number for number, digest in broken.items() if digest not in numbers}
    numbers |= mended
    added: list[Row] = []
    for digest, text in wanted.items():
        if digest not in numbers:
            key = _free_key(digest, taken)
            taken.add(key)
            numbers[digest] = last + len(added) + 1
            added.append((numbers[digest], project, key, pack_body(text)))
    mends = [(pack_body(wanted[digest]), number) for digest, number in mended.items()]
    return Placed([numbers[digest] for digest in digests], added, mends)


def sound(key: bytes, stored: str | bytes) -> str | None:
    """Return a stored text; None for one that cannot be read, or is not the one its key was made of."""
    found = _readable(stored)
    return found if found is not None and isinstance(key, bytes) and hash_of(found).startswith(key) else None


def damaged(db: sqlite3.Connection) -> list[int]:
    """Return the numbers of all texts that are not what was stored."""
    rows = db.execute("SELECT id, hash, CAST(body AS BLOB) FROM texts")
    return [number for number, key, body in rows if sound(key, body) is None]


def squeeze(db: sqlite3.Connection) -> None:
    """Make the texts that an older Ragstone stored as small as those of today, inside the caller's transaction."""
    last = 0
    while found := db.execute(_OLD, (last, KEY_BYTES[-1], _BATCH)).fetchall():
        for number, digest, body in found:
            with suppress(StoreDamaged):  # for `check` to tell of
                db.execute(_CHANGE, (digest[: KEY_BYTES[0]], pack_body(unpack_body(body)), number))
        last = found[-1][0]


def _found(
    db: sqlite3.Connection, project: int, digests: Sequence[bytes]
) -> Iterator[tuple[bytes, int, bytes, str | bytes]]:
    """Yield (hash, number, key, packed text) of all rows that may hold a text of one of these hashes."""
    whole = len(digests) - len(digests) % _AT_ONCE
    for at in range(0, whole, _AT_ONCE):
        yield from db.execute(_FIND_MANY, (*_bounds(digests[at : at + _AT_ONCE]), project))
    for digest in digests[whole:]:
        yield from db.execute(_FIND_ONE, (*_bounds([digest]), project))


def _bounds(digests: Sequence[bytes]) -> Iterator[bytes]:
    return chain.from_iterable((digest[: KEY_BYTES[0]], digest) for digest in digests)


def _free_key(digest: bytes, taken: set[bytes]) -> bytes:
    """Return the shortest beginning of a hash that is nobody's key."""
    return next((key for size in KEY_BYTES if (key := digest[:size]) not in taken), digest)


def _readable(stored: str | bytes) -> str | None:
    try:
        return unpack_body(stored)
    except StoreDamaged:
        return None


def hash_of(text: str) -> bytes:
    """Return what the key of a text is the beginning of."""
    return Chunk(text, _NOWHERE, 0).hash
