"""Lowering of PHP expressions: one function per kind of syntax node."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ragstone_code.php.arguments import lower_scope
from ragstone_code.php.calls import CALLS
from ragstone_code.php.context import (
    PhpContext,
    child_of_type,
    children_without_comments,
    first_child,
    line_of,
    opaque,
)
from ragstone_code.php.names import text_of
from ragstone_code.php.strings import lower_double_quoted, lower_heredoc, lower_single_quoted
from ragstone_code.program_tree import (
    Assigned,
    Choice,
    Collected,
    Entry,
    Expr,
    FunctionName,
    Included,
    Literal,
    Match,
    Member,
    Opaque,
    Operation,
    Static,
    Subscript,
    Text,
    Variable,
)

if TYPE_CHECKING:
    from tree_sitter import Node


def lower_expression(context: PhpContext, node: Node) -> Expr:
    """Return a lowered expression; it is opaque if its kind is not supported."""
    lower = _EXPRESSIONS.get(node.type)
    if lower is None:
        return opaque(node)
    return lower(context, node)


# ── literals and names ────────────────────────────────────────────────────────────────────────────


def _lower_variable(_: PhpContext, node: Node) -> Expr:
    return Variable(text_of(node)[1:], line_of(node))


def _lower_integer(_: PhpContext, node: Node) -> Expr:
    digits = text_of(node).replace("_", "").lower()
    base = 10
    if digits.startswith("0x"):
        base = 16
    elif digits.startswith("0b"):
        base = 2
    elif digits.startswith("0"):
        base = 8
        digits = digits.removeprefix("0o")
    try:
        return Literal(int(digits or "0", base), line_of(node))
    except ValueError:
        return opaque(node)


def _lower_float(_: PhpContext, node: Node) -> Expr:
    try:
        return Literal(float(text_of(node).replace("_", "")), line_of(node))
    except ValueError:
        return opaque(node)


def _lower_boolean(_: PhpContext, node: Node) -> Expr:
    return Literal(text_of(node).lower() == "true", line_of(node))


def _lower_null(_: PhpContext, node: Node) -> Expr:
    return Literal(None, line_of(node))


def _lower_name(context: PhpContext, node: Node) -> Expr:
    """Return a constant: magic constants as literals, others by name."""
    written = "".join(text_of(node).split())
    line = line_of(node)
    magic_constants = _magic_constants(context, line)
    bare_name = written.lstrip("\\").upper()
    if bare_name in magic_constants:
        return Literal(magic_constants[bare_name], line)
    return FunctionName(context.names.resolve_constant(written), line)


def _magic_constants(context: PhpContext, line: int) -> dict[str, str | int]:
    method = context.function_name
    if context.class_name:
        method = f"{context.class_name}::{context.function_name}"
    return {
        "__DIR__": context.uri.rpartition("/")[0],
        "__FILE__": context.uri,
        "__CLASS__": context.class_name,
        "__FUNCTION__": context.function_name,
        "__METHOD__": method,
        "__NAMESPACE__": context.names.namespace,
        "__LINE__": line,
        "PHP_EOL": "\n",
        "DIRECTORY_SEPARATOR": "/",
    }


def _lower_wrapped(context: PhpContext, node: Node) -> Expr:
    """Return the expression inside parentheses, `@`, `clone`, `&` or `print`."""
    inner = first_child(node)
    if inner is None:
        return opaque(node)
    return context.expression(inner)


# ── arrays and members ────────────────────────────────────────────────────────────────────────────


def _lower_array(context: PhpContext, node: Node) -> Expr:
    elements = [
        child for child in node.named_children if child.type == "array_element_initializer"
    ]
    entries = [_lower_entry(context, element) for element in elements]
    return Collected(tuple(entries), line_of(node))


def _lower_entry(context: PhpContext, node: Node) -> Entry:
    parts = children_without_comments(node)
    if not parts:
        return Entry(context.expression(None))
    if len(parts) == 1 and parts[0].type == "variadic_unpacking":
        return Entry(_lower_wrapped(context, parts[0]), spread=True)
    if len(parts) >= 2 and child_of_type(node, "=>") is not None:
        return Entry(context.expression(parts[-1]), context.expression(parts[0]))
    return Entry(context.expression(parts[-1]))


def _lower_pattern(context: PhpContext, node: Node) -> Expr:
    """Return `[$a, 'k' => $b]` or `list(…)` as a target; an omitted position becomes an opaque entry."""
    entries: list[Entry] = []
    key: Expr | None = None
    value: Expr | None = None
    for child in node.children[1:]:
        if child.type == "=>":
            key, value = value, None
        elif child.type in (",", "]", ")"):
            if value is not None:
                entries.append(Entry(value, key))
            elif child.type == ",":
                entries.append(Entry(Opaque("left out", "", line_of(child)), key))
            key = None
            value = None
        elif child.is_named and child.type != "comment":
            value = context.expression(child)
    return Collected(tuple(entries), line_of(node))


def _lower_member(context: PhpContext, node: Node) -> Expr:
    owner = context.expression(node.child_by_field_name("object"))
    name = node.child_by_field_name("name")
    line = line_of(name or node)
    return Member(owner, _lower_member_name(context, name, "name"), line)


def _lower_static_property(context: PhpContext, node: Node) -> Expr:
    owner = lower_scope(context, node.child_by_field_name("scope"))
    name = node.child_by_field_name("name")
    return Static(
        owner,
        _lower_member_name(context, name, "variable_name"),
        line_of(node),
    )


def _lower_class_constant(context: PhpContext, node: Node) -> Expr:
    parts = node.named_children
    if len(parts) < 2:
        return opaque(node)
    owner = lower_scope(context, parts[0])
    return Static(owner, _lower_member_name(context, parts[-1], "name"), line_of(node))


def _lower_member_name(
    context: PhpContext,
    node: Node | None,
    plain_type: str,
) -> str | Expr:
    """Return a written name as text and a computed name as an expression."""
    if node is not None and node.type == plain_type:
        return text_of(node)
    return context.expression(node)


def _lower_subscript(context: PhpContext, node: Node) -> Expr:
    parts = children_without_comments(node)
    if not parts:
        return opaque(node)
    key: Expr | None = None
    if len(parts) > 1:
        key = context.expression(parts[1])
    return Subscript(context.expression(parts[0]), key, line_of(node))


# ── operators and conditions ──────────────────────────────────────────────────────────────────────


def _lower_binary(context: PhpContext, node: Node) -> Expr:
    operator = text_of(node.child_by_field_name("operator")).lower()
    if operator == ".":
        return _lower_concatenation(context, node)
    right_node = node.child_by_field_name("right")
    left = context.expression(node.child_by_field_name("left"))
    if operator == "??":
        return Choice(left, None, context.expression(right_node), line_of(node))
    if operator == "instanceof":
        return Operation(
            operator,
            left,
            lower_scope(context, right_node),
            line_of(node),
        )
    return Operation(operator, left, context.expression(right_node), line_of(node))


def _lower_concatenation(context: PhpContext, node: Node) -> Expr:
    """Return `a . b . c` as one text. A loop is needed because long chains nest on the left."""
    parts: list[Expr] = []
    current: Node | None = node
    while current is not None and current.type == "binary_expression":
        if text_of(current.child_by_field_name("operator")) != ".":
            break
        parts.append(context.expression(current.child_by_field_name("right")))
        current = current.child_by_field_name("left")
    parts.append(context.expression(current))
    return Text(tuple(reversed(parts)), line_of(node))


def _lower_unary(context: PhpContext, node: Node) -> Expr:
    operator = node.child_by_field_name("operator")
    if operator is None and node.children:
        operator = node.children[0]
    argument = context.expression(node.child_by_field_name("argument"))
    return Operation(text_of(operator).lower(), argument, None, line_of(node))


def _lower_cast(context: PhpContext, node: Node) -> Expr:
    type_name = text_of(node.child_by_field_name("type")).strip().lower()
    value = context.expression(node.child_by_field_name("value"))
    return Operation(f"({type_name})", value, None, line_of(node))


def _lower_conditional(context: PhpContext, node: Node) -> Expr:
    test = context.expression(node.child_by_field_name("condition"))
    then = node.child_by_field_name("body")
    other = context.expression(node.child_by_field_name("alternative"))
    if then is None:  # `a ?: b`
        return Operation("?:", test, other, line_of(node))
    return Choice(test, context.expression(then), other, line_of(node))


def _lower_match(context: PhpContext, node: Node) -> Expr:
    subject = context.expression(node.child_by_field_name("condition"))
    arms: list[tuple[tuple[Expr, ...], Expr]] = []
    body = node.child_by_field_name("body")
    if body is not None:
        for child in body.named_children:
            if child.type in ("match_conditional_expression", "match_default_expression"):
                arms.append(_lower_match_arm(context, child))
    return Match(subject, tuple(arms), line_of(node))


def _lower_match_arm(context: PhpContext, node: Node) -> tuple[tuple[Expr, ...], Expr]:
    tests: list[Expr] = []
    conditions = node.child_by_field_name("conditional_expressions")
    if conditions is not None:
        tests = [context.expression(child) for child in children_without_comments(conditions)]
    value = context.expression(node.child_by_field_name("return_expression"))
    return tuple(tests), value


# ── assignments and includes ──────────────────────────────────────────────────────────────────────


def _lower_assignment(context: PhpContext, node: Node) -> Expr:
    operator = ""
    if node.type == "augmented_assignment_expression":
        operator = text_of(node.child_by_field_name("operator")).removesuffix("=")
    return Assigned(
        context.expression(node.child_by_field_name("left")),
        context.expression(node.child_by_field_name("right")),
        line_of(node),
        operator,
    )


def _lower_update(context: PhpContext, node: Node) -> Expr:
    """Return `$i++` and `$i--` as assignments."""
    target = context.expression(node.child_by_field_name("argument"))
    operator = text_of(node.child_by_field_name("operator"))[:1] or "+"
    return Assigned(target, Literal(1, line_of(node)), line_of(node), operator)


def _lower_include(context: PhpContext, node: Node) -> Expr:
    return Included(_lower_wrapped(context, node), line_of(node))


_EXPRESSIONS: Final[dict[str, Callable[[PhpContext, Node], Expr]]] = {
    "variable_name": _lower_variable,
    "integer": _lower_integer,
    "float": _lower_float,
    "boolean": _lower_boolean,
    "null": _lower_null,
    "string": lower_single_quoted,
    "encapsed_string": lower_double_quoted,
    "heredoc": lower_heredoc,
    "nowdoc": lower_heredoc,
    "name": _lower_name,
    "qualified_name": _lower_name,
    "relative_name": _lower_name,
    "relative_scope": lower_scope,
    "parenthesized_expression": _lower_wrapped,
    "error_suppression_expression": _lower_wrapped,
    "clone_expression": _lower_wrapped,
    "by_ref": _lower_wrapped,
    "print_intrinsic": _lower_wrapped,
    "argument": _lower_wrapped,
    "array_creation_expression": _lower_array,
    "list_literal": _lower_pattern,
    "member_access_expression": _lower_member,
    "nullsafe_member_access_expression": _lower_member,
    "scoped_property_access_expression": _lower_static_property,
    "class_constant_access_expression": _lower_class_constant,
    "subscript_expression": _lower_subscript,
    "binary_expression": _lower_binary,
    "unary_op_expression": _lower_unary,
    "cast_expression": _lower_cast,
    "conditional_expression": _lower_conditional,
    "match_expression": _lower_match,
    "assignment_expression": _lower_assignment,
    "augmented_assignment_expression": _lower_assignment,
    "reference_assignment_expression": _lower_assignment,
    "update_expression": _lower_update,
    "require_expression": _lower_include,
    "require_once_expression": _lower_include,
    "include_expression": _lower_include,
    "include_once_expression": _lower_include,
    **CALLS,
}
