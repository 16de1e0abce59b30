"""The context that all parts of the PHP lowering share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from ragstone_code.php.names import NamespaceNames, text_of
from ragstone_code.program_tree import Class, Expr, Function, Opaque, Statement

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_DEPTH: Final = 120
"""Expressions and blocks below this depth are opaque. Real code stays below 40; each level costs stack frames."""


@dataclass(frozen=True, slots=True)
class Lowerers:
    """The lowering functions of the three kinds of syntax, which call each other."""

    expression: Callable[[PhpContext, Node], Expr]
    statement: Callable[[PhpContext, Node], list[Statement]]
    definition: Callable[[PhpContext, Node, str], Class]


@dataclass(slots=True)
class Declarations:
    """All classes and functions that were declared so far, at any nesting level."""

    classes: list[Class] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)


@dataclass(slots=True)
class PhpContext:
    """A position in a file: its names, the surrounding class and function, and the nesting depth."""

    uri: str
    lowerers: Lowerers
    names: NamespaceNames
    declarations: Declarations
    class_name: str = ""
    """Full name of the surrounding class."""
    function_name: str = ""
    """Name of the surrounding function."""
    depth: int = 0

    def expression(self, node: Node | None) -> Expr:
        """Return a lowered expression; it is opaque if the node is missing or nested too deeply."""
        if node is None:
            return Opaque("missing", "", 0)
        if self.depth >= MAX_DEPTH:
            return Opaque("nested too deeply", "", line_of(node))
        self.depth += 1
        try:
            return self.lowerers.expression(self, node)
        finally:
            self.depth -= 1

    def statements(self, nodes: list[Node]) -> tuple[Statement, ...]:
        """Return lowered statements; none if they are nested too deeply."""
        if self.depth >= MAX_DEPTH:
            return ()
        self.depth += 1
        statements: list[Statement] = []
        try:
            for node in nodes:
                statements.extend(self.lowerers.statement(self, node))
        finally:
            self.depth -= 1
        return tuple(statements)

    def block(self, node: Node | None) -> tuple[Statement, ...]:
        """Return the statements of a body: in braces, after a colon, or a single statement."""
        if node is None:
            return ()
        if node.type in ("compound_statement", "colon_block"):
            return self.statements(node.named_children)
        return self.statements([node])

    def definition(self, node: Node, name: str) -> Class:
        """Return a lowered class."""
        return self.lowerers.definition(self, node, name)

    def in_class(self, class_name: str) -> PhpContext:
        """Return the context inside a class."""
        return replace(self, class_name=class_name)

    def in_function(self, function_name: str) -> PhpContext:
        """Return the context inside a function, which lowers the body later."""
        return replace(self, function_name=function_name)


def line_of(node: Node) -> int:
    """Return the first line of a node, counted from 1."""
    return node.start_point[0] + 1


def child_of_type(node: Node, *types: str) -> Node | None:
    """Return the first child of one of these types."""
    for child in node.children:
        if child.type in types:
            return child
    return None


def children_without_comments(node: Node) -> list[Node]:
    """Return the named children of a node except comments."""
    return [child for child in node.named_children if child.type != "comment"]


def first_child(node: Node) -> Node | None:
    """Return the first named child that is not a comment."""
    return next(iter(children_without_comments(node)), None)


def opaque(node: Node, reason: str = "") -> Opaque:
    """Return an opaque expression for a node that has no program form."""
    return Opaque(reason or node.type, text_of(node)[:200], line_of(node))
