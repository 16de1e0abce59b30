"""Lowering of Python string literals: values, or texts with embedded expressions."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING

from ragstone_code import program_tree
from ragstone_code.python.context import PythonContext, opaque
from ragstone_code.python.names import children_of, line_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node


def lower_string(context: PythonContext, node: Node) -> program_tree.Expr:
    """Return a string: a literal if it embeds no expressions, else a text."""
    if node.type != "string" or not node.children:
        return opaque(node)
    prefix = text_of(node.children[0]).lower().rstrip("'\"")
    if "b" in prefix:
        return opaque(node, "bytes")
    parts: list[program_tree.Expr] = []
    for child in node.named_children:
        if child.type == "string_content":
            parts.append(program_tree.Literal(_unescape(child, prefix), line_of(child)))
        elif child.type == "interpolation":
            parts.append(_lower_interpolation(context, child))
    return _join_parts(parts, line_of(node))


def lower_concatenated_string(context: PythonContext, node: Node) -> program_tree.Expr:
    """Return adjacent string literals as one string."""
    parts = [lower_string(context, child) for child in children_of(node)]
    return _join_parts(parts, line_of(node))


def _join_parts(parts: list[program_tree.Expr], line: int) -> program_tree.Expr:
    texts: list[str] = []
    for part in parts:
        if not isinstance(part, program_tree.Literal):
            return program_tree.Text(tuple(parts), line)
        texts.append(str(part.value))
    return program_tree.Literal("".join(texts), line)


def _lower_interpolation(context: PythonContext, node: Node) -> program_tree.Expr:
    if any(
        child.type in ("format_specifier", "type_conversion") for child in node.named_children
    ):
        return opaque(node, "formatted")
    return context.field(node, "expression")


def _unescape(node: Node, prefix: str) -> str:
    """Return the value of a piece of a string; escapes and doubled braces are resolved."""
    text = text_of(node)
    if "f" in prefix:
        text = text.replace("{{", "{").replace("}}", "}")
    if "\\" not in text or "r" in prefix:
        return text
    quoted = '"""' + text.replace('"', '\\"').replace('\\\\"', '\\"') + '"""'
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an invalid escape in the project is not our warning
        try:
            value = ast.literal_eval(quoted)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return text
    if not isinstance(value, str):
        return text
    return value
