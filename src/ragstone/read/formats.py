"""The formats that are more than plain text: their suffixes and their reading functions.

A reading function returns a `Document` or raises `ReadError`. It opens no file and starts nothing,
and it runs in the confined process.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, cast

from ragstone.read.file_types import name_of, suffix_of
from ragstone.types import Document

ReadFunction = Callable[[bytes, str], Document]

READERS_VERSION: Final = "read/2"
"""Stored with each document. After a change of this version all files are read again."""

OCR_VERSION: Final = "ocr/1"
"""Also stored if pictures and scanned pages are read."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its name, its suffixes, and its reading function as `module:function`."""

    name: str
    suffixes: tuple[str, ...]
    reader: str
    magic: bytes = b""
    """The first bytes of every file of the format, if they prove the format under any name."""

    def load(self) -> ReadFunction:
        """Return the reading function; this imports its module and the packages that it needs."""
        module, _, function = self.reader.partition(":")
        return cast(ReadFunction, getattr(importlib.import_module(module), function))


FORMATS: Final = (
    Format("pdf", ("pdf",), "ragstone.read.pdf:read", magic=b"%PDF-"),
    Format("scanned-pdf", (), "ragstone.read.pdf:read_scanned"),
    Format("html", ("html", "htm", "xhtml"), "ragstone.read.html:read"),
    Format("docx", ("docx", "docm", "dotx"), "ragstone.read.docx:read"),
    Format("pptx", ("pptx", "pptm", "ppsx"), "ragstone.read.pptx:read"),
    Format("xlsx", ("xlsx", "xlsm", "xltx"), "ragstone.read.xlsx:read"),
    Format("odt", ("odt", "ott"), "ragstone.read.odf:read_text"),
    Format("ods", ("ods",), "ragstone.read.odf:read_sheets"),
    Format("odp", ("odp",), "ragstone.read.odf:read_slides"),
    Format("epub", ("epub",), "ragstone.read.epub:read"),
    Format("notebook", ("ipynb",), "ragstone.read.notebook:read"),
)


def _index_suffixes() -> dict[str, Format]:
    index: dict[str, Format] = {}
    for each in FORMATS:
        index.update(dict.fromkeys(each.suffixes, each))
    return index


_BY_SUFFIX: Final = _index_suffixes()
_BY_NAME: Final = {each.name: each for each in FORMATS}
SUFFIXES: Final = frozenset(_BY_SUFFIX)


def find_format(uri: str, data: bytes = b"") -> Format | None:
    """Return the format of a file by its suffix, or else by its first bytes; None for plain text."""
    by_suffix = _BY_SUFFIX.get(suffix_of(name_of(uri)))
    if by_suffix is not None:
        return by_suffix
    for each in FORMATS:
        if each.magic and data.startswith(each.magic):
            return each
    return None


def get_format(name: str) -> Format:
    """Return the format of this name, or raise `KeyError`."""
    return _BY_NAME[name]
