"""Texts: each once in a project, squeezed, and found by the first bytes of its hash.

The key only says where to look. Whether a text is the one that is there is seen by comparing them, so that a short key
is enough and nobody gains by making two texts with the same one: the second is kept under more bytes of its hash.
Stores of before have the whole hash in every row, and texts as they stand; `squeeze` makes them like the others.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Final

from ragstone.errors import StoreDamaged
from ragstone.store.codec import pack_body, unpack_body
from ragstone.types import Chunk, embedding_text

KEY_BYTES: Final = (8, 16, 32)
_BATCH: Final = 2000
_AT_ONCE: Final = 64  # texts to a statement: a third of the time of one to a statement
# A key is a beginning of the hash, so all that can be meant lie between the shortest and the whole.
_FIND: Final = """
    WITH wanted (short, whole) AS (VALUES {})
    SELECT wanted.whole, t.id, t.hash, t.body FROM wanted
    CROSS JOIN texts t ON t.project = ? AND t.hash BETWEEN wanted.short AND wanted.whole"""
_FIND_ONE: Final = _FIND.format("(?, ?)")
_FIND_MANY: Final = _FIND.format(", ".join(["(?, ?)"] * _AT_ONCE))
_OLD: Final = "SELECT id, hash, body FROM texts WHERE id > ? AND length(hash) = ? ORDER BY id LIMIT ?"
_CHANGE: Final = "UPDATE OR IGNORE texts SET hash = ?, body = ? WHERE id = ?"  # a key that is taken: it stays long
ADD: Final = "INSERT INTO texts (id, project, hash, body) VALUES (?, ?, ?, ?)"

Row = tuple[int, int, bytes, str | bytes]
"""What `ADD` takes: number, project, key, packed text."""


def placed(db: sqlite3.Connection, project: int, chunks: Sequence[Chunk], *, last: int) -> tuple[list[int], list[Row]]:
    """Return the number of each chunk's text in the project, and the rows of new ones, numbered from behind `last`."""
    digests = [chunk.hash for chunk in chunks]
    wanted = {digest: embedding_text(one.header, one.text) for digest, one in zip(digests, chunks, strict=True)}
    numbers: dict[bytes, int] = {}
    taken: set[bytes] = set()
    for digest, number, key, body in _found(db, project, list(wanted)):
        if key == digest or _is(body, wanted[digest]):
            numbers[digest] = number
        taken.add(key)
    added: list[Row] = []
    for digest, text in wanted.items():
        if digest not in numbers:
            key = _free_key(digest, taken)
            taken.add(key)
            numbers[digest] = last + len(added) + 1
            added.append((numbers[digest], project, key, pack_body(text)))
    return [numbers[digest] for digest in digests], added


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


def _is(stored: str | bytes, text: str) -> bool:
    """Return whether a stored text is this one; one that cannot be read is none."""
    try:
        return unpack_body(stored) == text
    except StoreDamaged:
        return False
