"""A framework that is as small as one can be, and a project that uses it."""

from __future__ import annotations

from collections.abc import Iterable

from ragstone.code.world import World
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

    def detects(self, world: World) -> bool:
        return world.has("tiny.json")

    def read(self, world: World) -> Graph:
        Tiny.runs += 1
        whole = Graph()
        for number, line in enumerate((world.read("routes.toml") or "").splitlines(), 1):
            method, path, handler = line.split()
            if world.uri_of(handler.rpartition(".")[0]) is None:
                whole += Graph(remarks=(f"routes.toml:{number}: no class for {handler}",))
                continue
            whole += _route(f"{method} {path}", handler, number)
        return whole


class Broken:
    """A framework that cannot read anything."""

    name = "broken"

    def detects(self, world: World) -> bool:
        return True

    def read(self, world: World) -> Graph:
        raise KeyError("a program it was not made for")


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
