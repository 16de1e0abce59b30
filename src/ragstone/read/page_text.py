"""The text of pages: the break between them, and their numbers in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

PAGE_BREAK: Final = "\n\f\n"
_MAX_RANGES: Final = 20


def describe_pages(pages: Sequence[int]) -> str:
    """Return pages in words: `page 3 has`, `pages 3–5, 9 have`."""
    ranges: list[list[int]] = []
    for page in pages:
        if ranges and ranges[-1][-1] == page - 1:
            ranges[-1][1:] = [page]
        else:
            ranges.append([page])
    names = ["–".join(map(str, each)) for each in ranges[:_MAX_RANGES]]
    if len(ranges) > _MAX_RANGES:
        names.append("…")
    listed = ", ".join(names)
    if len(pages) == 1:
        return f"page {listed} has"
    return f"pages {listed} have"
