"""Whose child a class is: its parents and traits as far as the project has them, and what stands beyond."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ragstone.code.tree import Class, Function, Property
from ragstone.code.world import World


@dataclass(frozen=True, slots=True)
class ClassPart:
    """A class or trait that a class is made of."""

    uri: str
    definition: Class
    used: tuple[str, int] = ("", 0)
    """The file and line that use it, where it is a trait."""


@dataclass(slots=True)
class ClassHierarchy:
    """Looks classes up once."""

    world: World
    _parts: dict[str, tuple[ClassPart, ...]] = field(default_factory=dict)

    def find(self, name: str) -> ClassPart | None:
        """Return a class of the project."""
        found = self.world.of_class(name)
        return ClassPart(*found) if found else None

    def parents(self, name: str) -> tuple[ClassPart, ...]:
        """Return a class and the classes it extends, nearest first, as far as the project has them."""
        found: list[ClassPart] = []
        seen: set[str] = set()
        at = self.find(name)
        while at is not None and at.definition.name.lower() not in seen:
            seen.add(at.definition.name.lower())
            found.append(at)
            at = self.find(at.definition.extends[0]) if at.definition.extends else None
        return tuple(found)

    def first_outside_ancestor(self, name: str) -> str:
        """Return the first ancestor that the project does not have, or nothing."""
        parents = self.parents(name)
        if not parents:
            return name
        last = parents[-1].definition.extends
        return last[0] if last and self.find(last[0]) is None else ""

    def parts(self, name: str) -> tuple[ClassPart, ...]:
        """Return all a class is made of in the order PHP looks members up: itself, its traits, its parent, …"""
        key = name.lower()
        if key not in self._parts:
            self._parts[key] = tuple(one for parent in self.parents(name) for one in self._with_traits(parent, set()))
        return self._parts[key]

    def _with_traits(self, part: ClassPart, seen: set[str]) -> Iterator[ClassPart]:
        if part.definition.name.lower() in seen:
            return
        seen.add(part.definition.name.lower())
        yield part
        for name, line in part.definition.traits:
            trait = self.find(name)
            if trait is not None:
                yield from self._with_traits(ClassPart(trait.uri, trait.definition, (part.uri, line)), seen)

    def traits(self, name: str) -> set[str]:
        """Return the full names of all traits a class uses, its parents' and its traits' too, in lower case."""
        return {trait.lower() for part in self.parts(name) for trait, _ in part.definition.traits}

    def find_property(self, name: str, wanted: str) -> tuple[ClassPart, Property] | None:
        """Return a property that is given a value, and what declares it."""
        for part in self.parts(name):
            for one in part.definition.properties:
                if one.name == wanted and one.default is not None:
                    return part, one
        return None

    def find_method(self, name: str, wanted: str) -> tuple[ClassPart, Function] | None:
        """Return a method and what declares it."""
        for part in self.parts(name):
            found = part.definition.method(wanted)
            if found is not None and not found.abstract:
                return part, found
        return None
