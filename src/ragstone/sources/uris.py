"""Converts between paths and uris, which are valid Unicode even if a path is not.

A uri is the path below the root with `/` between its parts. Bytes of a name that are not UTF-8 are written as `%FF`;
a `%` that would read as such a byte is written as `%25`. All other names stay as they are, `100%.txt` and `a%20b`
included.
"""

from __future__ import annotations

import os
import re

_BAD = re.compile("[\udc80-\udcff]")
_LIKE_BAD = re.compile("%(?=(?:25)*[89A-F][0-9A-F])")
_BACK = re.compile("%25(?=(?:25)*[89A-F][0-9A-F])|%([89A-F][0-9A-F])")


def to_uri(relative: str) -> str:
    """Return the uri of a path as the operating system spells it, `/` between its parts."""
    if relative.isascii() and "%" not in relative:
        return relative
    text = os.fsencode(relative).decode("utf-8", "surrogateescape")
    return _BAD.sub(lambda bad: f"%{ord(bad[0]) - 0xDC00:02X}", _LIKE_BAD.sub("%25", text))


def from_uri(uri: str) -> str:
    """Return the path of a uri."""
    if "%" not in uri:
        return uri
    text = _BACK.sub(lambda match: chr(0xDC00 + int(match[1], 16)) if match[1] else "%", uri)
    return os.fsdecode(text.encode("utf-8", "surrogateescape"))
