"""Sorting the lines of two columns that a file stores row by row.

Most files store their text in reading order, and that order is kept. Lines are sorted only if they
keep changing sides and each side reads like prose: the left column first, then the right one,
between lines that span both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median_high
from typing import Final

from ragstone.read.pdf_layout import PdfLine

_MIN_LINES: Final = 5
"""Lines that each column must have on a page."""
_MIN_CHARACTERS: Final = 15
"""Median length of a column's lines; cells of a table are shorter."""
_MIN_LOWER_CASE: Final = 0.3
"""Share of a column's lines that start with a small letter; cells and list items do not."""
_MIN_CHANGES: Final = 0.6
"""Changes of side for each line of the shorter column."""


def order_lines(lines: Sequence[PdfLine]) -> list[PdfLine]:
    """Return the lines in reading order."""
    boundary = _find_boundary([line for line in lines if line.has_box])
    if boundary is None:
        return list(lines)
    return _sort_columns(lines, boundary)


def find_gutter(gaps: Iterable[tuple[float, float]]) -> float | None:
    """Return the position that most gaps share; None if fewer than the lines of a column do."""
    edges: list[tuple[float, int]] = []
    for start, end in gaps:
        edges += [(start, 1), (end, -1)]
    edges.sort()
    best = depth = 0
    position = 0.0
    for (edge, change), (next_edge, _) in pairwise(edges):
        depth += change
        if depth > best:
            best = depth
            position = (edge + next_edge) / 2
    return position if best >= _MIN_LINES else None


def _find_boundary(lines: Sequence[PdfLine]) -> float | None:
    """Return the position between two columns whose lines are mixed; None if there are none."""
    if len(lines) < 2 * _MIN_LINES:
        return None
    middle = _middle(_left_edge(lines), _right_edge(lines))
    left_column = [line for line in lines if line.right <= middle]
    right_column = [line for line in lines if line.left >= middle]
    shorter = min(len(left_column), len(right_column))
    if shorter < _MIN_LINES:
        return None
    boundary = _middle(_right_edge(left_column), _left_edge(right_column))
    if _count_side_changes(lines, boundary) <= shorter * _MIN_CHANGES:
        return None
    if not (_is_prose(left_column) and _is_prose(right_column)):
        return None
    return boundary


def _left_edge(lines: Iterable[PdfLine]) -> float:
    return min(line.left for line in lines)


def _right_edge(lines: Iterable[PdfLine]) -> float:
    return max(line.right for line in lines)


def _middle(start: float, end: float) -> float:
    return (start + end) / 2


def _count_side_changes(lines: Iterable[PdfLine], boundary: float) -> int:
    sides = []
    for line in lines:
        is_right = line.left > boundary
        if is_right or line.right <= boundary:
            sides.append(is_right)
    return sum(side != next_side for side, next_side in pairwise(sides))


def _is_prose(column: Sequence[PdfLine]) -> bool:
    """Return whether the lines of a column look like prose and not like cells."""
    if median_high(len(line.text) for line in column) < _MIN_CHARACTERS:
        return False
    starts = [line.text.lstrip()[:1] for line in column]
    lower_case = sum(start.islower() for start in starts)
    return lower_case >= _MIN_LOWER_CASE * len(column)


def _sort_columns(lines: Sequence[PdfLine], boundary: float) -> list[PdfLine]:
    """Return lines column by column, between those that span both columns."""
    ordered = [line for line in lines if not line.has_box]
    left_column: list[PdfLine] = []
    right_column: list[PdfLine] = []
    placed = [line for line in lines if line.has_box]
    for line in sorted(placed, key=lambda line: -line.bottom):
        if line.left < boundary < line.right:
            ordered += [*left_column, *right_column, line]
            left_column, right_column = [], []
        elif line.right <= boundary:
            left_column.append(line)
        else:
            right_column.append(line)
    return [*ordered, *left_column, *right_column]
