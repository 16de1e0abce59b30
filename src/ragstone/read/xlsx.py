"""XLSX: every sheet row by row, with numbers and dates as Excel shows them and formulas by their last values."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from functools import lru_cache
from typing import Final, Literal, cast
from xml.etree import ElementTree

from ragstone.errors import ReadError
from ragstone.read.extracted_text import build_document
from ragstone.read.office_package import OfficePackage, report_damage
from ragstone.read.sheet_writer import SheetWriter
from ragstone.read.xml_tree import (
    Element,
    attribute,
    child,
    children,
    decode_xml,
    descendants,
    local_name,
    relation_id,
)
from ragstone.types import Document

DateStyle = Literal["", "date", "time", "both"]

_DATE_FORMATS: Final = frozenset(
    {
        *range(14, 23),
        *range(27, 37),
        *range(45, 48),
        *range(50, 59),
    }
)
_TIME_FORMATS: Final = frozenset({18, 19, 20, 21, 45, 46, 47})
_DATE_AND_TIME_FORMAT: Final = 22
_LITERALS: Final = re.compile(r'"[^"]*"|\\.|\[(?!h|m|s)[^\]]*\]|_.', re.I)
_DAY_ZERO: Final = datetime(1899, 12, 30)
_DAY_ZERO_1904: Final = datetime(1904, 1, 1)
_MAX_DAY: Final = 2_958_466
_MAX_EXACT: Final = 1e15
_MAX_COLUMN: Final = 16_384
_FEED_CHARACTERS: Final = 1 << 18


@report_damage
def read(data: bytes, uri: str) -> Document:
    """Return the rows of all sheets, or raise `ReadError`."""
    package = OfficePackage(data)
    main_part = package.main_part("xl/workbook.xml")
    book = package.xml(main_part)
    relations = package.relations(main_part)
    formatter = _load_formatter(package, main_part, book)
    writer = SheetWriter()
    sheets = children(child(book, "sheets"), "sheet")
    for number, sheet in enumerate(sheets, 1):
        relation = relations.get(relation_id(sheet))
        if relation is None or relation.kind != "worksheet":
            continue  # a chart has no rows
        if relation.path not in package:
            continue
        writer.start_sheet(sheet.get("name", ""), number)
        for row, cells in _read_rows(package, relation.path, formatter):
            writer.write_row(row, cells)
    title = package.core_title()
    return build_document(
        uri,
        writer,
        "xlsx",
        title,
        remark_if_empty="no cell with a value found",
    )


def _load_formatter(package: OfficePackage, main_part: str, book: Element) -> _CellFormatter:
    parts = package.parts_by_kind(main_part)
    strings = package.optional_xml(parts.get("sharedStrings", "xl/sharedStrings.xml"))
    styles = package.optional_xml(parts.get("styles", "xl/styles.xml"))
    counts_from_1904 = attribute(child(book, "workbookPr"), "date1904") in (
        "1",
        "true",
    )
    return _CellFormatter(
        strings=[_rich_text(string) for string in children(strings, "si")],
        styles=_read_date_styles(styles),
        day_zero=_DAY_ZERO_1904 if counts_from_1904 else _DAY_ZERO,
    )


def _rich_text(element: Element) -> str:
    """Return the text of a string, without its phonetic hints."""
    parts = []
    for each in element:
        name = local_name(each)
        if name == "t":
            parts.append(each.text or "")
        elif name == "r":
            parts += [text.text or "" for text in children(each, "t")]
    return "".join(parts)


# ── styles ────────────────────────────────────────────────────────────────────────────────────────


def _read_date_styles(tree: Element | None) -> list[DateStyle]:
    """Return for each cell style whether it shows a number as a date, a time or both."""
    if tree is None:
        return []
    codes = {
        attribute(each, "numFmtId"): attribute(each, "formatCode")
        for each in descendants(tree, "numFmt")
    }
    styles: list[DateStyle] = []
    for style in children(child(tree, "cellXfs"), "xf"):
        number = attribute(style, "numFmtId")
        if number in codes:
            styles.append(_custom_style(codes[number]))
        else:
            styles.append(_built_in_style(number))
    return styles


def _built_in_style(number: str) -> DateStyle:
    if not number.isdigit() or int(number) not in _DATE_FORMATS:
        return ""
    if int(number) in _TIME_FORMATS:
        return "time"
    return "both" if int(number) == _DATE_AND_TIME_FORMAT else "date"


def _custom_style(code: str) -> DateStyle:
    code = code.split(";")[0]
    code = _LITERALS.sub("", code).lower()
    if "general" in code:
        return ""
    signs = set(code)
    has_time = not signs.isdisjoint("hs")
    # `m` means minutes if there are hours or seconds, else months.
    has_date = not signs.isdisjoint("yd" if has_time else "ydm")
    if has_date and has_time:
        return "both"
    if has_date:
        return "date"
    return "time" if has_time else ""


@dataclass(frozen=True, slots=True)
class _CellFormatter:
    """Formats the values of cells as Excel shows them."""

    strings: Sequence[str]
    styles: Sequence[DateStyle]
    day_zero: datetime

    def format(self, cell: Element) -> str:
        """Return the value of a cell; empty if it has none."""
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            inline = child(cell, "is")
            return "" if inline is None else _rich_text(inline)
        value = child(cell, "v")
        if value is None or not value.text:
            return ""
        raw = value.text.strip()
        if kind == "s":
            return _item(self.strings, raw)
        if kind == "b" and raw:
            return "TRUE" if raw == "1" else "FALSE"
        if kind == "n":
            style = _item(self.styles, cell.get("s", ""))
            return self._format_number(raw, style)
        return raw

    def _format_number(self, raw: str, style: str) -> str:
        try:
            number = float(raw)
        except ValueError:
            return raw
        if not math.isfinite(number):
            return raw
        if style and 0 <= number < _MAX_DAY:
            return self._format_date(number, style)
        if number.is_integer() and abs(number) < _MAX_EXACT:
            return str(int(number))
        return f"{number:.15g}"

    def _format_date(self, days: float, style: str) -> str:
        moment = self.day_zero + timedelta(seconds=round(days * 86_400))
        if style == "time" and days < 1:
            return moment.strftime("%H:%M:%S")
        is_midnight = moment.time() == time()
        if style == "date" or (style == "both" and is_midnight):
            return moment.date().isoformat()
        return moment.isoformat(" ")


def _item(items: Sequence[str], index: str) -> str:
    """Return the item of a written index; empty if there is none."""
    if not index.isdigit() or int(index) >= len(items):
        return ""
    return items[int(index)]


# ── rows ──────────────────────────────────────────────────────────────────────────────────────────


def _read_rows(
    package: OfficePackage, path: str, formatter: _CellFormatter
) -> Iterator[tuple[int, dict[int, str]]]:
    """Yield (row number, cells by column); the memory of a row is freed after it was yielded."""
    last = 0
    try:
        for row in _stream_elements(decode_xml(package.read(path), path), "row"):
            number = row.get("r", "")
            is_number = number.isdigit() and len(number) < 10
            last = int(number) if is_number else last + 1
            yield last, _read_cells(row, formatter)
            row.clear()
    except ElementTree.ParseError as error:
        raise ReadError(f"{path} is no sound XML: {error}", reason="damaged") from error


def _stream_elements(text: str, name: str) -> Iterator[Element]:
    """Yield the elements of a name while the text is parsed."""
    parser: ElementTree.XMLPullParser[Element] = ElementTree.XMLPullParser(("end",))
    for position in range(0, len(text) + _FEED_CHARACTERS, _FEED_CHARACTERS):
        if position < len(text):
            parser.feed(text[position : position + _FEED_CHARACTERS])
        else:
            parser.close()
        events = cast(Iterator[tuple[str, Element]], parser.read_events())
        for _, element in events:
            if local_name(element) == name:
                yield element


def _read_cells(row: Element, formatter: _CellFormatter) -> dict[int, str]:
    cells: dict[int, str] = {}
    column = -1
    for cell in row:
        address = cell.get("r", "")
        letters = address.rstrip("0123456789")[:4]
        named_column = _parse_column(letters)
        column = named_column if named_column >= 0 else column + 1
        value = formatter.format(cell)
        if value:
            cells[column] = value
    return cells


@lru_cache(maxsize=1024)
def _parse_column(letters: str) -> int:
    """Return the column of letters such as AB, counted from 0; -1 if there is none."""
    if not letters.isascii() or not letters.isupper():
        return -1
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number - 1 if 0 < number <= _MAX_COLUMN else -1
