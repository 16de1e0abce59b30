"""Writing the text of a document as Markdown, with marks where sections, slides or chapters start."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ragstone.types import Mark

_MAX_LABEL: Final = 80
_MAX_LEVEL: Final = 6
_FENCE: Final = re.compile(r"^[ \t]*(`{3,})", re.MULTILINE)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_OTHER_BREAKS: Final = re.compile(r"[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029\x00]")
CELL_SEPARATOR: Final = " | "


def one_line(text: str) -> str:
    """Return a text with each run of white space as one space."""
    return " ".join(text.split())


def clean(text: str) -> str:
    """Return a text that any store can hold, with no line break except the newline."""
    if text.isprintable():
        return text
    without_surrogates = _SURROGATE.sub("\ufffd", text.replace("\r\n", "\n"))
    return _OTHER_BREAKS.sub(" ", without_surrogates)


class MarkdownWriter:
    """Collects blocks, with a blank line between them; list items and table rows follow each other directly."""

    def __init__(self) -> None:
        """Start with an empty text."""
        self._parts: list[str] = []
        self._length = 0
        self._last_group = ""
        self.marks: list[Mark] = []

    @property
    def text(self) -> str:
        """Return the whole text."""
        if not self._parts:
            return ""
        return "".join(self._parts) + "\n"

    def write_heading(self, level: int, title: str, *, is_section: bool = False) -> None:
        """Write a heading; a section can also be cited."""
        title = one_line(clean(title))
        if not title:
            return
        if is_section:
            self.mark(len(self.marks) + 1, title, unit="section")
        marks = "#" * max(1, min(level, _MAX_LEVEL))
        self.write_block(f"{marks} {title}")

    def mark(self, number: int, label: str = "", *, unit: str) -> None:
        """Mark the start of the next block as a place of this number and label."""
        start = self._length + (2 if self._parts else 0)
        if (
            self.marks and self.marks[-1].start == start
        ):  # nothing was written at the mark before
            self.marks.pop()
        short_label = one_line(clean(label))[:_MAX_LABEL].rstrip()
        self.marks.append(Mark(start, number, short_label, unit))

    def write_block(self, text: str) -> None:
        """Write a paragraph or another block."""
        self._write(clean(text).strip("\n").rstrip())

    def write_lines(self, text: str) -> None:
        """Write a paragraph that keeps its line breaks, without blank lines."""
        lines = map(one_line, text.split("\n"))
        self.write_block("\n".join(filter(None, lines)))

    def write_item(self, text: str, *, depth: int = 0, sign: str = "-") -> None:
        """Write a list item."""
        text = one_line(clean(text))
        if text:
            indentation = "  " * min(depth, _MAX_LEVEL)
            self._write(f"{indentation}{sign} {text}", group="list")

    def write_row(self, cells: Sequence[str]) -> None:
        """Write a table row."""
        texts = [one_line(clean(cell)) for cell in cells]
        row = CELL_SEPARATOR.join(texts).strip(" |")
        if row:
            self._write(f"| {row} |", group="table")

    def end_group(self) -> None:
        """End the current list or table, so that a blank line follows it."""
        self._last_group = ""

    def write_code(self, text: str, language: str = "") -> None:
        """Write lines between fences."""
        text = clean(text).strip("\n").rstrip()
        if text:
            longest = max(map(len, _FENCE.findall(text)), default=2)
            fence = "`" * max(3, longest + 1)
            info = one_line(language).replace("`", "")
            self._write(f"{fence}{info}\n{text}\n{fence}")

    def _write(self, text: str, *, group: str = "") -> None:
        if not text:
            return
        if self._parts:
            is_same_group = group and group == self._last_group
            self._append("\n" if is_same_group else "\n\n")
        self._append(text)
        self._last_group = group

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
