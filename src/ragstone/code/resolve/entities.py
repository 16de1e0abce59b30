"""What names lead to: types, functions, modules and names with a type; and files as resolution looks at them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from ragstone.types import Symbol
from ragstone.types.code import FileFacts, Import, Reference

CLASSES: Final = frozenset(("class", "interface", "trait", "enum", "struct", "module", "type"))
FUNCTIONS: Final = frozenset(("function", "method", "constructor", "macro"))
FAMILIES: Final = {
    **dict.fromkeys(("javascript", "typescript", "tsx"), "script"),
    **dict.fromkeys(("java", "kotlin"), "jvm"),
    "cpp": "c",
}
"""Languages whose files know each other; every other one is a family by itself."""
UPWARD: Final = {"extends": "EXTENDS", "implements": "IMPLEMENTS", "uses_trait": "USES_TRAIT"}


@dataclass(slots=True, eq=False)
class Type:
    """A class, interface, trait, enum or struct, with what is known of it."""

    key: str
    full: str
    name: str
    qualified: str
    kind: str
    file: File
    ups: list[Reference] = field(default_factory=list)
    members: dict[str, Function] = field(default_factory=dict)
    doubtful: set[str] = field(default_factory=set)
    """Names of members that several files define: which of them is meant is not told by a name."""
    fields: dict[str, list[Written]] = field(default_factory=dict)
    inner: dict[str, Type] = field(default_factory=dict)
    parents: tuple[tuple[str, Type | None], ...] | None = None
    found: dict[str, Function | Miss] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Function:
    """A function or a method."""

    key: str
    symbol: Symbol
    file: File
    owner: Type | None = None
    returns: str | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """A type as it is written, and where it is to be understood."""

    text: str
    file: File
    inside: str


@dataclass(frozen=True, slots=True)
class Space:
    """A module, package, folder or namespace: what other names stand in."""

    name: str


@dataclass(frozen=True, slots=True)
class Known:
    """A value whose type is known; `itself` where it is the type and not an instance of it."""

    type: Type
    itself: bool = False
    above: bool = False
    """Whether only what its parents have is meant: `super`, `parent`."""


@dataclass(frozen=True, slots=True)
class Miss:
    """Why a name leads nowhere. Nothing is said of what is surely the language's own."""

    reason: str


Entity: TypeAlias = Type | Function | Space | Written

OUTSIDE: Final = Miss("not in this project")
BUILT_IN: Final = Miss("")


@dataclass(slots=True, eq=False)
class File:
    """A file's facts, by name."""

    facts: FileFacts
    family: str
    space: str
    """The module, package or folder it is in, as its family names them."""
    symbols: dict[str, Symbol] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    twins: dict[str, tuple[str, Symbol]] = field(default_factory=dict)
    """Functions that have the name of a type, or types that have that of a function: their keys and symbols."""
    types: dict[str, Type] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    globals: dict[str, list[Written]] = field(default_factory=dict)
    imports: dict[str, Import] = field(default_factory=dict)
    function_imports: dict[str, Import] = field(default_factory=dict)
    stars: list[Import] = field(default_factory=list)
    inhabited: set[str] = field(default_factory=set)
    """Functions that have symbols of their own."""
    resolved: dict[str, Entity | Miss] = field(default_factory=dict)

    def around(self, inside: str) -> Iterator[str]:
        """Yield the qualified names from the innermost outwards, without the top of the file."""
        while inside:
            yield inside
            inside = inside.rpartition(".")[0]

    def enclosing(self, inside: str) -> Type | None:
        """Return the type that a symbol stands in, or is; that of a class without a name is not known."""
        for name in self.around(inside):
            if name in self.types:
                return self.types[name]
            symbol = self.symbols.get(name)
            if (
                symbol is not None
                and symbol.kind in ("method", "constructor")
                and symbol.parent in self.functions
            ):
                return None
        return None
