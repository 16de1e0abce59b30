"""Recognises text that a program wrote for programs: minified code, encoded keys, tables of hashes.

It is recognised by its content, because its name says little: `searchindex.js`, `id.pub`, `.buildinfo`.
"""

from __future__ import annotations

import re
from typing import Final

from ragstone.text import is_random
from ragstone.types.documents import CODE

_HEAD: Final = 100_000
"""Characters that are looked at."""
_LONG_LINE: Final = 500
_LONG_SHARE: Final = 0.8
"""Minified text has nearly no other lines than long ones."""
_PROSE_LETTERS: Final = 0.8
"""Long lines of prose have .92 to .95 letters and spaces, minified code .65, and an index as JSON .56."""
_ENCODED_SHARE: Final = 0.3
"""Keys and certificates have .4 to .97 of their characters in random runs, and lists of hashes .3. Workflows that pin
versions by hash have .2. A source file may hold one long constant (up to .6), so code is judged by its lines only."""
_RUN: Final = re.compile(r"[A-Za-z0-9+/=_-]{24,}")
_LETTERS: Final = re.compile(r"[^\W\d_]+| +")
_SPACE: Final = re.compile(r"\s+")


def is_generated(kind: str, text: str) -> bool:
    """Return whether a text of this kind was written by a program and for programs."""
    head = text[:_HEAD]
    return _is_minified(head) or (kind != CODE and _is_encoded(head))


def _is_minified(text: str) -> bool:
    long_lines = [line for line in text.split("\n") if len(line) > _LONG_LINE]
    length = sum(map(len, long_lines))
    if not long_lines or length < _LONG_SHARE * len(text):
        return False
    letters = sum(map(len, _LETTERS.findall("\n".join(long_lines))))
    return letters < _PROSE_LETTERS * length


def _is_encoded(text: str) -> bool:
    runs = _RUN.findall(text)
    if not runs:
        return False
    encoded = sum(len(run) for run in runs if is_random(run))
    return encoded >= _ENCODED_SHARE * len(_SPACE.sub("", text))
