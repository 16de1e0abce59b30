"""DOCX: paragraphs, headings by their style, lists, tables, text boxes, footnotes; what was deleted stays deleted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ragstone.read.file_types import name_of
from ragstone.read.kinds import kind_of
from ragstone.read.outline import Outline, one_line
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
)
from ragstone.types import Document

_GONE: Final = frozenset("del moveFrom delText instrText Fallback rPr pPr sectPr tblPr trPr tcPr sdtPr".split())
_SIGNS: Final = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}
_OFF: Final = ("0", "false", "off")
_NOTES: Final = {"footnotes": ("footnote", ""), "endnotes": ("endnote", "e")}
_DEEPEST_STYLE: Final = 20


@soundly
def read(data: bytes, uri: str) -> Document:
    """Return a document's text in reading order, or raise `ReadError`."""
    package = Package(data)
    part = main_part(package, "word/document.xml")
    tree = package.xml(part)
    parts = {kind: path for kind, path in relations(package, part).values() if path in package}
    styles = package.optional(parts.get("styles", "word/styles.xml"))
    writer = _Writer(_levels(styles), _listed(styles))
    body = child(tree, "body")
    writer.blocks(body if body is not None else tree)
    for kind in _NOTES:
        writer.notes(package.optional(parts.get(kind, f"word/{kind}.xml")), kind)
    outline = writer.outline
    title = core_title(package) or writer.title or name_of(uri)
    remarks = ("no text found in the document",) if outline.empty else ()
    kind, _ = kind_of(uri)
    return Document(uri, outline.text, kind, "docx", title, {"extracted": True}, tuple(outline.marks), "", remarks)


def _levels(styles: Element | None) -> dict[str, int]:
    """Return style id → heading level, those that stand on another style included."""
    own: dict[str, int] = {}
    above: dict[str, str] = {}
    for style in children(styles, "style"):
        style_id = attribute(style, "styleId")
        name = attribute(_or_empty(child(style, "name")), "val").lower()
        outline = attribute(_or_empty(child(style, "pPr", "outlineLvl")), "val")
        above[style_id] = attribute(_or_empty(child(style, "basedOn")), "val")
        if name == "title":
            own[style_id] = 1
        elif name.startswith("heading ") and name[8:9].isdigit():
            own[style_id] = int(name[8])
        elif outline.isdigit() and int(outline) < 9:
            own[style_id] = int(outline) + 1
    found = {}
    for style_id in above:
        at = style_id
        for _ in range(_DEEPEST_STYLE):
            if at in own or at not in above:
                break
            at = above[at]
        if at in own:
            found[style_id] = own[at]
    return found


def _listed(styles: Element | None) -> set[str]:
    """Return the ids of styles whose paragraphs are items of a list."""
    return {attribute(one, "styleId") for one in children(styles, "style") if child(one, "pPr", "numPr") is not None}


def _or_empty(element: Element | None) -> Element:
    return element if element is not None else Element("none")


def _deleted(element: Element) -> bool:
    """Return whether a row or a paragraph's end was deleted with changes being tracked."""
    return child(element, "trPr", "del") is not None


class _Writer:
    """Writes the blocks of a document."""

    def __init__(self, levels: dict[str, int], listed: set[str]) -> None:
        """Keep what styles mean."""
        self.levels, self.listed = levels, listed
        self.outline = Outline()
        self.title = ""

    def blocks(self, parent: Element) -> None:
        """Write paragraphs and tables, wherever they are wrapped in something else."""
        for one in parent:
            name = local(one.tag)
            if name == "p":
                self.paragraph(one)
            elif name == "tbl":
                self.table(one)
            elif name not in _GONE:
                self.blocks(one)

    def paragraph(self, paragraph: Element) -> None:
        """Write a paragraph, then the text boxes that hang on it."""
        boxes: list[Element] = []
        text = "".join(_inline(paragraph, boxes))
        about = child(paragraph, "pPr")
        style = attribute(_or_empty(child(about, "pStyle")), "val")
        level = self._level(about, style)
        number = child(about, "numPr")
        if level and text.strip():
            self.title = self.title or one_line(text)
            self.outline.heading(level, text, section=True)
        elif (number is not None or style in self.listed) and text.strip():
            depth = attribute(_or_empty(child(number, "ilvl")), "val")
            self.outline.item(text, depth=int(depth) if depth.isdigit() else 0)
        else:
            self.outline.block("\n".join(filter(None, map(one_line, text.split("\n")))))
        for box in boxes:
            self.blocks(box)

    def _level(self, about: Element | None, style: str) -> int:
        own = attribute(_or_empty(child(about, "outlineLvl")), "val")
        if own.isdigit():
            return int(own) + 1 if int(own) < 9 else 0
        return self.levels.get(style, 0)

    def table(self, table: Element) -> None:
        """Write a table row by row; one of a single column is only a frame around blocks."""
        rows = [_cells(row) for row in _rows(table)]
        if max(map(len, rows), default=0) <= 1:
            for row in rows:
                for cell in row:
                    self.blocks(cell)
            return
        for row in rows:
            self.outline.row([_cell_text(cell) for cell in row])

    def notes(self, tree: Element | None, kind: str) -> None:
        """Write footnotes or endnotes, each behind the sign that refers to it."""
        name, sign = _NOTES[kind]
        for note in children(tree, name):
            text = one_line(" ".join("".join(_inline(one, [])) for one in all_named(note, "p")))
            if text and attribute(note, "type") in ("", "normal"):
                self.outline.block(f"[^{sign}{attribute(note, 'id')}]: {text}")


def _rows(table: Element) -> Iterator[Element]:
    for one in table:
        name = local(one.tag)
        if name == "tr":
            if not _deleted(one):
                yield one
        elif name in ("sdt", "sdtContent", "customXml", "ins"):
            yield from _rows(one)


def _cells(row: Element) -> list[Element]:
    found: list[Element] = []
    for one in row:
        name = local(one.tag)
        if name == "tc":
            found.append(one)
        elif name in ("sdt", "sdtContent", "customXml", "ins"):
            found += _cells(one)
    return found


def _cell_text(cell: Element) -> str:
    """Return all words of a cell, those of tables and boxes within it included."""
    parts: list[str] = []
    for one in cell:
        name = local(one.tag)
        if name == "p":
            boxes: list[Element] = []
            parts.append("".join(_inline(one, boxes)))
            parts += map(_cell_text, boxes)
        elif name not in _GONE:
            parts.append(_cell_text(one))
    return one_line(" ".join(parts))


def _inline(element: Element, boxes: list[Element]) -> Iterator[str]:
    """Yield the text of a paragraph; text boxes are put aside."""
    for one in element:
        name = local(one.tag)
        if name == "t":
            yield one.text or ""
        elif name in _SIGNS:
            yield _SIGNS[name]
        elif name == "txbxContent":
            boxes.append(one)
        elif name == "footnoteReference":
            yield f"[^{attribute(one, 'id')}]"
        elif name == "endnoteReference":
            yield f"[^e{attribute(one, 'id')}]"
        elif name in _GONE or (name == "r" and _invisible(one)):
            continue
        else:
            yield from _inline(one, boxes)


def _invisible(run: Element) -> bool:
    vanish = child(run, "rPr", "vanish")
    return vanish is not None and attribute(vanish, "val") not in _OFF
