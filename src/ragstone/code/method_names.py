"""Finds code by a name without a class or module, and code or files by the end of a full name."""

from __future__ import annotations

import re
from typing import Final

from ragstone.code.file_languages import language_of
from ragstone.protocols import GraphReader
from ragstone.types import Node, Scope

METHOD_KINDS: Final = ("method", "controller_method", "constructor")
_CLASS_ALIASES: Final = ("class", "short_class")
_CODE_ALIASES: Final = ("function", "short_function", "method", *_CLASS_ALIASES)
_PARENT_LINKS: Final = ("EXTENDS", "USES_TRAIT", "IMPLEMENTS")
_MAX_METHODS: Final = 20_000
_MAX_FILES: Final = 50_000
_SEPARATOR: Final = re.compile(r"[\\.:@#]")
_DOTTED: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)+")
"""A dotted name as code imports it: `package.module.Class.method`."""


def methods_named(graph: GraphReader, scope: Scope, name: str) -> list[Node]:
    """Return the methods of all classes with a name, ignoring case."""
    methods = graph.nodes(scope, kinds=METHOD_KINDS, limit=_MAX_METHODS)
    folded = name.casefold()
    return [node for node in methods if last_part(node.name).casefold() == folded]


def code_named(graph: GraphReader, scope: Scope, name: str) -> list[Node]:
    """Return the functions, classes and methods with a name; ignoring case only if none is spelt like it."""
    aliases = graph.find_aliases(scope, [name])
    keys = sorted({alias.key for alias in aliases if alias.kind in _CODE_ALIASES})
    nodes = graph.nodes(scope, keys=keys) if keys else []
    by_key = {node.key: node for node in (*nodes, *methods_named(graph, scope, name))}
    exact = [node for node in by_key.values() if last_part(node.name) == name]
    return exact or list(by_key.values())


def methods_of_class(graph: GraphReader, scope: Scope, owner: str, name: str) -> list[Node]:
    """Return the methods with a name of the classes called `owner`, or those that these classes inherit."""
    aliases = graph.find_aliases(scope, [owner])
    owners = {alias.key for alias in aliases if alias.kind in _CLASS_ALIASES}
    methods = methods_named(graph, scope, name)
    seen: set[str] = set()
    while owners:
        own = [node for node in methods if owner_key(node.key) in owners]
        if own:
            return own
        seen |= owners
        links = graph.links(scope, sorted(owners), kinds=_PARENT_LINKS)
        owners = {link.target for link in links} - seen
    return []


def owner_key(key: str) -> str:
    """Return the key of the class that a method belongs to: `class:a.B` for `method:a.B.c`."""
    name = key.partition(":")[2]
    owner = re.sub(r"(?:::|[.#])[^.:#]*$", "", name)
    return f"class:{owner}"


def last_part(name: str) -> str:
    """Return a name without its class or module."""
    return _SEPARATOR.split(name)[-1]


def nodes_imported_as(graph: GraphReader, scope: Scope, name: str) -> list[Node]:
    """Return the code whose full name ends with a dotted name, or the files of such a module.

    The full name begins with the folders above a package, which no import writes. A path with the suffix of a
    language is a file, also without the folders above it.
    """
    if language_of(name):
        return _files_with_ending(graph, scope, name)
    if not _DOTTED.fullmatch(name):
        return []
    return _code_with_ending(graph, scope, name) or _files_of_module(graph, scope, name)


def _code_with_ending(graph: GraphReader, scope: Scope, name: str) -> list[Node]:
    """Return the symbols whose full name ends with a dotted name."""
    parts = name.split(".")
    endings = [".".join(parts[start:]) for start in range(1, len(parts))]
    keys = {alias.key for alias in graph.find_aliases(scope, endings)}
    if not keys:
        return []
    nodes = graph.nodes(scope, keys=sorted(keys))
    return [node for node in nodes if _ends_with(node.key.partition(":")[2], name)]


def _files_with_ending(graph: GraphReader, scope: Scope, path: str) -> list[Node]:
    """Return the files whose path ends with these folders and names."""
    files = graph.nodes(scope, kinds=("file",), limit=_MAX_FILES)
    return [node for node in files if f"/{node.uri}".endswith(f"/{path}")]


def _files_of_module(graph: GraphReader, scope: Scope, name: str) -> list[Node]:
    """Return the files that a dotted name imports: `shop.retry` is `src/shop/retry.py`."""
    files = graph.nodes(scope, kinds=("file",), limit=_MAX_FILES)
    return [node for node in files if _ends_with(_module_of(node.uri), name)]


def _module_of(uri: str) -> str:
    """Return the dotted name of a file: `shop/api/__init__.py` is `shop.api`."""
    path = re.sub(r"\.\w+$", "", uri).removesuffix("/__init__")
    return path.replace("/", ".")


def _ends_with(full_name: str, name: str) -> bool:
    """Return whether a full name is this name, or ends with it after a dot."""
    return f".{full_name}".endswith(f".{name}")
