"""Writing the text of a workbook: a heading for each sheet, a line for each row, and marks with sheet and row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ragstone.errors import ReadError
from ragstone.read.markdown_writer import CELL_SEPARATOR, clean, one_line
from ragstone.types import Mark

_MARK_EVERY: Final = 400
"""Characters of rows that share a mark: a chunk starts at a mark, so its citation names its first row."""
_MAX_GAP: Final = 16
_MAX_CHARACTERS: Final = 60_000_000


class SheetWriter:
    """Collects the rows of all sheets."""

    def __init__(self) -> None:
        """Start with an empty text."""
        self._parts: list[str] = []
        self._length = 0
        self._name = ""
        self._number = 0
        self._is_new_sheet = False
        self._last_mark = 0
        self.marks: list[Mark] = []

    @property
    def text(self) -> str:
        """Return the whole text."""
        return "".join(self._parts)

    def start_sheet(self, name: str, number: int) -> None:
        """Start a sheet; its heading is written with its first row."""
        self._name = one_line(clean(name)) or f"{number}"
        self._number = number
        self._is_new_sheet = True

    def write_row(self, number: int, cells: Mapping[int, str]) -> None:
        """Write a row of cells by their column, counted from 0; an empty row is left out."""
        line = _format_row(cells)
        if not line:
            return
        if self._is_new_sheet:
            self._append("\n" if self._parts else "")
            self._mark(number)
            self._append(f"# {self._name}\n\n")
            self._is_new_sheet = False
        elif self._length - self._last_mark > _MARK_EVERY:
            self._mark(number)
        self._append(f"{line}\n")
        if self._length > _MAX_CHARACTERS:
            raise ReadError("more cells than can be read", reason="too-big")

    def _mark(self, row: int) -> None:
        label = f"{self._name} row {row}"
        self.marks.append(Mark(self._length, self._number, label, "sheet"))
        self._last_mark = self._length

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)


def _format_row(cells: Mapping[int, str]) -> str:
    """Return the cells of a row in one line; a few empty cells between them are kept."""
    parts: list[str] = []
    last = -1
    for column, cell in sorted(cells.items()):
        text = one_line(clean(cell))
        if not text:
            continue
        if parts or column <= _MAX_GAP:
            parts.extend([""] * min(column - last - 1, _MAX_GAP))
        parts.append(text)
        last = column
    return CELL_SEPARATOR.join(parts).rstrip()
