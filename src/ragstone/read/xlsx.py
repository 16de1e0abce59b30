"""XLSX: every sheet row by row, numbers and dates as they are shown, formulas by the values they had."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final, cast
from xml.etree import ElementTree

from ragstone.errors import ReadError
from ragstone.read.file_types import name_of
from ragstone.read.kinds import kind_of
from ragstone.read.package import (
    Element,
    Package,
    all_named,
    attribute,
    child,
    children,
    core_title,
    local,
    main_part,
    relations,
    soundly,
    source,
)
from ragstone.read.sheets import Sheets
from ragstone.types import Document

_DATES: Final = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})
_TIMES_ONLY: Final = frozenset({18, 19, 20, 21, 45, 46, 47})
_QUOTED: Final = re.compile(r'"[^"]*"|\\.|\[(?!h|m|s)[^\]]*\]|_.', re.I)
_DAY_ZERO: Final = datetime(1899, 12, 30)
_DAY_ZERO_1904: Final = datetime(1904, 1, 1)
_LAST_DAY: Final = 2_958_466
_LARGEST_EXACT: Final = 1e15
_PIECE: Final = 1 << 18


@soundly
def read(data: bytes, uri: str) -> Document:
    """Return the rows of all sheets, or raise `ReadError`."""
    package = Package(data)
    part = main_part(package, "xl/workbook.xml")
    book = package.xml(part)
    parts = relations(package, part)
    by_kind = {kind: path for kind, path in parts.values() if path in package}
    values = _Values(
        strings=_strings(package.optional(by_kind.get("sharedStrings", "xl/sharedStrings.xml"))),
        styles=_styles(package.optional(by_kind.get("styles", "xl/styles.xml"))),
        zero=_DAY_ZERO_1904 if _is_1904(book) else _DAY_ZERO,
    )
    sheets = Sheets()
    for number, sheet in enumerate(children(child(book, "sheets"), "sheet"), 1):
        relation = next((value for key, value in sheet.attrib.items() if "}" in key), "")
        kind, path = parts.get(relation, ("", ""))
        if kind == "worksheet" and path in package:  # a sheet that is a chart has no rows
            sheets.sheet(sheet.get("name", ""), number)
            for row, cells in _rows(package, path, values):
                sheets.row(row, cells)
    title = core_title(package) or name_of(uri)
    remarks = () if sheets.marks else ("no cell with a value found",)
    return Document(uri, sheets.text, kind_of(uri)[0], "xlsx", title, {}, tuple(sheets.marks), "", remarks)


def _is_1904(book: Element) -> bool:
    about = child(book, "workbookPr")
    return about is not None and attribute(about, "date1904") in ("1", "true")


def _strings(tree: Element | None) -> list[str]:
    return [_rich(one) for one in children(tree, "si")]


def _rich(element: Element) -> str:
    """Return a string's text, without the reading aids that stand beside it."""
    parts = []
    for one in element:
        name = local(one.tag)
        if name == "t":
            parts.append(one.text or "")
        elif name == "r":
            parts += [text.text or "" for text in children(one, "t")]
    return "".join(parts)


def _styles(tree: Element | None) -> list[str]:
    """Return for each cell style whether it shows a number as "date", "time", "both", or nothing of it."""
    if tree is None:
        return []
    codes = {attribute(one, "numFmtId"): attribute(one, "formatCode") for one in all_named(tree, "numFmt")}
    found = []
    for style in children(child(tree, "cellXfs"), "xf"):
        number = attribute(style, "numFmtId")
        found.append(_shown(codes[number]) if number in codes else _built_in(number))
    return found


def _built_in(number: str) -> str:
    if not number.isdigit() or int(number) not in _DATES:
        return ""
    return "time" if int(number) in _TIMES_ONLY else "both" if int(number) == 22 else "date"


