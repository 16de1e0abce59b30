"""Settings: the keys of `config/*.php`, the environment variables behind them, and the methods that read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ragstone.types import Alias, Graph, Json, Link, Node
from ragstone_code import program_tree
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

MAX_KEY_PARTS: Final = 3
"""A key with more parts than this gets no node: `mail.mailers.smtp` still has one."""
READERS: Final = frozenset(
    (
        "get",
        "set",
        "has",
        "string",
        "integer",
        "float",
        "boolean",
        "array",
        "collection",
        "getMany",
    )
)
_COMMENT_STARTS: Final = ("*", "/*", "//", "#", "|")


def read_config(app: App, calls: Sequence[LocatedCall]) -> Graph:
    """Return the config keys as nodes, and links from the methods that read them."""
    reader = _ConfigReader(app)
    folder = _config_folder(app)
    for uri in app.world.below(folder, ".php"):
        name = uri.removeprefix(f"{folder}/").removesuffix(".php")
        reader.read_file(uri, name.replace("/", "."))
    for uri, name in _merged_files(app, calls):
        reader.read_file(uri, name)
    links = tuple(_usage_links(calls, reader.nodes))
    return Graph(
        nodes=tuple(reader.nodes.values()),
        links=links,
        aliases=tuple(reader.aliases),
    )


def _config_folder(app: App) -> str:
    """Return `config`, or the folder that holds `config/database.php` if the application moved it."""
    standard = f"{app.prefix}config"
    if any(app.world.below(standard, ".php")):
        return standard
    for uri in app.sources:
        if uri.lower().endswith("/config/database.php"):
            return uri.removesuffix("/database.php")
    return standard


def _merged_files(app: App, calls: Sequence[LocatedCall]) -> Iterator[tuple[str, str]]:
    """Yield the config files that providers merge with `mergeConfigFrom`, each with its key."""
    for located in calls:
        if called_name(located.call) != "mergeConfigFrom":
            continue
        path = app.resolve_path(argument_at(located.call, 0))
        name = text_of(argument_at(located.call, 1))
        if path and name and app.world.has(path):
            yield path, name


@dataclass
class _ConfigReader:
    """Collects nodes and aliases from config files."""

    app: App
    nodes: dict[str, Node] = field(default_factory=dict)
    aliases: list[Alias] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    """The lines of the current file."""

    def read_file(self, uri: str, name: str) -> None:
        """Add the keys that a config file returns; `name` is the key of the whole file."""
        module = self.app.world.module(uri)
        statements = module.statements if module else ()
        returned = next(
            (
                statement
                for statement in statements
                if isinstance(statement, program_tree.Return)
            ),
            None,
        )
        if returned is None or returned.value is None:
            return
        self.lines = (self.app.world.text(uri) or "").splitlines()
        self._read_key(name, returned.value, uri, returned.line)

    def _read_key(self, name: str, value: SyntaxNode, uri: str, line: int) -> None:
        """Add a key and the keys below it."""
        below = _named_entries(value)
        environment = list(_environment_variables(value))
        attributes: dict[str, Json] = {}
        if below:
            attributes["keys"] = [child for child, _ in below]
        elif isinstance(value, program_tree.Literal) or class_of(value):
            attributes["value"] = short_text(value)
        if environment:
            attributes["env"] = [dict(variable) for variable in environment]
        self._add_node(name, uri, line, attributes)
        parts = name.count(".") + 1
        if parts < MAX_KEY_PARTS:
            for child, entry in below:
                entry_line = getattr(entry.key, "line", line)
                self._read_key(
                    f"{name}.{child}",
                    entry.value,
                    uri,
                    entry_line,
                )
        if not below or parts == MAX_KEY_PARTS:
            key = f"config:{name}"
            self.aliases += [
                Alias(str(variable["name"]), key, "env", uri) for variable in environment
            ]

    def _add_node(self, name: str, uri: str, line: int, attributes: dict[str, Json]) -> None:
        """Add the node of a key; if another file has the key, merge the attributes."""
        key = f"config:{name}"
        existing = self.nodes.get(key)
        if existing is not None:
            self.nodes[key] = replace(
                existing, attributes=_merge_attributes(existing.attributes, attributes)
            )
            return
        self.nodes[key] = Node(
            key,
            "config",
            name,
            uri,
            line,
            doc=_comment_above(self.lines, line) if "." in name else "",
            language="php",
            framework="laravel",
            attributes=attributes,
        )
        self.aliases.append(Alias(name, key, "config", uri))


def _named_entries(value: SyntaxNode) -> list[tuple[str, program_tree.Entry]]:
    """Return the entries of an array that have a string key, with the key."""
    named: list[tuple[str, program_tree.Entry]] = []
    for entry in array_entries(value):
        name = text_of(entry.key) if entry.key else None
        if name:
            named.append((name, entry))
    return named


def _comment_above(lines: list[str], line: int) -> str:
    """Return the comment directly above a line, without comment signs."""
    comment: list[str] = []
    for written in reversed(lines[: line - 1]):
        bare = written.strip()
        is_comment = not bare or bare.startswith(_COMMENT_STARTS) or bare.endswith("*/")
        if not is_comment:
            break
        comment.append(bare.strip("/*#| -"))
        if bare.startswith("/*"):
            break
    return " ".join(part for part in reversed(comment) if part)


def _merge_attributes(first: Mapping[str, Json], second: Mapping[str, Json]) -> dict[str, Json]:
    """Return the attributes of one key from two files: the first file wins, its lists get the second's entries."""
    merged = {**second, **first}
    for name in ("keys", "env"):
        own, more = first.get(name), second.get(name)
        if isinstance(own, list) and isinstance(more, list):
            merged[name] = [*own, *(part for part in more if part not in own)]
    return merged


