"""What a server answers: read to its end or refused, within the bytes and seconds there are."""

from __future__ import annotations

import io
import re
import socket
import time
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol, cast

from ragstone.errors import ReadError
from ragstone.sources.web.urls import Url

if TYPE_CHECKING:
    from http.client import HTTPMessage, HTTPResponse

_HEAD_BYTES: Final = 64_000
"""What status line and headers may take; pages of cookies come near a fifth of it."""
_OVERHEAD: Final = 2
"""Chunked bodies carry sizes between their pieces: this many times a body's limit may cross the wire, and no more."""
_PIECE: Final = 65_536
_TYPE: Final = re.compile(r"\s*([\w.+-]+/[\w.+-]+)\s*(?:;|$)")
_CHARSET: Final = re.compile(r";\s*charset\s*=\s*\"?([\w.:+-]{1,40})", re.IGNORECASE)
_OK: Final = 200
_SETTLED_SECONDS: Final = 2
_MOST_STREAMS: Final = 100
"""Compressed streams in one body: there is one; thousands of tiny ones would only cost time."""


class Limits(Protocol):
    """What a reply may take; `wanted` says by media type and path why a body is not wanted, or None."""

    @property
    def max_bytes(self) -> int:
        """Return how large a body may be, decompressed."""

    def wanted(self, media_type: str, path: str, /) -> str | None:
        """Return why a body is not wanted, or None."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer; a body only where the status is 200."""

    status: int
    headers: HTTPMessage
    body: bytes = field(default=b"", repr=False)

    def header(self, name: str) -> str:
        """Return a header's value on one line, or nothing."""
        return " ".join((self.headers.get(name) or "").split())

    @property
    def media_type(self) -> str:
        """Return the type of the body in lower case, without parameters."""
        found = _TYPE.match(self.header("content-type"))
        return found[1].lower() if found else ""

    @property
    def charset(self) -> str:
        """Return the encoding that the server says the body has, or nothing."""
        found = _CHARSET.search(self.header("content-type"))
        return found[1].lower() if found else ""

    @property
    def settled_date(self) -> str:
        """Return when the page last changed, unless it was just now: another change in that second would not show."""
        from email.utils import parsedate_to_datetime  # comes with http.client

        changed = self.header("last-modified")
        try:
            age = parsedate_to_datetime(self.header("date")) - parsedate_to_datetime(changed)
        except (ValueError, TypeError, OverflowError):  # no date, or one with a zone against one without
            return ""
        return changed if age.total_seconds() >= _SETTLED_SECONDS else ""

    @property
    def location(self) -> str:
        """Return where a redirect leads, as the server wrote it."""
        said = self.header("location")
        try:
            return said.encode("latin-1").decode("utf-8")  # headers are bytes; those beyond ASCII are UTF-8 these days
        except UnicodeError:
            return said


def read_reply(connection: socket.socket, at: Url, limits: Limits, *, end: float) -> Reply:
    """Return the answer that a connection brings; `ReadError` if it is broken, too much, or not in time."""
    from http.client import HTTPException, HTTPResponse  # pulls in email parsers: only when something is fetched

    wire = _Wire(connection, end)
    try:
        response = HTTPResponse(cast("socket.socket", wire), method="GET")
        response.begin()
        reply = Reply(response.status, response.headers)
        if response.status != _OK:
            return reply
        _refuse(reply, at, limits)
        wire.may_bring(limits.max_bytes * _OVERHEAD)
        return Reply(response.status, response.headers, _body(response, reply, limits.max_bytes))
    except HTTPException as error:
        raise ReadError(f"{at.origin} did not answer in proper HTTP: {_named(error)}") from error
    except ValueError as error:
        raise ReadError(f"{at.origin} did not answer in proper HTTP: {error}") from error


def _refuse(reply: Reply, at: Url, limits: Limits) -> None:
    """Raise `ReadError` for a body that is not wanted, before any of it is read."""
    why = limits.wanted(reply.media_type, at.target.partition("?")[0])
    if why is not None:
        raise ReadError(why, hint="pages of text are read: HTML, plain text, Markdown, JSON, XML, PDF")
    length = reply.header("content-length")
    if length.isascii() and length.isdigit() and int(length[:20]) > limits.max_bytes:
        raise _too_large(limits.max_bytes)


