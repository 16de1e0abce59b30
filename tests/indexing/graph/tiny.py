"""A framework that is as small as one can be, and a project that uses it."""

from __future__ import annotations

from collections.abc import Iterable

from ragstone.protocols import ProjectFiles
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
    runs = 0

    def detects(self, files: ProjectFiles) -> bool:
        return "tiny.json" in files.uris

    def read(self, files: ProjectFiles) -> Graph:
        Tiny.runs += 1
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
