"""Converts between paths and uris, which are valid Unicode even if a path is not.

A uri is the path below the root with `/` between its parts. Bytes of a name that are not UTF-8 are written as `%FF`;
a `%` that would read as such a byte is written as `%25`. All other names stay as they are, `100%.txt` and `a%20b`
included.
"""

from __future__ import annotations

import os
import re

_FIRST_SURROGATE = 0xDC00
"""`surrogateescape` adds this to a byte that is not UTF-8."""
_BAD = re.compile("[\udc80-\udcff]")
_LIKE_BAD = re.compile("%(?=(?:25)*[89A-F][0-9A-F])")
_BACK = re.compile("%25(?=(?:25)*[89A-F][0-9A-F])|%([89A-F][0-9A-F])")


def to_uri(relative: str) -> str:
    """Return the uri of a path as the operating system spells it, `/` between its parts."""
    if relative.isascii() and "%" not in relative:
        return relative
    text = os.fsencode(relative).decode("utf-8", "surrogateescape")
    escaped = _LIKE_BAD.sub("%25", text)
    return _BAD.sub(_encode_byte, escaped)


def from_uri(uri: str) -> str:
    """Return the path of a uri."""
    if "%" not in uri:
        return uri
    text = _BACK.sub(_decode_byte, uri)
    return os.fsdecode(text.encode("utf-8", "surrogateescape"))


def _encode_byte(surrogate: re.Match[str]) -> str:
    byte = ord(surrogate[0]) - _FIRST_SURROGATE
    return f"%{byte:02X}"


def _decode_byte(escape: re.Match[str]) -> str:
    digits = escape[1]
    if digits is None:
        return "%"
    return chr(_FIRST_SURROGATE + int(digits, 16))
