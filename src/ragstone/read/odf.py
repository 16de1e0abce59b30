"""OpenDocument: text (ODT), sheets (ODS) and slides (ODP), all of them one XML file in an archive."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ragstone.read.file_types import name_of
from ragstone.read.kinds import kind_of
from ragstone.read.outline import Outline, one_line
from ragstone.read.package import Element, Package, attribute, child, children, local, soundly
from ragstone.read.sheets import Sheets
from ragstone.types import Document

_GONE: Final = frozenset(
    "tracked-changes annotation annotation-end sequence-decls forms note-citation table-of-content-source "
    "user-index-source settings desc title".split()
)
_MOST_REPEATED: Final = 1000
_LONGEST_SPACE: Final = 100


@soundly
def read_text(data: bytes, uri: str) -> Document:
    """Return the text of an ODT file, or raise `ReadError`."""
    package = Package(data)
    writer = _Text()
    writer.blocks(_body(package, "text"))
    for number, note in enumerate(writer.notes, 1):
        writer.outline.block(f"[^{number}]: {note}")
    outline = writer.outline
    title = _title(package) or writer.title or name_of(uri)
    remarks = ("no text found in the document",) if outline.empty else ()
    kind, _ = kind_of(uri)
    return Document(uri, outline.text, kind, "odt", title, {"extracted": True}, tuple(outline.marks), "", remarks)


@soundly
def read_sheets(data: bytes, uri: str) -> Document:
    """Return the rows of an ODS file, or raise `ReadError`."""
    package = Package(data)
    sheets = Sheets()
    for number, table in enumerate(children(_body(package, "spreadsheet"), "table"), 1):
        sheets.sheet(attribute(table, "name"), number)
        at = 1
        for row in _table_rows(table):
            cells = _cells(row)
            repeated = _repeated(row, "number-rows-repeated")
            for again in range(min(repeated, _MOST_REPEATED) if cells else 0):
                sheets.row(at + again, cells)
            at += repeated
    title = _title(package) or name_of(uri)
    remarks = () if sheets.marks else ("no cell with a value found",)
    return Document(uri, sheets.text, kind_of(uri)[0], "ods", title, {}, tuple(sheets.marks), "", remarks)


@soundly
def read_slides(data: bytes, uri: str) -> Document:
    """Return the slides of an ODP file, or raise `ReadError`."""
    package = Package(data)
    writer = _Text(section=False)
    for number, page in enumerate(children(_body(package, "presentation"), "page"), 1):
        frames = [one for one in page if local(one.tag) != "notes"]
        titled = next((one for one in frames if attribute(one, "class") == "title" and _words(one)), None)
        title = _words(titled) if titled is not None else ""
        writer.title = writer.title or title
        writer.outline.mark(number, unit="slide")
        writer.outline.heading(1, title or f"Slide {number}")
        for frame in frames:
            if frame is not titled:
                writer.blocks([frame])
        notes = _words(child(page, "notes"))
        if notes:
            writer.outline.block(f"Notes: {notes}")
    outline = writer.outline
    title = _title(package) or writer.title or name_of(uri)
    remarks = ("no slide found",) if outline.empty else ()
    return Document(uri, outline.text, kind_of(uri)[0], "odp", title, {}, tuple(outline.marks), "", remarks)


def _body(package: Package, kind: str) -> Element:
    found = child(package.xml("content.xml"), "body", kind)
    return found if found is not None else Element("none")


def _title(package: Package) -> str:
    found = child(package.optional("meta.xml"), "meta", "title")
    return one_line(found.text or "") if found is not None else ""


def _repeated(element: Element, name: str) -> int:
    value = attribute(element, name)
    return int(value) if value.isdigit() and len(value) < 10 else 1


def _words(element: Element | None) -> str:
    """Return the text of all paragraphs below an element in one line."""
    if element is None:
        return ""
    return one_line(" ".join("".join(_inline(one, [])) for one in _within(element, "p", inside=True)))


def _within(element: Element, name: str, *, inside: bool = False) -> Iterator[Element]:
    """Yield the elements of that name below one, in order; with `inside` those within each other too."""
    for one in element:
        found = local(one.tag)
        if found == name:
            yield one
        if found not in _GONE and (found != name or inside):
            yield from _within(one, name, inside=inside)


def _table_rows(table: Element) -> Iterator[Element]:
    for one in table:
        name = local(one.tag)
        if name == "table-row":
            yield one
        elif name in ("table-rows", "table-header-rows", "table-row-group"):
            yield from _table_rows(one)


def _cells(row: Element) -> dict[int, str]:
    found: dict[int, str] = {}
    column = 0
    for cell in row:
        repeated = _repeated(cell, "number-columns-repeated")
        value = _words(cell)
        if value:
            found.update((column + again, value) for again in range(min(repeated, _MOST_REPEATED)))
        column += repeated
    return found


class _Text:
    """Writes the blocks of a text or of a slide."""

    def __init__(self, *, section: bool = True) -> None:
        """Keep whether headings are places to be cited."""
        self.section = section
        self.outline = Outline()
        self.title = ""
        self.notes: list[str] = []

    def blocks(self, parents: Element | list[Element], depth: int = -1) -> None:
        """Write headings, paragraphs, lists and tables, wherever they are wrapped in something else."""
        for one in parents:
            name = local(one.tag)
            if name == "h":
                self._heading(one)
            elif name == "p":
                self._paragraph(one, depth)
            elif name == "list":
                self.blocks(one, depth + 1)
            elif name == "table":
                self._table(one)
            elif name not in _GONE:
                self.blocks(one, depth)

    def _heading(self, heading: Element) -> None:
        text = one_line("".join(_inline(heading, self.notes)))
        level = attribute(heading, "outline-level")
        self.title = self.title or text
        self.outline.heading(int(level) if level.isdigit() else 1, text, section=self.section)

    def _paragraph(self, paragraph: Element, depth: int) -> None:
        boxes = list(_within(paragraph, "text-box"))
        text = "".join(_inline(paragraph, self.notes))
        if depth >= 0:
            self.outline.item(text, depth=depth)
        elif attribute(paragraph, "style-name") == "Title" and text.strip():
            self.title = self.title or one_line(text)
            self.outline.heading(1, text, section=self.section)
        else:
            self.outline.block("\n".join(filter(None, map(one_line, text.split("\n")))))
        for box in boxes:
            self.blocks(box)

    def _table(self, table: Element) -> None:
        for row in _table_rows(table):
            cells = [one for one in row if local(one.tag) == "table-cell"]
            self.outline.row([_words(cell) for cell in cells])


def _inline(element: Element, notes: list[str]) -> Iterator[str]:
    """Yield the text of a paragraph; notes are put aside, boxes are blocks of their own."""
    yield element.text or ""
    for one in element:
        name = local(one.tag)
        if name == "s":
            yield " " * min(_repeated(one, "c"), _LONGEST_SPACE)
        elif name == "tab":
            yield "\t"
        elif name == "line-break":
            yield "\n"
        elif name == "note":
            notes.append(_words(child(one, "note-body")))
            yield f"[^{len(notes)}]"
        elif name not in _GONE and name not in ("text-box", "p", "h"):
            yield from _inline(one, notes)
        yield one.tail or ""
