"""The nodes of a file's symbols, and the names that people write for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ragstone.code.resolve.entities import CodeFile
from ragstone.types import Alias, Json, Node, Symbol
from ragstone.types.graph import TYPE_KINDS

_METHOD_SEPARATORS: Final = {
    "php": ("@", "::", "."),
    "ruby": ("#", "::", "."),
    "rust": ("::", "."),
    "cpp": ("::", "."),
}
"""Signs that people write between a class and its method, the language's own sign first."""
_NAMESPACE_SIGNS: Final = {"cpp": "::", "ruby": "::", "rust": "::", "php": "\\"}
"""Signs that languages write between namespaces; others write a point."""
_QUALIFIED_KEYS: Final = ("php", "python")
"""Languages whose keys contain the full name, not the path of the file."""


def nodes_of(file: CodeFile) -> tuple[Node, ...]:
    """Return the nodes of a file and of its types, functions and methods."""
    facts = file.facts
    file_name = facts.uri.rpartition("/")[2]
    file_node = Node(
        f"file:{facts.uri}",
        "file",
        file_name,
        facts.uri,
        1,
        language=facts.language,
    )
    nodes = [file_node]
    for key, symbol in _symbols_by_key(file):
        kind = "method" if symbol.kind == "constructor" else symbol.kind
        node = Node(
            key,
            kind,
            symbol.name,
            facts.uri,
            symbol.line,
            symbol.line_end,
            symbol.signature,
            symbol.doc,
            facts.language,
            attributes=_namespace(file, symbol),
        )
        nodes.append(node)
    return tuple(nodes)


def _namespace(file: CodeFile, symbol: Symbol) -> dict[str, Json]:
    """Return the namespace of a type as an attribute; functions and methods have none of their own.

    It is that of the file, or the namespaces and modules around the type as the language writes them.
    """
    if symbol.kind not in TYPE_KINDS:
        return {}
    around = symbol.parent
    while around in file.symbols and file.symbols[around].kind in TYPE_KINDS:
        around = file.symbols[around].parent
    sign = _NAMESPACE_SIGNS.get(file.facts.language, ".")
    inner = around.replace(".", sign)
    namespace = sign.join(name for name in (file.facts.namespace, inner) if name)
    if not namespace:
        return {}
    return {"namespace": namespace}


def aliases_of(file: CodeFile) -> tuple[Alias, ...]:
    """Return the other names of a file's symbols."""
    aliases: list[Alias] = []
    for key, symbol in _symbols_by_key(file):
        for name, kind in _names(file, key, symbol):
            aliases.append(Alias(name, key, kind, file.uri))
    return tuple(aliases)


def _symbols_by_key(file: CodeFile) -> Iterator[tuple[str, Symbol]]:
    for qualified, symbol in file.symbols.items():
        yield file.keys[qualified], symbol
    yield from file.twins.values()


def _names(file: CodeFile, key: str, symbol: Symbol) -> Iterator[tuple[str, str]]:
    """Yield the names of a symbol, each with the kind of alias."""
    kind, _, full_name = key.partition(":")
    facts = file.facts
    if facts.language not in _QUALIFIED_KEYS:
        full_name = symbol.qualified
        if facts.namespace and facts.language != "go":
            full_name = f"{facts.namespace}.{symbol.qualified}"
    if kind in ("class", "function"):
        yield full_name, kind
        if symbol.name != full_name:
            yield symbol.name, f"short_{kind}"
    elif symbol.parent and "#" not in full_name:
        yield from _method_names(facts.language, full_name, symbol)


def _method_names(language: str, full_name: str, symbol: Symbol) -> Iterator[tuple[str, str]]:
    owner = full_name.removesuffix(symbol.name).rstrip(":.")
    short_owner = symbol.parent.rpartition(".")[2]
    separators = _METHOD_SEPARATORS.get(language, (".",))
    full_separators = ("@", "::") if language == "php" else separators
    for separator in full_separators:
        yield f"{owner}{separator}{symbol.name}", "method"
    if short_owner != owner:
        for separator in separators:
            yield f"{short_owner}{separator}{symbol.name}", "short_method"
