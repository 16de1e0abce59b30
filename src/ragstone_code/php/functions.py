"""Lowering of PHP functions, methods and closures. Bodies are lowered on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone_code.php.arguments import NAME_NODES, lower_attributes
from ragstone_code.php.context import PhpContext, child_of_type, line_of
from ragstone_code.php.names import RELATIVE, text_of
from ragstone_code.program_tree import (
    Body,
    Closure,
    Expr,
    Function,
    Parameter,
    Return,
    Statement,
    Typed,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_PARAMETER_NODES = ("simple_parameter", "property_promotion_parameter", "variadic_parameter")


def lower_function(context: PhpContext, node: Node, name: str) -> Function:
    """Return a function or method with the given name."""
    name_node = node.child_by_field_name("name")
    inner = context.in_function(name.rpartition("\\")[2])
    body = node.child_by_field_name("body")
    visibility = text_of(child_of_type(node, "visibility_modifier")).lower()
    return Function(
        name=name,
        parameters=_lower_parameters(context, node.child_by_field_name("parameters")),
        body=Body(lambda: _lower_body(inner, body)),
        line=line_of(name_node or node),
        line_end=node.end_point[0] + 1,
        returns=lower_type(context, node.child_by_field_name("return_type")),
        attributes=lower_attributes(context, node),
        captures=_captured_names(node),
        static=child_of_type(node, "static_modifier") is not None,
        visibility=visibility or "public",
        abstract=body is None or child_of_type(node, "abstract_modifier") is not None,
        doc=doc_comment(node),
    )


def lower_closure(context: PhpContext, node: Node) -> Expr:
    """Return a function without a name."""
    return Closure(lower_function(context, node, "{closure}"), line_of(node))


def _lower_body(context: PhpContext, node: Node | None) -> tuple[Statement, ...]:
    """Return the statements of a body; an arrow function returns its expression."""
    context.depth = 0
    if node is None or node.type == "compound_statement":
        return context.block(node)
    return (Return(context.expression(node), line_of(node)),)


def _captured_names(node: Node) -> tuple[str, ...] | None:
    """Return the variables of a closure's `use` clause; None for an arrow function, which captures all."""
    if node.type == "arrow_function":
        return None
    clause = child_of_type(node, "anonymous_function_use_clause")
    if clause is None:
        return ()
    names: list[str] = []
    for child in clause.named_children:
        variable: Node | None = child
        if child.type != "variable_name":
            variable = child_of_type(child, "variable_name")
        if variable is not None:
            names.append(text_of(variable)[1:])
    return tuple(names)


def _lower_parameters(context: PhpContext, node: Node | None) -> tuple[Parameter, ...]:
    if node is None:
        return ()
    return tuple(
        _lower_parameter(context, child)
        for child in node.named_children
        if child.type in _PARAMETER_NODES
    )


def _lower_parameter(context: PhpContext, node: Node) -> Parameter:
    name = node.child_by_field_name("name")
    if name is not None and name.type == "by_ref":
        name = child_of_type(name, "variable_name")
    default: Expr | None = None
    default_node = node.child_by_field_name("default_value")
    if default_node is not None:
        default = context.expression(default_node)
    return Parameter(
        name=text_of(name).lstrip("&$"),
        type=lower_type(context, node.child_by_field_name("type")),
        default=default,
        spread=node.type == "variadic_parameter",
        promoted=node.type == "property_promotion_parameter",
        attributes=lower_attributes(context, node),
    )


def lower_type(context: PhpContext, node: Node | None) -> Typed | None:
    """Return a type with its class names resolved."""
    if node is None:
        return None
    names: list[str] = []
    _collect_type_names(context, node, names)
    is_nullable = node.type == "optional_type" or "null" in names
    distinct_names = dict.fromkeys(name for name in names if name != "null")
    return Typed(tuple(distinct_names), is_nullable, text=text_of(node))


def _collect_type_names(
    context: PhpContext,
    node: Node,
    names: list[str],
    depth: int = 0,
) -> None:
    """Add the class names and built-in names of a type to a list."""
    if node.type == "primitive_type":
        names.append(text_of(node).lower())
    elif node.type in NAME_NODES:
        written = text_of(node)
        if written.lower() in RELATIVE:
            names.append(written.lower())
        else:
            names.append(context.names.resolve_class(written))
    elif depth < 20:
        for child in node.named_children:
            _collect_type_names(context, child, names, depth + 1)


def doc_comment(node: Node) -> str:
    """Return the text of the doc comment above a definition, without its stars."""
    comment = node.prev_named_sibling
    if comment is None or comment.type != "comment":
        return ""
    written = text_of(comment)
    if not written.startswith("/**"):
        return ""
    lines = written[3:].removesuffix("*/").splitlines()
    plain_lines = [line.strip().lstrip("*").strip() for line in lines]
    return "\n".join(plain_lines).strip()
