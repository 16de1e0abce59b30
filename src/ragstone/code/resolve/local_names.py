"""Names that a file defines itself, for languages with modules, and a guard against import cycles."""

from __future__ import annotations

from typing import Final

from ragstone.code.resolve.entities import (
    CodeFile,
    Entity,
    FunctionEntity,
    NoMatch,
    WrittenType,
)

_MAX_PLACES: Final = 300
"""Places to search for one name."""


class SearchedPlaces:
    """The places where one name was searched: modules can re-export names in cycles."""

    def __init__(self) -> None:
        self._places: set[tuple[str, ...]] = set()

    def add(self, *place: str) -> bool:
        """Add a place; return False if it was searched before, or if too many were."""
        if place in self._places or len(self._places) >= _MAX_PLACES:
            return False
        self._places.add(place)
        return True


def find_local(file: CodeFile, name: str, inside: str) -> Entity | NoMatch | None:
    """Return the definition of a name that a place in a file can see; None if the file does not define it."""
    for scope in file.scopes(inside):
        if scope in file.types and scope != inside and file.family == "python":
            continue  # Functions do not see names in the body of their class.
        definition = file.definition(f"{scope}.{name}")
        if definition is None:
            continue
        if not (isinstance(definition, FunctionEntity) and definition.is_method):
            return definition
    return find_at_top(file, name)


def find_at_top(file: CodeFile, name: str) -> Entity | NoMatch | None:
    """Return the type, function or typed variable at the top of a file; None if it has no such name."""
    return file.definition(name) or _find_global(file, name)


def _find_global(file: CodeFile, name: str) -> WrittenType | NoMatch | None:
    types = file.globals.get(name)
    if not types:
        return None
    if len({written.text for written in types}) > 1:
        return NoMatch(f"{name} is given several types")
    if not types[0].text:
        return NoMatch(f"the type of {name} is not written")
    return types[0]
