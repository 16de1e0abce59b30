"""A project as adapters see it: its files by path, each read and mapped once, on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from ragstone.code.facts import FileFacts
from ragstone.code.tree import Class, Module

Read = Callable[[str], str | None]
Facts = Callable[[str], FileFacts | None]
Lower = Callable[[str, str], Module]


@dataclass(slots=True)
class World:
    """The files of one collection."""

    uris: tuple[str, ...]
    """All paths, sorted, of code and of other text."""
    read: Read
    facts: Facts
    """What the symbols' pass said of a file; None for what is no code."""
    lowered: Lower
    """Maps a text of a uri to a module."""
    _modules: dict[str, Module | None] = field(default_factory=dict)
    _known: frozenset[str] | None = None
    _declared: dict[str, str] | None = None

    def has(self, uri: str) -> bool:
        """Return whether there is such a file."""
        if self._known is None:
            self._known = frozenset(self.uris)
        return uri in self._known

    def below(self, folder: str, suffix: str = "") -> Iterator[str]:
        """Yield the paths in a folder and below."""
        inside = f"{folder.rstrip('/')}/" if folder else ""
        return (uri for uri in self.uris if uri.startswith(inside) and uri.endswith(suffix))

    def module(self, uri: str) -> Module | None:
        """Return a file as a program, or None where it is not there or of no known grammar."""
        if uri not in self._modules:
            text = self.read(uri) if self.has(uri) else None
            self._modules[uri] = None if text is None else self.lowered(text, uri)
        return self._modules[uri]

    def uri_of(self, name: str) -> str | None:
        """Return the file that declares a class, by its full name."""
        if self._declared is None:
            self._declared = dict(self._declarations())
        return self._declared.get(name.lower().lstrip("\\"))

    def of_class(self, name: str) -> tuple[str, Class] | None:
        """Return the file and the definition of a class, by its full name."""
        uri = self.uri_of(name)
        module = self.module(uri) if uri else None
        wanted = name.lower().lstrip("\\")
        found = (
            next((one for one in module.classes if one.name.lower() == wanted), None)
            if module
            else None
        )
        return (uri, found) if uri and found else None

    def _declarations(self) -> Iterable[tuple[str, str]]:
        """Yield full names in lower case and their files; of two that declare one name, the first path counts."""
        for uri in reversed(self.uris):
            facts = self.facts(uri)
            if facts is None:
                continue
            between = "\\" if facts.language == "php" else "."
            for symbol in facts.symbols:
                if symbol.kind in ("class", "interface", "trait", "enum"):
                    full = (
                        f"{facts.namespace}{between}{symbol.qualified}"
                        if facts.namespace
                        else symbol.qualified
                    )
                    yield full.lower(), uri
