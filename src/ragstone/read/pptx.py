"""PPTX: slides in the order they are shown, each with its title, text, tables and speaker notes."""

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

_TITLES: Final = ("title", "ctrTitle")
_ON_EVERY_SLIDE: Final = ("ftr", "hdr", "dt", "sldNum", "sldImg")


@soundly
def read(data: bytes, uri: str) -> Document:
    """Return the text of all slides, or raise `ReadError`."""
    package = Package(data)
    part = main_part(package, "ppt/presentation.xml")
    outline = Outline()
    first = ""
    for number, path in enumerate(_slides(package, part), 1):
        slide = package.xml(path)
        title = _write(outline, slide, number)
        first = first or title
        notes = next((target for kind, target in relations(package, path).values() if kind == "notesSlide"), "")
        if notes in package:
            _notes(outline, package.xml(notes))
    title = core_title(package)
    if not title or title.lower() in ("powerpoint presentation", "presentation"):
        title = first or name_of(uri)
    remarks = ("no slide found",) if outline.empty else ()
    return Document(uri, outline.text, kind_of(uri)[0], "pptx", title, {}, tuple(outline.marks), "", remarks)


def _slides(package: Package, part: str) -> list[str]:
    """Return the members that hold the slides, as the presentation lists them."""
    targets = relations(package, part)
    listed = children(child(package.xml(part), "sldIdLst"), "sldId")
    ids = [next((value for key, value in one.attrib.items() if "}" in key), "") for one in listed]
    return [targets[one][1] for one in ids if one in targets and targets[one][1] in package]


def _write(outline: Outline, slide: Element, number: int) -> str:
    """Write a slide and return its title."""
    shapes = list(_shapes(child(slide, "cSld", "spTree")))
    title = next((text for one in shapes if _placeholder(one) in _TITLES and (text := one_line(_text(one)))), "")
    outline.mark(number, unit="slide")
    outline.heading(1, title or f"Slide {number}")
    for shape in shapes:
        if local(shape.tag) == "graphicFrame":
            for row in all_named(shape, "tr"):
                outline.row([_text(cell) for cell in children(row, "tc")])
        elif _placeholder(shape) not in (*_TITLES, *_ON_EVERY_SLIDE):
            _paragraphs(outline, shape)
    return title


def _shapes(tree: Element | None) -> Iterator[Element]:
    """Yield shapes and tables, those within groups too."""
    for one in () if tree is None else tree:
        name = local(one.tag)
        if name in ("sp", "graphicFrame"):
            yield one
        elif name in ("grpSp", "AlternateContent", "Choice"):
            yield from _shapes(one)


def _placeholder(shape: Element) -> str:
    """Return what a shape is the place for: title, body, footer."""
    place = child(shape, "nvSpPr", "nvPr", "ph")
    return "" if place is None else attribute(place, "type") or "body"


def _paragraphs(outline: Outline, shape: Element) -> None:
    """Write a shape's paragraphs; several are items of a list, one stands alone."""
    found = [(one, text) for one in children(child(shape, "txBody"), "p") if (text := one_line(_runs(one)))]
    for paragraph, text in found:
        level = attribute(about, "lvl") if (about := child(paragraph, "pPr")) is not None else ""
        if len(found) == 1:
            outline.block(text)
        else:
            outline.item(text, depth=int(level) if level.isdigit() else 0)


def _notes(outline: Outline, notes: Element) -> None:
    shapes = [one for one in _shapes(child(notes, "cSld", "spTree")) if _placeholder(one) not in _ON_EVERY_SLIDE]
    text = "\n".join(filter(None, (one_line(_runs(p)) for one in shapes for p in children(child(one, "txBody"), "p"))))
    if text:
        outline.block(f"Notes: {text}")


def _text(element: Element) -> str:
    """Return the text of all paragraphs below an element."""
    return " ".join(_runs(one) for one in all_named(element, "p"))


def _runs(paragraph: Element) -> str:
    parts = []
    for one in paragraph.iter():
        name = local(one.tag)
        if name == "t":
            parts.append(one.text or "")
        elif name in ("br", "tab"):
            parts.append(" ")
    return "".join(parts)
