"""The index of a project: all declarations of its files by full name."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Final

from ragstone.code.resolve.entities import (
    CLASSES,
    FAMILIES,
    FUNCTIONS,
    PARENT_LINKS,
    SPLIT_TYPE_FAMILIES,
    CodeFile,
    Definition,
    FunctionEntity,
    TypeEntity,
    WrittenType,
)
from ragstone.code.resolve.lookup import find_name
from ragstone.code.resolve.module_names import ModuleLayout
from ragstone.types import Symbol
from ragstone.types.code import FileFacts

_KEY_PREFIXES: Final = {
    **dict.fromkeys(FUNCTIONS, "function"),
    **dict.fromkeys(("constructor", "method"), "method"),
    **dict.fromkeys(CLASSES, "class"),
}
_FIELD_PREFIXES: Final = ("$this->", "self.", "this.", "@")


class ProjectIndex:
    """The declarations of a project, built from the facts of all its files."""

    def __init__(
        self, facts: Iterable[FileFacts], *, manifests: Mapping[str, str] | None = None
    ) -> None:
        """Index the facts of all files; `manifests` are the texts of manifest files by path."""
        self.layout = ModuleLayout(manifests or {})
        self.files: dict[str, CodeFile] = {}
        self._definitions: dict[str, list[Definition]] = {}
        self._namespaces: dict[str, list[CodeFile]] = {}
        for file_facts in sorted(facts, key=lambda each: each.uri):
            self._add_file(file_facts)
        for file in self.files.values():
            self._assign_members(file)
        for file in self.files.values():
            self._assign_members_to_other_files(file)

    def definitions(self, family: str, full_name: str) -> list[Definition]:
        """Return the types and functions with a full name."""
        return self._definitions.get(f"{family}:{full_name}", [])

    def has_namespace(self, family: str, name: str) -> bool:
        """Return whether a module, package or folder has this name, or contains one."""
        return f"{family}:{name}" in self._namespaces

    def files_in(self, family: str, namespace: str) -> list[CodeFile]:
        """Return the files of a module, package or folder."""
        return self._namespaces.get(f"{family}:{namespace}", [])

    def file(self, facts: FileFacts) -> CodeFile:
        """Return the indexed file of these facts.

        The facts may be newer than the index if their interface is the same; otherwise `ValueError`.
        """
        file = self.files.get(facts.uri)
        if file is not None and file.facts is facts:
            return file
        if file is None or interface(file.facts) != interface(facts):
            raise ValueError(f"the index was made of other facts about {facts.uri}")
        _replace_facts(file, facts)
        return file

    # ── building ──────────────────────────────────────────────────────────────────────────────────

    def _add_file(self, facts: FileFacts) -> None:
        family = FAMILIES.get(facts.language, facts.language)
        file = CodeFile(self, facts, family, self.layout.namespace_of(family, facts))
        self.files[facts.uri] = file
        for name in self.layout.import_names(family, file.namespace, facts.uri):
            self._namespaces.setdefault(f"{family}:{name}", []).append(file)
        for parent in self.layout.namespaces_above(family, file.namespace):
            self._namespaces.setdefault(f"{family}:{parent}", [])
        _add_imports(file)
        for symbol in facts.symbols:
            if symbol.kind in _KEY_PREFIXES:
                self._add_symbol(file, symbol)
        _add_bindings(file)
        for reference in facts.references:
            owner = file.types.get(reference.inside)
            if owner is not None and reference.kind in PARENT_LINKS:
                owner.parent_references.append(reference)

    def _add_symbol(self, file: CodeFile, symbol: Symbol) -> None:
        prefix = _KEY_PREFIXES[symbol.kind]
        qualified = symbol.qualified
        if prefix == "class":
            is_known = qualified in file.types
        else:
            is_known = qualified in file.functions
        if is_known:
            _prefer_definition(file, symbol)
            return
        key = f"{prefix}:{_key_name(file, symbol)}"
        if qualified in file.keys:  # TypeScript: a type and a value can share a name
            file.twins[qualified] = (key, symbol)
        else:
            file.keys[qualified] = key
            file.symbols[qualified] = symbol
        in_function = symbol.parent in file.functions
        if in_function:
            file.functions_with_symbols.add(symbol.parent)
        # C has no nested functions: a nested one follows code that the grammar could not parse.
        local_name = symbol.name if in_function and file.family == "c" else qualified
        full_name = self.layout.join_name(file.family, file.namespace, local_name)
        definition: Definition
        if prefix == "class":
            definition = _add_type(file, symbol, key, full_name)
        else:
            definition = file.functions[qualified] = FunctionEntity(key, symbol, file)
        self._definitions.setdefault(f"{file.family}:{full_name}", []).append(definition)

    def _assign_members(self, file: CodeFile) -> None:
        """Add the methods of a file to their types, and merge types with several definitions."""
        for function in file.functions.values():
            owner = file.types.get(function.symbol.parent)
            if owner is not None and function.is_method:
                _add_member(owner, function)
        if file.family in SPLIT_TYPE_FAMILIES:
            for definition in file.types.values():
                self._merge_definitions(definition)

    def _assign_members_to_other_files(self, file: CodeFile) -> None:
        """Add methods to types of other files. These come second: own members of a type win."""
        for function in file.functions.values():
            parent = function.symbol.parent
            if not parent or function.owner is not None or not function.is_method:
                continue
            owner = find_name(file, parent, "")
            if isinstance(owner, TypeEntity):
                _add_member(owner, function)
                file.types.setdefault(parent, owner)

    def _merge_definitions(self, definition: TypeEntity) -> None:
        """Share members, parents and fields with the first definition of the same type."""
        same_name = self.definitions(definition.file.family, definition.full_name)
        types = [each for each in same_name if isinstance(each, TypeEntity)]
        first = types[0] if types else definition
        if first is definition:
            return
        for name, member in definition.members.items():
            if first.members.setdefault(name, member).key != member.key:
                first.ambiguous_members.add(name)
        for reference in definition.parent_references:
            if reference not in first.parent_references:
                first.parent_references.append(reference)
        first.fields = {**definition.fields, **first.fields}
        definition.members = first.members
        definition.ambiguous_members = first.ambiguous_members
        definition.parent_references = first.parent_references
        definition.fields = first.fields


def interface(facts: FileFacts) -> str:
    """Return a hash of all facts that other files can see. If it stays the same, only this file is resolved again."""
    classes = {symbol.qualified for symbol in facts.symbols if symbol.kind in CLASSES}
    rows: list[object] = [facts.uri, facts.language, facts.namespace]
    for symbol in facts.symbols:
        rows.append([symbol.qualified, symbol.kind, symbol.parent, symbol.signature])
    for imported in facts.imports:
        rows.append([imported.name, imported.alias, imported.kind])
    for reference in facts.references:
        if reference.kind in PARENT_LINKS:
            rows.append([reference.kind, reference.name, reference.inside])
    for binding in facts.bindings:
        if not binding.inside or binding.inside in classes:
            rows.append([binding.inside, binding.name, binding.type])
    digest = blake2b(json.dumps(rows, ensure_ascii=True).encode(), digest_size=16)
    return digest.hexdigest()


def _key_name(file: CodeFile, symbol: Symbol) -> str:
    """Return the name of a symbol in its key, unique in the project."""
    facts = file.facts
    is_member = symbol.kind in ("method", "constructor")
    is_anonymous = is_member and symbol.parent not in file.types
    if facts.language == "php" and not is_anonymous:
        prefix = f"{facts.namespace}\\" if facts.namespace else ""
        return prefix + symbol.qualified.replace(".", "::")
    if facts.language == "python":
        prefix = f"{facts.namespace}." if facts.namespace else ""
        return prefix + symbol.qualified
    return f"{facts.uri}#{symbol.qualified}"


def _add_type(file: CodeFile, symbol: Symbol, key: str, full_name: str) -> TypeEntity:
    definition = TypeEntity(key, full_name, symbol.name, symbol.qualified, symbol.kind, file)
    file.types[symbol.qualified] = definition
    if symbol.parent in file.types:
        file.types[symbol.parent].inner.setdefault(symbol.name, definition)
    return definition


def _add_member(owner: TypeEntity, function: FunctionEntity) -> None:
    name = function.symbol.name
    if owner.file.family == "php":
        name = name.lower()
    if owner.members.setdefault(name, function).key != function.key:
        owner.ambiguous_members.add(name)
    function.owner = owner


def _prefer_definition(file: CodeFile, symbol: Symbol) -> None:
    """In C, replace a prototype by the definition; in other languages the first symbol of a name stays."""
    function = file.functions.get(symbol.qualified)
    if file.family != "c" or function is None:
        return
    is_prototype = function.symbol.line_end <= function.symbol.line
    if is_prototype and symbol.line_end > symbol.line:
        function.symbol = file.symbols[symbol.qualified] = symbol


def _replace_facts(file: CodeFile, facts: FileFacts) -> None:
    """Update a file to facts with the same interface: lines, references and local names may differ."""
    pairs = zip(file.facts.symbols, facts.symbols, strict=True)
    new_symbols = {id(old): new for old, new in pairs}
    file.facts = facts
    for name, symbol in file.symbols.items():
        file.symbols[name] = new_symbols[id(symbol)]
    for name, (key, symbol) in file.twins.items():
        file.twins[name] = (key, new_symbols[id(symbol)])
    for function in file.functions.values():
        function.symbol = new_symbols[id(function.symbol)]


def _add_imports(file: CodeFile) -> None:
    """Sort the imports by alias; PHP imports functions and constants separately."""
    is_php = file.family == "php"
    for imported in file.facts.imports:
        alias = imported.alias.lower() if is_php else imported.alias
        if imported.kind == "all" or not alias:
            file.star_imports.append(imported)
        elif is_php and imported.kind == "function":
            file.function_imports[alias] = imported
        elif not is_php or imported.kind != "constant":
            file.imports[alias] = imported


def _add_bindings(file: CodeFile) -> None:
    """Sort the typed names that other functions can see: fields of types and globals."""
    for binding in file.facts.bindings:
        imported = file.imports.get(binding.name)
        if imported is not None and imported.line == binding.line:
            continue  # `const tools = require(…)` is an import
        written = WrittenType(binding.type, file, binding.inside)
        if not binding.inside:
            file.globals.setdefault(binding.name, []).append(written)
        elif binding.inside in file.types:
            name = binding.name
            for prefix in _FIELD_PREFIXES:
                name = name.removeprefix(prefix)
            file.types[binding.inside].fields.setdefault(name, []).append(written)
