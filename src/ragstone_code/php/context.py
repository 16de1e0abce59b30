"""What the parts of the PHP mapping share: where they are, and how they reach one another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from ragstone.code.tree import Class, Expr, Function, Opaque, Statement
from ragstone_code.php.names import Names, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

DEEPEST: Final = 120
"""Expressions and blocks nested deeper than this are opaque: real code stays below 40, and every level costs frames."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The mappings of the three kinds of syntax, which call one another."""

    expression: Callable[[Context, Node], Expr]
    statement: Callable[[Context, Node], list[Statement]]
    definition: Callable[[Context, Node, str], Class]


@dataclass(slots=True)
class Found:
    """What was defined anywhere in the part of the file that was mapped at once."""

    classes: list[Class] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)


@dataclass(slots=True)
class Context:
    """A place in a file."""

    uri: str
    parts: Parts
    names: Names
    found: Found
    inside: str = ""
    """The full name of the class around it."""
    within: str = ""
    """The name of the function around it."""
    depth: int = 0

    def expression(self, node: Node | None) -> Expr:
        """Return an expression mapped; what is missing or too deep is opaque."""
        if node is None:
            return Opaque("missing", "", 0)
        if self.depth >= DEEPEST:
            return Opaque("nested too deeply", "", line_of(node))
        self.depth += 1
        try:
            return self.parts.expression(self, node)
        finally:
            self.depth -= 1

    def statements(self, nodes: list[Node]) -> tuple[Statement, ...]:
        """Return statements mapped, nothing of those that are too deep."""
        if self.depth >= DEEPEST:
            return ()
        self.depth += 1
        try:
            return tuple(one for node in nodes for one in self.parts.statement(self, node))
        finally:
            self.depth -= 1

    def block(self, node: Node | None) -> tuple[Statement, ...]:
        """Return the statements of a body: in braces, after a colon, or a single one."""
        if node is None:
            return ()
        if node.type in ("compound_statement", "colon_block"):
            return self.statements(node.named_children)
        return self.statements([node])

    def definition(self, node: Node, name: str) -> Class:
        """Return a class mapped."""
        return self.parts.definition(self, node, name)

    def entering(self, *, inside: str | None = None, within: str | None = None) -> Context:
        """Return the place inside a class or function, from which bodies are mapped later."""
        return replace(
            self, inside=self.inside if inside is None else inside, within=self.within if within is None else within
        )


def line_of(node: Node) -> int:
    """Return the line a node starts on, from 1."""
    return node.start_point[0] + 1


def named(node: Node, *types: str) -> Node | None:
    """Return the first child of one of these types."""
    return next((one for one in node.children if one.type in types), None)


def opaque(node: Node, reason: str = "") -> Opaque:
    """Return a node as what the mapping has no shape for."""
    return Opaque(reason or node.type, text_of(node)[:200], line_of(node))