def _body(response: HTTPResponse, reply: Reply, most: int) -> bytes:
    """Return the whole body, decompressed, or raise `ReadError`; never a part of it."""
    coding = reply.header("content-encoding").lower()
    unpack = _Unpacker(coding, most) if coding not in ("", "identity") else None
    pieces, size = [], 0
    while piece := response.read(_PIECE):
        if unpack is not None:
            piece = unpack.take(piece)
        size += len(piece)
        if size > most:
            raise _too_large(most)
        pieces.append(piece)
    if response.length or (unpack is not None and not unpack.whole):
        raise ReadError("the page broke off before its end", hint="try again")
    return b"".join(pieces)


class _Wire(io.RawIOBase):
    """The bytes of a connection, counted, and only until the time is over."""

    def __init__(self, connection: socket.socket, end: float) -> None:
        self._connection = connection
        self._end = end
        self._left = _HEAD_BYTES
        self._over = "its headers are too long"

    def makefile(self, mode: str) -> io.BufferedReader:
        """Return what an HTTP response reads from."""
        return io.BufferedReader(self)

    def may_bring(self, count: int) -> None:
        """Let a body of so many bytes through."""
        self._left = count + _HEAD_BYTES
        self._over = "it sends more than a page of the largest size allowed"

    def readable(self) -> bool:
        """Return that it is."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # the stub says Buffer, a union
        """Fill the buffer with what there is and return how much that was."""
        seconds = self._end - time.monotonic()
        if seconds <= 0:
            raise ReadError("it took too long", hint="web.seconds sets the limit")
        self._connection.settimeout(seconds)
        try:
            count = self._connection.recv_into(buffer)
        except TimeoutError as error:
            raise ReadError("it took too long", hint="web.seconds sets the limit") from error
        self._left -= count
        if self._left < 0:
            raise ReadError(self._over)
        return count


class _Unpacker:
    """Takes compression off a body, and stops where it would become too large."""

    def __init__(self, coding: str, most: int) -> None:
        if coding not in ("gzip", "x-gzip", "deflate"):
            raise ReadError(f"it is compressed in a way that was not asked for ({coding[:40]})")
        self._gzip = coding != "deflate"
        self._most = most
        self._made = 0
        self._stream = zlib.decompressobj(zlib.MAX_WBITS | 16 if self._gzip else zlib.MAX_WBITS)
        self._started = False
        self._streams = 1

    @property
    def whole(self) -> bool:
        """Return whether the compressed stream came to its end."""
        return self._stream.eof

    def take(self, piece: bytes) -> bytes:
        """Return what a piece of the compressed body says."""
        made = []
        while piece and not (self._stream.eof and not self._gzip):
            if self._stream.eof:  # several streams, one behind the other, are one body
                self._stream = zlib.decompressobj(zlib.MAX_WBITS | 16)
                self._streams += 1
            if self._streams > _MOST_STREAMS:
                raise ReadError(f"it is compressed in more than {_MOST_STREAMS} pieces")
            made.append(self._inflated(piece))
            piece = self._stream.unused_data
        return b"".join(made)

    def _inflated(self, piece: bytes) -> bytes:
        try:
            out = self._stream.decompress(piece, self._most - self._made + 1)
        except zlib.error as error:
            if self._started or self._gzip:
                raise ReadError(f"its compression is damaged: {error}") from error
            # Some servers say deflate and leave out its frame.
            self._stream = zlib.decompressobj(-zlib.MAX_WBITS)
            self._started = True
            return self._inflated(piece)
        self._started = True
        self._made += len(out)
        if self._made > self._most:
            raise _too_large(self._most)
        return out


def _too_large(most: int) -> ReadError:
    return ReadError(f"too large: more than {most:,} bytes", hint="web.max_bytes sets the limit")


def _named(error: Exception) -> str:
    told = str(error).partition("\n")[0][:100]
    return f"{type(error).__name__} {told}".strip()
