"""The lines of a PDF page: their text, and the boxes they stand in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ctypes import byref
from itertools import accumulate, pairwise
from typing import Any, Final

from pypdfium2 import raw

from ragstone.read.columns import gutter_of, in_order
from ragstone.read.layout import SOFT_HYPHEN, Line, cleaned

_BREAK: Final = re.compile(r"[\r\n\ufffe\u00ad\x02]")
_HYPHENS: Final = ("\ufffe", "\x02", SOFT_HYPHEN)
"""How PDFium says that a line was ended by a hyphen."""
_MOST_PIECES: Final = 4
"""For each line. A page with more is full of formulas or has its letters placed one by one: gaps there say nothing."""
_WIDE: Final = 1.2
"""Times its height: a gap in a line that may part two columns."""


def lines_of(textpage: Any) -> list[Line]:  # noqa: ANN401 - pypdfium2 has no types
    """Return the lines of a page in reading order."""
    text = textpage.get_text_range()
    if not text.strip():
        return []
    page = _Page(textpage, text)
    spans = list(_spans(text))
    lines = [page.line(start, end) for start, end in spans]
    gutter = gutter_of(page.gaps(len(lines)))
    if gutter is None:
        return in_order(lines)
    parted = [
        part
        for (start, end), line in zip(spans, lines, strict=True)
        for part in (page.parted(start, end, gutter) if line.placed and line.left < gutter < line.right else [line])
    ]
    ordered = in_order(parted)
    return ordered if ordered != parted else lines  # cells of a table stay in their rows


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the lines of a page's text that are not blank begin and end."""
    at = 0
    for found in [*_BREAK.finditer(text), None]:
        end = following = found.end() if found else len(text)
        if found and found[0] in "\r\n":
            end -= 1
        piece = text[at:end]
        if piece and not (piece[0].isspace() or piece[-1].isspace()):
            yield at, end
        elif piece.strip():
            yield end - len(piece.lstrip()), at + len(piece.rstrip())
        at = following


class _Page:
    """A page's text with the means to ask where its characters stand."""

    def __init__(self, textpage: Any, text: str) -> None:  # noqa: ANN401 - pypdfium2 has no types
        self._page, self._text = textpage.raw, text
        self._rects = textpage.get_rect
        self._box = raw.FS_RECTF()
        self._here = byref(self._box)
        # Where nothing is counted that is not in the text, a character's number is its place in the text.
        self._same = raw.FPDFText_CountChars(self._page) == len(text)
        # PDFium counts what lies beyond the first 65,536 characters twice.
        astral = max(text) > "\uffff"
        self._before = list(accumulate((sign > "\uffff" for sign in text), initial=0)) if astral else None

    def line(self, start: int, end: int) -> Line:
        """Return a line with the box from its first letter to its last."""
        text = self._text[start:end]
        if text.endswith(_HYPHENS):
            text = text[:-1] + SOFT_HYPHEN
            end -= 1
        first, last = self._placed(start), self._placed(max(start, end - 1))
        text = cleaned(text)
        if first is None or last is None:
            return Line(text)
        (left, bottom, right, top), (left_too, bottom_too, right_too, top_too) = first, last
        if abs(top - top_too) > 3 * max(top - bottom, 0.1):
            return Line(text)  # it runs up or down the page
        return Line(text, min(left, left_too), max(right, right_too), min(bottom, bottom_too), max(top, top_too))

    def gaps(self, lines: int) -> list[tuple[float, float]]:
        """Return the wide gaps between pieces that stand side by side."""
        count = raw.FPDFText_CountRects(self._page, 0, -1)
        if not 1.5 * lines < count <= _MOST_PIECES * lines:
            return []
        rects = [self._rects(at) for at in range(count)]
        return [
            (one[2], other[0])
            for one, other in pairwise(rects)
            if other[0] - one[2] > _WIDE * min(one[3] - one[1], other[3] - other[1])
            and min(one[3], other[3]) > max(one[1], other[1])
        ]

    def parted(self, start: int, end: int, gutter: float) -> list[Line]:
        """Return the part of a line before a gutter and the part behind it."""
        for at in range(start + 1, end):
            place = self._placed(at) if self._text[at - 1] == " " else None
            if place is not None and place[0] > gutter:
                before = start + len(self._text[start:at].rstrip())
                return [self.line(start, before), self.line(at, end)]
        return [self.line(start, end)]

    def _placed(self, at: int) -> tuple[float, float, float, float] | None:
        """Return left, bottom, right and top of a character, None where it has no place."""
        if not self._same:
            at = raw.FPDFText_GetCharIndexFromTextIndex(self._page, at + self._before[at] if self._before else at)
        box = self._box
        if at < 0 or not raw.FPDFText_GetLooseCharBox(self._page, at, self._here):
            return None
        return box.left, box.bottom, box.right, box.top
