"""From the uses of names in a file to links and, where nothing written decides, to rows that say why."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ragstone.code.resolve.entities import (
    BUILT_IN,
    OUTSIDE,
    UPWARD,
    Entity,
    File,
    Function,
    Known,
    Miss,
    Space,
    Type,
)
from ragstone.code.resolve.index import Index
from ragstone.code.resolve.lookup import member, named, parent, parents, step
from ragstone.code.resolve.own import OWN
from ragstone.code.resolve.values import Values
from ragstone.types import Link, Unresolved
from ragstone.types.code import Reference

MOST: Final = 200
"""Rows of one file that nothing decides: more of them say nothing new."""
_CONSTRUCTORS: Final = {
    "php": "__construct",
    "python": "__init__",
    "script": "constructor",
    "ruby": "initialize",
}


class Linker:
    """What the references of one file come to."""

    def __init__(self, index: Index, file: File) -> None:
        """Take a file of an index."""
        self.index = index
        self.file = file
        self.values = Values(index, file)
        self.links: dict[tuple[str, str, str, int], Link] = {}
        self.unresolved: dict[tuple[str, str, str, str], Unresolved] = {}

    def run(self) -> tuple[tuple[Link, ...], tuple[Unresolved, ...]]:
        """Return the links and what is not decided."""
        for written in self.file.facts.references:
            one = self._placed(written)
            if one.kind in UPWARD:
                self._up(one)
            elif one.kind == "new":
                self._link(
                    "CALLS", one, self._construct(self._typed(one.name, one.inside)), how="new"
                )
            elif one.kind == "call":
                self._link("CALLS", one, self._call(one))
        return tuple(self.links.values()), tuple(self.unresolved.values())

    def _placed(self, one: Reference) -> Reference:
        """Return a reference where it is run: what decorates a symbol is called by what is around it."""
        inside = one.inside
        while inside in self.file.symbols and one.line < self.file.symbols[inside].line:
            inside = self.file.symbols[inside].parent
        return one if inside is one.inside else replace(one, inside=inside)

    def _up(self, one: Reference) -> None:
        own = self.file.types.get(one.inside)
        if own is None:
            return
        found = parent(self.index, own, one.name)
        kind = UPWARD[one.kind]
        if (
            isinstance(found, Type)
            and kind == "EXTENDS"
            and self.file.family not in ("php", "python", "script", "ruby")
        ):
            # Some languages do not say which of a list is the parent; the kinds of both do.
            kind = (
                "IMPLEMENTS"
                if found.kind in ("interface", "trait") and own.kind not in ("interface", "trait")
                else kind
            )
        self._link(kind, one, found, source=own.key)

    def _typed(self, written: str, inside: str) -> Type | Miss:
        lower = written.lower()
        if lower in ("self", "static", "parent"):
            value = self.values.of(written, inside)
            if not isinstance(value, Known):
                return value if isinstance(value, Miss) else OUTSIDE
            return self._parent(value.type) if value.above else value.type
        found = named(self.index, self.file, written, inside)
        return found if isinstance(found, (Type, Miss)) else OUTSIDE

    def _parent(self, one: Type) -> Type | Miss:
        return next(
            (up for kind, up in parents(self.index, one) if kind == "extends" and up is not None),
            OUTSIDE,
        )

    def _construct(self, found: Type | Miss) -> Entity | Miss:
        """Return what making an instance calls: the constructor that is written, else the type itself."""
        if isinstance(found, Miss):
            return found
        name = _CONSTRUCTORS.get(self.file.family)
        if name is None:
            own = [one for one in found.members.values() if one.symbol.kind == "constructor"]
            return own[0] if len(own) == 1 else found
        method = member(self.index, found, name)
        return method if isinstance(method, Function) else found

    # ── calls ─────────────────────────────────────────────────────────────────────────────────────

    def _call(self, one: Reference) -> Entity | Miss:
        if not one.receiver:
            return self._bare(one)
        value = self.values.of(one.receiver, one.inside)
        if isinstance(value, Space):
            return self._made(self._value(step(self.index, self.file, value, one.name)))
        if isinstance(value, Miss):
            return value
        if self.file.family == "ruby" and one.name == "new" and value.itself:
            return self._construct(value.type)
        if value.itself and one.name in value.type.inner:
            return self._construct(value.type.inner[one.name])
        return member(self.index, value.type, one.name, above=value.above)

    def _bare(self, one: Reference) -> Entity | Miss:
        own = OWN.get(self.file.family)
        if self.values.bound(one.name, one.inside):
            return Miss(f"{one.name} is a name here, and what it calls is not written")
        if one.name == "super" or (one.name in ("this", "self") and self.file.family != "php"):
            return BUILT_IN
        found = self._value(self.values.bare(one.name, one.inside))
        if found is OUTSIDE and own is not None and own.fullmatch(one.name):
            return BUILT_IN
        return self._made(found)

    def _value(self, found: Entity | Miss) -> Entity | Miss:
        """Return the function where a type and a function have one name."""
        if isinstance(found, Type) and found.qualified in found.file.twins:
            return found.file.functions.get(found.qualified, found)
        return found

    def _made(self, found: Entity | Miss) -> Entity | Miss:
        return self._construct(found) if isinstance(found, Type) else found

    # ── rows ──────────────────────────────────────────────────────────────────────────────────────

    def _link(
        self, kind: str, one: Reference, found: Entity | Miss, *, source: str = "", how: str = ""
    ) -> None:
        source = source or self.file.keys.get(one.inside) or f"file:{self.file.facts.uri}"
        if isinstance(found, (Type, Function)):
            place = (kind, source, found.key, one.line)
            if place not in self.links:
                made = (
                    {"how": "new"} if how or (kind == "CALLS" and isinstance(found, Type)) else {}
                )
                self.links[place] = Link(
                    kind, source, found.key, self.file.facts.uri, one.line, attributes=made
                )
            return
        miss = found if isinstance(found, Miss) else OUTSIDE
        row = (kind, source, one.name, one.receiver)
        if miss is not BUILT_IN and row not in self.unresolved and len(self.unresolved) < MOST:
            self.unresolved[row] = Unresolved(
                kind, source, one.name, one.receiver, self.file.facts.uri, one.line, miss.reason
            )
