"""Cutting tables into whole rows; the header of every later chunk repeats the names of the columns."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from ragstone.chunk.packing import check_sizes, pack_units
from ragstone.chunk.sizes import CODE_SIZE, format_recipe
from ragstone.chunk.spans import TextSlice, build_chunks
from ragstone.text.sentences import line_units
from ragstone.text.tokens import estimate
from ragstone.text.units import Unit
from ragstone.types import Chunk, Document

_DELIMITERS: Final = ",\t;|"
_SAMPLE_LINES: Final = 20
_SAMPLE_CHARACTERS: Final = 20_000
_QUOTED_OR_END: Final = {
    delimiter: re.compile(rf'(?:(?<=[{re.escape(delimiter)}\n])|\A)"(?:[^"]|"")*+"|\n')
    for delimiter in _DELIMITERS
}
_NUMBER: Final = re.compile(r"[-+(]?[$€£]?[\d.,:/ %-]*\d[\d.,:/ %)-]*[A-Za-z%€$]{0,3}")
_MAX_COLUMN_NAME: Final = 80
_MAX_HEADER: Final = 400
_SHEET: Final = "sheet"
_CELL_SEPARATOR: Final = " | "


@dataclass(slots=True)
class _Sheet:
    """A sheet of a workbook: where its groups of rows start, and where it ends."""

    name: str
    end: int
    starts: list[int] = field(default_factory=list)


class TableChunker:
    """Cuts whole rows up to a size in tokens, with the column names counted; sheets are never mixed."""

    def __init__(self, *, size: int = CODE_SIZE) -> None:
        """Keep the size, in estimated tokens."""
        check_sizes(size)
        self.size = size
        self.recipe = format_recipe("rows", size)

    def chunk(self, document: Document) -> list[Chunk]:
        """Return the chunks of a document."""
        return build_chunks(document, self._cut(document))

    def _cut(self, document: Document) -> Iterator[TextSlice]:
        text = document.text
        sheets = _find_sheets(document)
        for sheet in sheets:
            header = _sheet_header(text, sheet)
            yield from self._cut_rows(text, sheet.starts, sheet.end, header)
        if sheets:
            return
        delimiter = "\t" if document.language == "tsv" else _guess_delimiter(text)
        starts = find_row_starts(text, delimiter)
        header = _column_header(text, starts, delimiter)
        yield from self._cut_rows(text, starts, len(text), header)

    def _cut_rows(
        self, text: str, starts: Sequence[int], end: int, header: str
    ) -> Iterator[TextSlice]:
        """Yield the slices of one table."""
        if not starts:
            return
        room = self.size - estimate(header)
        size = max(room, self.size // 2, 1)
        lines = list(line_units(text, starts[0], end, size=size))
        units = list(_join_lines(lines, starts, size=size))
        slice_header = ""  # the first chunk holds the column names itself
        for range_ in pack_units(units, end, size=size):
            yield TextSlice(*range_, header=slice_header)
            slice_header = header


def find_row_starts(text: str, delimiter: str) -> list[int]:
    """Return where the rows of a table start; a line break inside quotes ends no row."""
    if not text:
        return []
    has_quoted_cells = '"' in text and text.count('"') % 2 == 0
    if not has_quoted_cells:  # an odd quote means inches, or a mistake: every line is a row
        line_breaks = re.finditer(r"\n(?=.)", text, re.DOTALL)
        return [0, *(line_break.end() for line_break in line_breaks)]
    matches = _QUOTED_OR_END[delimiter].finditer(text)
    starts = [match.end() for match in matches if match[0] == "\n"]
    if starts and starts[-1] == len(text):
        starts.pop()
    return [0, *starts]


def _join_lines(lines: Sequence[Unit], starts: Sequence[int], *, size: int) -> Iterator[Unit]:
    """Yield the units with the lines of one row joined, unless the row is above the size."""
    row_starts = set(starts)
    row: list[Unit] = []
    for line in lines:
        if row and line.start in row_starts:
            yield from _join_row(row, size)
            row = []
        row.append(line)
    yield from _join_row(row, size)


def _join_row(row: list[Unit], size: int) -> list[Unit]:
    weight = sum(unit.weight for unit in row)
    if not row or weight > size:
        return row
    return [row[0]._replace(weight=weight)]


def _guess_delimiter(text: str) -> str:
    """Return the delimiter that the first lines have equally often; the comma if unsure."""
    sample = text[:_SAMPLE_CHARACTERS].split("\n")[:_SAMPLE_LINES]
    lines = [line for line in sample if line.strip()]
    best, best_score = ",", 0
    for delimiter in _DELIMITERS:
        counts = [line.count(delimiter) for line in lines]
        if not counts or not counts[0]:
            continue
        equal = counts.count(counts[0])
        score = equal * max(counts)
        if score > best_score and equal * 2 > len(lines):
            best, best_score = delimiter, score
    return best


def _column_header(text: str, starts: Sequence[int], delimiter: str) -> str:
    """Return the first row if it names the columns, else nothing."""
    if len(starts) < 2:
        return ""
    row = text[: starts[1]].strip("\r\n")
    try:
        cells = next(csv.reader([row], delimiter=delimiter), [])
    except csv.Error:
        return ""
    if all(cells) and _are_column_names(cells):
        return row[:_MAX_HEADER]
    return ""


def _are_column_names(cells: Sequence[str]) -> bool:
    """Return whether cells can name columns: several, all different, no number and no long text."""
    names = [cell.strip() for cell in cells if cell.strip()]
    are_different = len(set(names)) == len(names)
    if len(names) < 2 or not are_different:
        return False
    return all(map(_is_column_name, names))


def _is_column_name(cell: str) -> bool:
    if len(cell) > _MAX_COLUMN_NAME or "\n" in cell:
        return False
    return _NUMBER.fullmatch(cell) is None


def _find_sheets(document: Document) -> list[_Sheet]:
    """Return the sheets of a workbook; none for other tables."""
    end = len(document.text)
    marks = [mark for mark in document.marks if mark.unit == _SHEET and mark.start < end]
    marks.sort(key=lambda mark: mark.start)
    sheets: list[_Sheet] = []
    number = None
    for mark in marks:
        if mark.number != number:
            number = mark.number
            name = mark.label.rpartition(" row ")[0]
            sheets.append(_Sheet(name, end))
        sheets[-1].starts.append(mark.start)
    for sheet, following in pairwise(sheets):
        sheet.end = following.starts[0]
    if sheets:
        sheets[0].starts[0] = 0
    return sheets


def _sheet_header(text: str, sheet: _Sheet) -> str:
    """Return the name of a sheet, with the names of its columns if its first row has them."""
    start = sheet.starts[0]
    end = min(sheet.end, start + 2 * _MAX_HEADER)
    for line in text[start:end].split("\n"):
        if line.strip() and not line.startswith("# "):
            if _are_column_names(line.split(_CELL_SEPARATOR)):
                return f"{sheet.name} > {line[:_MAX_HEADER]}"
            break
    return sheet.name
