"""OpenDocument: text (ODT), sheets (ODS) and slides (ODP); each is one XML file in an archive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ragstone.read.extracted_text import build_document
from ragstone.read.markdown_writer import MarkdownWriter, one_line
from ragstone.read.office_package import OfficePackage, report_damage
from ragstone.read.sheet_writer import SheetWriter
from ragstone.read.xml_tree import (
    Element,
    attribute,
    child,
    children,
    local_name,
    text_of,
)
from ragstone.types import Document

_SKIPPED: Final = frozenset(
    "tracked-changes annotation annotation-end sequence-decls forms note-citation table-of-content-source "
    "user-index-source settings desc title".split()
)
_BLOCKS_IN_PARAGRAPH: Final = frozenset({"text-box", "p", "h"})
_ROW_GROUPS: Final = ("table-rows", "table-header-rows", "table-row-group")
_MAX_REPEATED: Final = 1000
_MAX_SPACES: Final = 100


@report_damage
def read_text(data: bytes, uri: str) -> Document:
    """Return the text of an ODT file, or raise `ReadError`."""
    package = OfficePackage(data)
    reader = _OdfReader(has_sections=True)
    reader.read_blocks(_find_body(package, "text"))
    for number, note in enumerate(reader.notes, 1):
        reader.writer.write_block(f"[^{number}]: {note}")
    return build_document(
        uri,
        reader.writer,
        "odt",
        _find_title(package) or reader.title,
        remark_if_empty="no text found in the document",
        metadata={"extracted": True},
    )


@report_damage
def read_sheets(data: bytes, uri: str) -> Document:
    """Return the rows of an ODS file, or raise `ReadError`."""
    package = OfficePackage(data)
    writer = SheetWriter()
    tables = children(_find_body(package, "spreadsheet"), "table")
    for number, table in enumerate(tables, 1):
        writer.start_sheet(attribute(table, "name"), number)
        row_number = 1
        for row in _find_rows(table):
            cells = _read_cells(row)
            repeated = _count_repeats(row, "number-rows-repeated")
            if cells:
                for offset in range(min(repeated, _MAX_REPEATED)):
                    writer.write_row(row_number + offset, cells)
            row_number += repeated
    title = _find_title(package)
    return build_document(
        uri,
        writer,
        "ods",
        title,
        remark_if_empty="no cell with a value found",
    )


@report_damage
def read_slides(data: bytes, uri: str) -> Document:
    """Return the slides of an ODP file, or raise `ReadError`."""
    package = OfficePackage(data)
    reader = _OdfReader(has_sections=False)
    pages = children(_find_body(package, "presentation"), "page")
    for number, page in enumerate(pages, 1):
        reader.read_slide(page, number)
    title = _find_title(package) or reader.title
    return build_document(uri, reader.writer, "odp", title, remark_if_empty="no slide found")


class _OdfReader:
    """Writes the blocks of a text or of slides."""

    def __init__(self, *, has_sections: bool) -> None:
        """Keep whether headings start sections that can be cited."""
        self._has_sections = has_sections
        self.writer = MarkdownWriter()
        self.title = ""
        self.notes: list[str] = []

    def read_blocks(self, elements: Iterable[Element], depth: int = -1) -> None:
        """Write headings, paragraphs, lists and tables, also if other elements wrap them."""
        for element in elements:
            name = local_name(element)
            if name == "h":
                level = attribute(element, "outline-level")
                self._write_heading(
                    self._inline_text(element),
                    int(level) if level.isdigit() else 1,
                )
            elif name == "p":
                self._read_paragraph(element, depth)
            elif name == "list":
                self.read_blocks(element, depth + 1)
            elif name == "table":
                for row in _find_rows(element):
                    self.writer.write_row(
                        [_all_text(cell) for cell in children(row, "table-cell")]
                    )
            elif name not in _SKIPPED:
                self.read_blocks(element, depth)

    def read_slide(self, page: Element, number: int) -> None:
        """Write a slide with its title, its frames and its notes."""
        frames = [frame for frame in page if local_name(frame) != "notes"]
        title_frame = _find_title_frame(frames)
        title = _all_text(title_frame)
        self.title = self.title or title
        self.writer.mark(number, unit="slide")
        self.writer.write_heading(1, title or f"Slide {number}")
        self.read_blocks(frame for frame in frames if frame is not title_frame)
        notes = _all_text(child(page, "notes"))
        if notes:
            self.writer.write_block(f"Notes: {notes}")

    def _read_paragraph(self, paragraph: Element, depth: int) -> None:
        text = self._inline_text(paragraph)
        if depth >= 0:
            self.writer.write_item(text, depth=depth)
        elif attribute(paragraph, "style-name") == "Title" and text.strip():
            self._write_heading(text, 1)
        else:
            self.writer.write_lines(text)
        for box in _find_outermost(paragraph, "text-box"):
            self.read_blocks(box)

    def _write_heading(self, text: str, level: int) -> None:
        self.title = self.title or one_line(text)
        self.writer.write_heading(level, text, is_section=self._has_sections)

    def _inline_text(self, element: Element) -> str:
        return "".join(_inline_texts(element, self.notes))


def _find_body(package: OfficePackage, kind: str) -> Element:
    body = child(package.xml("content.xml"), "body", kind)
    return Element("none") if body is None else body


def _find_title(package: OfficePackage) -> str:
    return text_of(child(package.optional_xml("meta.xml"), "meta", "title"))


def _find_title_frame(frames: Iterable[Element]) -> Element | None:
    for frame in frames:
        if attribute(frame, "class") == "title" and _all_text(frame):
            return frame
    return None


# ── tables ────────────────────────────────────────────────────────────────────────────────────────


def _find_rows(table: Element) -> Iterator[Element]:
    for element in table:
        name = local_name(element)
        if name == "table-row":
            yield element
        elif name in _ROW_GROUPS:
            yield from _find_rows(element)


def _read_cells(row: Element) -> dict[int, str]:
    """Return the values of a row's cells by column."""
    cells: dict[int, str] = {}
    column = 0
    for cell in row:
        repeated = _count_repeats(cell, "number-columns-repeated")
        value = _all_text(cell)
        if value:
            columns = range(column, column + min(repeated, _MAX_REPEATED))
            cells.update(dict.fromkeys(columns, value))
        column += repeated
    return cells


