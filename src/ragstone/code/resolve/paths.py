"""Follows dotted names from a namespace or a type to its content."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ragstone.code.resolve.entities import (
    OUTSIDE,
    CodeFile,
    Entity,
    Namespace,
    NoMatch,
    TypeEntity,
)

FindInNamespace = Callable[[CodeFile, Namespace, str], Entity | NoMatch]


def follow_path(
    file: CodeFile,
    start: Entity | NoMatch,
    names: Iterable[str],
    find_in_namespace: FindInNamespace,
) -> Entity | NoMatch:
    """Return the target of names that each are inside the target before; a failure stops the path."""
    target = start
    for name in names:
        if isinstance(target, Namespace):
            target = find_in_namespace(file, target, name)
        elif isinstance(target, TypeEntity):
            target = _find_in_type(target, name)
        elif not isinstance(target, NoMatch):
            return OUTSIDE
    return target


def _find_in_type(owner: TypeEntity, name: str) -> Entity | NoMatch:
    inner: Entity | None = owner.inner.get(name) or owner.members.get(name)
    if inner is not None:
        return inner
    if owner.kind == "module":
        family = owner.file.family
        full_name = owner.file.index.layout.join_name(family, owner.full_name, name)
        definitions = owner.file.index.definitions(family, full_name)
        if definitions:
            return definitions[0]
    return OUTSIDE
