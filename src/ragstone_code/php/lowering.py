"""From the syntax tree of a PHP file to a module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.code.grammars import parser_for
from ragstone.code.tree import Module, Statement
from ragstone_code.php.context import Context, Found, Parts, line_of
from ragstone_code.php.definitions import definition
from ragstone_code.php.expressions import expression
from ragstone_code.php.names import Names, read_use, text_of
from ragstone_code.php.statements import statement

if TYPE_CHECKING:
    from tree_sitter import Node

_PARTS = Parts(expression, statement, definition)


def lower(text: str, uri: str) -> Module:
    """Return a PHP file as a module, with the lines the grammar could not read."""
    root = parser_for("php").parse(text.encode("utf-8", "replace")).root_node
    context = Context(uri, _PARTS, Names(), Found())
    statements = tuple(_top(context, root.children))
    names = context.names
    return Module(
        uri=uri,
        language="php",
        namespace=names.namespace,
        imports=dict(names.classes),
        statements=statements,
        classes=tuple(context.found.classes),
        functions=tuple(context.found.functions),
        broken=_broken(root),
    )


def _top(context: Context, nodes: list[Node]) -> list[Statement]:
    """Return the statements of a file; each namespace starts names of its own, for all that follows it."""
    found: list[Statement] = []
    for node in nodes:
        if node.type == "namespace_definition":
            inner = node.child_by_field_name("body")
            context.names = Names("".join(text_of(node.child_by_field_name("name")).split()))
            found += _top(context, inner.children) if inner is not None else []
        elif node.type == "namespace_use_declaration":
            read_use(context.names, node)
        elif node.is_named:
            found += context.statements([node])
    return found


def _broken(root: Node) -> tuple[int, ...]:
    """Return the lines on which the grammar stumbled."""
    lines: set[int] = set()
    stack = [root] if root.has_error else []
    while stack:
        node = stack.pop()
        if node.is_error or node.is_missing:
            lines.update(range(line_of(node), node.end_point[0] + 2))
        stack += [one for one in node.children if one.has_error or one.is_missing]
    return tuple(sorted(lines))
