"""Runs the tree-sitter query of a language over a text and returns plain records with byte offsets.

`languages/every.scm` describes the captures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from tree_sitter import Node, QueryCursor

from ragstone.code.grammars import definitions_query_of, query_of, tree_of

_Match: TypeAlias = Mapping[str, list[Node]]

MAX_TEXT: Final = 200
"""Bytes of a receiver or a type to store: a longer text is not a name."""

_MAX_DEPTH: Final = 5_000
"""Levels of a tree to search: deeper trees are generated, and the cursor does not return from them."""


class DefinitionCapture(NamedTuple):
    """A definition, or a scope that contains definitions (`kind` is empty)."""

    start: int
    end: int
    line: int
    line_end: int
    kind: str
    name: str
    owner: str
    body: int
    """Offset of its body; -1 if it has none."""
    pattern: int
    """Number of the query pattern: if two patterns match one definition, the lower number wins."""


class ReferenceCapture(NamedTuple):
    """A use of a name."""

    start: int
    line: int
    kind: str
    name: str
    receiver: str


class ImportCapture(NamedTuple):
    """An import as it is written."""

    line: int
    kind: str
    name: str
    alias: str
    prefix: str


class BindingCapture(NamedTuple):
    """A name with a type, or with the name of another variable of the same type."""

    start: int
    line: int
    kind: str
    name: str
    type: str
    value: str
    end: int
    """Offset of the end of the name: it identifies the name if several patterns match it."""


@dataclass(slots=True)
class Captures:
    """All captures in one text; each list is in the order of the text."""

    data: bytes
    namespace: str = ""
    definitions: list[DefinitionCapture] = field(default_factory=list)
    references: list[ReferenceCapture] = field(default_factory=list)
    imports: list[ImportCapture] = field(default_factory=list)
    bindings: list[BindingCapture] = field(default_factory=list)
    attached: list[tuple[int, int]] = field(default_factory=list)
    """(start, end) of comments, decorators and attributes."""
    docstrings: list[tuple[int, int]] = field(default_factory=list)
    around: dict[tuple[int, int], int] = field(default_factory=dict)
    """(start, end) of a definition → start of the statement that wraps it, such as `export`."""
    broken: list[tuple[int, int]] = field(default_factory=list)
    """First and last lines that the grammar could not parse."""

    def text(self, start: int, end: int) -> str:
        """Return a slice as text."""
        return self.data[start:end].decode("utf-8", "replace")

    def node_text(self, node: Node) -> str:
        """Return the text of a node on one line; a long text is cut and ends with an ellipsis."""
        start, end = node.start_byte, node.end_byte
        if end - start > MAX_TEXT:
            return " ".join(self.text(start, start + MAX_TEXT).split()) + "…"
        text = self.text(start, end)
        if "\n" in text or "  " in text:
            return " ".join(text.split())
        return text

    def capture_text(self, match: _Match, name: str) -> str:
        """Return the text of a capture of the match, or an empty text."""
        nodes = match.get(name)
        return self.node_text(nodes[0]) if nodes else ""

    def add_match(self, pattern: int, match: _Match) -> None:
        """Record one match of the query."""
        for key, nodes in match.items():
            group, _, kind = key.partition(".")
            for node in nodes:
                self._add_capture(group, kind, node, match, pattern)

    def _add_capture(
        self, group: str, kind: str, node: Node, match: _Match, pattern: int
    ) -> None:
        if group in ("definition", "scope"):
            self.definitions.append(self._definition(node, kind, match, pattern))
        elif group in _RECORDERS:
            _RECORDERS[group](self, node, kind, match)

    def _definition(
        self, node: Node, kind: str, match: _Match, pattern: int
    ) -> DefinitionCapture:
        names = match.get("name")
        bodies = match.get("body")
        name_node = names[0] if names else node
        if name_node.type == "template_type":  # C++: a specialised template, `name<arguments>`
            name_node = name_node.child_by_field_name("name") or name_node
        line = name_node.start_point[0] + 1
        end_row, end_column = node.end_point
        end = node.end_byte
        if end_column == 0:  # The node includes its last line break, as a C macro does.
            end = node.start_byte + len(self.data[node.start_byte : end].rstrip())
        line_end = end_row + (end_column > 0)
        return DefinitionCapture(
            start=node.start_byte,
            end=end,
            line=line,
            line_end=max(line_end, line),
            kind=kind,
            name=self.node_text(name_node) if names else "",
            owner=self.capture_text(match, "owner"),
            body=bodies[0].start_byte if bodies else -1,
            pattern=pattern,
        )


def find_captures(
    data: bytes, language: str, *, definitions_only: bool = False
) -> Captures | None:
    """Return the captures in a text, or only those of its definitions; None if the text cannot be parsed."""
    tree = tree_of(data, language)
    if tree is None:
        return None
    captures = Captures(data)
    read_query = query_of
    if definitions_only:
        read_query = definitions_query_of
    cursor = QueryCursor(read_query(language))
    cursor.set_max_start_depth(_MAX_DEPTH)
    for pattern, match in cursor.matches(tree.root_node):
        captures.add_match(pattern, match)
    captures.attached.sort()
    captures.references.sort()
    captures.bindings.sort(key=lambda binding: binding.start)
    return captures


def _line(node: Node) -> int:
    return node.start_point[0] + 1


def _add_reference(captures: Captures, node: Node, kind: str, match: _Match) -> None:
    names = match["name"]
    # If a match has several names, each name is also the reference node.
    name_node = node if len(names) > 1 else names[0]
    captures.references.append(
        ReferenceCapture(
            start=name_node.start_byte,
            line=_line(name_node),
            kind=kind,
            name=captures.node_text(name_node),
            receiver=captures.capture_text(match, "receiver"),
        )
    )


def _add_import(captures: Captures, node: Node, kind: str, match: _Match) -> None:
    names = match.get("name")
    name_node = names[0] if names else node
    if kind == "tree":  # An import tree is not cut, regardless of its length.
        name = captures.text(name_node.start_byte, name_node.end_byte)
    else:
        name = captures.node_text(name_node)
    captures.imports.append(
        ImportCapture(
            line=_line(name_node),
            kind=kind,
            name=name,
            alias=captures.capture_text(match, "alias"),
            prefix=captures.capture_text(match, "prefix"),
        )
    )


def _add_binding(captures: Captures, node: Node, kind: str, match: _Match) -> None:
    name_node = match["name"][0]
    captures.bindings.append(
        BindingCapture(
            start=node.start_byte,
            line=_line(name_node),
            kind=kind,
            name=captures.node_text(name_node),
            type=captures.capture_text(match, "type"),
            value=captures.capture_text(match, "value"),
            end=name_node.end_byte,
        )
    )


def _add_attached(captures: Captures, node: Node, _kind: str, _match: _Match) -> None:
    captures.attached.append((node.start_byte, node.end_byte))


def _add_around(captures: Captures, node: Node, _kind: str, match: _Match) -> None:
    for inner in match["inner"]:
        captures.around[inner.start_byte, inner.end_byte] = node.start_byte


def _add_docstring(captures: Captures, node: Node, _kind: str, _match: _Match) -> None:
    captures.docstrings.append((node.start_byte, node.end_byte))


def _set_namespace(captures: Captures, node: Node, _kind: str, _match: _Match) -> None:
    if not captures.namespace:
        captures.namespace = captures.node_text(node)


def _add_broken(captures: Captures, node: Node, _kind: str, _match: _Match) -> None:
    captures.broken.append((_line(node), node.end_point[0] + 1))


_RECORDERS: Final = {
    "reference": _add_reference,
    "import": _add_import,
    "binding": _add_binding,
    "attached": _add_attached,
    "around": _add_around,
    "docstring": _add_docstring,
    "namespace": _set_namespace,
    "broken": _add_broken,
}
