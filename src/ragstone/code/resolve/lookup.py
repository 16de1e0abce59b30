"""Finds the target of a name at a place in a file, by the rules of the file's language."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ragstone.code.resolve.entities import OUTSIDE, CodeFile, Entity, NoMatch
from ragstone.code.resolve.javascript import (
    find_script_export,
    find_script_import,
    find_script_name,
)
from ragstone.code.resolve.packages import (
    find_go_name,
    find_in_package,
    find_packaged_name,
    find_ruby_name,
    find_unique_name,
)
from ragstone.code.resolve.paths import FindInNamespace, follow_path
from ragstone.code.resolve.php import find_php_class, find_php_function
from ragstone.code.resolve.python import (
    find_in_python_module,
    find_python_import,
    find_python_name,
)
from ragstone.code.resolve.rust import find_in_rust_module, find_rust_name
from ragstone.types.code import Import

_NAME_FINDERS: Final[dict[str, Callable[[CodeFile, str, str], Entity | NoMatch]]] = {
    "php": find_php_class,
    "python": find_python_name,
    "script": find_script_name,
    "jvm": find_packaged_name,
    "csharp": find_packaged_name,
    "go": find_go_name,
    "rust": find_rust_name,
    "ruby": find_ruby_name,
}
_NAMESPACE_FINDERS: Final[dict[str, FindInNamespace]] = {
    "python": find_in_python_module,
    "rust": find_in_rust_module,
    "script": find_script_export,
}
_UNNESTED_FAMILIES: Final = ("php", "go")


def find_name(file: CodeFile, written: str, inside: str) -> Entity | NoMatch:
    """Return the target of a name at a place in a file, or the reason why it has none."""
    scope = "" if file.family in _UNNESTED_FAMILIES else _lookup_scope(file, inside)
    place = (scope, written)
    target = file.name_cache.get(place)
    if target is None:
        file.name_cache[place] = OUTSIDE  # the answer if the name refers to itself
        finder = _NAME_FINDERS.get(file.family, find_unique_name)
        target = file.name_cache[place] = finder(file, written, scope)
    return target


def find_function(file: CodeFile, name: str, inside: str) -> Entity | NoMatch:
    """Return the target of a call without a receiver."""
    if file.family == "php":  # PHP separates the names of functions and classes.
        return find_php_function(file, name)
    return find_name(file, name, inside)


def find_import(file: CodeFile, imported: Import) -> Entity | NoMatch:
    """Return the target of an import of Python or a script."""
    if file.family == "python":
        return find_python_import(file, imported)
    if file.family == "script":
        return find_script_import(file, imported)
    return OUTSIDE


def find_inside(file: CodeFile, container: Entity | NoMatch, name: str) -> Entity | NoMatch:
    """Return the target of a name inside a namespace or a type."""
    find_in_namespace = _NAMESPACE_FINDERS.get(file.family, find_in_package)
    return follow_path(file, container, [name], find_in_namespace)


def _lookup_scope(file: CodeFile, inside: str) -> str:
    """Return the innermost type or function that contains symbols: all code inside it sees the same names."""
    for name in file.scopes(inside):
        if name in file.types or name in file.functions_with_symbols:
            return name
    return ""
