"""What a language's captures find in a text: plain records with byte offsets, ready to be put together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from ragstone.code.grammars import query_of, tree_of

if TYPE_CHECKING:
    from tree_sitter import Node

_Match: TypeAlias = "Mapping[str, list[Node]]"

LONGEST: Final = 200
"""Characters of a receiver or a type that are kept: what is longer names nothing."""

_DEEPEST: Final = 5_000
"""Levels of a tree that are looked into: below is what a program wrote, and a cursor loses itself there."""


class Defined(NamedTuple):
    """A definition, or with no kind a scope that others stand in."""

    start: int
    end: int
    line: int
    line_end: int
    kind: str
    name: str
    owner: str
    body: int
    """Where its body begins; -1 where it has none."""
    pattern: int
    """Which capture found it: of two that find one definition, the first in the file counts."""


class Used(NamedTuple):
    """A reference."""

    start: int
    line: int
    kind: str
    name: str
    receiver: str


class Imported(NamedTuple):
    """An import as it is written."""

    line: int
    kind: str
    name: str
    alias: str
    prefix: str


class Bound(NamedTuple):
    """A name with a type, or with the name of another whose type it has."""

    start: int
    line: int
    kind: str
    name: str
    type: str
    value: str
    end: int
    """Where the name ends: what several patterns say of one name stands together by it."""


@dataclass(slots=True)
class Captures:
    """Everything the captures of a language found in one text, each list in order of the text."""

    data: bytes
    namespace: str = ""
    definitions: list[Defined] = field(default_factory=list)
    references: list[Used] = field(default_factory=list)
    imports: list[Imported] = field(default_factory=list)
    bindings: list[Bound] = field(default_factory=list)
    attached: list[tuple[int, int]] = field(default_factory=list)
    """(start, end) of comments, decorators and attributes."""
    docstrings: list[tuple[int, int]] = field(default_factory=list)
    around: dict[tuple[int, int], int] = field(default_factory=dict)
    """(start, end) of a definition → start of what stands around it and is a part of it."""
    broken: list[tuple[int, int]] = field(default_factory=list)
    """First and last lines the grammar could not read."""
    _pattern: int = 0

    def text(self, start: int, end: int) -> str:
        """Return a slice as text."""
        return self.data[start:end].decode("utf-8", "replace")

    def take(self, pattern: int, match: _Match) -> None:
        """Keep what one match of the query found."""
        self._pattern = pattern
        for key, nodes in match.items():
            group, _, kind = key.partition(".")
            take = _TAKERS.get(group)
            if take is not None:
                for node in nodes:
                    take(self, node, kind, match)

    def one(self, match: _Match, name: str) -> str:
        """Return the text of a capture, cut where it is longer than a name can be."""
        nodes = match.get(name)
        return self.short(nodes[0]) if nodes else ""

    def short(self, node: Node) -> str:
        """Return a node's text on one line; a long one keeps its beginning and says so."""
        start, end = node.start_byte, node.end_byte
        if end - start > LONGEST:
            return " ".join(self.text(start, start + LONGEST).split()) + "…"
        found = self.text(start, end)
        return " ".join(found.split()) if "\n" in found or "  " in found else found


def captured(data: bytes, language: str) -> Captures | None:
    """Return what stands in a text, None where it cannot be parsed at all."""
    tree = tree_of(data, language)
    if tree is None:
        return None
    from tree_sitter import QueryCursor

    found = Captures(data)
    cursor = QueryCursor(query_of(language))
    cursor.set_max_start_depth(_DEEPEST)
    for pattern, match in cursor.matches(tree.root_node):
        found.take(pattern, match)
    found.attached.sort()
    found.references.sort()
    found.bindings.sort(key=lambda bound: bound.start)
    return found


def _define(found: Captures, node: Node, kind: str, match: _Match) -> None:
    names, bodies = match.get("name"), match.get("body")
    named = names[0] if names else node
    if named.type == "template_type":  # C++ writes what a template is narrowed to beside its name
        named = named.child_by_field_name("name") or named
    row, column = node.end_point
    end = node.end_byte
    if column == 0:  # it ends with its last line: a macro of C
        end = node.start_byte + len(found.data[node.start_byte : end].rstrip())
    found.definitions.append(
        Defined(
            start=node.start_byte,
            end=end,
            line=named.start_point[0] + 1,
            line_end=max(row + (column > 0), named.start_point[0] + 1),
            kind=kind,
            name=found.short(named) if names else "",
            owner=found.one(match, "owner"),
            body=bodies[0].start_byte if bodies else -1,
            pattern=found._pattern,
        )
    )


def _use(found: Captures, node: Node, kind: str, match: _Match) -> None:
    names = match["name"]
    named = node if len(names) > 1 else names[0]  # several in one match are captured by themselves
    at = named.start_point[0] + 1
    found.references.append(
        Used(named.start_byte, at, kind, found.short(named), found.one(match, "receiver"))
    )


def _import(found: Captures, node: Node, kind: str, match: _Match) -> None:
    names = match.get("name")
    named = names[0] if names else node
    alias, prefix = found.one(match, "alias"), found.one(match, "prefix")
    # A tree of imports is taken as it is written, whatever its length.
    text = found.text(named.start_byte, named.end_byte) if kind == "tree" else found.short(named)
    found.imports.append(Imported(named.start_point[0] + 1, kind, text, alias, prefix))


def _bind(found: Captures, node: Node, kind: str, match: _Match) -> None:
    named = match["name"][0]
    typed, value = found.one(match, "type"), found.one(match, "value")
    line = named.start_point[0] + 1
    found.bindings.append(
        Bound(node.start_byte, line, kind, found.short(named), typed, value, named.end_byte)
    )


def _attach(found: Captures, node: Node, _kind: str, _match: _Match) -> None:
    found.attached.append((node.start_byte, node.end_byte))


def _surround(found: Captures, node: Node, _kind: str, match: _Match) -> None:
    for inner in match["inner"]:
        found.around[inner.start_byte, inner.end_byte] = node.start_byte


def _describe(found: Captures, node: Node, _kind: str, _match: _Match) -> None:
    found.docstrings.append((node.start_byte, node.end_byte))


def _name_space(found: Captures, node: Node, _kind: str, _match: _Match) -> None:
    if not found.namespace:
        found.namespace = found.short(node)


def _break(found: Captures, node: Node, _kind: str, _match: _Match) -> None:
    found.broken.append((node.start_point[0] + 1, node.end_point[0] + 1))


_TAKERS: Final = {
    "definition": _define,
    "scope": _define,
    "reference": _use,
    "import": _import,
    "binding": _bind,
    "attached": _attach,
    "around": _surround,
    "docstring": _describe,
    "namespace": _name_space,
    "broken": _break,
}
