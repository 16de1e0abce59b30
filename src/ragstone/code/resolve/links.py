"""Turns the references in a file into links, or into unresolved rows with the reason."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain
from typing import Final

from ragstone.code.resolve.builtin_functions import BUILT_IN_FUNCTIONS
from ragstone.code.resolve.entities import (
    BUILT_IN,
    OUTSIDE,
    PARENT_LINKS,
    CodeFile,
    Entity,
    FunctionEntity,
    Namespace,
    NoMatch,
    TypedValue,
    TypeEntity,
    failure_of,
)
from ragstone.code.resolve.expressions import ExpressionTyper
from ragstone.code.resolve.inheritance import find_member, find_parent, parents
from ragstone.code.resolve.lookup import find_inside, find_name
from ragstone.types import Json, Link, Unresolved
from ragstone.types.code import Reference

MAX_UNRESOLVED: Final = 1000
"""Unresolved rows to store for one file: of different names, and as many again of repeated names."""
RAISES: Final = "RAISES"
"""The kind of an unresolved row about a raised type that no file of the project defines."""
_NAME_SEPARATOR: Final = re.compile(r"::|[.\\]")
_CONSTRUCTORS: Final = {
    "php": "__construct",
    "python": "__init__",
    "script": "constructor",
    "ruby": "initialize",
}
_DISTINCT_PARENT_SYNTAX: Final = ("php", "python", "script", "ruby")
"""Families whose syntax separates a parent class from an interface."""
_INTERFACES: Final = ("interface", "trait")

_ReferenceGroup = tuple[str, str, str, str]
"""Kind, source, name and receiver of references that are equal except for their lines."""


class Linker:
    """Links the references of one file."""

    def __init__(self, file: CodeFile) -> None:
        self.file = file
        self.expressions = ExpressionTyper(file)
        self._links: dict[tuple[str, str, str, int], Link] = {}
        self._unresolved: dict[_ReferenceGroup, dict[int, Unresolved]] = {}
        """Rows by line. Of a call of code outside of the project, only the first row is kept."""
        self._repeated = 0

    def link_references(self) -> tuple[tuple[Link, ...], tuple[Unresolved, ...]]:
        """Return the links and the unresolved references of the file."""
        for reference in self.file.facts.references:
            if reference.kind in PARENT_LINKS:
                self._link_parent(reference)
            elif reference.kind == "new":
                self._link_call(reference, self._find_created(reference.name, reference.inside))
            elif reference.kind == "raise":
                self._link_raised(reference)
            elif reference.kind == "call":
                self._link_call(reference, self._find_called(reference))
        unresolved = chain.from_iterable(rows.values() for rows in self._unresolved.values())
        return tuple(self._links.values()), tuple(unresolved)

    # ── targets ───────────────────────────────────────────────────────────────────────────────────

    def _link_parent(self, reference: Reference) -> None:
        own_type = self.file.types.get(reference.inside)
        if own_type is None:
            return
        parent = find_parent(own_type, reference.name)
        kind = PARENT_LINKS[reference.kind]
        if kind == "EXTENDS" and self._is_implemented(own_type, parent):
            kind = "IMPLEMENTS"
        self._add(reference, kind, parent, source=own_type.key)

    def _link_raised(self, reference: Reference) -> None:
        """Link a raised type, also `raise NotFound` without brackets; a variable raises no known type.

        A type that no file defines is an unresolved row, so that the places that raise it can be found.
        """
        raised = self._find_created(reference.name, reference.inside)
        if isinstance(raised, TypeEntity):
            self._link_call(reference, raised, raises=True)
            return
        *owners, name = _NAME_SEPARATOR.split(reference.name)
        is_variable = not owners and self.expressions.is_local(name, reference.inside)
        if name[:1].isupper() and not is_variable:
            outside = replace(reference, name=name, receiver=".".join(owners))
            self._add(outside, RAISES, OUTSIDE)

    def _link_call(
        self, reference: Reference, target: Entity | NoMatch, *, raises: bool = False
    ) -> None:
        """Link the function that is called, or the constructor of the type that is created.

        A type without a constructor of its own is linked too: its parent's constructor does not say what is created.
        """
        if not isinstance(target, TypeEntity):
            self._add(reference, "CALLS", target)
            return
        constructor = self._constructor_of(target)
        if isinstance(constructor, FunctionEntity) and constructor.owner is target:
            self._add(reference, "CALLS", constructor, creates=True, raises=raises)
            return
        self._add(reference, "CALLS", target, creates=True, raises=raises)
        if isinstance(constructor, FunctionEntity):
            self._add(reference, "CALLS", constructor)

    def _is_implemented(self, own_type: TypeEntity, parent: TypeEntity | NoMatch) -> bool:
        """Return whether a parent is an interface, in a language whose syntax does not say it."""
        if self.file.family in _DISTINCT_PARENT_SYNTAX or isinstance(parent, NoMatch):
            return False
        return parent.kind in _INTERFACES and own_type.kind not in _INTERFACES

    def _find_created(self, written: str, inside: str) -> TypeEntity | NoMatch:
        """Return the type that `new` creates."""
        if written.lower() in ("self", "static", "parent"):
            value = self.expressions.value_of(written, inside)
            if not isinstance(value, TypedValue):
                return failure_of(value)
            return self._parent_class(value.type) if value.parents_only else value.type
        target = find_name(self.file, written, inside)
        return target if isinstance(target, (TypeEntity, NoMatch)) else OUTSIDE

    def _parent_class(self, definition: TypeEntity) -> TypeEntity | NoMatch:
        for kind, parent in parents(definition):
            if kind == "extends" and parent is not None:
                return parent
        return OUTSIDE

    def _constructor_of(self, target: TypeEntity) -> FunctionEntity | None:
        """Return the constructor of a type, own or inherited; None if it has none or several."""
        name = _CONSTRUCTORS.get(self.file.family)
        if name is not None:
            method = find_member(target, name)
            return method if isinstance(method, FunctionEntity) else None
        members = target.members.values()
        constructors = [each for each in members if each.symbol.kind == "constructor"]
        return constructors[0] if len(constructors) == 1 else None

    def _find_called(self, reference: Reference) -> Entity | NoMatch:
        """Return the function or method that a call calls, or the type that it creates."""
        name = reference.name
        if not reference.receiver:
            return self._find_bare_call(name, reference.inside)
        value = self.expressions.value_of(reference.receiver, reference.inside)
        if isinstance(value, NoMatch):
            return value
        if isinstance(value, Namespace):
            target = find_inside(self.file, value, name)
            return _prefer_function(target)
        if value.is_type and name == "new" and self.file.family == "ruby":
            return value.type
        if value.is_type and name in value.type.inner:
            return value.type.inner[name]
        return find_member(value.type, name, parents_only=value.parents_only)

    def _find_bare_call(self, name: str, inside: str) -> Entity | NoMatch:
        """Return the target of a call without a receiver."""
        family = self.file.family
        if self.expressions.is_local(name, inside):
            return NoMatch(f"{name} is a name here, and what it calls is not written")
        if name == "super" or (name in ("this", "self") and family != "php"):
            return BUILT_IN
        target = _prefer_function(self.expressions.find_called(name, inside))
        built_in = BUILT_IN_FUNCTIONS.get(family)
        if target is OUTSIDE and built_in is not None and built_in.fullmatch(name):
            return BUILT_IN
        return target

    # ── rows ──────────────────────────────────────────────────────────────────────────────────────

    def _add(
        self,
        reference: Reference,
        kind: str,
        target: Entity | NoMatch,
        *,
        source: str = "",
        creates: bool = False,
        raises: bool = False,
    ) -> None:
        """Add a link or an unresolved row, unless an equal one exists; a raised type replaces the link to a created one."""
        uri, line = self.file.uri, reference.line
        source = source or self.file.keys.get(reference.inside) or f"file:{uri}"
        if isinstance(target, (TypeEntity, FunctionEntity)):
            attributes: dict[str, Json] = {"how": "new"} if creates else {}
            if raises:
                attributes["raised"] = True
            link = Link(kind, source, target.key, uri, line, attributes=attributes)
            place = (kind, source, target.key, line)
            if raises or place not in self._links:
                self._links[place] = link
            return
        failure = failure_of(target)
        if failure is not BUILT_IN:
            self._add_unresolved(reference, kind, source, failure)

    def _add_unresolved(
        self, reference: Reference, kind: str, source: str, failure: NoMatch
    ) -> None:
        """Add an unresolved row. Repeated rows have their own limit, so they do not displace another name."""
        name, receiver, line = reference.name, reference.receiver, reference.line
        row = Unresolved(kind, source, name, receiver, self.file.uri, line, failure.reason)
        group = (kind, source, name, receiver)
        rows = self._unresolved.get(group)
        if rows is None:
            if len(self._unresolved) < MAX_UNRESOLVED:
                self._unresolved[group] = {line: row}
        elif line not in rows and self._keeps_every_line(kind, failure):
            rows[line] = row
            self._repeated += 1

    def _keeps_every_line(self, kind: str, failure: NoMatch) -> bool:
        """Return whether a repeated row is kept: not of calls of code outside of the project."""
        is_wanted = kind == RAISES or failure is not OUTSIDE
        return is_wanted and self._repeated < MAX_UNRESOLVED


def _prefer_function(target: Entity | NoMatch) -> Entity | NoMatch:
    """Return the function if a type and a function have the same name."""
    if isinstance(target, TypeEntity) and target.qualified in target.file.twins:
        return target.file.functions.get(target.qualified, target)
    return target
