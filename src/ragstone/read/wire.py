"""How two processes of ours say things to each other: JSON behind its length, then bytes as they are, if any."""

from __future__ import annotations

import json
import struct
from typing import IO, Any, Final

_LENGTHS: Final = struct.Struct(">QQ")
_LONGEST: Final = 1 << 32
"""Bytes. A message that claims more is none of ours."""

Told = tuple[Any, bytes]


def send(stream: IO[bytes], told: object, blob: bytes = b"") -> None:
    """Write one message."""
    text = json.dumps(told).encode("ascii")
    stream.write(_LENGTHS.pack(len(text), len(blob)) + text)
    stream.write(blob)  # by itself: it may be large, and need not be copied
    stream.flush()


def receive(stream: IO[bytes], *, most_told: int = _LONGEST, most: int = _LONGEST) -> Told | None:
    """Return the next message, None at the end of all; `ValueError` if it is broken off, too long or no message."""
    head = stream.read(_LENGTHS.size)
    if not head:
        return None
    if len(head) < _LENGTHS.size:
        raise ValueError("a message was broken off")
    length, size = _LENGTHS.unpack(head)
    if length > most_told or size > most:
        raise ValueError("no message is that long")
    text, blob = stream.read(length), stream.read(size)
    if len(text) < length or len(blob) < size:
        raise ValueError("a message was broken off")
    return json.loads(text), blob
