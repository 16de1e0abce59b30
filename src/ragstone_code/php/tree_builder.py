"""Lowering of a PHP file from its syntax tree to a module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.code.grammars import parser_for
from ragstone_code.php.classes import lower_class
from ragstone_code.php.context import Declarations, Lowerers, PhpContext, line_of
from ragstone_code.php.expressions import lower_expression
from ragstone_code.php.names import NamespaceNames, read_imports, text_of
from ragstone_code.php.statements import lower_statement
from ragstone_code.program_tree import Module, Statement

if TYPE_CHECKING:
    from tree_sitter import Node

_LOWERERS = Lowerers(lower_expression, lower_statement, lower_class)


def lower(text: str, uri: str) -> Module:
    """Return a PHP file as a module, with the lines that the parser could not read."""
    root = parser_for("php").parse(text.encode("utf-8", "replace")).root_node
    context = PhpContext(uri, _LOWERERS, NamespaceNames(), Declarations())
    statements = _lower_top_level(context, root.children)
    return Module(
        uri=uri,
        language="php",
        namespace=context.names.namespace,
        imports=dict(context.names.classes),
        statements=tuple(statements),
        classes=tuple(context.declarations.classes),
        functions=tuple(context.declarations.functions),
        broken=_broken_lines(root),
    )


def _lower_top_level(context: PhpContext, nodes: list[Node]) -> list[Statement]:
    """Return the statements of a file; each namespace replaces the names of the context."""
    statements: list[Statement] = []
    for node in nodes:
        if node.type == "namespace_definition":
            namespace = "".join(text_of(node.child_by_field_name("name")).split())
            context.names = NamespaceNames(namespace)
            body = node.child_by_field_name("body")
            if body is not None:
                statements += _lower_top_level(context, body.children)
        elif node.type == "namespace_use_declaration":
            read_imports(context.names, node)
        elif node.is_named:
            statements += context.statements([node])
    return statements


def _broken_lines(root: Node) -> tuple[int, ...]:
    """Return the lines with syntax errors."""
    lines: set[int] = set()
    pending: list[Node] = []
    if root.has_error:
        pending.append(root)
    while pending:
        node = pending.pop()
        if node.is_error or node.is_missing:
            lines.update(range(line_of(node), node.end_point[0] + 2))
        pending += [child for child in node.children if child.has_error or child.is_missing]
    return tuple(sorted(lines))
