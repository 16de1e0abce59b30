"""Which chunker a document gets: by its kind, its language and its name, or as the settings say."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

from ragstone.chunk.recipes import NAMES as NAMES
from ragstone.chunk.recipes import OVERLAPS, SEVERAL, check_name, sizes
from ragstone.chunk.recipes import recipe as recipe
from ragstone.errors import InputError

if TYPE_CHECKING:
    from ragstone.protocols import Chunker
    from ragstone.types import Document

_HOMES: Final = {
    **dict.fromkeys(("chars", "sentences", "tokens", "prose"), "text"),
    "python": "code",
    **{name: name for name in ("definitions", "lines", "markdown", "marked", "rows", "keys", "openapi")},
}
"""Chunker → its module, imported when the first document is cut by it."""
_CLASSES: Final = {"openapi": "OpenApi"}
_CODE_KINDS: Final = frozenset({"code", "config", "data", "manifest", "openapi"})
_BY_LANGUAGE: Final = {
    **dict.fromkeys(("markdown", "html", "docx", "odt"), "markdown"),
    **dict.fromkeys(("pptx", "odp", "epub"), "marked"),
    **dict.fromkeys(("csv", "tsv", "xlsx", "ods"), "rows"),
}
_BY_KIND: Final = {"openapi": "openapi", "notebook": "markdown", "markdown": "markdown"}
_KEYED_KINDS: Final = frozenset({"config", "data", "manifest"})
_MARKDOWN_SUFFIXES: Final = (".md", ".markdown", ".mdown", ".mkd", ".mdx")
CUT_BY_SYMBOLS: Final = frozenset(
    {"php", "javascript", "typescript", "swift", "go", "rust", "java", "kotlin", "c", "cpp", "csharp", "ruby"}
)
_PYTHON_SUFFIXES: Final = (".py", ".pyi", ".pyw")


def choose(document: Document, *, name: str = "auto", size: int | None = None, overlap: int | None = None) -> Chunker:
    """Return the chunker for a document; sizes left out are the chunker's own. Code has no overlap."""
    check_name(name)
    if name == "auto":
        chosen = _by_type(document)
        return _made(chosen, size, overlap if chosen in OVERLAPS else None)
    if name == "code":
        name = _by_code(document)
    if overlap and name not in OVERLAPS:
        raise InputError(
            f"The chunker for {name} knows no overlap.", hint="leave the overlap out, or use auto, tokens or prose"
        )
    return _made(name, size, overlap)


def _by_type(document: Document) -> str:
    if document.kind in _BY_KIND:
        return _BY_KIND[document.kind]
    if _is_python(document) or (document.kind == "code" and document.language in CUT_BY_SYMBOLS):
        return _by_code(document)
    if document.language in _BY_LANGUAGE:
        return _BY_LANGUAGE[document.language]
    if document.kind in _KEYED_KINDS:
        from ragstone.chunk.keys import SPLITS  # not for the many that hold no keys

        if document.language in SPLITS:
            return "keys"
    if not document.language and document.uri.lower().endswith(_MARKDOWN_SUFFIXES):
        return "markdown"
    return "lines" if document.kind in _CODE_KINDS else "prose"


def _by_code(document: Document) -> str:
    if _is_python(document):
        return "python"
    return "definitions" if document.language in CUT_BY_SYMBOLS else "lines"


def by_symbols(document: Document, name: str) -> bool:
    """Return whether the chunker for a document cuts by its symbols, and should be told them."""
    return name in SEVERAL and document.kind == "code" and _by_code(document) == "definitions"


def _is_python(document: Document) -> bool:
    if document.language:
        return document.language == "python"
    return document.uri.lower().endswith(_PYTHON_SUFFIXES)


@lru_cache(maxsize=64)
def _made(name: str, size: int | None, overlap: int | None) -> Chunker:
    """Return the chunker of these sizes, the same one for all documents."""
    kind = getattr(import_module(f"ragstone.chunk.{_HOMES[name]}"), _CLASSES.get(name, name.capitalize()))
    most, shared = sizes(name, size, overlap)
    made: Chunker = kind(size=most) if shared is None else kind(size=most, overlap=shared)
    return made
