"""HTML: the main text of a page with its headings, lists, tables and code; what is on every page is left out."""

from __future__ import annotations

import codecs
import re
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from ragstone.errors import ReadError
from ragstone.read.encoding import decode_text
from ragstone.read.file_types import name_of
from ragstone.read.kinds import kind_of
from ragstone.read.outline import Outline, one_line
from ragstone.read.page import Page
from ragstone.types import Document, Metadata

_CHARSET: Final = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{2,40})""", re.I)
_DECLARED: Final = re.compile(rb"""<\?xml[^>]{0,100}?encoding\s*=\s*["']([A-Za-z0-9_.:-]{2,40})""", re.I)
_HEAD: Final = 4096
_TAGS: Final = re.compile(r"<(/?)([a-z][a-z0-9]*)(?=[\s>/])", re.I)
_SELF_CLOSING: Final = frozenset(
    "area base br col dd dt embed hr img input li link meta option p param source td th thead tbody tr track "
    "wbr".split()
)
_DEEPEST: Final = 1000
"""Elements within each other. Parsing takes the square of it, and no page that a person wrote comes near."""

_TEMPLATE: Final = re.compile(r"\{%.{0,400}?%\}|\{\{.{0,400}?\}\}|@\w+(?:\([^()\n]{0,400}\))?", re.DOTALL)
"""What a template says to its engine, and not to a reader."""
_LEAST_MAIN: Final = 0.2
"""A main element with a smaller share of the page's text is not where the text is."""


def read(data: bytes, uri: str) -> Document:
    """Return a page's main text, or raise `ReadError`."""
    source, encoding = decoded(data)
    title, outline = extracted(source)
    kind, _ = kind_of(uri, data)
    metadata: dict[str, str | bool] = {"extracted": True}
    if encoding != "utf-8":
        metadata["encoding"] = encoding
    remarks = () if not outline.empty else ("no text found in the page",)
    about: Metadata = metadata
    return Document(uri, outline.text, kind, "html", title or name_of(uri), about, tuple(outline.marks), "", remarks)


def decoded(data: bytes) -> tuple[str, str]:
    """Return a page's source and its encoding: by its byte order mark, as it says itself, or by its bytes."""
    if not data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and b"\0" not in data[:_HEAD]:
        found = _CHARSET.search(data[:_HEAD]) or _DECLARED.search(data[:200])
        named = _codec(found[1].decode("ascii")) if found else ""
        if named:
            try:
                return data.decode(named), named
            except UnicodeDecodeError:
                pass  # a page that is wrong about itself is read by its bytes
    text, encoding = decode_text(data)
    return text, encoding


def _codec(label: str) -> str:
    """Return Python's name for the encoding a page claims, as browsers take it; nothing where that helps little."""
    try:
        name = codecs.lookup(label).name
    except LookupError:
        return ""
    if name in ("utf-8", "ascii") or name.startswith(("utf-16", "utf-32")):
        return ""  # tried first anyway; a wide encoding cannot be told in its own letters
    if name not in _TEXT_CODECS and not name.startswith(("cp", "iso8859", "mac")):
        return ""
    return "cp1252" if name == "iso8859-1" else name


_TEXT_CODECS: Final = frozenset(
    "gb2312 gbk gb18030 big5 big5hkscs shift_jis euc_jp iso2022_jp euc_kr koi8-r koi8-u tis-620".split()
)


def extracted(source: str, *, section: bool = True) -> tuple[str, Outline]:
    """Return a page's title and its text; headings are places to be cited unless `section` says no."""
    _check_depth(source)
    try:
        tree = LexborHTMLParser(source)
    except (SelectolaxError, ValueError) as error:
        raise ReadError(f"no HTML that can be parsed: {error}", reason="damaged") from error
    body = tree.body or tree.root
    if body is None:
        return "", Outline()
    named, first = tree.css_first("title"), tree.css_first("h1")
    title = one_line(named.text()) if named is not None else ""
    root = _main(body)
    opening = title if section and root.css_first("h1") is None else ""
    outline = Page(opening, section=section, inside=root.mem_id != body.mem_id).written(root)
    if not _TEMPLATE.sub("", outline.text).removeprefix(f"# {opening}").strip():
        # All of it looked like what is on every page: then that is the page.
        outline = Page(opening, section=section, inside=True, everything=True).written(body)
    return title or (one_line(first.text()) if first is not None else ""), outline


def _check_depth(source: str) -> None:
    depth = deepest = 0
    for found in _TAGS.finditer(source):
        if found[2].lower() in _SELF_CLOSING:
            continue
        depth = max(0, depth - 1) if found[1] else depth + 1
        if depth > deepest:
            deepest = depth
            if deepest > _DEEPEST:
                raise ReadError(f"more than {_DEEPEST:,} elements within each other", reason="damaged")


def _main(body: LexborNode) -> LexborNode:
    """Return the element that holds the main text, the body where none says so."""
    whole = len(body.text())
    for selector in ("main", "[role=main]", "article"):
        found = body.css(selector)
        if len(found) == 1 and len(found[0].text()) >= whole * _LEAST_MAIN:
            return found[0]
    return body
