"""Settings: the keys of `config/*.php` with the environment's names behind them, and the methods that read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ragstone.code import tree
from ragstone.types import Alias, Graph, Json, Link, Node
from ragstone_code.laravel.app import App
from ragstone_code.laravel.code_bodies import LocatedCall
from ragstone_code.laravel.syntax import (
    SyntaxNode,
    argument_at,
    array_entries,
    array_values,
    called_name,
    class_of,
    receiver,
    short_text,
    text_of,
    walk,
)

DEEP: Final = 3
"""How many parts a key has at most that is a node of its own: `mail.mailers.smtp`."""
READERS: Final = frozenset(
    ("get", "set", "has", "string", "integer", "float", "boolean", "array", "collection", "getMany")
)


@dataclass
class _Settings:
    """What the files of settings say."""

    nodes: dict[str, Node] = field(default_factory=dict)
    aliases: list[Alias] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    """The lines of the file that is read."""


def settings(app: App, sites: Sequence[LocatedCall]) -> Graph:
    """Return the keys of settings and what reads them."""
    found = _Settings()
    folder = _folder(app)
    for uri in app.world.below(folder, ".php"):
        _file(app, found, uri, uri.removeprefix(f"{folder}/").removesuffix(".php").replace("/", "."))
    for uri, name in _joined(app, sites):
        _file(app, found, uri, name)
    links = tuple(_uses(sites, found.nodes))
    return Graph(nodes=tuple(found.nodes.values()), links=links, aliases=tuple(found.aliases))


def _joined(app: App, sites: Sequence[LocatedCall]) -> Iterator[tuple[str, str]]:
    """Yield the files that providers of packages and modules add, each with the key it is added under."""
    for site in sites:
        if called_name(site.call) == "mergeConfigFrom":
            path, name = app.resolve_path(argument_at(site.call, 0)), text_of(argument_at(site.call, 1))
            if path and name and app.world.has(path):
                yield path, name


def _file(app: App, found: _Settings, uri: str, name: str) -> None:
    """Take in a file of settings."""
    module = app.world.module(uri)
    told = next((one for one in module.statements if isinstance(one, tree.Return)), None) if module else None
    if told is not None and told.value is not None:
        found.text = (app.world.read(uri) or "").splitlines()
        _key(found, name, told.value, (uri, told.line))


def _folder(app: App) -> str:
    """Return the folder of settings: the framework's own, or the one that has its files where that was moved."""
    if any(app.world.below(f"{app.prefix}config", ".php")):
        return f"{app.prefix}config"
    moved = (uri.removesuffix("/database.php") for uri in app.sources if uri.lower().endswith("/config/database.php"))
    return next(moved, f"{app.prefix}config")


def _key(found: _Settings, name: str, value: SyntaxNode, place: tuple[str, int]) -> None:
    """Take in a key and those below it."""
    uri, line = place
    below = [(text, entry) for entry in array_entries(value) if (text := text_of(entry.key) if entry.key else None)]
    attributes: dict[str, Json] = {}
    if below:
        attributes["keys"] = [text for text, _ in below]
    elif _plain(value):
        attributes["value"] = short_text(value)
    env = list(_environment(value))
    if env:
        attributes["env"] = [dict(one) for one in env]
    key = f"config:{name}"
    there = found.nodes.get(key)
    if there is None:
        doc = _above(found.text, line) if "." in name else ""
        found.nodes[key] = Node(
            key, "config", name, uri, line, doc=doc, language="php", framework="laravel", attributes=attributes
        )
        found.aliases.append(Alias(name, key, "config", uri))
    else:
        found.nodes[key] = replace(there, attributes=_both(there.attributes, attributes))
    if name.count(".") + 1 < DEEP:
        for text, entry in below:
            _key(found, f"{name}.{text}", entry.value, (uri, getattr(entry.key, "line", line)))
    if not below or name.count(".") + 1 == DEEP:
        found.aliases += [Alias(str(one["name"]), key, "env", uri) for one in env]


def _above(text: list[str], line: int) -> str:
    """Return the comment right above a line, without the signs it is drawn with."""
    said: list[str] = []
    for written in reversed(text[: line - 1]):
        bare = written.strip()
        if bare and not bare.startswith(("*", "/*", "//", "#", "|")) and not bare.endswith("*/"):
            break
        said.append(bare.strip("/*#| -"))
        if bare.startswith("/*"):
            break
    return " ".join(part for part in reversed(said) if part)


def _both(first: Mapping[str, Json], second: Mapping[str, Json]) -> dict[str, Json]:
    """Return what two files say of one key: what the first has counts, the second adds to its lists."""
    merged = {**second, **first}
    for name in ("keys", "env"):
        one, two = first.get(name), second.get(name)
        if isinstance(one, list) and isinstance(two, list):
            merged[name] = [*one, *(part for part in two if part not in one)]
    return merged


def _plain(value: SyntaxNode) -> bool:
    """Return whether a value is written out."""
    return isinstance(value, tree.Literal) or bool(class_of(value))


def _environment(value: SyntaxNode) -> Iterator[dict[str, Json]]:
    """Yield the names of the environment that a value is read from, with what counts without them."""
    for part, _ in walk((value,)):
        if isinstance(part, tree.Call) and called_name(part) == "env":
            name, otherwise = text_of(argument_at(part, 0)), argument_at(part, 1)
            if name:
                yield {"name": name} if otherwise is None else {"name": name, "default": short_text(otherwise)}


def _uses(sites: Sequence[LocatedCall], nodes: dict[str, Node]) -> Iterator[Link]:
    """Yield which method reads which setting; a key that is deeper than the nodes is in the link."""
    seen: set[tuple[str, str, int]] = set()
    for site in sites:
        for path in _read(site):
            key = _nearest(path, nodes)
            if key and (site.body.key, path, site.line) not in seen:
                seen.add((site.body.key, path, site.line))
                yield Link(
                    "CONFIGURED_BY", site.body.key, key, site.uri, site.line, "declared", site.conditional,
                    attributes={"key": path},
                )  # fmt: skip


def _read(site: LocatedCall) -> Iterator[str]:
    """Yield the keys that a call reads or sets."""
    name, at = called_name(site.call), receiver(site.call)
    facade = isinstance(at, tree.ClassName) and at.name.rpartition("\\")[2] == "Config" and name in READERS
    asked = isinstance(at, tree.Call) and called_name(at) == "config" and not at.arguments and name in READERS
    if not ((name == "config" and at is None) or facade or asked):
        return
    first = argument_at(site.call, 0)
    keys = [entry.key for entry in array_entries(first) if entry.key is not None] or array_values(first)
    yield from (text for key in keys if (text := text_of(key)))


def _nearest(path: str, nodes: dict[str, Node]) -> str:
    """Return the deepest key that is a node, nothing where not even the file is there."""
    while path:
        if f"config:{path}" in nodes:
            return f"config:{path}"
        path = path.rpartition(".")[0]
    return ""
