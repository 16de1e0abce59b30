"""Lowering of PHP call arguments and attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ragstone_code.php.context import PhpContext, child_of_type, line_of, opaque
from ragstone_code.php.names import text_of
from ragstone_code.program_tree import Argument, ClassName, Expr, New

if TYPE_CHECKING:
    from tree_sitter import Node

NAME_NODES: Final = ("name", "qualified_name", "relative_name")
_SCOPE_NODES: Final = (*NAME_NODES, "relative_scope", "namespace_name")


def lower_arguments(context: PhpContext, node: Node | None) -> tuple[Argument, ...]:
    """Return the arguments of a call."""
    if node is None:
        return ()
    return tuple(
        _lower_argument(context, child)
        for child in node.named_children
        if child.type == "argument"
    )


def _lower_argument(context: PhpContext, node: Node) -> Argument:
    name = node.child_by_field_name("name")
    ignored_types = ("comment", "reference_modifier")
    parts = [
        child
        for child in node.named_children
        if child.type not in ignored_types and child != name
    ]
    if not parts:
        return Argument(opaque(node), text_of(name))
    value = parts[-1]
    if value.type == "variadic_unpacking":
        spread_value: Node | None = None
        if value.named_children:
            spread_value = value.named_children[-1]
        return Argument(context.expression(spread_value), spread=True)
    return Argument(context.expression(value), text_of(name))


def lower_scope(context: PhpContext, node: Node | None) -> Expr:
    """Return the left side of `::`: a class by its full name, or an expression."""
    if node is not None and node.type in _SCOPE_NODES:
        written = text_of(node)
        return ClassName(context.names.resolve_class(written), written, line_of(node))
    return context.expression(node)


def lower_attributes(context: PhpContext, node: Node) -> tuple[New, ...]:
    """Return the attributes of a definition, each as the object that it creates."""
    attribute_list = node.child_by_field_name("attributes") or child_of_type(
        node, "attribute_list"
    )
    if attribute_list is None:
        return ()
    attributes: list[New] = []
    for group in attribute_list.named_children:
        if group.type != "attribute_group":
            continue
        for child in group.named_children:
            name = child_of_type(child, *NAME_NODES)
            if child.type == "attribute" and name is not None:
                attributes.append(_lower_attribute(context, child, name))
    return tuple(attributes)


def _lower_attribute(context: PhpContext, node: Node, name: Node) -> New:
    parameters = node.child_by_field_name("parameters") or child_of_type(node, "arguments")
    return New(
        lower_scope(context, name),
        lower_arguments(context, parameters),
        line_of(node),
    )
