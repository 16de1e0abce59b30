"""EPUB: the chapters of a book in reading order, each read as the page that it is."""

from __future__ import annotations

import posixpath
from typing import Final
from urllib.parse import unquote

from ragstone.errors import ReadError
from ragstone.read.file_types import name_of
from ragstone.read.html import decoded, extracted
from ragstone.read.kinds import kind_of
from ragstone.read.outline import one_line
from ragstone.read.package import Element, Package, all_named, attribute, child, children, parsed, soundly
from ragstone.types import Document, Mark

_PAGES: Final = ("application/xhtml+xml", "text/html", "application/xml", "text/x-oeb1-document")
_FONTS_ONLY: Final = ("embedding", "enc#rc")
_LONGEST_LABEL: Final = 80


@soundly
def read(data: bytes, uri: str) -> Document:
    """Return the text of all chapters, or raise `ReadError`."""
    package = Package(data)
    _refuse_locked(package)
    opf = _opf(package)
    book = package.xml(opf)
    manifest = {one.get("id", ""): one for one in children(child(book, "manifest"), "item")}
    labels = _labels(package, opf, manifest)
    parts: list[str] = []
    marks: list[Mark] = []
    length = number = 0
    for entry in children(child(book, "spine"), "itemref"):
        item = manifest.get(entry.get("idref", ""))
        path = "" if item is None else _target(opf, item.get("href", ""))
        if item is None or path not in package or item.get("media-type", _PAGES[0]) not in _PAGES:
            continue
        text, label = _chapter(package, path, labels.get(path, ""))
        if not text:
            continue
        number += 1
        marks.append(Mark(length, number, label, "chapter"))
        parts.append(text)
        length += len(text)
    named = child(book, "metadata", "title")
    title = one_line(named.text or "") if named is not None else ""
    remarks = () if parts else ("no text found in the book",)
    kind, _ = kind_of(uri)
    return Document(uri, "".join(parts), kind, "epub", title or name_of(uri), {}, tuple(marks), "", remarks)


def _refuse_locked(package: Package) -> None:
    """Raise `ReadError` where more than fonts is encrypted."""
    tree = package.optional("META-INF/encryption.xml")
    methods = [] if tree is None else [attribute(one, "Algorithm") for one in all_named(tree, "EncryptionMethod")]
    if any(not method.lower().endswith(_FONTS_ONLY) for method in methods):
        raise ReadError("protected against copying", reason="password")


def _opf(package: Package) -> str:
    """Return the name of the member that lists the chapters."""
    container = package.optional("META-INF/container.xml")
    if container is not None:
        for one in all_named(container, "rootfile"):
            path = one.get("full-path", "")
            if path in package:
                return path
    found = next((name for name in package.names() if name.lower().endswith(".opf")), "")
    if not found:
        raise ReadError("no list of chapters in it", reason="damaged")
    return found


def _target(base: str, href: str) -> str:
    path = unquote(href.partition("#")[0])
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), path))


def _chapter(package: Package, path: str, label: str) -> tuple[str, str]:
    """Return a chapter's text and its name: as the contents call it, or by its first heading."""
    title, outline = extracted(decoded(package.read(path))[0], section=False)
    text = outline.text
    if not text:
        return "", ""
    first = text.partition("\n")[0]
    if not label:
        label = first.lstrip("# ") if first.startswith("#") else title
    elif not first.startswith("#"):
        text = f"# {label}\n\n{text}"
    return f"{text}\n", label[:_LONGEST_LABEL].rstrip()


def _labels(package: Package, opf: str, manifest: dict[str, Element]) -> dict[str, str]:
    """Return what the table of contents calls each member."""
    found: dict[str, str] = {}
    for item in manifest.values():
        path = _target(opf, item.get("href", ""))
        if path not in package:
            continue
        try:
            if "nav" in item.get("properties", "").split():
                tree = parsed(package.read(path), path)
                links = [(one.get("href", ""), "".join(one.itertext())) for one in all_named(tree, "a")]
            elif item.get("media-type") == "application/x-dtbncx+xml":
                links = _ncx(package.xml(path))
            else:
                continue
        except ReadError:  # chapters have names of their own
            continue
        for href, name in links:
            if href and one_line(name):
                found.setdefault(_target(path, href), one_line(name))
    return found


def _ncx(tree: Element) -> list[tuple[str, str]]:
    links = []
    for point in all_named(tree, "navPoint"):
        content, label = child(point, "content"), child(point, "navLabel", "text")
        if content is not None and label is not None:
            links.append((content.get("src", ""), label.text or ""))
    return links
