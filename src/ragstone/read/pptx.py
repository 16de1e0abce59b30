"""PPTX: slides in their order, each with its title, text, tables and speaker notes."""

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
    relation_id,
)
from ragstone.types import Document

_TITLES: Final = ("title", "ctrTitle")
_REPEATED: Final = ("ftr", "hdr", "dt", "sldNum", "sldImg")
"""Placeholders with the same text on every slide."""
_DEFAULT_TITLES: Final = ("powerpoint presentation", "presentation")


@report_damage
def read(data: bytes, uri: str) -> Document:
    """Return the text of all slides, or raise `ReadError`."""
    package = OfficePackage(data)
    writer = MarkdownWriter()
    first_title = ""
    for number, path in enumerate(_list_slides(package), 1):
        title = _write_slide(writer, package.xml(path), number)
        first_title = first_title or title
        notes_path = package.parts_by_kind(path).get("notesSlide")
        if notes_path:
            _write_notes(writer, package.xml(notes_path))
    title = package.core_title()
    if not title or title.lower() in _DEFAULT_TITLES:
        title = first_title
    return build_document(uri, writer, "pptx", title, remark_if_empty="no slide found")


def _list_slides(package: OfficePackage) -> list[str]:
    """Return the names of the members that hold the slides, in their order."""
    main_part = package.main_part("ppt/presentation.xml")
    relations = package.relations(main_part)
    slides = children(child(package.xml(main_part), "sldIdLst"), "sldId")
    ids = [relation_id(slide) for slide in slides]
    paths = [relations[each].path for each in ids if each in relations]
    return [path for path in paths if path in package]


def _write_slide(writer: MarkdownWriter, slide: Element, number: int) -> str:
    """Write a slide and return its title."""
    shapes = list(_find_shapes(child(slide, "cSld", "spTree")))
    titles = [_all_text(shape) for shape in shapes if _placeholder(shape) in _TITLES]
    title = next(filter(None, titles), "")
    writer.mark(number, unit="slide")
    writer.write_heading(1, title or f"Slide {number}")
    for shape in shapes:
        if local_name(shape) == "graphicFrame":
            for row in descendants(shape, "tr"):
                writer.write_row([_all_text(cell) for cell in children(row, "tc")])
        elif _placeholder(shape) not in (*_TITLES, *_REPEATED):
            _write_paragraphs(writer, shape)
    return title


def _write_paragraphs(writer: MarkdownWriter, shape: Element) -> None:
    """Write a shape's paragraphs; several are list items, a single one is a block."""
    paragraphs = _find_paragraphs(shape)
    if len(paragraphs) == 1:
        writer.write_block(_paragraph_text(paragraphs[0]))
        return
    for paragraph in paragraphs:
        level = attribute(child(paragraph, "pPr"), "lvl")
        writer.write_item(
            _paragraph_text(paragraph),
            depth=int(level) if level.isdigit() else 0,
        )


def _write_notes(writer: MarkdownWriter, notes: Element) -> None:
    lines: list[str] = []
    for shape in _find_shapes(child(notes, "cSld", "spTree")):
        if _placeholder(shape) not in _REPEATED:
            lines += map(_paragraph_text, _find_paragraphs(shape))
    if lines:
        writer.write_block("Notes: " + "\n".join(lines))


def _find_shapes(tree: Element | None) -> Iterator[Element]:
    """Yield shapes and tables, also those inside groups."""
    if tree is None:
        return
    for element in tree:
        name = local_name(element)
        if name in ("sp", "graphicFrame"):
            yield element
        elif name in ("grpSp", "AlternateContent", "Choice"):
            yield from _find_shapes(element)


def _placeholder(shape: Element) -> str:
    """Return the placeholder that a shape fills, such as title, body or footer; empty for none."""
    placeholder = child(shape, "nvSpPr", "nvPr", "ph")
    if placeholder is None:
        return ""
    return attribute(placeholder, "type") or "body"


def _find_paragraphs(shape: Element) -> list[Element]:
    """Return the paragraphs of a shape that have text."""
    paragraphs = children(child(shape, "txBody"), "p")
    return [paragraph for paragraph in paragraphs if _paragraph_text(paragraph)]


def _all_text(element: Element) -> str:
    """Return the text of all paragraphs in an element in one line."""
    return one_line(" ".join(map(_paragraph_text, descendants(element, "p"))))


def _paragraph_text(paragraph: Element) -> str:
    parts = []
    for element in paragraph.iter():
        name = local_name(element)
        if name == "t":
            parts.append(element.text or "")
        elif name in ("br", "tab"):
            parts.append(" ")
    return one_line("".join(parts))
