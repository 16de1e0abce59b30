"""All that the files of a project declare, by full name: what a name in any of them can lead to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Final

from ragstone.code.resolve.entities import (
    CLASSES,
    FAMILIES,
    FUNCTIONS,
    UPWARD,
    Entity,
    File,
    Function,
    Type,
    Written,
)
from ragstone.code.resolve.layout import Layout
from ragstone.types import Symbol
from ragstone.types.code import FileFacts

_PREFIXES: Final = dict.fromkeys(("constructor", "method"), "method") | dict.fromkeys(
    CLASSES, "class"
)
_FIELD_SIGNS: Final = ("$this->", "self.", "this.", "@")


class Index:
    """The declarations of a project. Made of the facts of all its files; files that change are given again."""

    def __init__(
        self, facts: Iterable[FileFacts], *, manifests: Mapping[str, str] | None = None
    ) -> None:
        """Take the facts of all files, and the texts of manifests by path, as far as there are any."""
        self.layout = Layout(manifests or {})
        self.files: dict[str, File] = {}
        self.names: dict[str, list[Entity]] = {}
        self.spaces: dict[str, list[File]] = {}
        for one in sorted(facts, key=lambda each: each.uri):
            self._take(one)
        for file in self.files.values():
            self._belong(file)
        for file in self.files.values():
            self._join(file)

    def entity(self, family: str, full: str) -> list[Entity]:
        """Return what has a full name."""
        return self.names.get(f"{family}:{full}", [])

    def has_space(self, family: str, name: str) -> bool:
        """Return whether there is a module, package or folder of this name, or one inside of it."""
        return f"{family}:{name}" in self.spaces

    def in_space(self, family: str, name: str) -> list[File]:
        """Return the files of a module, package or folder."""
        return self.spaces.get(f"{family}:{name}", [])

    def file(self, facts: FileFacts) -> File:
        """Return a file by facts that say of it to others what those in the index say; `ValueError` for any other."""
        known = self.files.get(facts.uri)
        if known is not None and known.facts is facts:
            return known
        if known is None or interface(known.facts) != interface(facts):
            raise ValueError(f"the index was made of other facts about {facts.uri}")
        _moved(known, facts)
        return known

    # ── taking files in ───────────────────────────────────────────────────────────────────────────

    def _take(self, facts: FileFacts) -> None:
        family = FAMILIES.get(facts.language, facts.language)
        file = File(facts, family, self.layout.space_of(family, facts))
        self.files[facts.uri] = file
        for space in self.layout.spaces_of(family, file.space, facts.uri):
            self.spaces.setdefault(f"{family}:{space}", []).append(file)
        for parent in self.layout.above(family, file.space):
            self.spaces.setdefault(f"{family}:{parent}", [])
        _imports(file)
        self._symbols(file)
        _bindings(file)
        for reference in facts.references:
            if reference.kind in UPWARD:
                owner = file.types.get(reference.inside)
                if owner is not None:
                    owner.ups.append(reference)

    def _symbols(self, file: File) -> None:
        for symbol in file.facts.symbols:
            prefix = _PREFIXES.get(symbol.kind, "function" if symbol.kind in FUNCTIONS else "")
            if not prefix:
                continue
            qualified = symbol.qualified
            if qualified in (file.types if prefix == "class" else file.functions):
                self._again(file, symbol)
                continue
            key = f"{prefix}:{_full_name(file, symbol)}"
            if qualified in file.keys:  # TypeScript has types and values of one name
                file.twins[qualified] = (key, symbol)
            else:
                file.keys[qualified] = key
                file.symbols[qualified] = symbol
            if symbol.parent in file.functions:
                file.inhabited.add(symbol.parent)
            # Functions of C stand in none: one that does was put there by what could not be read before it.
            full = (
                symbol.name if file.family == "c" and symbol.parent in file.functions else qualified
            )
            full = self.layout.join(file.family, file.space, full)
            found = self._declare(file, symbol, key, full=full)
            self.names.setdefault(f"{file.family}:{full}", []).append(found)

    def _declare(self, file: File, symbol: Symbol, key: str, *, full: str) -> Type | Function:
        if not key.startswith("class:"):
            file.functions[symbol.qualified] = function = Function(key, symbol, file)
            return function
        file.types[symbol.qualified] = found = Type(
            key, full, symbol.name, symbol.qualified, symbol.kind, file
        )
        if symbol.parent in file.types:
            file.types[symbol.parent].inner.setdefault(symbol.name, found)
        return found

    def _again(self, file: File, symbol: Symbol) -> None:
        """Let what has a body stand for what was announced before it, in C; else the first of a name counts."""
        known = file.functions.get(symbol.qualified)
        if file.family != "c" or known is None or known.symbol.line_end > known.symbol.line:
            return
        if symbol.line_end > symbol.line:
            known.symbol = file.symbols[symbol.qualified] = symbol

    def _belong(self, file: File) -> None:
        """Give types the members that stand in them, and let the parts of one type know each other."""
        for function in file.functions.values():
            owner = file.types.get(function.symbol.parent)
            if owner is not None and function.symbol.kind != "function":
                _given(owner, function)
        for one in list(file.types.values()):
            self._merge(one)

    def _join(self, file: File) -> None:
        """Give types the members that other files say belong to them: the types' own count before these."""
        for function in file.functions.values():
            parent = function.symbol.parent
            if not parent or function.owner is not None or function.symbol.kind == "function":
                continue
            found = self._elsewhere(file, parent)
            if found is not None:
                _given(found, function)
                file.types.setdefault(parent, found)

    def _elsewhere(self, file: File, parent: str) -> Type | None:
        """Return a type of another file that something here belongs to: of the same package, or as it is imported."""
        from ragstone.code.resolve.lookup import named

        found = named(self, file, parent, "")
        return found if isinstance(found, Type) else None

    def _merge(self, one: Type) -> None:
        """Let all parts of a type that is written in several places know of each other's members."""
        if one.file.family not in ("ruby", "csharp", "c", "swift", "php"):
            return
        first = next(
            (each for each in self.entity(one.file.family, one.full) if isinstance(each, Type)), one
        )
        if first is not one and first.full == one.full:
            for name, member in one.members.items():
                if first.members.setdefault(name, member).key != member.key:
                    first.doubtful.add(name)
            one.doubtful = first.doubtful
            first.ups += [up for up in one.ups if up not in first.ups]
            one.members = first.members
            one.ups = first.ups
            one.fields = {**one.fields, **first.fields}
            first.fields = one.fields


