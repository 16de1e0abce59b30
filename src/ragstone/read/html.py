"""HTML: the main text of a page with its headings, lists, tables and code, without navigation."""

from __future__ import annotations

import codecs
import re
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from ragstone.errors import ReadError
from ragstone.read.encoding import DecodedText, decode_text
from ragstone.read.extracted_text import build_document
from ragstone.read.html_page import PageReader
from ragstone.read.markdown_writer import MarkdownWriter, one_line
from ragstone.types import Document

_META_CHARSET: Final = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{2,40})""",
    re.I,
)
_XML_ENCODING: Final = re.compile(
    rb"""<\?xml[^>]{0,100}?encoding\s*=\s*["']([A-Za-z0-9_.:-]{2,40})""",
    re.I,
)
_HEAD_BYTES: Final = 4096
_UNICODE_MARKS: Final = (
    codecs.BOM_UTF8,
    codecs.BOM_UTF16_LE,
    codecs.BOM_UTF16_BE,
)
_UNICODE_CODECS: Final = ("utf-8", "ascii", "utf-16", "utf-32")
_TEXT_CODECS: Final = (
    *(
        "gb2312",
        "gbk",
        "gb18030",
        "big5",
        "big5hkscs",
        "shift_jis",
        "euc_jp",
        "iso2022_jp",
        "euc_kr",
        "koi8-r",
    ),
    *("koi8-u", "tis-620"),
)
_TEXT_CODEC_FAMILIES: Final = ("cp", "iso8859", "mac")
_TAG: Final = re.compile(r"<(/?)([a-z][a-z0-9]*)(?=[\s>/])", re.I)
_OPTIONAL_END: Final = frozenset(
    "area base br col dd dt embed hr img input li link meta option p param source td th thead tbody tr track "
    "wbr".split()
)
"""Elements without an end tag, or with one that may be left out."""
_MAX_DEPTH: Final = 1000
"""Nested elements. Parsing time grows with the square of the depth, and no real page comes near."""
_TEMPLATE_CODE: Final = re.compile(
    r"\{%.{0,400}?%\}|\{\{.{0,400}?\}\}|@\w+(?:\([^()\n]{0,400}\))?",
    re.DOTALL,
)
_MIN_MAIN_SHARE: Final = 0.2
"""A main element with a smaller share of the page's text does not hold the main text."""


def read(data: bytes, uri: str) -> Document:
    """Return a page's main text, or raise `ReadError`."""
    source, encoding = decode_html(data)
    title, writer = extract_page(source)
    metadata: dict[str, str | bool] = {"extracted": True}
    if encoding != "utf-8":
        metadata["encoding"] = encoding
    remark = "no text found in the page"
    return build_document(
        uri,
        writer,
        "html",
        title,
        remark_if_empty=remark,
        metadata=metadata,
    )


def decode_html(data: bytes) -> DecodedText:
    """Return a page's source and its encoding: by its byte order mark, its own declaration, or its bytes."""
    encoding = _declared_encoding(data)
    if encoding:
        try:
            return DecodedText(data.decode(encoding), encoding)
        except UnicodeDecodeError:
            pass  # the declaration is wrong
    return decode_text(data)


def _declared_encoding(data: bytes) -> str:
    """Return the encoding that a page declares, as browsers understand it; empty if it helps little."""
    if data.startswith(_UNICODE_MARKS) or b"\0" in data[:_HEAD_BYTES]:
        return ""
    match = _META_CHARSET.search(data[:_HEAD_BYTES]) or _XML_ENCODING.search(data[:200])
    if match is None:
        return ""
    try:
        name = codecs.lookup(match[1].decode("ascii")).name
    except LookupError:
        return ""
    if name.startswith(_UNICODE_CODECS):
        return ""  # tried first anyway, and UTF-16 cannot be declared in ASCII
    if name not in _TEXT_CODECS and not name.startswith(_TEXT_CODEC_FAMILIES):
        return ""
    return "cp1252" if name == "iso8859-1" else name


def extract_page(source: str, *, has_sections: bool = True) -> tuple[str, MarkdownWriter]:
    """Return a page's title and its text; with `has_sections` its headings can be cited."""
    _check_depth(source)
    try:
        tree = LexborHTMLParser(source)
    except (SelectolaxError, ValueError) as error:
        raise ReadError(f"no HTML that can be parsed: {error}", reason="damaged") from error
    body = tree.body or tree.root
    if body is None:
        return "", MarkdownWriter()
    title = _text_in_line(tree.css_first("title"))
    root = _find_main(body)
    needs_heading = has_sections and root.css_first("h1") is None
    opening = title if needs_heading else ""
    reader = PageReader(
        opening,
        has_sections=has_sections,
        is_main=root.mem_id != body.mem_id,
    )
    writer = reader.read(root)
    written = writer.text.removeprefix(f"# {opening}")
    if not _TEMPLATE_CODE.sub("", written).strip():
        # All of it looked like navigation: then the navigation is the page.
        writer = PageReader(
            opening, has_sections=has_sections, is_main=True, keeps_all=True
        ).read(body)
    return title or _text_in_line(tree.css_first("h1")), writer


def _text_in_line(node: LexborNode | None) -> str:
    return "" if node is None else one_line(node.text())


def _check_depth(source: str) -> None:
    """Raise `ReadError` if elements are nested too deeply."""
    depth = 0
    for match in _TAG.finditer(source):
        if match[2].lower() in _OPTIONAL_END:
            continue
        step = -1 if match[1] else 1
        depth = max(0, depth + step)
        if depth > _MAX_DEPTH:
            raise ReadError(
                f"more than {_MAX_DEPTH:,} elements within each other",
                reason="damaged",
            )


def _find_main(body: LexborNode) -> LexborNode:
    """Return the element that holds the main text; the body if no element does."""
    min_length = len(body.text()) * _MIN_MAIN_SHARE
    for selector in ("main", "[role=main]", "article"):
        nodes = body.css(selector)
        if len(nodes) == 1 and len(nodes[0].text()) >= min_length:
            return nodes[0]
    return body
