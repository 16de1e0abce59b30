"""Lowering of PHP calls, `new`, closures and first-class callables (`strlen(...)`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ragstone_code.php.arguments import NAME_NODES, lower_arguments, lower_scope
from ragstone_code.php.context import (
    PhpContext,
    child_of_type,
    children_without_comments,
    line_of,
    opaque,
)
from ragstone_code.php.functions import lower_closure
from ragstone_code.php.names import text_of
from ragstone_code.program_tree import (
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

if TYPE_CHECKING:
    from tree_sitter import Node


def _is_callable_reference(arguments: Node | None) -> bool:
    """Return whether the arguments are `(...)`, which refers to the function without calling it."""
    if arguments is None:
        return False
    return any(child.type == "variadic_placeholder" for child in arguments.named_children)


def _lower_function_call(context: PhpContext, node: Node) -> Expr:
    callee = node.child_by_field_name("function")
    arguments = node.child_by_field_name("arguments")
    if callee is None:
        return opaque(node)
    if callee.type not in NAME_NODES:
        function = context.expression(callee)
        if _is_callable_reference(arguments):
            return function
        return Call(function, lower_arguments(context, arguments), line_of(callee))
    name = context.names.resolve_function(text_of(callee))
    if _is_callable_reference(arguments):
        return Literal(name, line_of(node))
    line = line_of(callee)
    return Call(FunctionName(name, line), lower_arguments(context, arguments), line)


def _lower_method_call(context: PhpContext, node: Node) -> Expr:
    owner = context.expression(node.child_by_field_name("object"))
    line = _name_line(node)
    name = _lower_method_name(context, node)
    arguments = node.child_by_field_name("arguments")
    if _is_callable_reference(arguments):
        return _callable_pair(owner, name, line)
    return Call(Member(owner, name, line), lower_arguments(context, arguments), line)


def _lower_static_call(context: PhpContext, node: Node) -> Expr:
    owner = lower_scope(context, node.child_by_field_name("scope"))
    line = _name_line(node)
    name = _lower_method_name(context, node)
    arguments = node.child_by_field_name("arguments")
    if _is_callable_reference(arguments):
        if isinstance(owner, ClassName):
            owner = Static(owner, "class", line)
        return _callable_pair(owner, name, line)
    return Call(Static(owner, name, line), lower_arguments(context, arguments), line)


def _name_line(node: Node) -> int:
    return line_of(node.child_by_field_name("name") or node)


def _lower_method_name(context: PhpContext, node: Node) -> str | Expr:
    name = node.child_by_field_name("name")
    if name is not None and name.type == "name":
        return text_of(name)
    return context.expression(name)


def _callable_pair(owner: Expr, name: str | Expr, line: int) -> Expr:
    """Return `[owner, name]`, the array that PHP accepts as a callable."""
    name_expression: Expr
    if isinstance(name, str):
        name_expression = Literal(name, line)
    else:
        name_expression = name
    return Collected((Entry(owner), Entry(name_expression)), line)


def _lower_new(context: PhpContext, node: Node) -> Expr:
    anonymous_class = child_of_type(node, "anonymous_class")
    if anonymous_class is not None:
        arguments = lower_arguments(
            context,
            child_of_type(anonymous_class, "arguments"),
        )
        return _lower_anonymous_class(context, anonymous_class, arguments)
    parts = children_without_comments(node)
    if not parts:
        return opaque(node)
    class_node = parts[0]
    for part in parts:
        if part.type not in ("arguments", "attribute_list"):
            class_node = part
            break
    arguments = lower_arguments(context, child_of_type(node, "arguments"))
    return New(lower_scope(context, class_node), arguments, line_of(node))


def _lower_anonymous_class(
    context: PhpContext,
    node: Node,
    arguments: tuple[Argument, ...],
) -> Expr:
    line = line_of(node)
    name = context.names.qualify(f"class@{line}")
    definition = context.definition(node, name)
    return New(ClassName(name, "class", line), arguments, line, definition)


CALLS: Final[dict[str, Callable[[PhpContext, Node], Expr]]] = {
    "function_call_expression": _lower_function_call,
    "member_call_expression": _lower_method_call,
    "nullsafe_member_call_expression": _lower_method_call,
    "scoped_call_expression": _lower_static_call,
    "object_creation_expression": _lower_new,
    "anonymous_function": lower_closure,
    "arrow_function": lower_closure,
    "anonymous_function_creation_expression": lower_closure,
}
