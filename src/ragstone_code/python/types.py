"""Python type annotations: the classes that they name, their arguments, and whether they allow None."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from ragstone_code.program_tree import Typed
from ragstone_code.python.names import ModuleNames, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_OPTIONAL: Final = ("typing.Optional", "Optional")
_UNION: Final = ("typing.Union", "Union")
_MAX_LENGTH: Final = 2_000
"""Longer annotations are not parsed."""


def lower_annotation(node: Node | None, names: ModuleNames) -> Typed | None:
    """Return the type of an annotation, or None if there is none; quoted annotations are parsed too."""
    text = text_of(node).strip()
    if not text:
        return None
    unparsed = Typed((), text=text)
    if len(text) > _MAX_LENGTH:
        return unparsed
    try:
        return _lower_type(ast.parse(text, mode="eval").body, names, text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return unparsed


def _lower_type(node: ast.expr, names: ModuleNames, text: str) -> Typed:
    if isinstance(node, ast.Constant):
        return _lower_constant(node, names, text)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        left = _lower_type(node.left, names, "")
        right = _lower_type(node.right, names, "")
        return _union([left, right], text)
    if isinstance(node, ast.Subscript):
        return _lower_generic(node, names, text)
    return _named_type(names.resolve(_dotted_name(node)), (), text)


def _named_type(name: str, inner: tuple[Typed, ...], text: str) -> Typed:
    if not name:
        return Typed((), inner=inner, text=text)
    return Typed((name,), inner=inner, text=text)


def _lower_constant(node: ast.Constant, names: ModuleNames, text: str) -> Typed:
    if node.value is None:
        return Typed((), nullable=True, text=text)
    if isinstance(node.value, str):
        quoted = ast.parse(node.value.strip(), mode="eval").body
        return _lower_type(quoted, names, text)
    return Typed((), text=text)


def _lower_generic(node: ast.Subscript, names: ModuleNames, text: str) -> Typed:
    origin = names.resolve(_dotted_name(node.value))
    if origin.endswith("Literal"):
        return Typed((origin,), text=text)
    arguments = [node.slice]
    if isinstance(node.slice, ast.Tuple):
        arguments = node.slice.elts
    if origin.endswith("Annotated"):
        arguments = arguments[:1]
    inner = [
        _lower_type(argument, names, "")
        for argument in arguments
        if not isinstance(argument, ast.List)
    ]
    if origin in _UNION:
        return _union(inner, text)
    if origin in _OPTIONAL:
        union = _union(inner, text)
        return Typed(union.names, True, union.inner, text)
    return _named_type(origin, tuple(inner), text)


def _union(parts: list[Typed], text: str) -> Typed:
    names: list[str] = []
    inner: list[Typed] = []
    for part in parts:
        names.extend(part.names)
        inner.extend(part.inner)
    is_nullable = any(part.nullable for part in parts)
    return Typed(tuple(names), is_nullable, tuple(inner), text)


def _dotted_name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = _dotted_name(node.value)
        if owner:
            return f"{owner}.{node.attr}"
    return ""
