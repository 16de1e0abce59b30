"""Finds names in Rust files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ragstone.code.resolve.entities import (
    OUTSIDE,
    CodeFile,
    Entity,
    Namespace,
    NoMatch,
    TypeEntity,
)
from ragstone.code.resolve.local_names import SearchedPlaces, find_local
from ragstone.code.resolve.paths import follow_path

_MAX_PARTS: Final = 12
"""Parts of a path; imports that refer to each other can make it grow."""


def find_rust_name(file: CodeFile, written: str, inside: str) -> Entity | NoMatch:
    """Return the target of a path."""
    parts = written.replace(".", "::").strip(":").split("::")
    if parts[0] == "Self":
        own = file.enclosing_type(inside)
        return OUTSIDE if own is None else _find_in_types(own, parts[1:])
    return _find_path(file, parts, inside, SearchedPlaces())


def find_in_rust_module(file: CodeFile, module: Namespace, name: str) -> Entity | NoMatch:
    """Return the target of a name in a module."""
    return _find_in_module(file, module.name, [name], SearchedPlaces())


def _find_path(
    file: CodeFile,
    parts: Sequence[str],
    inside: str,
    searched: SearchedPlaces,
) -> Entity | NoMatch:
    if len(parts) > _MAX_PARTS or not searched.add(file.uri, "::", *parts):
        return OUTSIDE
    head, rest = parts[0], parts[1:]
    if head in ("crate", "self", "super"):
        return _find_relative_path(file, parts, searched)
    local = find_local(file, head, inside)
    if local is not None:
        return _find_in_types(local, rest)
    imported = file.imports.get(head)
    if imported is not None and imported.name != head:
        full_path = [*imported.name.split("::"), *rest]
        return _find_path(file, full_path, "", searched)
    submodule = f"{file.namespace}::{head}"
    if file.index.has_namespace("rust", submodule):
        return _find_in_module(file, submodule, rest, searched)
    crate = file.index.layout.crate_root(head)
    if crate is not None:
        return _find_in_module(file, crate, rest, searched)
    return _find_in_star_imports(file, parts, searched) or OUTSIDE


def _find_relative_path(
    file: CodeFile, parts: Sequence[str], searched: SearchedPlaces
) -> Entity | NoMatch:
    """Return the target of a path that starts with `crate`, `self` or `super`."""
    module = file.namespace
    if parts[0] == "crate":
        module = f"{module.partition('!')[0]}!"
    rest = list(parts)
    if rest[0] != "super":
        rest.pop(0)
    while rest and rest[0] == "super":
        rest.pop(0)
        if "::" in module:
            module = module.rpartition("::")[0]
    return _find_in_module(file, module, rest, searched)


def _find_in_star_imports(
    file: CodeFile, parts: Sequence[str], searched: SearchedPlaces
) -> Entity | None:
    has_inline_module = any(definition.kind == "module" for definition in file.types.values())
    for imported in file.star_imports:
        path = imported.name.split("::")
        if path == ["super"] and has_inline_module:
            continue  # It is in the inline module and imports this file's own names.
        if path[0] == parts[0]:
            continue
        target = _find_path(file, [*path, *parts], "", searched)
        if not isinstance(target, NoMatch):
            return target
    return None


def _find_in_module(
    file: CodeFile, module: str, parts: Sequence[str], searched: SearchedPlaces
) -> Entity | NoMatch:
    """Return the target of a path inside a module."""
    if not parts:
        return Namespace(module)
    if not searched.add(module, *parts):
        return OUTSIDE
    head, rest = parts[0], parts[1:]
    full_name = f"{module}::{head}"
    definitions = file.index.definitions("rust", full_name)
    if definitions:
        return _find_in_types(definitions[0], rest)
    if file.index.has_namespace("rust", full_name):
        return _find_in_module(file, full_name, rest, searched)
    for module_file in file.index.files_in("rust", module):
        imported = module_file.imports.get(head)
        if imported is not None:
            full_path = [*imported.name.split("::"), *rest]
            return _find_path(module_file, full_path, "", searched)
        target = _find_in_star_imports(module_file, parts, searched)
        if target is not None:
            return target
    return OUTSIDE


def _find_in_types(start: Entity | NoMatch, names: Sequence[str]) -> Entity | NoMatch:
    """Return the target of names that are each inside a type."""
    target = start
    for name in names:
        if not isinstance(target, TypeEntity):
            return OUTSIDE
        target = follow_path(target.file, target, [name], find_in_rust_module)
    return target
