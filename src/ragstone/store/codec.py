"""How values become columns and back; what cannot be read back is damage, never a crash."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ragstone.errors import InputError, StoreDamaged
from ragstone.store.failures import READ_AGAIN, RESTORE
from ragstone.types import Mark, Stamp

_LONG_GAPS: Final = 256
_SQUEEZED: Final = b"\xff"  # no text begins with this byte, in whatever way it was packed
_SHORT_BODY: Final = 512  # in code, two in five chunks are shorter: a third of the time for a fifth of what is saved
_LEVEL: Final = 1  # chunks of code: 15 µs for 44 % of the size; with level 6 17 µs for 42 %
_RAW: Final = -15  # deflate without a head and a checksum of its own: `check` compares the hashes of whole documents


def pack(text: str) -> str | bytes:
    """Return text as SQLite can hold it: itself, or bytes where it has lone surrogates."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def unpack(stored: str | bytes) -> str:
    """Return the text that `pack` was given."""
    if isinstance(stored, str):
        return stored
    try:
        return stored.decode("utf-8", "surrogatepass")
    except (UnicodeDecodeError, AttributeError) as error:
        raise _damage("a text that is not text") from error


def pack_body(text: str) -> str | bytes:
    """Return a chunk's text as the store keeps it: squeezed behind a mark where that saves an eighth of it or more."""
    if len(text) > _SHORT_BODY:
        plain = text.encode("utf-8", "surrogatepass")
        squeezed = zlib.compress(plain, _LEVEL, _RAW)
        if len(squeezed) < len(plain) - len(plain) // 8:
            return _SQUEEZED + squeezed
    return pack(text)


def unpack_body(stored: str | bytes) -> str:
    """Return the text that `pack_body` was given, or `pack` in a store of before."""
    if isinstance(stored, str):
        return stored
    try:
        plain = zlib.decompress(stored[1:], _RAW) if stored[:1] == _SQUEEZED else stored
        return plain.decode("utf-8", "surrogatepass")
    except (zlib.error, UnicodeDecodeError, AttributeError, TypeError) as error:
        raise _damage("a text that cannot be unpacked", READ_AGAIN) from error


def dump(value: Mapping[str, Any], what: str) -> str:
    """Return a mapping as JSON; `InputError` if it holds what JSON cannot: objects, NaN, keys that are not text."""
    try:
        _check_keys(value)
        return json.dumps(dict(value), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"{what} cannot be stored: {error}", hint="use text, numbers, true, false, null and lists"
        ) from error


def _check_keys(value: object) -> None:
    """Raise `TypeError` for a key that JSON would quietly turn into text."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} is not text")
            _check_keys(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            _check_keys(inner)


def load(stored: str) -> dict[str, Any]:
    """Return the mapping that `dump` was given."""
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
    """Return a stamp as text: inode numbers may be too long for SQLite's integers."""
    return None if stamp is None else f"{stamp.size} {stamp.mtime_ns} {stamp.ctime_ns} {stamp.inode}"


def load_stamp(stored: str | None) -> Stamp | None:
    """Return the stamp that `dump_stamp` was given."""
    if stored is None:
        return None
    try:
        size, mtime_ns, ctime_ns, inode = map(int, stored.split(" "))
    except (ValueError, AttributeError) as error:
        raise _damage("a stamp that cannot be read") from error
    return Stamp(size, mtime_ns, ctime_ns, inode)


def dump_marks(marks: Sequence[Mark]) -> str | None:
    """Return marks as JSON, nothing for none."""
    return json.dumps([(mark.start, mark.number, mark.label, mark.unit) for mark in marks]) if marks else None


def load_marks(stored: str | None) -> tuple[Mark, ...]:
    """Return the marks that `dump_marks` was given."""
    try:
        return tuple(Mark(*fields) for fields in json.loads(stored)) if stored else ()
    except (ValueError, TypeError) as error:
        raise _damage("page marks that cannot be read") from error


def dump_gaps(gaps: str) -> str | bytes:
    """Return what no chunk covers: as it is when short, squeezed when long."""
    if len(gaps) <= _LONG_GAPS and isinstance(pack(gaps), str):
        return gaps
    return zlib.compress(gaps.encode("utf-8", "surrogatepass"), 6)


def load_gaps(stored: str | bytes) -> str:
    """Return the text that `dump_gaps` was given."""
    if isinstance(stored, str):
        return stored
    try:
        return unpack(zlib.decompress(stored))
    except (zlib.error, TypeError) as error:
        raise _damage("a document's text that cannot be put together") from error


def fresh_uuid() -> str:
    """Return a random UUID (version 4); the standard module brings others with it when imported."""
    digits = (
        (int.from_bytes(os.urandom(16), "big") & ~(0xF << 76) & ~(3 << 62) | 4 << 76 | 2 << 62)
        .to_bytes(16, "big")
        .hex()
    )
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


# ── a document's text is its chunks and the gaps between them ─────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of a document's text: characters from `offset` on of a chunk, or of the gaps where `chunk` is None."""

    start: int
    end: int
    chunk: int | None
    offset: int


def layout(spans: Sequence[tuple[int, int]], length: int) -> list[Piece]:
    """Return the pieces that make up a text of a length, given the spans of its chunks ordered by start."""
    pieces: list[Piece] = []
    here = gap = 0
    for number, (start, end) in enumerate(spans):
        if start > here:
            pieces.append(Piece(here, start, None, gap))
            gap += start - here
            here = start
        if end > here:
            pieces.append(Piece(here, end, number, here - start))
            here = end
    if here < length:
        pieces.append(Piece(here, length, None, gap))
    return pieces


def gaps_of(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return the text that no span covers, in order."""
    return "".join(text[piece.start : piece.end] for piece in layout(spans, len(text)) if piece.chunk is None)


def _damage(what: str, hint: str = RESTORE) -> StoreDamaged:
    return StoreDamaged(f"the store is damaged: {what}", hint=hint)
