"""Finds names in JavaScript and TypeScript files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.code.resolve.entities import OUTSIDE, CodeFile, Entity, Namespace, NoMatch
from ragstone.code.resolve.local_names import SearchedPlaces, find_at_top, find_local
from ragstone.code.resolve.paths import follow_path
from ragstone.types.code import Import

if TYPE_CHECKING:
    from ragstone.code.resolve.index import ProjectIndex


def find_script_name(
    index: ProjectIndex, file: CodeFile, written: str, inside: str
) -> Entity | NoMatch:
    """Return the target of a dotted name: a definition around it, or an import."""
    head, *rest = written.split(".")
    target = find_local(file, head, inside)
    if target is None:
        imported = file.imports.get(head)
        target = OUTSIDE if imported is None else find_script_import(index, file, imported)
    return follow_path(index, file, target, rest, find_script_export)


def find_script_import(index: ProjectIndex, file: CodeFile, imported: Import) -> Entity | NoMatch:
    """Return the target of an import."""
    return _find_import(index, file, imported, SearchedPlaces())


def find_script_export(
    index: ProjectIndex, _file: CodeFile, module: Namespace, name: str
) -> Entity | NoMatch:
    """Return the target of a name that a module exports."""
    return _find_export(index, module.name, name, SearchedPlaces())


def _find_import(
    index: ProjectIndex, file: CodeFile, imported: Import, searched: SearchedPlaces
) -> Entity | NoMatch:
    module, _, name = imported.name.partition("#")
    uri = index.layout.script_file(index.files, file.uri, module)
    if uri is None:
        return OUTSIDE
    if imported.kind in ("module", "all") or name in ("", "*"):
        return Namespace(uri)
    if imported.kind == "default":
        name = "default"
    return _find_export(index, uri, name, searched)


def _find_export(
    index: ProjectIndex, uri: str, name: str, searched: SearchedPlaces
) -> Entity | NoMatch:
    file = index.files.get(uri)
    if file is None or not searched.add(uri, name):
        return OUTSIDE
    definition = _find_default_export(file) if name == "default" else find_at_top(file, name)
    if definition is not None:
        return definition
    imported = file.imports.get(name)
    if imported is not None:
        return _find_import(index, file, imported, searched)
    for star in file.star_imports:
        module = index.layout.script_file(index.files, uri, star.name.partition("#")[0])
        if module is None:
            continue
        target = _find_export(index, module, name, searched)
        if not isinstance(target, NoMatch):
            return target
    return OUTSIDE


def _find_default_export(file: CodeFile) -> Entity | None:
    names = [
        qualified
        for qualified, symbol in file.symbols.items()
        if not symbol.parent and symbol.signature.startswith("export default")
    ]
    return file.definition(names[0]) if len(names) == 1 else None
