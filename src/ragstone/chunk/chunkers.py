"""The chunker for each document, chosen by its kind, language and name, or by the settings."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from ragstone.chunk.definitions import DefinitionChunker
from ragstone.chunk.lines import LineChunker
from ragstone.chunk.markdown import MarkdownChunker, SlideChunker
from ragstone.chunk.openapi import OpenApiChunker
from ragstone.chunk.prose import (
    CharacterChunker,
    ProseChunker,
    SentenceChunker,
    TokenChunker,
)
from ragstone.chunk.setting_keys import PARSERS, KeyChunker
from ragstone.chunk.sizes import (
    MIXED,
    OVERLAPS,
    check_name,
    check_overlap,
    resolve_sizes,
)
from ragstone.chunk.tables import TableChunker
from ragstone.protocols import Chunker
from ragstone.types import Document
from ragstone.types.documents import is_code

_CHUNKERS: Final[dict[str, Callable[..., Chunker]]] = {
    "chars": CharacterChunker,
    "sentences": SentenceChunker,
    "tokens": TokenChunker,
    "prose": ProseChunker,
    "markdown": MarkdownChunker,
    "marked": SlideChunker,
    "definitions": DefinitionChunker,
    "lines": LineChunker,
    "rows": TableChunker,
    "keys": KeyChunker,
    "openapi": OpenApiChunker,
}
_BY_KIND: Final = {
    "openapi": "openapi",
    "notebook": "markdown",
    "markdown": "markdown",
}
_BY_LANGUAGE: Final = {
    **dict.fromkeys(("markdown", "html", "docx", "odt"), "markdown"),
    **dict.fromkeys(("pptx", "odp", "epub"), "marked"),
    **dict.fromkeys(("csv", "tsv", "xlsx", "ods"), "rows"),
}
_LINE_KINDS: Final = frozenset({"code", "config", "data", "generated", "package", "openapi"})
_KEYED_KINDS: Final = frozenset({"config", "data", "package"})
_MARKDOWN_SUFFIXES: Final = (".md", ".markdown", ".mdown", ".mkd", ".mdx")
_PYTHON_SUFFIXES: Final = (".py", ".pyi", ".pyw")
PARSED_LANGUAGES: Final = frozenset(
    {
        *(
            "c",
            "cpp",
            "csharp",
            "elixir",
            "go",
            "haskell",
            "java",
            "javascript",
            "kotlin",
            "lua",
        ),
        *("php", "python", "ruby", "rust", "scala", "shell", "swift", "typescript", "zig"),
    }
)
"""Languages whose files are cut by their symbols."""


def chunker_for(
    document: Document,
    *,
    name: str = "auto",
    size: int | None = None,
    overlap: int | None = None,
) -> Chunker:
    """Return the chunker for a document; None means the chunker's own size. Code has no overlap."""
    check_name(name)
    check_overlap(name, overlap)
    if name == "auto":
        name = _choose_by_type(document)
        overlap = overlap if name in OVERLAPS else None
    elif name == "code":
        name = _choose_for_code(document)
    return _get_chunker(name, size, overlap)


def needs_symbols(document: Document, name: str) -> bool:
    """Return whether the chunker of this name cuts the document by its symbols."""
    if name not in MIXED:
        return False
    chosen = _choose_for_code(document) if name == "code" else _choose_by_type(document)
    return chosen == "definitions"


def _choose_by_type(document: Document) -> str:
    if document.kind in _BY_KIND:
        return _BY_KIND[document.kind]
    if _is_parsed_as_code(document):
        return _choose_for_code(document)
    if document.language in _BY_LANGUAGE:
        return _BY_LANGUAGE[document.language]
    if document.kind in _KEYED_KINDS and document.language in PARSERS:
        return "keys"
    if not document.language and document.uri.lower().endswith(_MARKDOWN_SUFFIXES):
        return "markdown"
    return "lines" if document.kind in _LINE_KINDS else "prose"


def _choose_for_code(document: Document) -> str:
    if document.language in PARSED_LANGUAGES or _is_python(document):
        return "definitions"
    return "lines"


def _is_parsed_as_code(document: Document) -> bool:
    """Return whether a document is code; a page with the marks of a template is cut as a page."""
    if document.kind == "view" and document.language in _BY_LANGUAGE:
        return False
    return is_code(document.kind) or _is_python(document)


def _is_python(document: Document) -> bool:
    if document.language:
        return document.language == "python"
    return document.uri.lower().endswith(_PYTHON_SUFFIXES)


@lru_cache(maxsize=64)
def _get_chunker(name: str, size: int | None, overlap: int | None) -> Chunker:
    """Return the chunker of these sizes; all documents share it."""
    chunk_size, chunk_overlap = resolve_sizes(name, size, overlap)
    if chunk_overlap is None:
        return _CHUNKERS[name](size=chunk_size)
    return _CHUNKERS[name](size=chunk_size, overlap=chunk_overlap)
