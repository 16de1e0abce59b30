"""Units of text that a chunker does not break."""

from __future__ import annotations

from typing import NamedTuple


class Unit(NamedTuple):
    """A piece of text: its start, its weight, and the strength of the border before it."""

    start: int
    weight: int
    border: int = 0
