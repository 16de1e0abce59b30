"""The text of a document, from its chunks and the gaps between them."""

from __future__ import annotations

from typing import Final

from ragstone.errors import StoreDamaged
from ragstone.store.codec import layout
from ragstone.store.failures import READ_AGAIN
from ragstone.store.fetch import Row
from ragstone.store.postgres.connection import Transaction
from ragstone.store.rows import require_sound, split_header

_DOCUMENT: Final = (
    "SELECT id, gaps, characters FROM documents WHERE collection = %s AND uri = %s"
)
_CHUNKS_IN: Final = """
    SELECT c.span_start, c.span_end, c.header, t.hash,
           CASE WHEN c.span_start < %(end)s AND c.span_end > %(start)s THEN t.body ELSE '' END
    FROM chunks c JOIN texts t ON t.id = c.text_id
    WHERE c.document = %(document)s ORDER BY c.span_start, c.span_end, c.id"""


def read(
    db: Transaction, collection: int, uri: str, span: tuple[int, int] | None
) -> str | None:
    """Return the text of a document, or a part of it; None if there is no such document."""
    row = db.execute(_DOCUMENT, (collection, uri)).fetchone()
    if row is None:
        return None
    document, gaps, length = row
    return join(db, document, gaps, length, span or (0, length))


def join(db: Transaction, document: int, gaps: str, length: int, span: tuple[int, int]) -> str:
    """Return a part of a text from the chunks of its document and the gaps between them."""
    start, end = max(0, span[0]), min(length, span[1])
    parameters = {"document": document, "start": start, "end": end}
    rows = db.execute(_CHUNKS_IN, parameters).fetchall()
    spans = [(chunk_start, chunk_end) for chunk_start, chunk_end, *_ in rows]
    parts = []
    for piece in layout(spans, length):
        if piece.start >= end or piece.end <= start:
            continue
        source = gaps if piece.chunk is None else _own_text(rows[piece.chunk])
        shift = piece.offset - piece.start
        parts.append(source[max(start, piece.start) + shift : min(end, piece.end) + shift])
    joined = "".join(parts)
    if len(joined) != max(0, end - start):
        raise StoreDamaged("the store is damaged: a document's text has holes", hint=READ_AGAIN)
    return joined


def _own_text(row: Row) -> str:
    """Return a chunk's text without its header; `StoreDamaged` if it does not match its hash."""
    *_, header_length, key, body = row
    return split_header(require_sound(key, body), header_length)[1]
