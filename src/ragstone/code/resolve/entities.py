"""The targets of names (types, functions, namespaces, typed variables) and the files that contain them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from ragstone.types import Symbol
from ragstone.types.code import FileFacts, Import, Reference

if TYPE_CHECKING:
    from ragstone.code.resolve.index import ProjectIndex

CLASSES: Final = frozenset(("class", "interface", "trait", "enum", "struct", "module", "type"))
FUNCTIONS: Final = frozenset(("function", "method", "constructor", "macro"))
FAMILIES: Final = {
    **dict.fromkeys(("javascript", "typescript", "tsx"), "script"),
    **dict.fromkeys(("java", "kotlin"), "jvm"),
    "cpp": "c",
}
"""Languages whose files can import each other; each other language is its own family."""
SPLIT_TYPE_FAMILIES: Final = frozenset(("ruby", "csharp", "c", "swift", "php"))
"""Families that can define one type in several places."""
PARENT_LINKS: Final = {
    "extends": "EXTENDS",
    "implements": "IMPLEMENTS",
    "uses_trait": "USES_TRAIT",
}
"""Kind of a reference to a parent type → kind of the link."""


@dataclass(slots=True, eq=False)
class TypeEntity:
    """A class, interface, trait, enum or struct."""

    key: str
    full_name: str
    name: str
    qualified: str
    kind: str
    file: CodeFile
    parent_references: list[Reference] = field(default_factory=list)
    members: dict[str, FunctionEntity] = field(default_factory=dict)
    ambiguous_members: set[str] = field(default_factory=set)
    """Names of members that several files define."""
    fields: dict[str, list[WrittenType]] = field(default_factory=dict)
    inner: dict[str, TypeEntity] = field(default_factory=dict)
    parents: tuple[tuple[str, TypeEntity | None], ...] | None = None
    """Cache of `inheritance.parents`."""
    member_cache: dict[tuple[str, bool], FunctionEntity | NoMatch] = field(default_factory=dict)
    """Cache of `inheritance.find_member`."""


@dataclass(slots=True, eq=False)
class FunctionEntity:
    """A function or a method."""

    key: str
    symbol: Symbol
    file: CodeFile
    owner: TypeEntity | None = None

    @property
    def is_method(self) -> bool:
        """Return whether it is a method, a constructor or a macro."""
        return self.symbol.kind != "function"


@dataclass(frozen=True, slots=True)
class WrittenType:
    """A type as it is written, and the place that decides its meaning. The text is empty if no type is written."""

    text: str
    file: CodeFile
    inside: str


@dataclass(frozen=True, slots=True)
class Namespace:
    """A module, package, folder or namespace."""

    name: str


@dataclass(frozen=True, slots=True)
class TypedValue:
    """A value with a known type."""

    type: TypeEntity
    is_type: bool = False
    """Whether the value is the type itself, not an instance."""
    parents_only: bool = False
    """Whether only members of the parents count: `super`, `parent`."""


@dataclass(frozen=True, slots=True)
class NoMatch:
    """The reason why a name has no target."""

    reason: str


Definition: TypeAlias = TypeEntity | FunctionEntity
Entity: TypeAlias = Definition | Namespace | WrittenType

OUTSIDE: Final = NoMatch("not in this project")
BUILT_IN: Final = NoMatch("")
"""The name belongs to the language itself; nothing is reported."""


def failure_of(target: Entity | TypedValue | NoMatch) -> NoMatch:
    """Return the reason for a target that cannot be used."""
    return target if isinstance(target, NoMatch) else OUTSIDE


@dataclass(slots=True, eq=False)
class CodeFile:
    """The facts of a file, by name."""

    index: ProjectIndex
    facts: FileFacts
    family: str
    namespace: str
    """The module, package or folder of the file, as its family names it."""
    symbols: dict[str, Symbol] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    twins: dict[str, tuple[str, Symbol]] = field(default_factory=dict)
    """Key and symbol of a function with the name of a type, or of a type with the name of a function."""
    types: dict[str, TypeEntity] = field(default_factory=dict)
    functions: dict[str, FunctionEntity] = field(default_factory=dict)
    globals: dict[str, list[WrittenType]] = field(default_factory=dict)
    imports: dict[str, Import] = field(default_factory=dict)
    function_imports: dict[str, Import] = field(default_factory=dict)
    star_imports: list[Import] = field(default_factory=list)
    functions_with_symbols: set[str] = field(default_factory=set)
    """Functions that contain symbols."""
    name_cache: dict[tuple[str, str], Entity | NoMatch] = field(default_factory=dict)
    """Cache of `lookup.find_name`."""

    @property
    def uri(self) -> str:
        """Return the path of the file."""
        return self.facts.uri

    def may_import(self, name: str) -> bool:
        """Return whether a name can come from an import; PHP names can come from anywhere."""
        if self.family == "php" or name in self.imports:
            return True
        return any(alias.startswith(f"{name}.") for alias in self.imports)

    def scopes(self, inside: str) -> Iterator[str]:
        """Yield a qualified name and the names around it, the innermost first."""
        while inside:
            yield inside
            inside = inside.rpartition(".")[0]

    def definition(self, qualified: str) -> Definition | None:
        """Return a type or function of this file by its qualified name."""
        return self.types.get(qualified) or self.functions.get(qualified)

    def enclosing_type(self, inside: str) -> TypeEntity | None:
        """Return the type that contains a symbol, or the symbol itself; None inside an anonymous class."""
        for name in self.scopes(inside):
            if name in self.types:
                return self.types[name]
            if self._is_anonymous_member(name):
                return None
        return None

    def _is_anonymous_member(self, qualified: str) -> bool:
        """Return whether a symbol is a method of a class without a name, written inside a function."""
        symbol = self.symbols.get(qualified)
        if symbol is None or symbol.kind not in ("method", "constructor"):
            return False
        return symbol.parent in self.functions
