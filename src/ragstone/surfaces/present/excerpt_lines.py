"""The choice of the lines that stand for a passage: the best ones, below the headings that they belong to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

_HEADING: Final = re.compile(r"#{1,6}\s+\S")
_FENCE: Final = ("```", "~~~")


def choose_lines(
    lines: Mapping[int, str], best: Iterable[int], limit: int, *, has_headings: bool
) -> list[int]:
    """Return the numbers of the best lines, in their order; `best` has the best number first.

    In Markdown a line never stands below the heading of another section: its own heading is chosen too. A line that
    finds no room with its heading is left out.
    """
    owners = {}
    if has_headings:
        owners = _find_headings(lines)
    chosen: set[int] = set()
    for number in best:
        attempt = _add_headings(chosen | {number}, owners)
        if len(attempt) <= limit:
            chosen = attempt
    return sorted(chosen)


def _find_headings(lines: Mapping[int, str]) -> dict[int, int]:
    """Return the number of the heading above each line, and of each heading its own number."""
    owners: dict[int, int] = {}
    heading: int | None = None
    is_code = False
    for number, line in lines.items():
        if line.lstrip().startswith(_FENCE):
            is_code = not is_code
        elif not is_code and _HEADING.match(line):
            heading = number
        if heading is not None:
            owners[number] = heading
    return owners


def _add_headings(numbers: set[int], owners: Mapping[int, int]) -> set[int]:
    """Return the numbers with the headings of lines that would stand below another heading.

    Without a heading above it, a line seems to belong to the first one of the passage.
    """
    result: set[int] = set()
    last_heading = min(owners.values(), default=None)
    for number in sorted(numbers):
        heading = owners.get(number)
        if heading is not None and heading != last_heading:
            result.add(heading)
            last_heading = heading
        result.add(number)
    return result