def _environment_variables(value: SyntaxNode) -> Iterator[dict[str, Json]]:
    """Yield the environment variables that a value reads with `env()`, and their defaults."""
    for node, _ in walk((value,)):
        if not isinstance(node, program_tree.Call) or called_name(node) != "env":
            continue
        name = text_of(argument_at(node, 0))
        default = argument_at(node, 1)
        if not name:
            continue
        variable: dict[str, Json] = {"name": name}
        if default is not None:
            variable["default"] = short_text(default)
        yield variable


def _usage_links(calls: Sequence[LocatedCall], nodes: dict[str, Node]) -> Iterator[Link]:
    """Yield a link from each method to the setting it reads; the full key is an attribute of the link."""
    seen: set[tuple[str, str, int]] = set()
    for located in calls:
        for path in _keys_read(located):
            key = _nearest_node(path, nodes)
            usage = (located.body.key, path, located.line)
            if not key or usage in seen:
                continue
            seen.add(usage)
            yield Link(
                "CONFIGURED_BY",
                located.body.key,
                key,
                located.uri,
                located.line,
                "declared",
                located.conditional,
                attributes={"key": path},
            )


def _keys_read(located: LocatedCall) -> Iterator[str]:
    """Yield the keys that a call reads or sets."""
    if not _reads_config(located.call):
        return
    first = argument_at(located.call, 0)
    entry_keys = [entry.key for entry in array_entries(first) if entry.key is not None]
    for key in entry_keys or array_values(first):
        text = text_of(key)
        if text:
            yield text


def _reads_config(call: program_tree.Call) -> bool:
    """Return whether a call is `config('…')`, `Config::get('…')` or `config()->get('…')`."""
    name, owner = called_name(call), receiver(call)
    if owner is None:
        return name == "config"
    if name not in READERS:
        return False
    if isinstance(owner, program_tree.ClassName):
        return owner.name.rpartition("\\")[2] == "Config"
    return (
        isinstance(owner, program_tree.Call)
        and called_name(owner) == "config"
        and not owner.arguments
    )


def _nearest_node(path: str, nodes: dict[str, Node]) -> str:
    """Return the key of the deepest node on a path; empty if not even the file has one."""
    while path:
        if f"config:{path}" in nodes:
            return f"config:{path}"
        path = path.rpartition(".")[0]
    return ""
