"""The terms of chunks and queries, as both word indexes store them."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Final, NamedTuple

from ragstone import text as words
from ragstone.errors import StoreDamaged
from ragstone.store.codec import unpack
from ragstone.store.failures import READ_AGAIN
from ragstone.store.rows import sound, split_header

MAX_QUERY_TERMS: Final = 256
_PROBE: Final = """
    class HTTPServer2Test(Base): def get_user_name(self): return obj.fooBar-baz_qux['running'] # don't v1.2.3 2024-01-31
    deadbeef01234567 The quick studies were walking happily; files, classes, indices, data-driven README.md::x->y $z"""
_CHUNKS: Final = """
    SELECT c.id, c.collection, c.symbol, c.header, t.hash, CAST(t.body AS BLOB), d.uri, d.beside
    FROM chunks c JOIN texts t ON t.id = c.text_id JOIN documents d ON d.id = c.document WHERE {}
    ORDER BY c.id"""
_CHUNKS_AFTER: Final = _CHUNKS.format("c.id > ?") + " LIMIT ?"
_CHUNKS_BY_ID: Final = _CHUNKS.format("c.id IN (SELECT value FROM json_each(?))")
_LOWER: Final = {
    upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)
}  # FTS5 folds these and no others
_SEPARATORS: Final = re.compile(
    r"[\x00-\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\x7f]+"
)  # where the tokenizer of FTS5 splits


class ChunkText(NamedTuple):
    """The parts of a chunk that words are found in."""

    id: int
    collection: int
    symbol: str
    header: str
    path: str
    body: str


class ChunkTerms(NamedTuple):
    """The terms of each part of a chunk, separated by spaces."""

    id: int
    collection: int
    symbol: str
    header: str
    path: str
    body: str


class StoredChunkRow(NamedTuple):
    """The columns from which the terms of a stored chunk are made again."""

    id: int
    collection: int
    symbol: str | bytes
    header_length: int
    text_key: bytes
    text: str | bytes
    uri: str | bytes
    beside: str | bytes


def terms_of(text: str) -> str:
    """Return the terms of a text, separated by spaces."""
    joined = words.spaced_terms(text)
    return joined if joined.isascii() else joined.encode("utf-8", "replace").decode()


_repeated_terms = lru_cache(maxsize=2048)(
    terms_of
)  # the chunks of a document share path, header and symbol


def chunk_terms(chunk: ChunkText) -> ChunkTerms:
    """Return the terms of a chunk."""
    return ChunkTerms(
        chunk.id,
        chunk.collection,
        _repeated_terms(chunk.symbol),
        _repeated_terms(chunk.header),
        _repeated_terms(chunk.path),
        terms_of(chunk.body),
    )


@cache
def version() -> str:
    """Return a value that changes with the text analysis: its number and a hash of a sample analysis."""
    probe = hashlib.sha256(" ".join(words.terms(_PROBE)).encode()).hexdigest()[:16]
    return f"{words.VERSION}-{probe}"


def clean_terms(terms: Sequence[str]) -> list[str]:
    """Return query terms as the indexes have them; a term with separators in it becomes several terms."""
    cleaned: dict[str, None] = {}
    for term in terms:
        text = term if term.isascii() else term.encode("utf-8", "replace").decode()
        pieces = _SEPARATORS.split(text.translate(_LOWER))
        cleaned.update(dict.fromkeys(piece for piece in pieces if piece))
        if len(cleaned) >= MAX_QUERY_TERMS:
            break
    return list(cleaned)[:MAX_QUERY_TERMS]


def split_terms(joined: str) -> list[str]:
    """Return the terms of a text as the tokenizer of FTS5 finds them in `terms_of`."""
    return [term for term in _SEPARATORS.split(joined.translate(_LOWER)) if term]


def chunks_after(db: sqlite3.Connection, chunk_id: int, limit: int) -> list[StoredChunkRow]:
    """Return stored chunks with a larger id, in order of id."""
    return [StoredChunkRow(*row) for row in db.execute(_CHUNKS_AFTER, (chunk_id, limit))]


def chunks_by_id(db: sqlite3.Connection, ids: Iterable[int]) -> list[StoredChunkRow]:
    """Return stored chunks in order of id."""
    return [StoredChunkRow(*row) for row in db.execute(_CHUNKS_BY_ID, (str(list(ids)),))]


def indexed_text(row: StoredChunkRow) -> ChunkText:
    """Return a chunk as it was indexed; `StoreDamaged` if its text is damaged."""
    body = sound(row.text_key, row.text)
    if body is None:
        raise StoreDamaged(
            "the store is damaged: a text that is not what was stored", hint=READ_AGAIN
        )
    header, own = split_header(body, row.header_length)
    header = searchable_header(header, unpack(row.beside))
    return ChunkText(row.id, row.collection, unpack(row.symbol), header, unpack(row.uri), own)


def indexable_text(row: StoredChunkRow) -> ChunkText:
    """Return a chunk as it can be indexed: if its text is damaged, without it."""
    try:
        return indexed_text(row)
    except StoreDamaged:
        return ChunkText(
            row.id, row.collection, unpack(row.symbol), unpack(row.beside), unpack(row.uri), ""
        )


def stored_terms(rows: Iterable[StoredChunkRow]) -> Iterator[ChunkTerms]:
    """Yield the terms of stored chunks."""
    for row in rows:
        yield chunk_terms(indexable_text(row))


def searchable_header(header: str, beside: str) -> str:
    """Return the header with the text that finds a document but is not shown."""
    return f"{header}\n{beside}" if beside else header
