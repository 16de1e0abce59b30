"""EPUB: the chapters of a book in reading order, each read like a web page."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import unquote

from ragstone.errors import ReadError
from ragstone.read.document_kinds import kind_of
from ragstone.read.file_formats import name_of
from ragstone.read.html import decode_html, extract_page
from ragstone.read.markdown_writer import one_line
from ragstone.read.office_package import OfficePackage, report_damage
from ragstone.read.xml_tree import (
    Element,
    attribute,
    child,
    children,
    descendants,
    parse_xml,
    text_of,
)
from ragstone.types import Document, Mark

_PAGE_TYPES: Final = (
    "application/xhtml+xml",
    "text/html",
    "application/xml",
    "text/x-oeb1-document",
)
_NCX_TYPE: Final = "application/x-dtbncx+xml"
_FONT_ALGORITHMS: Final = ("embedding", "enc#rc")
_MAX_LABEL: Final = 80


@report_damage
def read(data: bytes, uri: str) -> Document:
    """Return the text of all chapters, or raise `ReadError`."""
    package = OfficePackage(data)
    _check_encryption(package)
    package_path = _find_package_file(package)
    book = package.xml(package_path)
    items = children(child(book, "manifest"), "item")
    manifest = {item.get("id", ""): item for item in items}
    labels = _read_labels(package, package_path, manifest)
    texts: list[str] = []
    marks: list[Mark] = []
    length = 0
    for path in _list_chapters(package, package_path, book, manifest):
        text, label = _read_chapter(package, path, labels.get(path, ""))
        if text:
            marks.append(Mark(length, len(marks) + 1, label, "chapter"))
            texts.append(text)
            length += len(text)
    title = text_of(child(book, "metadata", "title")) or name_of(uri)
    remarks = () if texts else ("no text found in the book",)
    kind, _ = kind_of(uri)
    return Document(
        uri,
        "".join(texts),
        kind,
        "epub",
        title,
        {},
        tuple(marks),
        remarks=remarks,
    )


def _check_encryption(package: OfficePackage) -> None:
    """Raise `ReadError` if more than fonts is encrypted."""
    tree = package.optional_xml("META-INF/encryption.xml")
    if tree is None:
        return
    for method in descendants(tree, "EncryptionMethod"):
        if not attribute(method, "Algorithm").lower().endswith(_FONT_ALGORITHMS):
            raise ReadError("protected against copying", reason="password")


def _find_package_file(package: OfficePackage) -> str:
    """Return the name of the member that lists the chapters."""
    container = package.optional_xml("META-INF/container.xml")
    if container is not None:
        for root_file in descendants(container, "rootfile"):
            path = root_file.get("full-path", "")
            if path in package:
                return path
    for name in package.names():
        if name.lower().endswith(".opf"):
            return name
    raise ReadError("no list of chapters in it", reason="damaged")


def _list_chapters(
    package: OfficePackage,
    package_path: str,
    book: Element,
    manifest: Mapping[str, Element],
) -> Iterator[str]:
    """Yield the names of the members that hold the chapters, in reading order."""
    for entry in children(child(book, "spine"), "itemref"):
        item = manifest.get(entry.get("idref", ""))
        if item is None or item.get("media-type", _PAGE_TYPES[0]) not in _PAGE_TYPES:
            continue
        path = _resolve(package_path, item.get("href", ""))
        if path in package:
            yield path


def _resolve(base: str, href: str) -> str:
    path = unquote(href.partition("#")[0])
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), path))


def _read_chapter(package: OfficePackage, path: str, label: str) -> tuple[str, str]:
    """Return a chapter's text and its label: from the table of contents, or its first heading."""
    source, _ = decode_html(package.read(path))
    title, writer = extract_page(source, has_sections=False)
    text = writer.text
    if not text:
        return "", ""
    first_line = text.partition("\n")[0]
    has_heading = first_line.startswith("#")
    if label and not has_heading:
        text = f"# {label}\n\n{text}"
    if not label:
        label = first_line.lstrip("# ") if has_heading else title
    return f"{text}\n", label[:_MAX_LABEL].rstrip()


def _read_labels(
    package: OfficePackage,
    package_path: str,
    manifest: Mapping[str, Element],
) -> dict[str, str]:
    """Return the name of each member in the table of contents."""
    labels: dict[str, str] = {}
    for item in manifest.values():
        path = _resolve(package_path, item.get("href", ""))
        if path not in package:
            continue
        try:
            links = list(_read_links(package, path, item))
        except ReadError:  # chapters also have headings
            continue
        for href, name in links:
            if href and one_line(name):
                labels.setdefault(_resolve(path, href), one_line(name))
    return labels


def _read_links(package: OfficePackage, path: str, item: Element) -> Iterator[tuple[str, str]]:
    """Yield (target, name) of the links in a table of contents; nothing for other members."""
    if "nav" in item.get("properties", "").split():
        for link in descendants(parse_xml(package.read(path), path), "a"):
            yield link.get("href", ""), "".join(link.itertext())
    elif item.get("media-type") == _NCX_TYPE:
        for point in descendants(package.xml(path), "navPoint"):
            yield (
                attribute(child(point, "content"), "src"),
                text_of(child(point, "navLabel", "text")),
            )
