"""What PHP calls are given, and the attributes above a definition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ragstone.code.tree import Argument, ClassName, Expr, New
from ragstone_code.php.context import Context, line_of, named, opaque
from ragstone_code.php.names import text_of

if TYPE_CHECKING:
    from tree_sitter import Node

NAMED: Final = ("name", "qualified_name", "relative_name")


def arguments(context: Context, node: Node | None) -> tuple[Argument, ...]:
    """Return what a call is given."""
    if node is None:
        return ()
    return tuple(_argument(context, one) for one in node.named_children if one.type == "argument")


def _argument(context: Context, node: Node) -> Argument:
    name = node.child_by_field_name("name")
    inner = [one for one in node.named_children if one.type not in ("comment", "reference_modifier") and one != name]
    if not inner:
        return Argument(opaque(node), text_of(name))
    if inner[-1].type == "variadic_unpacking":
        spread = inner[-1].named_children
        return Argument(context.expression(spread[-1] if spread else None), spread=True)
    return Argument(context.expression(inner[-1]), text_of(name))


def scope(context: Context, node: Node | None) -> Expr:
    """Return what stands before `::`: a class by its full name, or an expression."""
    if node is not None and node.type in (*NAMED, "relative_scope", "namespace_name"):
        written = text_of(node)
        return ClassName(context.names.of_class(written), written, line_of(node))
    return context.expression(node)


def attributes(context: Context, node: Node) -> tuple[New, ...]:
    """Return the attributes of a definition, each as the object it makes."""
    found: list[New] = []
    lists = node.child_by_field_name("attributes") or named(node, "attribute_list")
    for group in lists.named_children if lists is not None else []:
        for one in group.named_children if group.type == "attribute_group" else []:
            name = named(one, *NAMED)
            if one.type == "attribute" and name is not None:
                given = one.child_by_field_name("parameters") or named(one, "arguments")
                found.append(New(scope(context, name), arguments(context, given), line_of(one)))
    return tuple(found)
