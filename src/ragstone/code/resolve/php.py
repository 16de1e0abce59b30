"""Finds names in PHP files."""

from __future__ import annotations

from typing import Final

from ragstone.code.resolve.entities import (
    BUILT_IN,
    OUTSIDE,
    CodeFile,
    Entity,
    FunctionEntity,
    NoMatch,
)
from ragstone.code.resolve.same_names import choose_definition

_BUILT_IN_TYPES: Final = frozenset(
    "string int float bool array object mixed void null callable iterable never false true self static parent".split()
)


def find_php_class(file: CodeFile, written: str, _inside: str) -> Entity | NoMatch:
    """Return the target of a class name, by the file's imports and namespace."""
    lower = written.lower()
    if lower in _BUILT_IN_TYPES:
        return BUILT_IN
    definitions = file.index.definitions("php", _full_name(file, lower))
    return choose_definition(definitions, written, "php")


def find_php_function(file: CodeFile, written: str) -> Entity | NoMatch:
    """Return the target of a function name: imported, in the namespace, or global."""
    lower = written.lower()
    imported = file.function_imports.get(lower)
    if imported is not None:
        full_names = [imported.name.lower()]
    elif "\\" in lower:
        full_names = [_full_name(file, lower)]
    else:
        full_names = [f"{file.namespace}\\{lower}".lstrip("\\"), lower]
    for full_name in full_names:
        definitions = file.index.definitions("php", full_name)
        functions = [each for each in definitions if isinstance(each, FunctionEntity)]
        if functions:
            return choose_definition(functions, written, "php")
    return OUTSIDE


def _full_name(file: CodeFile, lower: str) -> str:
    if lower.startswith("\\"):
        return lower[1:]
    head, backslash, rest = lower.partition("\\")
    if head == "namespace" and backslash:
        return f"{file.namespace}\\{rest}".lstrip("\\")
    imported = file.imports.get(head)
    if imported is not None:
        return imported.name.lower() + backslash + rest
    return f"{file.namespace}\\{lower}" if file.namespace else lower
