"""Lookup of the project's classes, members and functions, along inheritance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from ragstone_code.program_tree import Class, Expr, Function, Property
from ragstone_code.project_files import World

LocatedClass: TypeAlias = tuple[str, Class]
LocatedFunction: TypeAlias = tuple[str, Function]


class Lookup:
    """Finds definitions by full name. Anonymous classes are added when the evaluator reaches them."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._declared: dict[str, LocatedClass] = {}
        self._functions: dict[str, LocatedFunction] | None = None

    def declare(self, uri: str, definition: Class) -> None:
        """Add a class that the evaluator has just reached."""
        self._declared[definition.name.lower()] = (uri, definition)

    def of_class(self, name: str) -> LocatedClass | None:
        """Return the file and the definition of a class."""
        return self._declared.get(name.lower().lstrip("\\")) or self._world.of_class(name)

    def lineage(self, name: str) -> Iterator[LocatedClass]:
        """Yield a class, its traits and its parents, nearest first."""
        pending = [name]
        seen: set[str] = set()
        while pending:
            current = pending.pop(0)
            if current.lower() in seen:
                continue
            seen.add(current.lower())
            located = self.of_class(current)
            if located:
                yield located
                definition = located[1]
                traits = [trait for trait, _ in definition.traits]
                pending = [*traits, *pending, *definition.extends]

    def ancestors(self, name: str) -> Iterator[str]:
        """Yield the names of a class and its traits, parents and interfaces, nearest first."""
        yield name
        for _, definition in self.lineage(name):
            yield from (trait for trait, _ in definition.traits)
            yield from definition.extends
            yield from definition.implements

    def method(self, class_name: str, name: str) -> tuple[str, Class, Function] | None:
        """Return a method of a class, with the file and the class that define it."""
        for uri, definition in self.lineage(class_name):
            function = definition.method(name)
            if function and not function.abstract:
                return uri, definition, function
        return None

    def property(
        self,
        class_name: str,
        name: str,
    ) -> tuple[str, Class, Property] | None:
        """Return a property of a class, with the file and the class that define it."""
        for uri, definition in self.lineage(class_name):
            for class_property in definition.properties:
                if class_property.name == name:
                    return uri, definition, class_property
        return None

    def constant(self, class_name: str, name: str) -> tuple[str, Class, Expr] | None:
        """Return a constant of a class or of an interface that it implements."""
        for uri, definition in self.lineage(class_name):
            if name in definition.constants:
                return uri, definition, definition.constants[name]
        for ancestor in self.ancestors(class_name):
            located = self.of_class(ancestor)
            if located and name in located[1].constants:
                uri, definition = located
                return uri, definition, definition.constants[name]
        return None

    def function(self, name: str) -> LocatedFunction | None:
        """Return a function of the project by its full name."""
        if self._functions is None:
            self._functions = {}
            for uri in self._world.uris:
                self._index_functions(uri, self._functions)
        return self._functions.get(name.lower().lstrip("\\"))

    def _index_functions(self, uri: str, functions: dict[str, LocatedFunction]) -> None:
        """Add the functions of a file; files without function symbols are not parsed."""
        facts = self._world.facts(uri)
        if facts is None:
            return
        if not any(symbol.kind == "function" and not symbol.parent for symbol in facts.symbols):
            return
        module = self._world.module(uri)
        if module is None:
            return
        for function in module.functions:
            functions.setdefault(function.name.lower(), (uri, function))