def _shown(code: str) -> str:
    code = _QUOTED.sub("", code.split(";")[0]).lower()
    if "general" in code:
        return ""
    day = "y" in code or "d" in code or ("m" in code and "h" not in code and "s" not in code)
    time = "h" in code or "s" in code
    return "both" if day and time else "date" if day else "time" if time else ""


class _Values:
    """What the cells of a workbook say."""

    def __init__(self, *, strings: list[str], styles: list[str], zero: datetime) -> None:
        """Keep shared strings, styles and the day that dates are counted from."""
        self.strings, self.styles, self.zero = strings, styles, zero

    def of(self, cell: Element) -> str:
        """Return a cell's value as a person sees it, or nothing."""
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            inline = child(cell, "is")
            return _rich(inline) if inline is not None else ""
        value = child(cell, "v")
        raw = (value.text or "").strip() if value is not None else ""
        if kind == "s":
            return self.strings[int(raw)] if raw.isdigit() and int(raw) < len(self.strings) else ""
        if kind == "b":
            return "TRUE" if raw == "1" else "FALSE" if raw else ""
        return self._number(raw, cell.get("s", "")) if kind == "n" else raw

    def _number(self, raw: str, style: str) -> str:
        try:
            number = float(raw)
        except ValueError:
            return raw
        if not math.isfinite(number):
            return raw
        shown = self.styles[int(style)] if style.isdigit() and int(style) < len(self.styles) else ""
        if shown and 0 <= number < _LAST_DAY:
            return self._moment(number, shown)
        if number.is_integer() and abs(number) < _LARGEST_EXACT:
            return str(int(number))
        return f"{number:.15g}"

    def _moment(self, number: float, shown: str) -> str:
        moment = self.zero + timedelta(seconds=round(number * 86_400))
        if shown == "time":
            return moment.strftime("%H:%M:%S") if number < 1 else moment.strftime("%Y-%m-%d %H:%M:%S")
        bare = shown == "date" or (moment.hour, moment.minute, moment.second) == (0, 0, 0)
        return moment.date().isoformat() if bare else moment.isoformat(" ")


def _rows(package: Package, path: str, values: _Values) -> Iterator[tuple[int, dict[int, str]]]:
    """Yield (row number, cells by column); what a row held is let go of as soon as it is told."""
    last = 0
    try:
        for row in _elements(source(package.read(path), path), "row"):
            number = row.get("r", "")
            last = int(number) if number.isdigit() and len(number) < 10 else last + 1
            yield last, _cells(row, values)
            row.clear()
    except ElementTree.ParseError as error:
        raise ReadError(f"{path} is no sound XML: {error}", reason="damaged") from error


def _elements(text: str, name: str) -> Iterator[Element]:
    """Yield the elements of a name, each when it ends, while the text goes through a parser."""
    parser: ElementTree.XMLPullParser[Element] = ElementTree.XMLPullParser(("end",))
    for at in range(0, len(text) + _PIECE, _PIECE):
        if at < len(text):
            parser.feed(text[at : at + _PIECE])
        else:
            parser.close()
        for _, element in cast(Iterator[tuple[str, Element]], parser.read_events()):
            if element.tag.endswith(name) and local(element.tag) == name:
                yield element


def _cells(row: Element, values: _Values) -> dict[int, str]:
    found: dict[int, str] = {}
    column = -1
    for cell in row:
        column = _column(cell.get("r", ""), column + 1)
        value = values.of(cell)
        if value:
            found[column] = value
    return found


@lru_cache(maxsize=1024)
def _number_of(letters: str) -> int:
    """Return the column that these letters name, counted from 0; -1 if there is none."""
    number = 0
    for sign in letters:
        number = number * 26 + ord(sign) - 64
    return number - 1 if 0 < number <= 16_384 and letters.isascii() and letters.isupper() else -1


def _column(reference: str, following: int) -> int:
    """Return the column of a reference such as AB12."""
    number = _number_of(reference.rstrip("0123456789")[:4])
    return number if number >= 0 else following
