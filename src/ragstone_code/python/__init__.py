"""Python: the mapping of its syntax tree to the one shape of program, and what running a module's top gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.code.grammars import tree_of
from ragstone.code.tree import Module
from ragstone_code.python.names import Names, module_of, package_of
from ragstone_code.python.statements import Statements

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["lower", "module_of"]


def lower(text: str, uri: str) -> Module:
    """Return a file as a program: any text gives one, and lines the grammar could not read are said."""
    names = Names(module_of(uri), package_of(uri))
    tree = tree_of(text.encode("utf-8", "replace"), "python")
    if tree is None:
        return Module(uri, "python", names.module, {}, (), (), (), broken=(1,))
    root = tree.root_node
    names.gather(root)
    mapping = Statements(names)
    statements = mapping.block(root)
    return Module(
        uri=uri,
        language="python",
        namespace=names.module,
        imports=dict(names.imports),
        statements=statements,
        classes=tuple(mapping.classes),
        functions=tuple(mapping.functions),
        broken=tuple(sorted(set(_broken(root)))),
    )


def _broken(root: Node) -> list[int]:
    """Return the lines of what is no Python."""
    if not root.has_error:
        return []
    lines, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        if node.type == "ERROR" or node.is_missing:
            lines.append(node.start_point[0] + 1)
        elif node.has_error:
            waiting.extend(node.children)
    return lines
