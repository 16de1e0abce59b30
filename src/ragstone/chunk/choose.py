"""Which chunker a document gets: by its kind, its language and its name, or as the settings say."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from ragstone.chunk.code import Python
from ragstone.chunk.definitions import Definitions
from ragstone.chunk.keys import SPLITS, Keys
from ragstone.chunk.lines import Lines
from ragstone.chunk.markdown import Markdown
from ragstone.chunk.marked import Marked
from ragstone.chunk.openapi import OpenApi
from ragstone.chunk.rows import Rows
from ragstone.chunk.text import Chars, Prose, Sentences, Tokens
from ragstone.errors import InputError
from ragstone.protocols import Chunker
from ragstone.types import Document

NAMES: Final = ("auto", "chars", "sentences", "tokens", "markdown", "code", "prose", "lines")

_OVERLAPPING: Final[dict[str, Callable[..., Chunker]]] = {
    "chars": Chars,
    "sentences": Sentences,
    "tokens": Tokens,
    "markdown": Markdown,
    "marked": Marked,
    "prose": Prose,
}
_PLAIN: Final[dict[str, Callable[..., Chunker]]] = {
    "python": Python,
    "definitions": Definitions,
    "lines": Lines,
    "rows": Rows,
    "keys": Keys,
    "openapi": OpenApi,
}
_SEVERAL: Final = {
    "auto": ("python", "definitions", "markdown", "marked", "rows", "keys", "openapi", "lines", "prose"),
    "code": ("python", "definitions", "lines"),
}
_DEFAULT_OVERLAP: Final = {"chars": 200, "sentences": 200, "tokens": 64, "markdown": 0, "marked": 0, "prose": 0}
"""Sections and paragraphs stand alone: overlap there would only repeat what is found anyway."""
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
        return _made(chosen, size, overlap if chosen in _OVERLAPPING else None)
    if name == "code":
        name = _by_code(document)
    if overlap and name in _PLAIN:
        raise InputError(
            f"The chunker for {name} knows no overlap.", hint="leave the overlap out, or use auto, tokens or prose"
        )
    return _made(name, size, overlap)


def recipe(name: str = "auto", size: int | None = None, overlap: int | None = None) -> str:
    """Return what names these settings for all documents: another one means cutting again."""
    check_name(name)
    chosen = _SEVERAL.get(name, (name,))
    made = (_made(each, size, overlap if each in _OVERLAPPING else None) for each in chosen)
    return f"{name}:" + ",".join(chunker.recipe for chunker in made)


def check_name(name: str) -> None:
    """Raise `InputError` where there is no chunker of that name."""
    if name not in NAMES:
        raise InputError(f"There is no chunker named {name!r}.", hint=f"known are {', '.join(NAMES)}")


def _by_type(document: Document) -> str:
    if document.kind in _BY_KIND:
        return _BY_KIND[document.kind]
    if _is_python(document) or (document.kind == "code" and document.language in CUT_BY_SYMBOLS):
        return _by_code(document)
    if document.language in _BY_LANGUAGE:
        return _BY_LANGUAGE[document.language]
    if document.kind in _KEYED_KINDS and document.language in SPLITS:
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
    return name in _SEVERAL and document.kind == "code" and _by_code(document) == "definitions"


def _is_python(document: Document) -> bool:
    if document.language:
        return document.language == "python"
    return document.uri.lower().endswith(_PYTHON_SUFFIXES)


@lru_cache(maxsize=64)
def _made(name: str, size: int | None, overlap: int | None) -> Chunker:
    """Return the chunker of these sizes, the same one for all documents."""
    sizes = {} if size is None else {"size": size}
    if name in _PLAIN:
        return _PLAIN[name](**sizes)
    if overlap is None:
        overlap = _DEFAULT_OVERLAP[name]
        if size is not None:  # an overlap nobody asked for never forbids a size
            overlap = min(overlap, max(size, 0) // 5)
    return _OVERLAPPING[name](overlap=overlap, **sizes)
