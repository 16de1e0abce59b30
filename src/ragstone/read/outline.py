"""A text in the making while a format is read: headings, paragraphs, lists, tables and code as Markdown writes them.

What a place is called outside the text (a section, a slide, a chapter) is noted as a mark where it begins.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ragstone.types import Mark

_LONGEST_LABEL: Final = 80
_DEEPEST: Final = 6
_TICKS: Final = re.compile(r"^[ \t]*(`{3,})", re.MULTILINE)
_LONE: Final = re.compile("[\ud800-\udfff]")
_BREAKS: Final = re.compile(r"[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029\x00]")
CELLS: Final = " | "
"""What stands between the cells of a row."""


def one_line(text: str) -> str:
    """Return a text with every run of white space as one space."""
    return " ".join(text.split())


def clean(text: str) -> str:
    """Return a text that any store can hold, with no line break but the newline."""
    if text.isprintable():
        return text
    return _BREAKS.sub(" ", _LONE.sub("\ufffd", text.replace("\r\n", "\n")))


class Outline:
    """A text in the making: blocks stand a blank line apart, list items and rows of a table on lines of their own."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._parts: list[str] = []
        self._length = 0
        self._tight = ""
        self.marks: list[Mark] = []

    @property
    def text(self) -> str:
        """Return all that was written."""
        return "".join([*self._parts, "\n"]) if self._parts else ""

    @property
    def empty(self) -> bool:
        """Return whether nothing was written yet."""
        return not self._parts

    def heading(self, level: int, title: str, *, section: bool = False) -> None:
        """Write a heading; with `section` it is also a place to be cited."""
        title = one_line(clean(title))
        if not title:
            return
        if section:
            self.mark(len(self.marks) + 1, title, unit="section")
        self.block(f"{'#' * max(1, min(level, _DEEPEST))} {title}")

    def mark(self, number: int, label: str = "", *, unit: str) -> None:
        """Note that what is written next stands at a place of this number and name."""
        start = self._length + (2 if self._parts else 0)
        if self.marks and self.marks[-1].start == start:  # nothing was written there: the inner place tells more
            self.marks.pop()
        self.marks.append(Mark(start, number, one_line(clean(label))[:_LONGEST_LABEL].rstrip(), unit))

    def block(self, text: str) -> None:
        """Write a paragraph, or anything that stands apart from what is before and behind it."""
        self._write(clean(text).strip("\n").rstrip(), "")

    def item(self, text: str, *, depth: int = 0, sign: str = "-") -> None:
        """Write one item of a list."""
        text = one_line(clean(text))
        if text:
            self._write(f"{'  ' * min(depth, _DEEPEST)}{sign} {text}", "list")

    def part(self) -> None:
        """Let what is written next stand apart from the list or table before it."""
        self._tight = ""

    def row(self, cells: Sequence[str]) -> None:
        """Write one row of a table."""
        row = CELLS.join(one_line(clean(cell)) for cell in cells).strip(" |")
        if row:
            self._write(f"| {row} |", "table")

    def code(self, text: str, language: str = "") -> None:
        """Write lines as they are, between fences."""
        text = clean(text).strip("\n").rstrip()
        if text:
            longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=2)
            fence = "`" * max(3, longest + 1)
            self._write(f"{fence}{one_line(language).replace('`', '')}\n{text}\n{fence}", "")

    def _write(self, text: str, tight: str) -> None:
        """Write lines; those of one list or table stand close to each other."""
        if not text:
            return
        if self._parts:
            gap = "\n" if tight and tight == self._tight else "\n\n"
            self._parts.append(gap)
            self._length += len(gap)
        self._parts.append(text)
        self._length += len(text)
        self._tight = tight
