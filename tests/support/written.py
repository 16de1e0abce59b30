"""What a folder's files hold, squeezed text included: for tests that look for what must not be there."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

SQUEEZED = re.compile(rb"\xff|\x78(?=[\x01\x5e\x9c\xda])")
"""Where a squeezed text may begin: behind the mark of a chunk's, or at the head of what stands between chunks."""

LONGEST = 1 << 16


def everything(folder: Path) -> bytes:
    """Return the bytes of all files, and whatever any place in the databases unpacks to."""
    files = [path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()]
    return b"\0".join([*files, *(text for content in files for text in _unpacked(content))])


def _unpacked(content: bytes) -> list[bytes]:
    found = []
    for place in SQUEEZED.finditer(content):
        raw = content[place.start()] == 0xFF
        tool = zlib.decompressobj(-15 if raw else 15)
        begin = place.start() + raw
        try:
            text = tool.decompress(content[begin : begin + LONGEST], LONGEST)
        except zlib.error:
            continue
        if len(text) > 8:
            found.append(text)
    return found
