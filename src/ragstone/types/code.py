"""Facts about one code file, read from its text alone: symbols, imports, references and bindings."""

from __future__ import annotations

from dataclasses import dataclass

from ragstone.types.documents import Symbol


@dataclass(frozen=True, slots=True)
class Import:
    """An imported name: `name` in its own module, `alias` in this file."""

    name: str
    alias: str
    line: int
    kind: str = ""
    """function, constant, module, all (a star); empty for a class or if the language has one kind only."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A use of a name."""

    kind: str
    """call, new, extends, implements, uses_trait, type, decorates, raise."""
    name: str
    receiver: str
    """The receiver as written: `$this`, `self`, `$song`, `Song`, `this.repository`; empty if there is none."""
    line: int
    inside: str
    """The qualified name of the enclosing symbol; empty at the top of the file."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A name with a declared type: a parameter, a field, or a local that is annotated or assigned from `new`."""

    inside: str
    """The qualified name of the function or class that has the name."""
    name: str
    """As a receiver is written: `$song`, `$this->songs`, `song`, `self.songs`, `this.songs`."""
    type: str
    line: int


@dataclass(frozen=True, slots=True)
class FileFacts:
    """All of it for one file."""

    uri: str
    language: str
    namespace: str
    symbols: tuple[Symbol, ...] = ()
    imports: tuple[Import, ...] = ()
    references: tuple[Reference, ...] = ()
    bindings: tuple[Binding, ...] = ()
    broken: tuple[tuple[int, int], ...] = ()
    """First and last lines the grammar could not read."""
