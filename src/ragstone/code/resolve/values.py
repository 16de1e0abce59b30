"""What an expression is, as far as types are written: the receiver of a call, step by step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ragstone.code.resolve.entities import (
    OUTSIDE,
    Entity,
    File,
    Function,
    Known,
    Miss,
    Space,
    Type,
    Written,
)
from ragstone.code.resolve.index import Index
from ragstone.code.resolve.lookup import function_named, member, named, parents, step
from ragstone.code.resolve.written import Chain, Part, chain_of, names_of, returned

_THIS: Final = {
    "php": ("$this",),
    "python": ("self",),
    "script": ("this",),
    "jvm": ("this",),
    "csharp": ("this",),
    "rust": ("self",),
    "swift": ("self",),
    "ruby": ("self",),
    "c": ("this",),
}
_ITSELF: Final = {
    "php": ("self", "static"),
    "python": ("cls",),
    "rust": ("Self",),
    "swift": ("Self",),
}
_ABOVE: Final = {"php": "parent", "csharp": "base"}
_SAME: Final = frozenset(
    (
        "static",
        "$this",
        "this",
        "Self",
        "typing.Self",
        "t.Self",
        "te.Self",
        "typing_extensions.Self",
    )
)
_BARE_FIELDS: Final = frozenset(("jvm", "csharp", "swift", "c"))
"""Families where a field, and a method of the own type, are named without what they are of."""
_OUTWARD: Final = frozenset(("jvm", "csharp"))
"""Families where methods of the types around are called by their names alone, too."""
_MAKES_BY_CALL: Final = frozenset(("python", "jvm", "swift", "c"))
_CALLED: Final = frozenset(("python", "script", "go", "jvm", "swift"))
"""Families whose bindings may name what was called, for the value is what that returns."""
_DEEPEST: Final = 8

Value = Known | Space | Miss


class Values:
    """Expressions of one file."""

    def __init__(self, index: Index, file: File) -> None:
        """Sort the names that have a type in each function."""
        self.index = index
        self.file = file
        self._locals: dict[tuple[str, str], list[Written]] = {}
        self._known: dict[tuple[str, str], Value] = {}
        self._depth = 0
        for one in file.facts.bindings:
            if one.inside:
                self._locals.setdefault((one.inside, one.name), []).append(
                    Written(one.type, file, one.inside)
                )

    def of(self, text: str, inside: str) -> Value:
        """Return what an expression is."""
        place = (inside, text)
        found = self._known.get(place)
        if found is None:
            self._known[place] = _unwritten(text)  # what is defined by itself is not known
            chain = chain_of(text) if len(text) <= 200 else None
            found = _unwritten(text) if chain is None else self._chain(chain, inside)
            self._known[place] = found
        return found

    def _chain(self, chain: Chain, inside: str) -> Value:
        last = len(chain.steps)
        if chain.made:
            met = named(self.index, self.file, chain.head.name, inside)
            found: Value = (
                Known(met) if isinstance(met, Type) else met if isinstance(met, Miss) else OUTSIDE
            )
        else:
            found = self._head(chain.head, inside, awaited=chain.awaited and last == 0)
        for number, part in enumerate(chain.steps, 1):
            if isinstance(found, Miss):
                return found
            found = self._step(found, part, awaited=chain.awaited and number == last)
        return found

    # ── where an expression begins ────────────────────────────────────────────────────────────────

    def _head(self, head: Part, inside: str, *, awaited: bool) -> Value:
        special = self._special(head, inside)
        if special is not None:
            return special
        name = head.name
        if head.called:
            return self._called(name, inside, awaited=awaited)
        local = self._local(name, inside)
        if local is not None:
            return local
        if name[0] in "$@":
            own = self.file.enclosing(inside) if name[0] == "@" else None
            return (self._field(own, name[1:]) if own is not None else None) or _unwritten(name)
        found = named(self.index, self.file, name, inside)
        if found is OUTSIDE and not name[0].isupper() and not self._taken(name):
            return _unwritten(name)
        return self._plain(found, name)

    def _taken(self, name: str) -> bool:
        """Return whether a name may come from elsewhere."""
        taken = self.file.imports
        return (
            self.file.family == "php"
            or name in taken
            or any(alias.startswith(f"{name}.") for alias in taken)
        )

    def _special(self, head: Part, inside: str) -> Value | None:
        """Return what the language's own words for the type around mean; None for any other name."""
        family, name = self.file.family, head.name
        lower = name.lower() if family == "php" else name
        above = lower == _ABOVE.get(family, "super")
        this, itself = lower in _THIS.get(family, ()), lower in _ITSELF.get(family, ())
        if family == "go":
            return None
        if not (above or this or itself) or (inside, name) in self._locals:
            return None
        own = self._own(inside)
        if own is None:
            return Miss(f"what {name} is here is not written")
        return Known(
            own, itself=(itself and not head.called) or (above and family == "php"), above=above
        )

    def _own(self, inside: str) -> Type | None:
        """Return the type that `this` means; a function inside of a method has another one in scripts."""
        symbol = self.file.symbols.get(inside)
        if (
            self.file.family == "script"
            and symbol is not None
            and symbol.kind == "function"
            and symbol.parent
        ):
            return None
        return self.file.enclosing(inside)

    def _local(self, name: str, inside: str) -> Value | None:
        """Return the type of a parameter or local by what is written, from the innermost function outwards."""
        for scope in self.file.around(inside):
            found = self._locals.get((scope, name))
            if found and scope not in self.file.types:
                return self.all_of(found, name)
            if self.file.family in _BARE_FIELDS and scope in self.file.types:
                field = self._field(self.file.types[scope], name)
                if field is not None:
                    return field
        return None

    def bound(self, name: str, inside: str) -> bool:
        """Return whether a name is a parameter or local, whatever its type."""
        return any(
            (scope, name) in self._locals and scope not in self.file.types
            for scope in self.file.around(inside)
        )

    def _called(self, name: str, inside: str, *, awaited: bool) -> Value:
        if self._local(name, inside) is not None:
            return _unwritten(name)
        found = self.bare(name, inside)
        if isinstance(found, Type):
            return Known(found) if self.file.family in _MAKES_BY_CALL else OUTSIDE
        if isinstance(found, Function):
            return self._returned(found, None, awaited=awaited)
        return found if isinstance(found, Miss) else OUTSIDE

    def bare(self, name: str, inside: str) -> Entity | Miss:
        """Return what a call without a receiver calls."""
        if self.file.family in _BARE_FIELDS or self.file.family == "ruby":
            for scope in self.file.around(inside):
                sibling = self.file.functions.get(f"{scope}.{name}")
                if (
                    sibling is not None and sibling.owner is None
                ):  # of the class without a name that is around
                    return sibling
                own = self.file.types.get(scope)
                met = member(self.index, own, name) if own is not None else OUTSIDE
                if isinstance(met, Function):
                    return met
                if own is not None and self.file.family not in _OUTWARD:
                    break
        return function_named(self.index, self.file, name, inside)

    def _plain(self, found: Entity | Miss, name: str) -> Value:
        """Return what a name stands for that is not called."""
        if isinstance(found, Type):
            return Known(found, itself=True)
        if isinstance(found, Written):
            return self.all_of([found], name)
        if isinstance(found, Function):
            return OUTSIDE
        return found

    # ── a step further ────────────────────────────────────────────────────────────────────────────

    def _step(self, found: Known | Space, part: Part, *, awaited: bool) -> Value:
        if isinstance(found, Space):
            met = step(self.index, self.file, found, part.name)
            if not part.called:
                return self._plain(met, part.name)
            if isinstance(met, Type):
                return Known(met) if self.file.family in _MAKES_BY_CALL else OUTSIDE
            return (
                self._returned(met, None, awaited=awaited) if isinstance(met, Function) else OUTSIDE
            )
        return (
            self._called_on(found, part, awaited=awaited)
            if part.called
            else self._part(found, part)
        )

    def _called_on(self, found: Known, part: Part, *, awaited: bool) -> Value:
        if self.file.family == "ruby" and part.name == "new" and found.itself:
            return Known(found.type)
        if found.itself and part.name in found.type.inner and self.file.family in _MAKES_BY_CALL:
            return Known(found.type.inner[part.name])
        method = member(self.index, found.type, part.name, above=found.above)
        return (
            method if isinstance(method, Miss) else self._returned(method, found, awaited=awaited)
        )

    def _part(self, found: Known, part: Part) -> Value:
        if found.itself and part.name in found.type.inner:
            return Known(found.type.inner[part.name], itself=True)
        field = self._field(found.type, part.name)
        if field is not None:
            return field
        if self.file.family in (
            "python",
            "script",
        ):  # a property: nothing else has names of its own
            method = member(self.index, found.type, part.name)
            if isinstance(method, Function):
                return self._returned(method, found, awaited=False)
        return Miss(f"the type of {found.type.name}.{part.name} is not written")

    def _field(self, one: Type, name: str) -> Value | None:
        """Return the type of a field, of the type itself or of one it stands on; None where there is no such field."""
        seen: set[int] = set()
        pending = [one]
        while pending:
            each = pending.pop(0)
            if id(each) in seen:
                continue
            seen.add(id(each))
            if name in each.fields:
                return self.all_of(each.fields[name], f"{one.name}.{name}")
            pending.extend(up for _, up in parents(self.index, each) if up is not None)
        return None

    # ── what is written ───────────────────────────────────────────────────────────────────────────

    def _returned(self, function: Function, on: Known | None, *, awaited: bool) -> Value:
        """Return what a function gives back, by its signature."""
        symbol = function.symbol
        text, later = returned(symbol.signature, symbol.name, function.file.facts.language)
        if awaited and text.startswith("Promise<") and text.endswith(">"):
            text, later = text[8:-1], True
        if not text or later != awaited:
            return Miss(f"what {symbol.name}() returns is not written")
        plain = text.lstrip("?")
        if on is not None and plain in _SAME:
            return Known(on.type)
        if plain.lower() in ("self", "static") and function.owner is not None:
            return Known(function.owner)
        return self.all_of([Written(text, function.file, symbol.qualified)], f"{symbol.name}()")

    def all_of(self, written: Iterable[Written], name: str) -> Value:
        """Return the one type that all that is written comes to."""
        found: Known | None = None
        for one in written:
            if not one.text:
                return _unwritten(name)
            met = self._text(one)
            if not isinstance(met, Known):
                return met
            if found is not None and found.type is not met.type:
                return Miss(f"{name} has several types")
            found = met
        return found if found is not None else _unwritten(name)

    def _text(self, one: Written) -> Value:
        """Return what a written type is; in Python it may be what was called to make the value."""
        names = names_of(one.text, one.file.facts.language)
        if (
            not names
            and one.text.endswith(")")
            and one.file is self.file
            and self.file.family == "php"
        ):
            return self.of(one.text, one.inside)  # what a call returned
        if not names:
            return _unwritten(one.text)
        if len(names) > 1:
            return Miss(f"{one.text} is several types")
        name = names[0]
        if (
            name in ("self", "static", "Self")
            and (own := one.file.enclosing(one.inside)) is not None
        ):
            return Known(own)
        found = named(self.index, one.file, name, one.inside)
        if isinstance(found, Type):
            return Known(found)
        if (
            isinstance(found, (Function, Miss))
            and one.file.family in _CALLED
            and self._depth < _DEEPEST
        ):
            return self._made(one, name, found)
        return found if isinstance(found, Miss) else OUTSIDE

    def _made(self, one: Written, name: str, found: Function | Miss) -> Value:
        """Return what a call that a name was given the value of returns."""
        self._depth += 1
        try:
            if isinstance(found, Function) and found.owner is None:
                return self._returned(found, None, awaited=False)
            chain = chain_of(name)
            if chain is None or not chain.steps or one.file is not self.file:
                return found if isinstance(found, Miss) else OUTSIDE
            called = (*chain.steps[:-1], Part(chain.steps[-1].name, True))
            value = self._chain(Chain(chain.head, False, False, called), one.inside)
            return found if isinstance(found, Miss) and isinstance(value, Miss) else value
        finally:
            self._depth -= 1


def _unwritten(text: str) -> Miss:
    short = text if len(text) <= 40 else f"{text[:39]}…"
    return Miss(f"the type of {short} is not written")
