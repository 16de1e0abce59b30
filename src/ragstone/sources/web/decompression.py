"""Decompression of a page's body that stops as soon as the text would be too large."""

from __future__ import annotations

import zlib
from typing import Final

from ragstone.errors import ReadError

_GZIP_CODINGS: Final = ("gzip", "x-gzip")
_MAX_STREAMS: Final = 100
"""A gzip body may be several streams in a row; thousands of tiny ones would only cost time."""


class Decompressor:
    """Decompresses one body piece by piece, to at most `max_bytes`."""

    def __init__(self, coding: str, max_bytes: int) -> None:
        """Raise `ReadError` if the coding is neither gzip nor deflate."""
        if coding not in (*_GZIP_CODINGS, "deflate"):
            raise ReadError(f"it is compressed in a way that was not requested ({coding[:40]})")
        self._is_gzip = coding in _GZIP_CODINGS
        self._max_bytes = max_bytes
        self._size = 0
        self._streams = 0
        self._stream = self._next_stream()

    @property
    def is_complete(self) -> bool:
        """Return whether the compressed stream has ended."""
        return self._stream.eof

    def decompress(self, piece: bytes) -> bytes:
        """Return the text of a piece; raise `ReadError` if it is damaged or too large."""
        output = b""
        while piece:
            if self._stream.eof:
                if not self._is_gzip:
                    break
                self._stream = self._next_stream()
            output += self._inflate(piece)
            piece = self._stream.unused_data
        return output

    def _next_stream(self) -> zlib._Decompress:
        self._streams += 1
        if self._streams > _MAX_STREAMS:
            raise ReadError(f"it is compressed in more than {_MAX_STREAMS} pieces")
        window = zlib.MAX_WBITS
        if self._is_gzip:
            window |= 16
        return zlib.decompressobj(window)

    def _inflate(self, piece: bytes) -> bytes:
        allowed = self._max_bytes - self._size + 1
        try:
            output = self._stream.decompress(piece, allowed)
        except zlib.error as error:
            if self._is_gzip or self._size:
                raise _damaged(error) from error
            output = self._inflate_raw(piece, allowed)
        self._size += len(output)
        if self._size > self._max_bytes:
            raise too_large(self._max_bytes)
        return output

    def _inflate_raw(self, piece: bytes, allowed: int) -> bytes:
        """Return the text of a deflate body without its zlib header, which some servers leave out."""
        self._stream = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            return self._stream.decompress(piece, allowed)
        except zlib.error as error:
            raise _damaged(error) from error


def too_large(max_bytes: int) -> ReadError:
    """Return the error for a body over the limit."""
    return ReadError(
        f"too large: more than {max_bytes:,} bytes", hint="web.max_bytes sets the limit"
    )


def _damaged(error: zlib.error) -> ReadError:
    return ReadError(f"its compression is damaged: {error}")
