"""Written types of Python: the classes they name, what they may hold, whether None is one of them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from ragstone.code.tree import Typed
from ragstone_code.python.names import BUILTIN, Names, written

if TYPE_CHECKING:
    from tree_sitter import Node

OPTIONAL: Final = ("typing.Optional", "Optional")
UNION: Final = ("typing.Union", "Union")
LONGEST: Final = 2_000
"""Characters of an annotation that is looked into; nobody writes a longer one."""


def typed(node: Node | None, names: Names) -> Typed | None:
    """Return what an annotation says, or None where there is none; one in quotes is read as if it had none."""
    text = written(node).strip()
    if not text:
        return None
    try:
        parsed = ast.parse(text, mode="eval").body if len(text) <= LONGEST else None
        found = _of(parsed, names, text) if parsed is not None else None
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        found = None
    return found or Typed((), text=text)


def _of(node: ast.expr, names: Names, text: str) -> Typed:
    if isinstance(node, ast.Constant):
        return _constant(node, names, text)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union([_of(node.left, names, ""), _of(node.right, names, "")], text)
    if isinstance(node, ast.Subscript):
        return _generic(node, names, text)
    name = _dotted(node)
    return Typed((_full(name, names),) if name else (), text=text)


def _constant(node: ast.Constant, names: Names, text: str) -> Typed:
    if node.value is None:
        return Typed((), nullable=True, text=text)
    if isinstance(node.value, str):
        return _of(ast.parse(node.value.strip(), mode="eval").body, names, text)
    return Typed((), text=text)


def _generic(node: ast.Subscript, names: Names, text: str) -> Typed:
    outer = _full(_dotted(node.value), names)
    keys = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if outer.endswith("Literal"):
        return Typed((outer,), text=text)
    if outer.endswith("Annotated"):
        keys = keys[:1]
    inner = [_of(one, names, "") for one in keys if not isinstance(one, ast.List)]
    if outer in OPTIONAL or outer in UNION:
        union = _union(inner, text)
        return Typed(union.names, union.nullable or outer in OPTIONAL, union.inner, text)
    return Typed((outer,) if outer else (), inner=tuple(inner), text=text)


def _union(parts: list[Typed], text: str) -> Typed:
    return Typed(
        tuple(name for one in parts for name in one.names),
        any(one.nullable for one in parts),
        tuple(inner for one in parts for inner in one.inner),
        text,
    )


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = _dotted(node.value)
        return f"{before}.{node.attr}" if before else ""
    return ""


def _full(name: str, names: Names) -> str:
    full = names.full(name)
    return full if full != name or name in BUILTIN or "." in name else full
