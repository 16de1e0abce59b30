"""The text of a workbook: a heading for each sheet, a line for each row, and marks that say sheet and row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ragstone.errors import ReadError
from ragstone.read.outline import CELLS, clean, one_line
from ragstone.types import Mark

_GROUP: Final = 400
"""Characters of rows that share a mark: a chunk begins at a mark, so its citation names its first row."""
_WIDEST_GAP: Final = 16
_LARGEST: Final = 60_000_000
"""Characters."""


class Sheets:
    """Rows in the making."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._lines: list[str] = []
        self._length = 0
        self._named = ("", 0)
        self._waiting = False
        self._from = 0
        self.marks: list[Mark] = []

    @property
    def text(self) -> str:
        """Return all rows that were written."""
        return "".join(self._lines)

    def sheet(self, name: str, number: int) -> None:
        """Begin a sheet; it is named in the text with its first row."""
        self._named = (one_line(clean(name)) or f"{number}", number)
        self._waiting = True

    def row(self, number: int, cells: Mapping[int, str]) -> None:
        """Write one row of the sheet, cells by their column from 0 on; a row of nothing is left out."""
        line = _line(cells)
        if not line:
            return
        if self._waiting:
            self._write("\n" if self._lines else "")
            self._mark(number)
            self._write(f"# {self._named[0]}\n\n")
            self._waiting = False
        elif self._length - self._from > _GROUP:
            self._mark(number)
        self._write(f"{line}\n")
        if self._length > _LARGEST:
            raise ReadError("more cells than can be read", reason="too-big")

    def _mark(self, row: int) -> None:
        name, number = self._named
        self.marks.append(Mark(self._length, number, f"{name} row {row}", "sheet"))
        self._from = self._length

    def _write(self, text: str) -> None:
        self._lines.append(text)
        self._length += len(text)


def _line(cells: Mapping[int, str]) -> str:
    """Return the cells of a row side by side, empty ones in between kept where they are few."""
    parts: list[str] = []
    last = -1
    for column, cell in sorted(cells.items()):
        text = one_line(clean(cell))
        if not text:
            continue
        if parts or column <= _WIDEST_GAP:
            parts.extend([""] * min(column - last - 1, _WIDEST_GAP))
        parts.append(text)
        last = column
    return CELLS.join(parts).rstrip() if parts else ""
