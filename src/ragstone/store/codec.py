"""How values become columns and back. A column that cannot be read raises `StoreDamaged`, never another error."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

from ragstone.errors import InputError, StoreDamaged
from ragstone.store.failures import READ_AGAIN, RESTORE
from ragstone.types import Mark, Stamp

_LONG_GAPS: Final = 256
_MAX_PLAIN_BYTES: Final = 1 << 30
_COMPRESSED: Final = b"\xff"  # no packed text begins with this byte
_SHORT_BODY: Final = 512  # in code, two in five chunks are shorter: a third of the time for a fifth of the savings
_LEVEL: Final = 1  # chunks of code: 15 µs for 44 % of the size; level 6 takes 17 µs for 42 %
_RAW: Final = (
    -15
)  # deflate without header and checksum: `check` compares the hashes of documents


def fresh_uuid() -> str:
    """Return a random UUID."""
    return str(uuid4())


# ── texts ─────────────────────────────────────────────────────────────────────────────────────────


def pack(text: str) -> str | bytes:
    """Return a text as SQLite can store it: as bytes if it has lone surrogates."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def unpack(stored: str | bytes) -> str:
    """Return the text that `pack` stored."""
    if isinstance(stored, str):
        return stored
    try:
        return stored.decode("utf-8", "surrogatepass")
    except (UnicodeDecodeError, AttributeError) as error:
        raise _damage("a text that is not text") from error


def pack_row(columns: Iterable[object]) -> tuple[object, ...]:
    """Return columns as SQLite can store them: the texts among them are packed."""
    return tuple(pack(value) if isinstance(value, str) else value for value in columns)


def unpack_optional(stored: str | bytes | None) -> str | None:
    """Return the text that `pack` stored, or None."""
    return None if stored is None else unpack(stored)


def pack_body(text: str) -> str | bytes:
    """Return a chunk's text as it is stored: compressed if that saves an eighth of it or more."""
    if len(text) > _SHORT_BODY:
        plain = text.encode("utf-8", "surrogatepass")
        compressed = zlib.compress(plain, _LEVEL, _RAW)
        if len(compressed) < len(plain) - len(plain) // 8:
            return _COMPRESSED + compressed
    return pack(text)


def unpack_body(stored: str | bytes) -> str:
    """Return the text that `pack_body` stored."""
    if isinstance(stored, str):
        return stored
    try:
        plain = _decompress(stored[1:], _RAW) if stored[:1] == _COMPRESSED else stored
        return plain.decode("utf-8", "surrogatepass")
    except (zlib.error, UnicodeDecodeError, AttributeError, TypeError) as error:
        raise _damage("a text that cannot be unpacked", READ_AGAIN) from error


# ── mappings, stamps and marks ────────────────────────────────────────────────────────────────────


def dump(value: Mapping[str, object], what: str) -> str:
    """Return a mapping as JSON; `InputError` if it has objects, NaN, or keys that are not text."""
    if not value:
        return "{}"
    try:
        _check_keys(value)
        return json.dumps(dict(value), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"{what} cannot be stored: {error}",
            hint="use text, numbers, true, false, null and lists",
        ) from error


def _check_keys(value: object) -> None:
    """Raise `TypeError` for a key that JSON would silently turn into text."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} is not text")
            _check_keys(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            _check_keys(inner)


def load(stored: str) -> dict[str, Any]:
    """Return the mapping that `dump` stored."""
    if stored == "{}":
        return {}
    try:
        value = json.loads(stored)
    except (ValueError, TypeError, RecursionError) as error:
        raise _damage("metadata that cannot be read") from error
    if not isinstance(value, dict):
        raise _damage("metadata that is no mapping")
    return value


def dump_stamp(stamp: Stamp | None) -> str | None:
    """Return a stamp as text, since inode numbers may be too large for SQLite's integers."""
    if stamp is None:
        return None
    return f"{stamp.size} {stamp.mtime_ns} {stamp.ctime_ns} {stamp.inode}"


def load_stamp(stored: str | None) -> Stamp | None:
    """Return the stamp that `dump_stamp` stored."""
    if stored is None:
        return None
    try:
        size, mtime_ns, ctime_ns, inode = map(int, stored.split(" "))
    except (ValueError, AttributeError) as error:
        raise _damage("a stamp that cannot be read") from error
    return Stamp(size, mtime_ns, ctime_ns, inode)


def dump_marks(marks: Sequence[Mark]) -> str | None:
    """Return marks as JSON, None if there are none."""
    if not marks:
        return None
    return json.dumps([(mark.start, mark.number, mark.label, mark.unit) for mark in marks])


def load_marks(stored: str | None) -> tuple[Mark, ...]:
    """Return the marks that `dump_marks` stored."""
    if not stored:
        return ()
    try:
        return tuple(Mark(*fields) for fields in json.loads(stored))
    except (ValueError, TypeError) as error:
        raise _damage("page marks that cannot be read") from error


# ── the text of a document: its chunks and the gaps between them ──────────────────────────────────


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A part of a document's text: characters from `offset` on of a chunk, or of the gaps if `chunk` is None."""

    start: int
    end: int
    chunk: int | None
    offset: int


def layout(spans: Sequence[tuple[int, int]], length: int) -> list[TextPiece]:
    """Return the pieces of a text with a length, for the spans of its chunks ordered by start."""
    pieces: list[TextPiece] = []
    position = gap_position = 0
    for number, (start, end) in enumerate(spans):
        if start > position:
            pieces.append(TextPiece(position, start, None, gap_position))
            gap_position += start - position
            position = start
        if end > position:
            pieces.append(TextPiece(position, end, number, position - start))
            position = end
    if position < length:
        pieces.append(TextPiece(position, length, None, gap_position))
    return pieces


def gaps_of(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return the text that no span covers, in order."""
    return "".join(
        text[piece.start : piece.end]
        for piece in layout(spans, len(text))
        if piece.chunk is None
    )


def dump_gaps(gaps: str) -> str | bytes:
    """Return the text between chunks as it is stored: compressed if it is long."""
    if len(gaps) <= _LONG_GAPS and isinstance(pack(gaps), str):
        return gaps
    return zlib.compress(gaps.encode("utf-8", "surrogatepass"), 6)


def load_gaps(stored: str | bytes) -> str:
    """Return the text that `dump_gaps` stored."""
    if isinstance(stored, str):
        return stored
    try:
        return unpack(_decompress(stored, zlib.MAX_WBITS))
    except (zlib.error, TypeError) as error:
        raise _damage("a document's text that cannot be read") from error


def _decompress(data: bytes, window: int) -> bytes:
    """Return decompressed bytes; `zlib.error` if they are cut off or larger than any text of ours."""
    decompressor = zlib.decompressobj(window)
    plain = decompressor.decompress(data, _MAX_PLAIN_BYTES)
    if not decompressor.eof:
        raise zlib.error("the text is incomplete or too large")
    return plain


def _damage(what: str, hint: str = RESTORE) -> StoreDamaged:
    return StoreDamaged(f"the store is damaged: {what}", hint=hint)
