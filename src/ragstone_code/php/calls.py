"""PHP's calls, `new`, functions without a name, and functions taken along."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ragstone.code.tree import (
    Argument,
    Call,
    ClassName,
    Collected,
    Entry,
    Expr,
    FunctionName,
    Literal,
    Member,
    New,
    Static,
)
from ragstone_code.php.arguments import NAMED, arguments, scope
from ragstone_code.php.context import Context, line_of, named, opaque
from ragstone_code.php.functions import closure
from ragstone_code.php.names import text_of

if TYPE_CHECKING:
    from tree_sitter import Node


def _is_reference(node: Node | None) -> bool:
    """Return whether the arguments are `(...)`: a function taken along, not called."""
    return node is not None and any(one.type == "variadic_placeholder" for one in node.named_children)


def _function(context: Context, node: Node) -> Expr:
    called, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if called is None:
        return opaque(node)
    by_name = called.type in NAMED
    name = context.names.of_function(text_of(called)) if by_name else ""
    if _is_reference(given):
        return Literal(name, line_of(node)) if by_name else context.expression(called)
    function = FunctionName(name, line_of(called)) if by_name else context.expression(called)
    return Call(function, arguments(context, given), line_of(called))


def _method(context: Context, node: Node) -> Expr:
    name, given = node.child_by_field_name("name"), node.child_by_field_name("arguments")
    of = context.expression(node.child_by_field_name("object"))
    return _called(context, of, (name, given), node, static=False)


def _scoped(context: Context, node: Node) -> Expr:
    name, given = node.child_by_field_name("name"), node.child_by_field_name("arguments")
    of = scope(context, node.child_by_field_name("scope"))
    return _called(context, of, (name, given), node, static=True)


def _called(context: Context, of: Expr, parts: tuple[Node | None, Node | None], node: Node, *, static: bool) -> Expr:
    """Return a method called, or taken along as the pair of object and name that PHP counts as callable."""
    name, given = parts
    line = line_of(name or node)
    plain = text_of(name) if name is not None and name.type == "name" else context.expression(name)
    if _is_reference(given):
        whose = Static(of, "class", line) if static and isinstance(of, ClassName) else of
        which = Literal(plain, line) if isinstance(plain, str) else plain
        return Collected((Entry(whose), Entry(which)), line)
    function: Expr = Static(of, plain, line) if static else Member(of, plain, line)
    return Call(function, arguments(context, given), line)


def _new(context: Context, node: Node) -> Expr:
    inner = [one for one in node.named_children if one.type != "comment"]
    anonymous = named(node, "anonymous_class")
    if anonymous is not None:
        return _anonymous(context, anonymous, arguments(context, named(anonymous, "arguments")))
    if not inner:
        return opaque(node)
    of = next((one for one in inner if one.type not in ("arguments", "attribute_list")), inner[0])
    return New(scope(context, of), arguments(context, named(node, "arguments")), line_of(node))


def _anonymous(context: Context, node: Node, given: tuple[Argument, ...]) -> Expr:
    name = context.names.declared(f"class@{line_of(node)}")
    definition = context.definition(node, name)
    return New(ClassName(name, "class", line_of(node)), given, line_of(node), definition)


CALLS: Final[dict[str, Callable[[Context, Node], Expr]]] = {
    "function_call_expression": _function, "member_call_expression": _method,
    "nullsafe_member_call_expression": _method, "scoped_call_expression": _scoped,
    "object_creation_expression": _new, "anonymous_function": closure, "arrow_function": closure,
    "anonymous_function_creation_expression": closure,
}  # fmt: skip
