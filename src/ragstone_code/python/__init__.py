"""Python: lowering of files to program trees, and an interpreter for the top level of modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.code.grammars import tree_of
from ragstone_code.program_tree import Module
from ragstone_code.python.context import PythonContext
from ragstone_code.python.expressions import EXPRESSIONS
from ragstone_code.python.names import ModuleNames, line_of, module_of, package_of
from ragstone_code.python.statements import lower_block

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["lower", "module_of"]


def lower(text: str, uri: str) -> Module:
    """Return a file as a module, with the lines that the parser could not read. No text raises an error."""
    names = ModuleNames(module_of(uri), package_of(uri))
    tree = tree_of(text.encode("utf-8", "replace"), "python")
    if tree is None:
        return Module(uri, "python", names.module, {}, (), (), (), broken=(1,))
    root = tree.root_node
    names.collect(root)
    context = PythonContext(names, EXPRESSIONS)
    statements = lower_block(context, root)
    return Module(
        uri=uri,
        language="python",
        namespace=names.module,
        imports=dict(names.imports),
        statements=statements,
        classes=tuple(context.classes),
        functions=tuple(context.functions),
        broken=_broken_lines(root),
    )


def _broken_lines(root: Node) -> tuple[int, ...]:
    """Return the lines with syntax errors."""
    lines: set[int] = set()
    pending: list[Node] = []
    if root.has_error:
        pending.append(root)
    while pending:
        node = pending.pop()
        if node.type == "ERROR" or node.is_missing:
            lines.add(line_of(node))
        elif node.has_error:
            pending.extend(node.children)
    return tuple(sorted(lines))
