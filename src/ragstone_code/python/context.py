"""The context that all parts of the Python lowering share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from ragstone_code import program_tree
from ragstone_code.python.names import ModuleNames, children_of, line_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_DEPTH: Final = 60
"""Expressions below this depth are opaque. Python's stack allows more; real code stays far below."""
_CONSTANTS: Final[Mapping[str, bool | None]] = {"true": True, "false": False, "none": None}

ExpressionLowerer: TypeAlias = "Callable[[PythonContext, Node], program_tree.Expr]"


@dataclass(slots=True)
class PythonContext:
    """A position in a file: its names, the surrounding definitions, and the nesting depth."""

    names: ModuleNames
    lowerers: Mapping[str, ExpressionLowerer]
    """Lowering functions of expressions by node type."""
    enclosing: tuple[str, ...] = ()
    """Names of the surrounding classes and functions."""
    in_class: bool = False
    depth: int = 0
    classes: list[program_tree.Class] = field(default_factory=list)
    """All classes that were lowered."""
    functions: list[program_tree.Function] = field(default_factory=list)
    """All functions that were lowered, without methods."""

    def in_body(self, enclosing: tuple[str, ...] = ()) -> PythonContext:
        """Return the context of a function body, which is lowered later; its definitions are not the file's."""
        return PythonContext(self.names, self.lowerers, enclosing)

    def expression(self, node: Node | None) -> program_tree.Expr:
        """Return a lowered expression; it is opaque if its kind is not supported or it is nested too deeply."""
        if node is None:
            return program_tree.Opaque("missing", "", 0)
        if node.type in _CONSTANTS:
            return program_tree.Literal(_CONSTANTS[node.type], line_of(node))
        lower = self.lowerers.get(node.type)
        if lower is None or self.depth > MAX_DEPTH:
            return opaque(node)
        self.depth += 1
        try:
            return lower(self, node)
        finally:
            self.depth -= 1

    def optional_expression(self, node: Node | None) -> program_tree.Expr | None:
        """Return a lowered expression, or None if there is no node."""
        if node is None:
            return None
        return self.expression(node)

    def field(self, node: Node, name: str) -> program_tree.Expr:
        """Return the lowered expression of a node's field."""
        return self.expression(node.child_by_field_name(name))

    def first_child(self, node: Node) -> program_tree.Expr:
        """Return the lowered first child of a node."""
        children = children_of(node)
        if not children:
            return opaque(node)
        return self.expression(children[0])


def opaque(node: Node, reason: str = "") -> program_tree.Opaque:
    """Return an opaque expression for a node that has no program form."""
    return program_tree.Opaque(reason or node.type, text_of(node)[:400], line_of(node))
