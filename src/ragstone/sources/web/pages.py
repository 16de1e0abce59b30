"""Web pages as a source: pages fetched as robots.txt allows, with the file name and bytes that a reader expects."""

from __future__ import annotations

import codecs
import re
from dataclasses import replace
from http import HTTPStatus
from typing import Final

from ragstone.errors import ReadError
from ragstone.sources.web.fetch import FetchedPage, FetchRules, Validators, safe_fetch
from ragstone.sources.web.robots import RobotsCache
from ragstone.sources.web.urls import Url

WEB: Final = "web"
"""The source name of stored pages; a sync of a folder does not touch them."""

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
_TYPE_ENDINGS: Final = {"+json": "json", "+xml": "xml", "+yaml": "yaml"}
_UNSPECIFIC_TYPES: Final = ("", "application/octet-stream", "binary/octet-stream")
_VAGUE_TYPES: Final = (*_UNSPECIFIC_TYPES, "text/plain")
"""With one of these types, the suffix in the address says more."""
_SUFFIXES_IN_URLS: Final = frozenset(
    "md markdown txt rst adoc csv tsv json jsonl yaml yml toml xml pdf".split()
)
_UNUSUAL_CHARACTERS: Final = re.compile(r"[^\w.-]+")
_CHARSETS: Final = re.compile(
    r"(iso[-_]?8859-?\d{1,2}|windows-?\d{3,4}|cp\d{3,4}|latin-?\d|koi8-[ru]|shift[-_]jis|euc-(jp|kr)|iso-2022-jp"
    r"|gb2312|gbk|gb18030|big5|utf-?16(le|be)?|utf-?32(le|be)?)"
)
_BOMS: Final = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def suffix_of(media_type: str, path: str) -> str | None:
    """Return the file suffix for a body of this type, or None if no reader takes it."""
    last_part = path.rpartition("/")[2]
    suffix_in_url = last_part.rpartition(".")[2].lower()
    if media_type in _VAGUE_TYPES and suffix_in_url in _SUFFIXES_IN_URLS:
        return suffix_in_url
    if media_type in _UNSPECIFIC_TYPES or media_type.startswith("image/"):
        return None
    if media_type in _SUFFIXES:
        return _SUFFIXES[media_type]
    for ending, suffix in _TYPE_ENDINGS.items():
        if media_type.endswith(ending):
            return suffix
    if media_type.startswith("text/"):
        return "txt"
    return None


def refuse_unreadable(media_type: str, path: str) -> str | None:
    """Return why a body of this type is not read, or None."""
    if suffix_of(media_type, path) is not None:
        return None
    if not media_type:
        return "the server does not say what it is"
    return f"it is {media_type}, which no reader takes"


def file_name(page: FetchedPage) -> str:
    """Return a file name for the page; readers are chosen by it."""
    last_part = page.url.path.rpartition("/")[2]
    stem = _UNUSUAL_CHARACTERS.sub("-", last_part).strip(".-") or "index"
    suffix = suffix_of(page.media_type, page.url.path) or "txt"
    if stem.lower().endswith(f".{suffix}"):
        return stem
    return f"{stem}.{suffix}"


def page_bytes(page: FetchedPage) -> bytes:
    """Return the page's bytes, converted to UTF-8 with a byte order mark if the server names an older encoding."""
    if not _CHARSETS.fullmatch(page.charset) or page.body.startswith(_BOMS):
        return page.body
    try:
        return codecs.BOM_UTF8 + page.body.decode(page.charset).encode("utf-8")
    except (LookupError, ValueError):
        return page.body  # the server is wrong; the reader detects the encoding


def title_from_url(url: Url) -> str:
    """Return the address as a title, without scheme and query."""
    return f"{url.authority}{url.path}".removesuffix("/")


def describe_status(status: int) -> str:
    """Return a sentence for an HTTP status."""
    try:
        return f"the server says {status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"the server says {status}"


class PageVisitor:
    """Fetches pages in one run. The robots.txt of a site is read once and applied to every address on the way."""

    def __init__(self, rules: FetchRules) -> None:
        """Take the rules; they apply to robots.txt too."""
        self._rules = replace(rules, refuse_body=refuse_unreadable)
        self._robots = RobotsCache(rules)

    def visit(self, address: str, validators: Validators | None = None) -> FetchedPage:
        """Return the answer for an address, whatever its status; raises as `safe_fetch` does."""
        return safe_fetch(address, self._rules, validators=validators, check=self._robots.check)

    def visit_existing(self, address: str) -> FetchedPage:
        """Return a page that exists, or raise `ReadError` with the server's status."""
        page = self.visit(address)
        if page.status != HTTPStatus.OK:
            raise ReadError(describe_status(page.status), hint="check the address in a browser")
        return page