def _count_repeats(element: Element, name: str) -> int:
    value = attribute(element, name)
    if value.isdigit() and len(value) < 10:
        return int(value)
    return 1


# ── text ──────────────────────────────────────────────────────────────────────────────────────────


def _all_text(element: Element | None) -> str:
    """Return the text of all paragraphs in an element in one line."""
    if element is None:
        return ""
    paragraphs = ["".join(_inline_texts(each, [])) for each in _find_all(element, "p")]
    return one_line(" ".join(paragraphs))


def _find_all(element: Element, name: str) -> Iterator[Element]:
    """Yield the elements of a name inside an element, without those in skipped elements."""
    for each in element:
        if local_name(each) == name:
            yield each
        if local_name(each) not in _SKIPPED:
            yield from _find_all(each, name)


def _find_outermost(element: Element, name: str) -> Iterator[Element]:
    """Yield the elements of a name that are not inside another one of that name."""
    for each in element:
        if local_name(each) == name:
            yield each
        elif local_name(each) not in _SKIPPED:
            yield from _find_outermost(each, name)


def _inline_texts(element: Element, notes: list[str]) -> Iterator[str]:
    """Yield the text of a paragraph; notes are added to `notes`, boxes and inner blocks are left out."""
    yield element.text or ""
    for each in element:
        name = local_name(each)
        if name == "s":
            yield " " * min(_count_repeats(each, "c"), _MAX_SPACES)
        elif name == "tab":
            yield "\t"
        elif name == "line-break":
            yield "\n"
        elif name == "note":
            notes.append(_all_text(child(each, "note-body")))
            yield f"[^{len(notes)}]"
        elif name not in _SKIPPED and name not in _BLOCKS_IN_PARAGRAPH:
            yield from _inline_texts(each, notes)
        yield each.tail or ""
