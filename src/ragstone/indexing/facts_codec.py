"""The facts of a code file as bytes for the store, so that an unchanged file is not parsed again."""

from __future__ import annotations

import zlib

from ragstone.read.messages import decode, encode, parse
from ragstone.types.code import FileFacts


def encode_facts(facts: FileFacts) -> bytes:
    """Return facts as compressed JSON."""
    return zlib.compress(encode(facts), 1)


def decode_facts(data: bytes) -> FileFacts | None:
    """Return the facts in these bytes, or None if another version of Ragstone wrote them."""
    try:
        return decode(FileFacts, parse(zlib.decompress(data)))
    except (zlib.error, ValueError):
        return None
