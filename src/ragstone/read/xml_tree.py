"""Parsing XML safely, and finding elements by their names without namespaces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from xml.etree import ElementTree

from ragstone.errors import ReadError
from ragstone.read.encoding import decode_text

Element = ElementTree.Element

_DECLARATION: Final = re.compile(r"<\?xml[^>]*\?>")
_PLAIN_DOCTYPE: Final = re.compile(r"<!DOCTYPE[^\[<>]*>")
_HEAD: Final = 1000


def parse_xml(data: bytes, name: str) -> Element:
    """Return XML as a tree, or raise `ReadError`."""
    try:
        parser = ElementTree.XMLParser()  # noqa: S314 - `decode_xml` refuses declarations
        parser.feed(decode_xml(data, name))
        tree: Element = parser.close()
    except (ElementTree.ParseError, ValueError, RecursionError) as error:
        raise ReadError(f"{name} is no sound XML: {error}", reason="damaged") from error
    return tree


def decode_xml(data: bytes, name: str) -> str:
    """Return the text of XML without its declaration.

    Raise `ReadError` if it declares entities: a few bytes could then expand to gigabytes or refer to other files.
    """
    text = decode_text(data).text
    head = _DECLARATION.sub("", text[:_HEAD], count=1)
    head = _PLAIN_DOCTYPE.sub("", head, count=1)
    text = head + text[_HEAD:]
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ReadError(
            f"{name} declares entities, which no document needs",
            reason="damaged",
        )
    return text


def local_name(element: Element) -> str:
    """Return an element's name without its namespace; empty for comments."""
    tag = element.tag
    if not isinstance(tag, str):
        return ""
    return tag[tag.rfind("}") + 1 :]


def attribute(element: Element | None, name: str) -> str:
    """Return the attribute of this name in any namespace; empty if it is missing."""
    if element is not None:
        for key, value in element.attrib.items():
            if key[key.rfind("}") + 1 :] == name:
                return value
    return ""


def relation_id(element: Element) -> str:
    """Return the first attribute with a namespace: the id of a relation."""
    for key, value in element.attrib.items():
        if "}" in key:
            return value
    return ""


def child(element: Element | None, *names: str) -> Element | None:
    """Return the descendant that this path of names leads to, or None."""
    for name in names:
        matches = children(element, name)
        if not matches:
            return None
        element = matches[0]
    return element


def children(element: Element | None, name: str) -> list[Element]:
    """Return the children of this name."""
    if element is None:
        return []
    return [each for each in element if local_name(each) == name]


def descendants(element: Element, name: str) -> Iterator[Element]:
    """Yield the element and its descendants that have this name."""
    return (each for each in element.iter() if local_name(each) == name)


def text_of(element: Element | None) -> str:
    """Return the text directly in an element, with each run of white space as one space."""
    if element is None or not element.text:
        return ""
    return " ".join(element.text.split())
