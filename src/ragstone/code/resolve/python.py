"""Finds names in Python files."""

from __future__ import annotations

import builtins
import sys
from typing import Final

from ragstone.code.resolve.entities import (
    BUILT_IN,
    OUTSIDE,
    CodeFile,
    Entity,
    Namespace,
    NoMatch,
)
from ragstone.code.resolve.local_names import SearchedPlaces, find_at_top, find_local
from ragstone.code.resolve.paths import follow_path
from ragstone.types.code import Import

_BUILT_IN_NAMES: Final = frozenset(dir(builtins))


def find_python_name(file: CodeFile, written: str, inside: str) -> Entity | NoMatch:
    """Return the target of a dotted name."""
    head, *rest = written.split(".")
    target = _find_head(file, head, inside)
    return follow_path(file, target, rest, find_in_python_module)


def find_python_import(file: CodeFile, imported: Import) -> Entity | NoMatch:
    """Return the target of an import."""
    return _find_import(file, imported, SearchedPlaces())


def find_in_python_module(file: CodeFile, module: Namespace, name: str) -> Entity | NoMatch:
    """Return the target of a name in a module."""
    return _find_in_module(file, module.name, name, SearchedPlaces())


def _find_head(file: CodeFile, head: str, inside: str) -> Entity | NoMatch:
    local = find_local(file, head, inside)
    if local is not None:
        return local
    imported = file.imports.get(head)
    if imported is not None:
        return find_python_import(file, imported)
    if file.may_import(head):  # `import a.b` binds `a`
        return _find_module(file, head) or OUTSIDE
    target = _find_in_star_imports(file, head, SearchedPlaces())
    if target is not None:
        return target
    return BUILT_IN if head in _BUILT_IN_NAMES else OUTSIDE


def _find_import(
    file: CodeFile, imported: Import, searched: SearchedPlaces
) -> Entity | NoMatch:
    if imported.kind != "module":
        module_name, _, name = imported.name.rpartition(".")
        module = _find_module(file, module_name) if module_name else None
        if module is not None:
            return _find_in_module(file, module.name, name, searched)
    return _find_module(file, imported.name) or OUTSIDE


def _find_in_module(
    file: CodeFile, module: str, name: str, searched: SearchedPlaces
) -> Entity | NoMatch:
    """Return a name that a module defines or imports, or a module inside it."""
    if not searched.add(module, name):
        return OUTSIDE
    for module_file in file.index.files_in("python", module):
        definition = find_at_top(module_file, name)
        if definition is not None:
            return definition
        imported = module_file.imports.get(name)
        if imported is not None:
            target = _find_import(module_file, imported, searched)
            if not isinstance(target, NoMatch):
                return target
        starred = _find_in_star_imports(module_file, name, searched)
        if starred is not None:
            return starred
    full_name = f"{module}.{name}" if module else name
    return Namespace(full_name) if file.index.has_namespace("python", full_name) else OUTSIDE


def _find_in_star_imports(file: CodeFile, name: str, searched: SearchedPlaces) -> Entity | None:
    for imported in file.star_imports:
        module = _find_module(file, imported.name)
        if module is None:
            continue
        target = _find_in_module(file, module.name, name, searched)
        if not isinstance(target, NoMatch):
            return target
    return None


def _find_module(file: CodeFile, name: str) -> Namespace | None:
    """Return the module of a name: its full name, or a name relative to a folder that is no package."""
    if file.index.has_namespace("python", name):
        return Namespace(name)
    if name.partition(".")[0] in sys.stdlib_module_names:
        return None
    roots: dict[str, str] = {}
    for module in file.index.files_in("python", f"?{name}"):
        root = _import_root(module.uri, name)
        if f"{root}/__init__.py" not in file.index.files:
            roots[module.namespace] = root
    if len(roots) > 1:
        folder = file.uri.rpartition("/")[0]
        roots = {module: root for module, root in roots.items() if folder.startswith(root)}
    return Namespace(next(iter(roots))) if len(roots) == 1 else None


def _import_root(uri: str, name: str) -> str:
    """Return the folder that a module name is relative to."""
    path = uri.rpartition(".")[0].removesuffix("/__init__")
    return path[: len(path) - len(name)].rstrip("/")
