"""Cutting tables: whole rows, the row that names the columns repeated in the header of every chunk."""

from __future__ import annotations

import csv
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from ragstone.chunk.pack import Unit, check_sizes, pack
from ragstone.chunk.recipes import CODE_SIZE, named
from ragstone.chunk.spans import Cut, chunks_of
from ragstone.text.sentences import line_units
from ragstone.text.tokens import estimate

if TYPE_CHECKING:
    from ragstone.types import Chunk, Document

_DELIMITERS: Final = ",\t;|"
_SNIFFED: Final = 20
_SNIFFED_CHARACTERS: Final = 20_000
_QUOTED_OR_END: Final = {
    mark: re.compile(rf'(?:(?<=[{re.escape(mark)}\n])|\A)"(?:[^"]|"")*+"|\n') for mark in _DELIMITERS
}
_NUMBER: Final = re.compile(r"[-+(]?[$€£]?[\d.,:/ %-]*\d[\d.,:/ %)-]*[A-Za-z%€$]{0,3}")
_LONGEST_CELL: Final = 80
_LONGEST_HEADER: Final = 400
_SHEET: Final = "sheet"
_BETWEEN: Final = " | "


class Rows:
    """Whole rows up to a size in tokens, the names of the columns counted; of workbooks each sheet by itself."""

    def __init__(self, *, size: int = CODE_SIZE) -> None:
        """Keep the size, in estimated tokens."""
        check_sizes(size)
        self.size = size
        self.recipe = named("rows", size)

    def chunk(self, document: Document) -> list[Chunk]:
        """Return the chunks of a document."""
        return chunks_of(document, self._cuts(document))

    def _cuts(self, document: Document) -> Iterator[Cut]:
        text = document.text
        sheets = _sheets(document)
        if not sheets:
            mark = "\t" if document.language == "tsv" else _delimiter(text)
            starts = row_starts(text, mark)
            header = _named_columns(text, starts, mark)
            yield from self._region(text, starts, len(text), header)
        for name, starts, end in sheets:
            yield from self._region(text, starts, end, _sheet_header(text, starts[0], end, name))

    def _region(self, text: str, starts: Sequence[int], end: int, header: str) -> Iterator[Cut]:
        """Yield the cuts of one table, which begins at the first of its rows."""
        if not starts:
            return
        size = max(self.size - estimate(header), self.size // 2, 1)
        units = list(_whole_rows(list(line_units(text, starts[0], end, size=size)), starts, size=size))
        for at, cut in enumerate(pack(units, end, size=size)):
            yield Cut(*cut, header=header if at else "")


def row_starts(text: str, mark: str) -> list[int]:
    """Return where the rows of a table begin; a line break between quotes ends none."""
    if not text:
        return []
    if '"' not in text or text.count('"') % 2:  # an odd quote is a sign for inches, or a mistake: lines are rows
        return [0, *(found.end() for found in re.finditer(r"\n(?=.)", text, re.DOTALL))]
    ends = (found.end() for found in _QUOTED_OR_END[mark].finditer(text) if found[0] == "\n")
    return [0, *(end for end in ends if end < len(text))]


def _whole_rows(units: list[Unit], starts: Sequence[int], *, size: int) -> Iterator[Unit]:
    """Yield the units with those of one row joined, unless the row alone is above the size."""
    group: list[Unit] = []
    for unit in units:
        at = bisect_left(starts, unit.start)
        if group and at < len(starts) and starts[at] == unit.start:
            yield from _joined(group, size)
            group = []
        group.append(unit)
    yield from _joined(group, size)


def _joined(group: list[Unit], size: int) -> list[Unit]:
    weight = sum(unit.weight for unit in group)
    return [group[0]._replace(weight=weight)] if group and weight <= size else group


def _delimiter(text: str) -> str:
    """Return what stands between cells: the sign that the first lines have equally often, the comma if in doubt."""
    lines = [line for line in text[:_SNIFFED_CHARACTERS].split("\n")[:_SNIFFED] if line.strip()]
    best, most = ",", 0
    for mark in _DELIMITERS:
        counts = [line.count(mark) for line in lines]
        same = sum(count == counts[0] for count in counts) if counts and counts[0] else 0
        if same * max(counts, default=0) > most and same * 2 > len(lines):
            best, most = mark, same * max(counts)
    return best


def _named_columns(text: str, starts: Sequence[int], mark: str) -> str:
    """Return the first row where it names the columns, or nothing."""
    if len(starts) < 2:
        return ""
    row = text[: starts[1]].strip("\r\n")
    try:
        cells = next(csv.reader([row], delimiter=mark), [])
    except csv.Error:
        return ""
    return row[:_LONGEST_HEADER] if _names(cells) and all(cells) else ""


def _names(cells: Sequence[str]) -> bool:
    """Return whether cells are names of columns: several, all different, none of them a number or a long text."""
    told = [cell.strip() for cell in cells if cell.strip()]
    if len(told) < 2 or len(set(told)) < len(told):
        return False
    return not any(len(cell) > _LONGEST_CELL or "\n" in cell or _NUMBER.fullmatch(cell) for cell in told)


def _sheets(document: Document) -> list[tuple[str, list[int], int]]:
    """Return (name, where its groups of rows begin, end) of each sheet of a workbook."""
    end = len(document.text)
    marks = sorted((m for m in document.marks if m.unit == _SHEET and m.start < end), key=lambda mark: mark.start)
    found: list[tuple[str, list[int], int]] = []
    for at, mark in enumerate(marks):
        if at == 0 or mark.number != marks[at - 1].number:
            end = next((later.start for later in marks[at:] if later.number != mark.number), len(document.text))
            found.append((mark.label.rpartition(" row ")[0], [], end))
        found[-1][1].append(mark.start)
    if found:
        found[0][1][0] = 0
    return found


def _sheet_header(text: str, start: int, end: int, name: str) -> str:
    """Return what every chunk of a sheet is headed with: its name, and the names of its columns."""
    lines = text[start : min(end, start + 2 * _LONGEST_HEADER)].split("\n")
    row = next((line for line in lines if line.strip() and not line.startswith("# ")), "")
    return f"{name} > {row[:_LONGEST_HEADER]}" if _names(row.split(_BETWEEN)) else name
