"""Texts: each is stored once in a project, under its hash.

A stored text that does not match its hash is damaged; it is repaired in place when the same text is stored again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ragstone.store.postgres.connection import Transaction
from ragstone.store.rows import sound
from ragstone.types import Chunk, embedding_text

_FIND: Final = "SELECT id, hash, body FROM texts WHERE project = %s AND hash = ANY(%s)"
_NEW_IDS: Final = (
    "SELECT nextval(pg_get_serial_sequence('texts', 'id')) FROM generate_series(1, %s)"
)
_ADD: Final = "INSERT INTO texts (id, project, hash, body) VALUES (%s, %s, %s, %s)"
_REPAIR: Final = "UPDATE texts SET body = %s WHERE id = %s"


class TextBatch:
    """Finds or plans the rows of texts in one project; `write` writes the planned ones."""

    def __init__(self, db: Transaction, project: int) -> None:
        """Take the transaction and the project."""
        self._db = db
        self._project = project
        self._ids: dict[bytes, int] = {}
        self._added: list[tuple[int, int, bytes, str]] = []
        self._repaired: list[tuple[str, int]] = []

    def find_or_plan(self, chunks: Sequence[Chunk]) -> None:
        """Find the texts of chunks; plan a row for each that the project does not have."""
        by_hash = {chunk.hash: chunk for chunk in chunks}
        if not by_hash:
            return
        rows = self._db.execute(_FIND, (self._project, list(by_hash)))
        for number, digest, body in rows:
            self._ids[digest] = number
            if sound(digest, body) is None:
                self._repaired.append((_text_of(by_hash[digest]), number))
        missing = [digest for digest in by_hash if digest not in self._ids]
        if not missing:
            return
        new_ids = self._db.execute(_NEW_IDS, (len(missing),)).fetchall()
        for digest, (number,) in zip(missing, new_ids, strict=True):
            self._ids[digest] = number
            self._added.append((number, self._project, digest, _text_of(by_hash[digest])))

    def text_id(self, chunk: Chunk) -> int:
        """Return the id of a chunk's text."""
        return self._ids[chunk.hash]

    def write(self) -> None:
        """Write new and repaired texts."""
        self._db.executemany(_REPAIR, self._repaired)
        self._db.executemany(_ADD, self._added)


def _text_of(chunk: Chunk) -> str:
    return embedding_text(chunk.header, chunk.text)
