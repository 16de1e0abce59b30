"""The nodes of a file's symbols, and the names people write for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ragstone.code.resolve.entities import File
from ragstone.types import Alias, Node, Symbol

_METHODS: Final = {
    "php": ("@", "::", "."),
    "ruby": ("#", "::", "."),
    "rust": ("::", "."),
    "cpp": ("::", "."),
}
"""What people put between a class and its method, the language's own first."""


def nodes_of(file: File) -> tuple[Node, ...]:
    """Return the file itself and its types, functions and methods."""
    facts = file.facts
    found = [
        Node(
            f"file:{facts.uri}",
            "file",
            facts.uri.rpartition("/")[2],
            facts.uri,
            1,
            language=facts.language,
        )
    ]
    found += [
        Node(
            key,
            "method" if symbol.kind == "constructor" else symbol.kind,
            symbol.name,
            facts.uri,
            symbol.line,
            symbol.line_end,
            symbol.signature,
            symbol.doc,
            facts.language,
        )
        for key, symbol in _keyed(file)
    ]
    return tuple(found)


def aliases_of(file: File) -> tuple[Alias, ...]:
    """Return the other names of a file's symbols."""
    uri = file.facts.uri
    return tuple(
        Alias(name, key, kind, uri)
        for key, symbol in _keyed(file)
        for name, kind in _names(file, key, symbol)
    )


def _keyed(file: File) -> Iterator[tuple[str, Symbol]]:
    for qualified, symbol in file.symbols.items():
        yield file.keys[qualified], symbol
    yield from file.twins.values()


def _names(file: File, key: str, symbol: Symbol) -> Iterator[tuple[str, str]]:
    prefix, _, full = key.partition(":")
    facts = file.facts
    if facts.language not in ("php", "python"):
        full = (
            f"{facts.namespace}.{symbol.qualified}"
            if facts.namespace and facts.language != "go"
            else symbol.qualified
        )
    if prefix == "class":
        yield full, "class"
        if symbol.name != full:
            yield symbol.name, "short_class"
    elif prefix == "function":
        yield full, "function"
        if symbol.name != full:
            yield symbol.name, "short_function"
    elif symbol.parent and "#" not in full:
        yield from _methods(facts.language, full, symbol)


def _methods(language: str, full: str, symbol: Symbol) -> Iterator[tuple[str, str]]:
    owner = full[: -len(symbol.name)].rstrip(":.")
    short = symbol.parent.rpartition(".")[2]
    signs = _METHODS.get(language, (".",))
    for sign in signs if language != "php" else ("@", "::"):
        yield f"{owner}{sign}{symbol.name}", "method"
    if short != owner:
        for sign in signs:
            yield f"{short}{sign}{symbol.name}", "short_method"
