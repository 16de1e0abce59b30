"""DOCX: paragraphs, headings by their style, lists, tables, text boxes and footnotes, without deleted text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ragstone.read.extracted_text import build_document
from ragstone.read.markdown_writer import MarkdownWriter, one_line
from ragstone.read.office_package import OfficePackage, report_damage
from ragstone.read.xml_tree import (
    Element,
    attribute,
    child,
    children,
    descendants,
    local_name,
)
from ragstone.types import Document

_SKIPPED: Final = frozenset(
    "del moveFrom delText instrText Fallback rPr pPr sectPr tblPr trPr tcPr sdtPr".split()
)
_WRAPPERS: Final = ("sdt", "sdtContent", "customXml", "ins")
_CHARACTERS: Final = {
    "tab": "\t",
    "br": "\n",
    "cr": "\n",
    "noBreakHyphen": "-",
    "ptab": "\t",
}
_NOTE_SIGNS: Final = {"footnoteReference": "^", "endnoteReference": "^e"}
_NOTES: Final = {
    "footnotes": ("footnote", "^"),
    "endnotes": ("endnote", "^e"),
}
_FALSE: Final = ("0", "false", "off")
_BODY_LEVEL: Final = 9
_MAX_STYLE_DEPTH: Final = 20


@report_damage
def read(data: bytes, uri: str) -> Document:
    """Return a document's text in reading order, or raise `ReadError`."""
    package = OfficePackage(data)
    main_part = package.main_part("word/document.xml")
    tree = package.xml(main_part)
    parts = package.parts_by_kind(main_part)
    reader = _DocxReader(package.optional_xml(parts.get("styles", "word/styles.xml")))
    body = child(tree, "body")
    reader.read_blocks(tree if body is None else body)
    for kind in _NOTES:
        notes_part = parts.get(kind, f"word/{kind}.xml")
        reader.read_notes(package.optional_xml(notes_part), kind)
    return build_document(
        uri,
        reader.writer,
        "docx",
        package.core_title() or reader.title,
        remark_if_empty="no text found in the document",
        metadata={"extracted": True},
    )


class _DocxReader:
    """Writes the blocks of a document."""

    def __init__(self, styles: Element | None) -> None:
        self._levels = _find_heading_styles(styles)
        self._list_styles = _find_list_styles(styles)
        self.writer = MarkdownWriter()
        self.title = ""

    def read_blocks(self, parent: Element) -> None:
        """Write paragraphs and tables, also if other elements wrap them."""
        for element in parent:
            name = local_name(element)
            if name == "p":
                self._read_paragraph(element)
            elif name == "tbl":
                self._read_table(element)
            elif name not in _SKIPPED:
                self.read_blocks(element)

    def read_notes(self, tree: Element | None, kind: str) -> None:
        """Write footnotes or endnotes."""
        name, sign = _NOTES[kind]
        for note in children(tree, name):
            if attribute(note, "type") not in ("", "normal"):
                continue
            paragraphs = [_paragraph_text(each, []) for each in descendants(note, "p")]
            text = one_line(" ".join(paragraphs))
            if text:
                note_id = attribute(note, "id")
                self.writer.write_block(f"[{sign}{note_id}]: {text}")

    def _read_paragraph(self, paragraph: Element) -> None:
        """Write a paragraph, then its text boxes."""
        boxes: list[Element] = []
        text = _paragraph_text(paragraph, boxes)
        properties = child(paragraph, "pPr")
        style = attribute(child(properties, "pStyle"), "val")
        level = self._heading_level(properties, style)
        numbering = child(properties, "numPr")
        is_item = numbering is not None or style in self._list_styles
        if level and text.strip():
            self.title = self.title or one_line(text)
            self.writer.write_heading(level, text, is_section=True)
        elif is_item and text.strip():
            depth = attribute(child(numbering, "ilvl"), "val")
            self.writer.write_item(text, depth=int(depth) if depth.isdigit() else 0)
        else:
            self.writer.write_lines(text)
        for box in boxes:
            self.read_blocks(box)

    def _heading_level(self, properties: Element | None, style: str) -> int:
        """Return the level of a heading; 0 for other paragraphs."""
        own_level = attribute(child(properties, "outlineLvl"), "val")
        if own_level.isdigit():
            return _outline_level(own_level)
        return self._levels.get(style, 0)

    def _read_table(self, table: Element) -> None:
        """Write a table row by row; a table of one column is only a frame around blocks."""
        rows = [_find_cells(row) for row in _find_rows(table)]
        if max(map(len, rows), default=0) > 1:
            for row in rows:
                self.writer.write_row([_cell_text(cell) for cell in row])
            return
        for row in rows:
            for cell in row:
                self.read_blocks(cell)


