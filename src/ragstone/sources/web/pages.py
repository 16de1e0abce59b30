"""Web pages as a source: fetched politely, and named so that a reader knows what it is given."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field, replace
from typing import Final

from ragstone.errors import ReadError
from ragstone.sources.web.fetch import Fetched, Rules, Validators, safe_fetch
from ragstone.sources.web.robots import Robots
from ragstone.sources.web.urls import Url

SOURCE: Final = "web"
"""The name that pages are stored under: no sync of a folder touches them."""

_SUFFIXES: Final = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/plain": "txt",
    "text/markdown": "md",
    "text/x-markdown": "md",
    "text/x-rst": "rst",
    "text/csv": "csv",
    "application/json": "json",
    "application/yaml": "yaml",
    "application/x-yaml": "yaml",
    "application/toml": "toml",
    "text/xml": "xml",
    "application/xml": "xml",
    "application/pdf": "pdf",
}
_FAMILIES: Final = {"+json": "json", "+xml": "xml", "+yaml": "yaml"}
_IMAGES: Final = "image/"
_VAGUE: Final = ("", "text/plain", "application/octet-stream", "binary/octet-stream")
"""Types that say less than the name at the end of the address may."""
_BY_NAME: Final = frozenset("md markdown txt rst adoc csv tsv json jsonl yaml yml toml xml pdf".split())
_TELLS_NOTHING: Final = frozenset({"", "application/octet-stream", "binary/octet-stream"})
_NAME: Final = re.compile(r"[^/]+$")
_UNUSUAL: Final = re.compile(r"[^\w.-]+")
_CHARSETS: Final = re.compile(
    r"(iso[-_]?8859-?\d{1,2}|windows-?\d{3,4}|cp\d{3,4}|latin-?\d|koi8-[ru]|shift[-_]jis|euc-(jp|kr)|iso-2022-jp"
    r"|gb2312|gbk|gb18030|big5|utf-?16(le|be)?|utf-?32(le|be)?)"
)
_BOMS: Final = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def suffix_of(media_type: str, path: str) -> str | None:
    """Return the suffix of a file that would hold such a body, or None where no reader takes it."""
    ending = path.rpartition("/")[2].rpartition(".")[2].lower()
    if media_type in _VAGUE and ending in _BY_NAME:
        return ending
    if media_type in _TELLS_NOTHING:
        return None
    family = next((known for tail, known in _FAMILIES.items() if media_type.endswith(tail)), None)
    by_family = None if media_type.startswith(_IMAGES) else family
    return _SUFFIXES.get(media_type) or by_family or ("txt" if media_type.startswith("text/") else None)


def unwanted(media_type: str, path: str) -> str | None:
    """Return why a body of this type is not read, or None."""
    if suffix_of(media_type, path) is not None:
        return None
    return f"it is {media_type}, which no reader takes" if media_type else "the server does not say what it is"


def file_name(page: Fetched) -> str:
    """Return the name of a file that would hold the page, so that a reader can be chosen by it."""
    path = page.url.target.partition("?")[0]
    found = _NAME.search(path)
    stem = _UNUSUAL.sub("-", found[0] if found else "index").strip(".-") or "index"
    suffix = suffix_of(page.media_type, path) or "txt"
    return stem if stem.lower().endswith(f".{suffix}") else f"{stem}.{suffix}"


def content(page: Fetched) -> bytes:
    """Return the page's bytes; where the server names an older encoding, as UTF-8 with its mark in front."""
    if not _CHARSETS.fullmatch(page.charset) or page.body.startswith(_BOMS):
        return page.body
    try:
        return codecs.BOM_UTF8 + page.body.decode(page.charset).encode("utf-8")
    except (LookupError, ValueError):
        return page.body  # what the server says is wrong: the reader finds out by itself


def address(url: Url) -> str:
    """Return the address as a title: no scheme, nothing behind a `?`."""
    return f"{url.authority}{url.target.partition('?')[0]}".removesuffix("/")


@dataclass(slots=True)
class Visitor:
    """Fetches pages in one run: the wishes of a site are asked for once, and heeded for every address on the way."""

    rules: Rules
    _robots: Robots = field(init=False)

    def __post_init__(self) -> None:
        self.rules = replace(self.rules, wanted=unwanted)
        self._robots = Robots(self.rules)

    def visit(self, url: str, validators: Validators | None = None) -> Fetched:
        """Return what lies at an address, or raise as `safe_fetch` does."""
        return safe_fetch(url, self.rules, validators=validators, permit=self._robots.check)


def page_at(visitor: Visitor, url: str) -> Fetched:
    """Return a page that is there, or raise `ReadError` with what the server said."""
    found = visitor.visit(url)
    if found.status != 200:
        raise ReadError(said(found.status), hint="check the address in a browser")
    return found


def said(status: int) -> str:
    """Return a status in words."""
    from http import HTTPStatus

    try:
        return f"the server says {status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"the server says {status}"
