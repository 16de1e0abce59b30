"""Finds names in JavaScript and TypeScript files."""

from __future__ import annotations

from ragstone.code.resolve.entities import OUTSIDE, CodeFile, Entity, Namespace, NoMatch
from ragstone.code.resolve.local_names import SearchedPlaces, find_at_top, find_local
from ragstone.code.resolve.paths import follow_path
from ragstone.types.code import Import


def find_script_name(file: CodeFile, written: str, inside: str) -> Entity | NoMatch:
    """Return the target of a dotted name: a definition around it, or an import."""
    head, *rest = written.split(".")
    target = find_local(file, head, inside)
    if target is None:
        imported = file.imports.get(head)
        target = OUTSIDE if imported is None else find_script_import(file, imported)
    return follow_path(file, target, rest, find_script_export)


def find_script_import(file: CodeFile, imported: Import) -> Entity | NoMatch:
    """Return the target of an import."""
    return _find_import(file, imported, SearchedPlaces())


def find_script_export(file: CodeFile, module: Namespace, name: str) -> Entity | NoMatch:
    """Return the target of a name that a module exports."""
    return _find_export(file, module.name, name, SearchedPlaces())


def _find_import(
    file: CodeFile, imported: Import, searched: SearchedPlaces
) -> Entity | NoMatch:
    module, _, name = imported.name.partition("#")
    uri = file.index.layout.script_file(file.index.files, file.uri, module)
    if uri is None:
        return OUTSIDE
    if imported.kind in ("module", "all") or name in ("", "*"):
        return Namespace(uri)
    if imported.kind == "default":
        name = "default"
    return _find_export(file, uri, name, searched)


def _find_export(
    file: CodeFile, uri: str, name: str, searched: SearchedPlaces
) -> Entity | NoMatch:
    """Return the target of a name that the module at `uri` exports."""
    index = file.index
    module = index.files.get(uri)
    if module is None or not searched.add(uri, name):
        return OUTSIDE
    definition = (
        _find_default_export(module) if name == "default" else find_at_top(module, name)
    )
    if definition is not None:
        return definition
    imported = module.imports.get(name)
    if imported is not None:
        return _find_import(module, imported, searched)
    for star in module.star_imports:
        star_uri = index.layout.script_file(index.files, uri, star.name.partition("#")[0])
        if star_uri is None:
            continue
        target = _find_export(module, star_uri, name, searched)
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
