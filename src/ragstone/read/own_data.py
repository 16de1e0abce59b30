"""Files that Ragstone wrote and reads back. They repeat what is indexed, so they are no documents."""

from __future__ import annotations

import re
from typing import Final

_HEADER: Final = re.compile(
    rb'\s*\{\s*"(?:(?P<key>ragstone_export|ragstone_session)"|format"\s*:\s*"ragstone vectors \d)'
    rb"|(?P<text>ragstone-vectors:\d+:)"
)
_REASONS: Final = {
    b"ragstone_export": "export of Ragstone (`ragstone import` reads it)",
    b"ragstone_session": "export of Ragstone (`ragstone sessions import` reads it)",
}
_VECTORS: Final = "vectors that Ragstone wrote"


def explain_own_data(data: bytes) -> str | None:
    """Return the reason for not indexing a file that begins with the header of our own data; None for others."""
    header = _HEADER.match(data)
    if header is None:
        return None
    return _REASONS.get(header["key"], _VECTORS)
