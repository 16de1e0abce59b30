"""Finds the parents of a type and the methods that it inherits."""

from __future__ import annotations

from typing import Final

from ragstone.code.resolve.entities import OUTSIDE, FunctionEntity, NoMatch, TypeEntity
from ragstone.code.resolve.lookup import find_import, find_name

_SEARCH_ORDER: Final = {"uses_trait": 0, "extends": 1, "implements": 2}


def parents(definition: TypeEntity) -> tuple[tuple[str, TypeEntity | None], ...]:
    """Return the parents of a type, each with the kind of its reference; None if it is outside the project."""
    if definition.parents is None:
        definition.parents = ()  # the answer if the type is its own ancestor
        found: list[tuple[str, TypeEntity | None]] = []
        for reference in definition.parent_references:
            parent = find_parent(definition, reference.name)
            known_parent = parent if isinstance(parent, TypeEntity) else None
            found.append((reference.kind, known_parent))
        definition.parents = tuple(found)
    return definition.parents


def find_parent(definition: TypeEntity, written: str) -> TypeEntity | NoMatch:
    """Return the parent that a type names."""
    file = definition.file
    name = written.partition("<")[0].strip()
    parent = find_name(file, name, definition.qualified.rpartition(".")[0])
    if parent is definition and name in file.imports:  # it has the name of its parent
        parent = find_import(file, file.imports[name])
    if parent is definition:
        return NoMatch(f"{name} is also what it is called itself")
    return parent if isinstance(parent, (TypeEntity, NoMatch)) else OUTSIDE


def find_member(
    definition: TypeEntity, name: str, *, parents_only: bool = False
) -> FunctionEntity | NoMatch:
    """Return a method of a type, its traits or its parents, or the reason why it has none."""
    key = name.lower() if definition.file.family == "php" else name
    cached = definition.member_cache.get((key, parents_only))
    if cached is None:
        cached = _search_member(definition, key, parents_only=parents_only)
        if cached is OUTSIDE:
            cached = NoMatch(
                f"{definition.name} has no {name} here, and not all that it stands on is in this project"
            )
        elif cached is None:
            cached = NoMatch(f"{definition.name} has no {name}")
        definition.member_cache[key, parents_only] = cached
    return cached


def _search_member(
    definition: TypeEntity, name: str, *, parents_only: bool
) -> FunctionEntity | NoMatch | None:
    """Search a type and its ancestors, traits before parents.

    Returns `OUTSIDE` if an ancestor is not in the project, and None if no ancestor has the method.
    """
    seen: set[int] = set()
    has_unknown_ancestor = False
    pending = [definition]
    while pending:
        candidate = pending.pop()
        if id(candidate) in seen:
            continue
        seen.add(id(candidate))
        is_skipped = parents_only and candidate is definition
        if name in candidate.members and not is_skipped:
            if name in candidate.ambiguous_members:
                return NoMatch(f"several files define {name} of {candidate.name}")
            return candidate.members[name]
        ordered = sorted(parents(candidate), key=lambda up: _SEARCH_ORDER.get(up[0], 9))
        for _, parent in reversed(ordered):
            if parent is None:
                has_unknown_ancestor = True
            else:
                pending.append(parent)
    return OUTSIDE if has_unknown_ancestor else None
