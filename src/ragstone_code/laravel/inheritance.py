"""The parents and traits of a class, as far as the project declares them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ragstone_code.program_tree import Class, Function, Property
from ragstone_code.project_files import World


@dataclass(frozen=True, slots=True)
class ClassPart:
    """A class or a trait that contributes members to a class."""

    uri: str
    definition: Class
    used: tuple[str, int] = ("", 0)
    """The file and line of the `use` statement, if the part is a trait."""


@dataclass(slots=True)
class ClassHierarchy:
    """Looks up classes with their parents and traits, and caches the result."""

    world: World
    _parts: dict[str, tuple[ClassPart, ...]] = field(default_factory=dict)

    def find(self, name: str) -> ClassPart | None:
        """Return a class of the project."""
        declared = self.world.of_class(name)
        return ClassPart(*declared) if declared else None

    def parents(self, name: str) -> tuple[ClassPart, ...]:
        """Return a class and the classes it extends, the nearest first, as far as the project declares them."""
        parents: list[ClassPart] = []
        seen: set[str] = set()
        part = self.find(name)
        while part is not None and part.definition.name.lower() not in seen:
            seen.add(part.definition.name.lower())
            parents.append(part)
            extends = part.definition.extends
            part = self.find(extends[0]) if extends else None
        return tuple(parents)

    def first_outside_ancestor(self, name: str) -> str:
        """Return the nearest ancestor that the project does not declare; empty if there is none."""
        parents = self.parents(name)
        if not parents:
            return name
        extends = parents[-1].definition.extends
        if extends and self.find(extends[0]) is None:
            return extends[0]
        return ""

    def parts(self, name: str) -> tuple[ClassPart, ...]:
        """Return the parts of a class in PHP's lookup order: the class, its traits, its parent, and so on."""
        key = name.lower()
        if key not in self._parts:
            parts: list[ClassPart] = []
            for parent in self.parents(name):
                parts += self._with_traits(parent, set())
            self._parts[key] = tuple(parts)
        return self._parts[key]

    def _with_traits(self, part: ClassPart, seen: set[str]) -> Iterator[ClassPart]:
        """Yield a part and the traits it uses, also through other traits."""
        name = part.definition.name.lower()
        if name in seen:
            return
        seen.add(name)
        yield part
        for trait_name, line in part.definition.traits:
            trait = self.find(trait_name)
            if trait is not None:
                used_trait = ClassPart(trait.uri, trait.definition, (part.uri, line))
                yield from self._with_traits(used_trait, seen)

    def traits(self, name: str) -> set[str]:
        """Return the qualified names of all traits of a class in lower case, inherited ones included."""
        traits: set[str] = set()
        for part in self.parts(name):
            traits.update(trait.lower() for trait, _ in part.definition.traits)
        return traits

    def find_property(self, name: str, property_name: str) -> tuple[ClassPart, Property] | None:
        """Return a property that has a default value, and the part that declares it."""
        for part in self.parts(name):
            for declared in part.definition.properties:
                if declared.name == property_name and declared.default is not None:
                    return part, declared
        return None

    def find_method(self, name: str, method_name: str) -> tuple[ClassPart, Function] | None:
        """Return a method that is not abstract, and the part that declares it."""
        for part in self.parts(name):
            method = part.definition.method(method_name)
            if method is not None and not method.abstract:
                return part, method
        return None
