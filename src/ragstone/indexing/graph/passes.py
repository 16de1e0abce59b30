"""The passes over a project, in their order: symbols of files, what they resolve to, what frameworks make of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Final

from ragstone import registry
from ragstone.code.facts import FileFacts
from ragstone.code.grammars import language_of
from ragstone.code.resolve import MANIFESTS, Index, interface, resolve
from ragstone.code.tree import Module
from ragstone.code.world import World
from ragstone.errors import RagstoneError, StoreDamaged
from ragstone.indexing.facts_codec import decode_facts, encode_facts
from ragstone.indexing.parser_process import parse_facts
from ragstone.protocols import Framework
from ragstone.types import Graph

FILE: Final = "file:"
FAULTS: Final = (
    *(ArithmeticError, AssertionError, AttributeError, BufferError, ImportError, LookupError, MemoryError, NameError),
    *(OSError, RagstoneError, RuntimeError, StopIteration, SyntaxError, TypeError, ValueError),
)
"""What a pass that meets a program it was not made for may raise: that is said, and the other passes go on."""
_MATTERS: Final = (
    *(".json", ".sql", ".dump", ".toml", ".yaml", ".yml", ".xml", ".ini", ".cfg", ".lock", ".mod", ".env", ".dist"),
    *(".example", "requirements.txt", ".graphql", ".neon", ".properties", ".gradle"),
)
"""Endings of files that are no program and may still say something of one."""
_LOWERING: Final = {"php": "ragstone_code.php", "python": "ragstone_code.python"}

Text = Callable[[str], str | None]
Tell = Callable[[int, int], None]


Frameworks = Callable[[], Sequence[Framework]]


def known_frameworks() -> Sequence[Framework]:
    """Return the adapters of all plug-ins, imported now."""
    return [framework for name in registry.names("framework") for framework in registry.load("framework", name)()]


def matters(uri: str) -> bool:
    """Return whether a file can change the graph."""
    return bool(language_of(uri)) or uri.lower().endswith(_MATTERS)


def lowered(text: str, uri: str) -> Module:
    """Return a file as a program; one without statements where its language has no mapping."""
    language = language_of(uri)
    if language not in _LOWERING:
        return Module(uri, language, "", {}, (), (), ())
    module: Module = import_module(_LOWERING[language]).lower(text, uri)
    return module


@dataclass(slots=True)
class Passes:
    """One run over a project: what is read and what comes of it."""

    uris: Sequence[str]
    """All files that are there now."""
    load: Text
    kept: Mapping[str, bytes]
    """What was kept of files, by owner."""
    remarks: list[str] = field(default_factory=list)
    _texts: dict[str, str | None] = field(default_factory=dict)
    _facts: dict[str, FileFacts | None] = field(default_factory=dict)

    def text(self, uri: str) -> str | None:
        """Return the text of a file; symbols, manifests and frameworks ask for the same ones."""
        if uri not in self._texts:
            try:
                self._texts[uri] = self.load(uri)
            except StoreDamaged as error:
                self.remarks.append(f"{uri}: {_said(error)}")
                self._texts[uri] = None
        return self._texts[uri]

    def symbols(self, changed: Iterable[str], tell: Tell) -> dict[str, bytes]:
        """Read the files that changed and return what is to be kept of them, by owner."""
        code = [uri for uri in changed if language_of(uri)]
        fresh: dict[str, bytes] = {}
        for done, uri in enumerate(code, start=1):
            facts = self._facts[uri] = self._read(uri)
            if facts is not None:
                fresh[FILE + uri] = encode_facts(facts)
            tell(done, len(code))
        return fresh

    def facts(self, uri: str) -> FileFacts | None:
        """Return what is known of a file, from what was kept if it was not read now; None for what is no code."""
        if uri not in self._facts:
            data = self.kept.get(FILE + uri)
            self._facts[uri] = (decode_facts(data) or self._read(uri)) if data is not None else None
        return self._facts[uri]

    def resolve(self, changed: Sequence[str], gone: Sequence[str]) -> dict[str, Graph]:
        """Return what files give, by owner: those that changed, or all where others can see the difference."""
        code = [uri for uri in self.uris if language_of(uri)]
        facts = {uri: one for uri in code if (one := self.facts(uri)) is not None}
        manifests = [uri for uri in self.uris if uri.rpartition("/")[2] in MANIFESTS]
        index = Index(
            facts.values(), manifests={uri: text for uri in manifests if (text := self.text(uri)) is not None}
        )
        seen_elsewhere = any(self._shows(uri) for uri in (*changed, *gone))
        wanted = code if seen_elsewhere else [uri for uri in changed if language_of(uri)]
        return {FILE + uri: self._resolved(facts[uri], index) if uri in facts else Graph() for uri in wanted}

    def _resolved(self, facts: FileFacts, index: Index) -> Graph:
        try:
            return resolve(facts, index)
        except FAULTS as error:
            self.remarks.append(f"{facts.uri}: not resolved: {_said(error)}")
            return Graph()

    def frameworks(self, load: Frameworks, before: Sequence[str]) -> tuple[dict[str, Graph], list[str]]:
        """Return what each framework in use makes of the project, and those that failed; `before`: used before."""
        world = World(tuple(self.uris), self.text, self.facts, lowered)
        found: dict[str, Graph] = {}
        failed: list[str] = []
        try:
            known = load()
        except FAULTS as error:
            self.remarks.append(f"frameworks could not be loaded: {_said(error)}")
            return {}, list(before)
        for framework in known:
            try:
                if framework.detects(world):
                    found[framework.name] = framework.read(world)
            except FAULTS as error:
                failed.append(framework.name)
                self.remarks.append(f"{framework.name} could not be read: {_said(error)}")
        return found, failed

    def _read(self, uri: str) -> FileFacts | None:
        text = self.text(uri)
        if text is None:
            return None
        try:
            facts = parse_facts(text, uri)
        except FAULTS as error:
            self.remarks.append(f"{uri}: not read for its symbols: {_said(error)}")
            return None
        if facts is None:
            self.remarks.append(f"{uri}: too long, or too unlike its language, to be read for its symbols")
        return facts

    def _shows(self, uri: str) -> bool:
        """Return whether other files can see what became of a file."""
        if not language_of(uri):
            return uri.rpartition("/")[2] in MANIFESTS
        data = self.kept.get(FILE + uri)
        before = decode_facts(data) if data is not None else None
        now = self._facts.get(uri)
        return (before and interface(before)) != (now and interface(now))


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:200]
