"""What the symbols' pass says of one file, by its text alone: the ground that relations are resolved on."""

from __future__ import annotations

from dataclasses import dataclass

from ragstone.types.documents import Symbol


@dataclass(frozen=True, slots=True)
class Import:
    """A name taken from elsewhere: `alias` is what it is called here, `name` what is written there."""

    name: str
    alias: str
    line: int
    kind: str = ""
    """function, constant, module, all (a star); nothing for a class or whatever the language does not tell apart."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A use of a name."""

    kind: str
    """call, new, extends, implements, uses_trait, type, decorates."""
    name: str
    receiver: str
    """What it is called on, as written: `$this`, `self`, `$song`, `Song`, `this.repository`; empty where nothing is."""
    line: int
    inside: str
    """The qualified name of the symbol it stands in; empty at the top of the file."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A name whose type is written down: a parameter, a field, a local that is made by `new` or annotated."""

    inside: str
    """The qualified name of the function it is a name in, or of the class it is a field of."""
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
