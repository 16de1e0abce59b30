"""The lines of a PDF page: their text and their boxes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ctypes import byref
from itertools import accumulate, pairwise
from typing import Any, Final, NamedTuple, TypeAlias

from pypdfium2 import raw

from ragstone.read.pdf_columns import find_gutter, order_lines
from ragstone.read.pdf_layout import SOFT_HYPHEN, PdfLine, clean_text

PdfiumObject: TypeAlias = Any
"""A document, page or text page of pypdfium2, which has no types."""

_BREAK: Final = re.compile(r"[\r\n\ufffe\u00ad\x02]")
_HYPHENS: Final = ("\ufffe", "\x02", SOFT_HYPHEN)
"""Characters that PDFium gives for a hyphen at the end of a line."""
_MIN_PIECES: Final = 1.5
_MAX_PIECES: Final = 4
"""Pieces for each line. A page with more has formulas, or letters that are placed one by one: its gaps mean nothing."""
_MIN_GAP: Final = 1.2
"""Width of a gap between two columns, in heights of the line."""


class _Box(NamedTuple):
    left: float
    bottom: float
    right: float
    top: float

    @property
    def height(self) -> float:
        return self.top - self.bottom


def read_lines(textpage: PdfiumObject) -> list[PdfLine]:
    """Return the lines of a page in reading order."""
    text = textpage.get_text_range()
    if not text.strip():
        return []
    page = _PageText(textpage, text)
    spans = list(_split_lines(text))
    lines = [page.line(start, end) for start, end in spans]
    gutter = find_gutter(page.find_gaps(len(lines)))
    if gutter is None:
        return order_lines(lines)
    parts: list[PdfLine] = []
    for (start, end), line in zip(spans, lines, strict=True):
        if line.has_box and line.left < gutter < line.right:
            parts += page.split_line(start, end, gutter)
        else:
            parts.append(line)
    ordered = order_lines(parts)
    return lines if ordered == parts else ordered  # cells of a table stay in their rows


def _split_lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of the lines that are not blank, without white space at their ends."""
    start = 0
    ends = [match.end() for match in _BREAK.finditer(text)]
    for end in [*ends, len(text)]:
        line = text[start:end]
        stripped = line.strip()
        if stripped:
            first = start + line.index(stripped[0])
            yield first, first + len(stripped)
        start = end


class _PageText:
    """The text of a page, and the positions of its characters."""

    def __init__(self, textpage: PdfiumObject, text: str) -> None:
        self._textpage = textpage
        self._text = text
        self._box = raw.FS_RECTF()
        # If PDFium counts no other characters, the index of a character is its index in the text.
        self._has_same_indices = raw.FPDFText_CountChars(textpage.raw) == len(text)
        # PDFium counts characters beyond the first 65,536 code points twice.
        self._extra: list[int] = []
        if max(text) > "\uffff":
            is_extra = [character > "\uffff" for character in text]
            self._extra = list(accumulate(is_extra, initial=0))

    def line(self, start: int, end: int) -> PdfLine:
        """Return a line with the box from its first character to its last."""
        text = self._text[start:end]
        if text.endswith(_HYPHENS):
            text = text[:-1] + SOFT_HYPHEN
            end -= 1
        first = self._find_box(start)
        last = self._find_box(max(start, end - 1))
        text = clean_text(text)
        if first is None or last is None:
            return PdfLine(text)
        height = max(first.top - first.bottom, 0.1)
        is_vertical = abs(first.top - last.top) > 3 * height
        if is_vertical:
            return PdfLine(text)
        return PdfLine(
            text,
            left=min(first.left, last.left),
            right=max(first.right, last.right),
            bottom=min(first.bottom, last.bottom),
            top=max(first.top, last.top),
        )

    def find_gaps(self, lines: int) -> list[tuple[float, float]]:
        """Return the wide gaps between pieces of text at the same height."""
        count = raw.FPDFText_CountRects(self._textpage.raw, 0, -1)
        if not _MIN_PIECES * lines < count <= _MAX_PIECES * lines:
            return []
        boxes = [_Box(*self._textpage.get_rect(index)) for index in range(count)]
        gaps = []
        for box, following in pairwise(boxes):
            height = min(box.height, following.height)
            is_wide = following.left - box.right > _MIN_GAP * height
            top = min(box.top, following.top)
            bottom = max(box.bottom, following.bottom)
            if is_wide and top > bottom:
                gaps.append((box.right, following.left))
        return gaps

    def split_line(self, start: int, end: int, gutter: float) -> list[PdfLine]:
        """Return the part of a line before a gutter and the part after it."""
        for index in range(start + 1, end):
            if self._text[index - 1] != " ":
                continue
            box = self._find_box(index)
            if box is not None and box.left > gutter:
                before = self._text[start:index].rstrip()
                before_end = start + len(before)
                return [self.line(start, before_end), self.line(index, end)]
        return [self.line(start, end)]

    def _find_box(self, index: int) -> _Box | None:
        """Return the box of a character; None if it has none."""
        if not self._has_same_indices:
            extra = self._extra[index] if self._extra else 0
            index = raw.FPDFText_GetCharIndexFromTextIndex(self._textpage.raw, index + extra)
        if index < 0:
            return None
        box = self._box
        if not raw.FPDFText_GetLooseCharBox(self._textpage.raw, index, byref(box)):
            return None
        return _Box(box.left, box.bottom, box.right, box.top)
