"""Columns that a file tells row by row, put in the order a person reads them.

Most files tell their text in reading order, and that order is kept. Only where the lines of a page keep changing sides,
and the lines of each side read on from one another, are they sorted: the left column first, then the right one, between
lines that go across both.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from ragstone.read.layout import Line

_FEWEST: Final = 5
"""Lines that each column must have on a page."""
_LEAST_LETTERS: Final = 15
"""Letters that a column's lines have in the middle: cells of a table are shorter."""
_READ_ON: Final = 0.3
"""The part of a column's lines that begin with a small letter: lines of prose do, cells and items do not."""


def in_order(lines: Sequence[Line]) -> list[Line]:
    """Return the lines in reading order."""
    gutter = _gutter(lines)
    return list(lines) if gutter is None else _sorted(lines, gutter)


def gutter_of(gaps: Sequence[tuple[float, float]]) -> float | None:
    """Return the place that most of the gaps inside lines share, if enough do."""
    edges = sorted([(left, 1) for left, _ in gaps] + [(right, -1) for _, right in gaps])
    best, depth, place = 0, 0, 0.0
    for (at, change), (following, _) in pairwise(edges):
        depth += change
        if depth > best:
            best, place = depth, (at + following) / 2
    return place if best >= _FEWEST else None


def _gutter(lines: Sequence[Line]) -> float | None:
    """Return where the space between two columns is, if there are two and their lines come mixed."""
    placed = [line for line in lines if line.placed]
    if len(placed) < 2 * _FEWEST:
        return None
    left, right = min(line.left for line in placed), max(line.right for line in placed)
    middle = (left + right) / 2
    near = [line for line in placed if line.right <= middle]
    far = [line for line in placed if line.left >= middle]
    if min(len(near), len(far)) < _FEWEST:
        return None
    place = (max(line.right for line in near) + min(line.left for line in far)) / 2
    sides = [line.left > place for line in placed if line.right <= place or line.left > place]
    changes = sum(one != other for one, other in pairwise(sides))
    mixed = changes > min(len(near), len(far)) * 0.6
    return place if mixed and _reads_on(near) and _reads_on(far) else None


def _reads_on(lines: Sequence[Line]) -> bool:
    """Return whether lines, from top to bottom, look like prose and not like cells."""
    long = sorted(len(line.text) for line in lines)[len(lines) // 2] >= _LEAST_LETTERS
    small = sum(line.text.lstrip()[:1].islower() for line in lines)
    return long and small >= _READ_ON * len(lines)


def _sorted(lines: Sequence[Line], gutter: float) -> list[Line]:
    """Return lines column by column, between those that go across."""
    ordered = [line for line in lines if not line.placed]
    near: list[Line] = []
    far: list[Line] = []
    for line in sorted((line for line in lines if line.placed), key=lambda line: -line.bottom):
        if line.left < gutter < line.right:
            ordered += [*near, *far, line]
            near, far = [], []
        else:
            (near if line.right <= gutter else far).append(line)
    return [*ordered, *near, *far]