def _full_name(file: File, symbol: Symbol) -> str:
    """Return the name of a symbol in all of the project, as keys have it."""
    facts = file.facts
    nameless = symbol.kind in ("method", "constructor") and symbol.parent not in file.types
    if facts.language == "php" and not nameless:
        above = f"{facts.namespace}\\" if facts.namespace else ""
        return f"{above}{symbol.qualified.replace('.', '::')}"
    if facts.language == "python":
        return f"{facts.namespace}.{symbol.qualified}" if facts.namespace else symbol.qualified
    return f"{facts.uri}#{symbol.qualified}"


def interface(facts: FileFacts) -> str:
    """Return a hash of what other files can see of this one: while it stays, only this one is to be resolved again."""
    seen = blake2b(digest_size=16)
    classes = {one.qualified for one in facts.symbols if one.kind in CLASSES}
    rows: list[object] = [facts.uri, facts.language, facts.namespace]
    rows += [[one.qualified, one.kind, one.parent, one.signature] for one in facts.symbols]
    rows += [[one.name, one.alias, one.kind] for one in facts.imports]
    rows += [[one.kind, one.name, one.inside] for one in facts.references if one.kind in UPWARD]
    rows += [
        [one.inside, one.name, one.type]
        for one in facts.bindings
        if not one.inside or one.inside in classes
    ]
    seen.update(json.dumps(rows, ensure_ascii=True).encode())
    return seen.hexdigest()


def _given(owner: Type, function: Function) -> None:
    name = function.symbol.name.lower() if owner.file.family == "php" else function.symbol.name
    if owner.members.setdefault(name, function).key != function.key:
        owner.doubtful.add(name)
    function.owner = owner


def _moved(file: File, facts: FileFacts) -> None:
    """Let a file be what these facts say, which declare the same: symbols have moved, references and locals changed."""
    now = {id(old): new for old, new in zip(file.facts.symbols, facts.symbols, strict=True)}
    file.facts = facts
    file.symbols = {name: now[id(symbol)] for name, symbol in file.symbols.items()}
    file.twins = {name: (key, now[id(symbol)]) for name, (key, symbol) in file.twins.items()}
    for function in file.functions.values():
        function.symbol = now[id(function.symbol)]


def _imports(file: File) -> None:
    """Sort what a file takes from elsewhere: by the name it has here, functions apart where the language does so."""
    lower = file.family == "php"
    for one in file.facts.imports:
        alias = one.alias.lower() if lower else one.alias
        if one.kind == "all" or not alias:
            file.stars.append(one)
        elif lower and one.kind in ("function", "constant"):
            if one.kind == "function":
                file.function_imports[alias] = one
        else:
            file.imports[alias] = one


def _bindings(file: File) -> None:
    """Sort the names that have a type and are seen from other functions: fields of types, names of the module."""
    for one in file.facts.bindings:
        taken = file.imports.get(one.name)
        if taken is not None and taken.line == one.line:  # `const tools = require(…)` is an import
            continue
        if not one.inside:
            file.globals.setdefault(one.name, []).append(Written(one.type, file, ""))
        elif one.inside in file.types:
            name = one.name
            for sign in _FIELD_SIGNS:
                name = name.removeprefix(sign)
            file.types[one.inside].fields.setdefault(name, []).append(
                Written(one.type, file, one.inside)
            )
