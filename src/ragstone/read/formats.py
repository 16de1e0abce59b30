"""Which formats are more than plain text: their suffixes, and the function that makes a document of their bytes.

A reading function is pure: `read(data: bytes, uri: str) -> Document`, or `ReadError` with a typed reason. It opens no
file and starts nothing. It runs in the child process, whatever its parser may be led to do.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, cast

from ragstone.read.kinds import name_of, suffix_of
from ragstone.types import Document

Read = Callable[[bytes, str], Document]

READERS: Final = "read/1"
"""Names what the readers make of files: with another name, files that did not change are read again."""


@dataclass(frozen=True, slots=True)
class Format:
    """One format: its name, the suffixes it is known by, and where its reading function is (`module:function`)."""

    name: str
    suffixes: tuple[str, ...]
    reader: str
    magic: bytes = b""
    """What every file of the format starts with, where that alone proves the format under any name."""

    def load(self) -> Read:
        """Return the reading function; its module and the packages it needs are imported now."""
        module, _, function = self.reader.partition(":")
        return cast(Read, getattr(importlib.import_module(module), function))


FORMATS: Final = (
    Format("pdf", ("pdf",), "ragstone.read.pdf:read", magic=b"%PDF-"),
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

SUFFIXES: Final = frozenset(suffix for each in FORMATS for suffix in each.suffixes)
_BY_SUFFIX: Final = {suffix: each for each in FORMATS for suffix in each.suffixes}
_BY_NAME: Final = {each.name: each for each in FORMATS}


def format_of(uri: str, data: bytes = b"") -> Format | None:
    """Return the format of a file by its name, or by its first bytes where the name says nothing; None: plain text."""
    by_name = _BY_SUFFIX.get(suffix_of(name_of(uri)))
    return by_name or next((each for each in FORMATS if each.magic and data.startswith(each.magic)), None)


def named(name: str) -> Format:
    """Return the format of a name, or raise `KeyError`."""
    return _BY_NAME[name]
