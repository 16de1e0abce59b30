"""Where a class, a method, a property, a constant or a function of the project is written, by inheritance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from ragstone.code.tree import Class, Expr, Function, Property
from ragstone.code.world import World
from ragstone_code.evaluate.language import Language

Placed: TypeAlias = tuple[str, Class]


class Lookup:
    """Finds definitions by full names; classes written in place are added as they are met."""

    def __init__(self, world: World, language: Language) -> None:
        self._world = world
        self._separator = language.separator
        self._met: dict[str, Placed] = {}
        self._functions: dict[str, tuple[str, Function]] | None = None

    def meet(self, uri: str, definition: Class) -> None:
        """Take in a class that no file declares by name, or that a running file just declared."""
        self._met[definition.name.lower()] = (uri, definition)

    def of_class(self, name: str) -> Placed | None:
        """Return the file and the definition of a class."""
        return self._met.get(name.lower().lstrip("\\")) or self._world.of_class(name)

    def lineage(self, name: str) -> Iterator[Placed]:
        """Yield a class, its traits, and those it extends, nearest first."""
        waiting, seen = [name], set[str]()
        while waiting:
            here = waiting.pop(0)
            if here.lower() in seen:
                continue
            seen.add(here.lower())
            found = self.of_class(here)
            if found:
                yield found
                waiting = [one for one, _ in found[1].traits] + waiting + list(found[1].extends)

    def ancestors(self, name: str) -> Iterator[str]:
        """Yield the names of a class and of all it is by extension, traits or interfaces, nearest first."""
        yield name
        for _, definition in self.lineage(name):
            yield from (one for one, _ in definition.traits)
            yield from definition.extends
            yield from definition.implements

    def method(self, name: str, method: str) -> tuple[str, Class, Function] | None:
        """Return a method of a class with the class it is written in."""
        for uri, definition in self.lineage(name):
            found = definition.method(method)
            if found and not found.abstract:
                return uri, definition, found
        return None

    def property(self, name: str, wanted: str) -> tuple[str, Class, Property] | None:
        """Return a property of a class with the class it is written in."""
        for uri, definition in self.lineage(name):
            for one in definition.properties:
                if one.name == wanted:
                    return uri, definition, one
        return None

    def constant(self, name: str, wanted: str) -> tuple[str, Class, Expr] | None:
        """Return a constant of a class, or of an interface it implements."""
        for uri, definition in self.lineage(name):
            if wanted in definition.constants:
                return uri, definition, definition.constants[wanted]
        for ancestor in self.ancestors(name):
            found = self.of_class(ancestor)
            if found and wanted in found[1].constants:
                return found[0], found[1], found[1].constants[wanted]
        return None

    def function(self, name: str) -> tuple[str, Function] | None:
        """Return a function of the project by its full name."""
        if self._functions is None:
            self._functions = {}
            for uri in self._world.uris:
                facts = self._world.facts(uri)
                if facts is None or not any(one.kind == "function" and not one.parent for one in facts.symbols):
                    continue
                module = self._world.module(uri)
                for one in module.functions if module else ():
                    self._functions.setdefault(one.name.lower(), (uri, one))
        return self._functions.get(name.lower().lstrip("\\"))