# ── styles ────────────────────────────────────────────────────────────────────────────────────────


def _find_heading_styles(styles: Element | None) -> dict[str, int]:
    """Return style id → heading level, also for styles that are based on a heading style."""
    levels: dict[str, int] = {}
    bases: dict[str, str] = {}
    for style in children(styles, "style"):
        style_id = attribute(style, "styleId")
        bases[style_id] = attribute(child(style, "basedOn"), "val")
        level = _style_level(style)
        if level:
            levels[style_id] = level
    for _ in range(_MAX_STYLE_DEPTH):
        for style_id, base in bases.items():
            if style_id not in levels and base in levels:
                levels[style_id] = levels[base]
    return levels


def _style_level(style: Element) -> int:
    """Return the heading level that a style sets itself; 0 if it sets none."""
    name = attribute(child(style, "name"), "val").lower()
    level = attribute(child(style, "pPr", "outlineLvl"), "val")
    if name == "title":
        return 1
    if name.startswith("heading ") and name[8:9].isdigit():
        return int(name[8])
    return _outline_level(level)


def _outline_level(written: str) -> int:
    """Return the heading level of an outline level, which counts from 0; 0 for body text."""
    if written.isdigit() and int(written) < _BODY_LEVEL:
        return int(written) + 1
    return 0


def _find_list_styles(styles: Element | None) -> set[str]:
    """Return the ids of styles whose paragraphs are list items."""
    numbered = [
        style for style in children(styles, "style") if child(style, "pPr", "numPr") is not None
    ]
    return {attribute(style, "styleId") for style in numbered}


# ── tables ────────────────────────────────────────────────────────────────────────────────────────


def _find_rows(table: Element) -> Iterator[Element]:
    """Yield the rows of a table, without deleted ones."""
    for element in table:
        name = local_name(element)
        if name == "tr" and child(element, "trPr", "del") is None:
            yield element
        elif name in _WRAPPERS:
            yield from _find_rows(element)


def _find_cells(row: Element) -> list[Element]:
    cells: list[Element] = []
    for element in row:
        name = local_name(element)
        if name == "tc":
            cells.append(element)
        elif name in _WRAPPERS:
            cells += _find_cells(element)
    return cells


def _cell_text(cell: Element) -> str:
    """Return the text of a cell, with the tables and boxes inside it, in one line."""
    parts: list[str] = []
    for element in cell:
        name = local_name(element)
        if name == "p":
            boxes: list[Element] = []
            parts.append(_paragraph_text(element, boxes))
            parts += map(_cell_text, boxes)
        elif name not in _SKIPPED:
            parts.append(_cell_text(element))
    return one_line(" ".join(parts))


# ── paragraphs ────────────────────────────────────────────────────────────────────────────────────


def _paragraph_text(paragraph: Element, boxes: list[Element]) -> str:
    """Return the text of a paragraph; its text boxes are added to `boxes`."""
    return "".join(_inline_texts(paragraph, boxes))


def _inline_texts(element: Element, boxes: list[Element]) -> Iterator[str]:
    for each in element:
        name = local_name(each)
        if name == "t":
            yield each.text or ""
        elif name in _CHARACTERS:
            yield _CHARACTERS[name]
        elif name == "txbxContent":
            boxes.append(each)
        elif name in _NOTE_SIGNS:
            note_id = attribute(each, "id")
            yield f"[{_NOTE_SIGNS[name]}{note_id}]"
        elif name not in _SKIPPED and not _is_hidden(each):
            yield from _inline_texts(each, boxes)


def _is_hidden(element: Element) -> bool:
    """Return whether an element is a run of hidden text."""
    if local_name(element) != "r":
        return False
    vanish = child(element, "rPr", "vanish")
    return vanish is not None and attribute(vanish, "val") not in _FALSE
