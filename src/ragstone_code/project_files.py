"""The project that framework adapters read: its files, each parsed into a program once, on first use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Final

from ragstone.code.file_languages import language_of
from ragstone.protocols import ProjectFiles
from ragstone.types.code import FileFacts
from ragstone_code import php, python
from ragstone_code.program_tree import Class, Module

LOWERERS: Final = {"php": php.lower, "python": python.lower}
"""For each language with an evaluator, the function that turns a text into a module."""
CLASS_KINDS: Final = frozenset(("class", "interface", "trait", "enum"))


class World:
    """The files of one project."""

    def __init__(self, files: ProjectFiles) -> None:
        self._files = files
        self._modules: dict[str, Module | None] = {}
        self._entered: list[str] = []
        self.uris = tuple(files.uris)
        """All paths, sorted, of code and of other text."""

    def text(self, uri: str) -> str | None:
        """Return the text of a file, or None if there is no such file."""
        return self._files.text(uri)

    def facts(self, uri: str) -> FileFacts | None:
        """Return the symbols of a file, or None if it is no code."""
        return self._files.facts(uri)

    def has(self, uri: str) -> bool:
        """Return whether there is such a file."""
        return uri in self._known_uris

    def below(self, folder: str, suffix: str = "") -> Iterator[str]:
        """Yield the paths in a folder and its subfolders."""
        prefix = f"{folder.rstrip('/')}/" if folder else ""
        return (uri for uri in self.uris if uri.startswith(prefix) and uri.endswith(suffix))

    def module(self, uri: str) -> Module | None:
        """Return a file as a program, or None if there is no such file."""
        if uri not in self._modules:
            text = self.text(uri) if self.has(uri) else None
            self._modules[uri] = None if text is None else lower_module(text, uri)
        return self._modules[uri]

    def enter(self, uri: str) -> None:
        """Note that a file is evaluated."""
        self._files.enter(uri)

    @contextmanager
    def evaluating(self, uri: str) -> Iterator[None]:
        """Note that a file is evaluated inside the `with` block, and the file around it afterwards."""
        self._entered.append(uri)
        self.enter(uri)
        try:
            yield
        finally:
            self._entered.pop()
            if self._entered:
                self.enter(self._entered[-1])

    def uri_of(self, class_name: str) -> str | None:
        """Return the file that declares a class, by its full name."""
        return self._class_uris.get(_normalize(class_name))

    def of_class(self, class_name: str) -> tuple[str, Class] | None:
        """Return the file and the definition of a class, by its full name."""
        uri = self.uri_of(class_name)
        module = self.module(uri) if uri else None
        if uri is None or module is None:
            return None
        for definition in module.classes:
            if definition.name.lower() == _normalize(class_name):
                return uri, definition
        return None

    @cached_property
    def _known_uris(self) -> frozenset[str]:
        return frozenset(self.uris)

    @cached_property
    def _class_uris(self) -> dict[str, str]:
        """Return full class names in lower case and their files; if two files declare a name, the first path counts."""
        uris: dict[str, str] = {}
        for uri in self.uris:
            facts = self.facts(uri) if language_of(uri) in LOWERERS else None
            if facts is None:
                continue
            for class_name in _class_names(facts):
                uris.setdefault(class_name, uri)
        return uris


class WorldCache:
    """Keeps the world of the last project, so that all adapters of one run share the parsed modules."""

    def __init__(self) -> None:
        self._files: ProjectFiles | None = None
        self._world: World | None = None

    def world_of(self, files: ProjectFiles) -> World:
        """Return the world of a project's files."""
        if self._world is None or self._files is not files:
            self._files = files
            self._world = World(files)
        return self._world


def lower_module(text: str, uri: str) -> Module:
    """Return a file as a program; an empty program if its language has no evaluator."""
    language = language_of(uri)
    lower = LOWERERS.get(language)
    if lower is None:
        return Module(uri, language, "", {}, (), (), ())
    return lower(text, uri)


def _class_names(facts: FileFacts) -> Iterator[str]:
    """Yield the full names of a file's classes, in lower case."""
    separator = "\\" if facts.language == "php" else "."
    prefix = f"{facts.namespace}{separator}" if facts.namespace else ""
    for symbol in facts.symbols:
        if symbol.kind in CLASS_KINDS:
            yield f"{prefix}{symbol.qualified}".lower()


def _normalize(class_name: str) -> str:
    return class_name.lower().lstrip("\\")
