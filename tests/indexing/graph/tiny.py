"""A framework that is as small as one can be, frameworks that fail, and a project that uses them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

from ragstone.indexing.graph.frameworks import FrameworkReader
from ragstone.protocols import Framework, ProjectFiles
from ragstone.read.python_command import build_command
from ragstone.types import Alias, Document, Graph, Link, Node, Rendered

SONG = '''"""Songs."""

from music.base import Model


class Song(Model):
    """Something that is sung."""

    def play(self) -> str:
        return self.title()

    def title(self) -> str:
        return "la"
'''
BASE = """class Model:
    def save(self) -> None:
        pass
"""
ROUTES = "GET songs music.song.Song.play\nPUT songs/{song} music.song.Song.title\n"
FILES = {
    "tiny.json": "{}",
    "music/song.py": SONG,
    "music/base.py": BASE,
    "routes.toml": ROUTES,
    "README.md": "Sing!",
}


class Tiny:
    """Reads `routes.toml`: a method, a path and what handles it on every line."""

    name = "tiny"

    def detects(self, files: ProjectFiles) -> bool:
        return "tiny.json" in files.uris

    def read(self, files: ProjectFiles) -> Graph:
        graph = Graph()
        for number, line in enumerate((files.text("routes.toml") or "").splitlines(), 1):
            method, path, handler = line.split()
            if handler.rpartition(".")[0] not in _class_names(files):
                graph += Graph(remarks=(f"routes.toml:{number}: no class for {handler}",))
                continue
            graph += _route(f"{method} {path}", handler, number)
        return graph


class Broken:
    """A framework that cannot read anything."""

    name = "broken"

    def detects(self, files: ProjectFiles) -> bool:
        return True

    def read(self, files: ProjectFiles) -> Graph:
        raise KeyError("a program it was not made for")


class BrokenTiny(Broken):
    """The small framework, in a version that cannot read anything."""

    name = "tiny"


class Careless(Tiny):
    """Reads every file, and follows the order that is in it: to crash, to hang, to fill the memory."""

    def read(self, files: ProjectFiles) -> Graph:
        for uri in files.uris:
            orders = files.text(uri) or ""
            if "CRASH" in orders:
                os.abort()
            if "HANG" in orders:
                time.sleep(1_000)
            if "FILL" in orders:
                bytearray(8 << 30)
        return super().read(files)


class Includer(Tiny):
    """Evaluates `outer.toml`, which includes `inner.toml` and then crashes."""

    def read(self, files: ProjectFiles) -> Graph:
        files.enter("outer.toml")
        if files.text("outer.toml") is None:
            return super().read(files)
        files.enter("inner.toml")
        files.text("inner.toml")
        files.enter("outer.toml")
        os.abort()


class Liar(Tiny):
    """Gives a node in a file outside the project."""

    def read(self, files: ProjectFiles) -> Graph:
        return Graph((Node("route:/", "route", "/", "/etc/passwd", 1),))


def tiny() -> tuple[Framework, ...]:
    return (Tiny(),)


def broken() -> tuple[Framework, ...]:
    return (BrokenTiny(), Broken())


def careless() -> tuple[Framework, ...]:
    return (Careless(),)


def includer() -> tuple[Framework, ...]:
    return (Includer(),)


def liar() -> tuple[Framework, ...]:
    return (Liar(),)


def reader_of(name: str, *, seconds: float = 60.0) -> FrameworkReader:
    """Return a reader of the frameworks that a function of this module returns."""
    target = f"tests.indexing.graph.tiny:{name}"
    command = build_command("ragstone.indexing.graph.framework_main", (), (target,))
    root = str(Path(__file__).resolve().parents[3])
    return FrameworkReader((target,), seconds=seconds, command=[*command, root])


TINY = reader_of("tiny")
"""One process for all tests of the small framework."""


def _class_names(files: ProjectFiles) -> set[str]:
    """Return the full names of the project's classes."""
    names: set[str] = set()
    for uri in files.uris:
        facts = files.facts(uri)
        if facts is not None:
            names.update(f"{facts.namespace}.{symbol.qualified}" for symbol in facts.symbols)
    return names


def _route(name: str, handler: str, line: int) -> Graph:
    key = f"route:{name}"
    return Graph(
        (
            Node(
                key,
                "route",
                name,
                "routes.toml",
                line,
                line,
                framework="tiny",
                attributes={"action": handler},
            ),
        ),
        (Link("HANDLED_BY", key, f"method:{handler}", "routes.toml", line, "evaluated"),),
        (Alias(name, key, "uri", "routes.toml"),),
        rendered=(
            Rendered(
                key,
                "route",
                name,
                f"The route {name} is handled by {handler}.",
                "routes.toml",
                line,
            ),
        ),
    )


def documents(files: dict[str, str] | None = None) -> Iterable[Document]:
    """Return the project's files as documents."""
    return [Document(uri, text) for uri, text in (FILES if files is None else files).items()]
