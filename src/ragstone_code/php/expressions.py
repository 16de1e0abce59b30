"""PHP's expressions in the common shape, one small mapping per kind of syntax."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ragstone.code.tree import (
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
from ragstone_code.php.arguments import scope
from ragstone_code.php.calls import CALLS
from ragstone_code.php.context import Context, line_of, named, opaque
from ragstone_code.php.names import text_of
from ragstone_code.php.strings import double_quoted, heredoc, single_quoted

if TYPE_CHECKING:
    from tree_sitter import Node


def expression(context: Context, node: Node) -> Expr:
    """Return an expression mapped; what has no mapping is opaque."""
    mapping = _MAPPINGS.get(node.type)
    return mapping(context, node) if mapping else opaque(node)


def _variable(_: Context, node: Node) -> Expr:
    return Variable(text_of(node)[1:], line_of(node))


def _integer(_: Context, node: Node) -> Expr:
    written = text_of(node).replace("_", "").lower()
    base = 16 if written.startswith("0x") else 2 if written.startswith("0b") else 8 if written[:1] == "0" else 10
    digits = written.removeprefix("0o") if base == 8 else written
    try:
        return Literal(int(digits or "0", base), line_of(node))
    except ValueError:
        return opaque(node)


def _float(_: Context, node: Node) -> Expr:
    try:
        return Literal(float(text_of(node).replace("_", "")), line_of(node))
    except ValueError:
        return opaque(node)


def _boolean(_: Context, node: Node) -> Expr:
    return Literal(text_of(node).lower() == "true", line_of(node))


def _null(_: Context, node: Node) -> Expr:
    return Literal(None, line_of(node))


def _name(context: Context, node: Node) -> Expr:
    """Return a constant: one of the compiler's own as a value, else by its name."""
    written, line = "".join(text_of(node).split()), line_of(node)
    folder = context.uri.rpartition("/")[0]
    method = f"{context.inside}::{context.within}" if context.inside else context.within
    own: dict[str, str | int] = {
        "__DIR__": folder, "__FILE__": context.uri, "__CLASS__": context.inside, "__FUNCTION__": context.within,
        "__METHOD__": method, "__NAMESPACE__": context.names.namespace, "__LINE__": line,
        "PHP_EOL": "\n", "DIRECTORY_SEPARATOR": "/",
    }  # fmt: skip
    bare = written.lstrip("\\").upper()
    return Literal(own[bare], line) if bare in own else FunctionName(context.names.of_constant(written), line)


def _inner(context: Context, node: Node) -> Expr:
    """Return what is inside of brackets, `@`, `clone`, `&`, `print`."""
    inner = next((one for one in node.named_children if one.type != "comment"), None)
    return context.expression(inner) if inner is not None else opaque(node)


def _array(context: Context, node: Node) -> Expr:
    entries = [_entry(context, one) for one in node.named_children if one.type == "array_element_initializer"]
    return Collected(tuple(entries), line_of(node))


def _entry(context: Context, node: Node) -> Entry:
    inner = [one for one in node.named_children if one.type != "comment"]
    if len(inner) == 1 and inner[0].type == "variadic_unpacking":
        return Entry(_inner(context, inner[0]), spread=True)
    if len(inner) >= 2 and named(node, "=>") is not None:
        return Entry(context.expression(inner[-1]), context.expression(inner[0]))
    return Entry(context.expression(inner[-1] if inner else None))


def _pattern(context: Context, node: Node) -> Expr:
    """Return `[$a, 'k' => $b]` or `list(…)` as a target; a place left out is opaque, so that the others keep theirs."""
    entries: list[Entry] = []
    key: Expr | None = None
    value: Expr | None = None
    for child in node.children[1:]:
        if child.type == "=>":
            key, value = value, None
        elif child.type in (",", "]", ")"):
            if value is not None or child.type == ",":
                entries.append(Entry(value or Opaque("left out", "", line_of(child)), key))
            key = value = None
        elif child.is_named and child.type != "comment":
            value = context.expression(child)
    return Collected(tuple(entries), line_of(node))


def _member(context: Context, node: Node) -> Expr:
    name = node.child_by_field_name("name")
    of = context.expression(node.child_by_field_name("object"))
    plain = name is not None and name.type == "name"
    return Member(of, text_of(name) if plain else context.expression(name), line_of(name or node))


def _static_property(context: Context, node: Node) -> Expr:
    name = node.child_by_field_name("name")
    of = scope(context, node.child_by_field_name("scope"))
    plain = name is not None and name.type == "variable_name"
    return Static(of, text_of(name) if plain else context.expression(name), line_of(node))


def _class_constant(context: Context, node: Node) -> Expr:
    inner = node.named_children
    if len(inner) < 2:
        return opaque(node)
    name = inner[-1]
    plain = name.type == "name"
    return Static(scope(context, inner[0]), text_of(name) if plain else context.expression(name), line_of(node))


def _binary(context: Context, node: Node) -> Expr:
    operator = text_of(node.child_by_field_name("operator")).lower()
    if operator == ".":
        return _joined(context, node)
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if operator == "??":
        return Choice(context.expression(left), None, context.expression(right), line_of(node))
    other = scope(context, right) if operator == "instanceof" else context.expression(right)
    return Operation(operator, context.expression(left), other, line_of(node))


def _joined(context: Context, node: Node) -> Expr:
    """Return `a . b . c` as one text: such chains are long, and nest on the left."""
    parts: list[Expr] = []
    here: Node | None = node
    while here is not None and here.type == "binary_expression":
        if text_of(here.child_by_field_name("operator")) != ".":
            break
        parts.append(context.expression(here.child_by_field_name("right")))
        here = here.child_by_field_name("left")
    parts.append(context.expression(here))
    return Text(tuple(reversed(parts)), line_of(node))


def _unary(context: Context, node: Node) -> Expr:
    operator = text_of(node.child_by_field_name("operator") or (node.children[0] if node.children else None))
    return Operation(operator.lower(), context.expression(node.child_by_field_name("argument")), None, line_of(node))


def _cast(context: Context, node: Node) -> Expr:
    kind = text_of(node.child_by_field_name("type")).strip().lower()
    return Operation(f"({kind})", context.expression(node.child_by_field_name("value")), None, line_of(node))


def _conditional(context: Context, node: Node) -> Expr:
    test = context.expression(node.child_by_field_name("condition"))
    then, other = node.child_by_field_name("body"), context.expression(node.child_by_field_name("alternative"))
    if then is None:  # `a ?: b`
        return Operation("?:", test, other, line_of(node))
    return Choice(test, context.expression(then), other, line_of(node))


def _match(context: Context, node: Node) -> Expr:
    arms: list[tuple[tuple[Expr, ...], Expr]] = []
    body = node.child_by_field_name("body")
    for arm in body.named_children if body is not None else []:
        tests = arm.child_by_field_name("conditional_expressions")
        value = context.expression(arm.child_by_field_name("return_expression"))
        inner = [one for one in tests.named_children if one.type != "comment"] if tests is not None else []
        if arm.type in ("match_conditional_expression", "match_default_expression"):
            arms.append((tuple(context.expression(one) for one in inner), value))
    return Match(context.expression(node.child_by_field_name("condition")), tuple(arms), line_of(node))


def _subscript(context: Context, node: Node) -> Expr:
    inner = [one for one in node.named_children if one.type != "comment"]
    if not inner:
        return opaque(node)
    key = context.expression(inner[1]) if len(inner) > 1 else None
    return Subscript(context.expression(inner[0]), key, line_of(node))


def _assigned(context: Context, node: Node) -> Expr:
    operator = node.child_by_field_name("operator")
    written = text_of(operator).removesuffix("=") if node.type == "augmented_assignment_expression" else ""
    target = context.expression(node.child_by_field_name("left"))
    return Assigned(target, context.expression(node.child_by_field_name("right")), line_of(node), written)


def _updated(context: Context, node: Node) -> Expr:
    """Return `$i++` and the like as what they do."""
    target = context.expression(node.child_by_field_name("argument"))
    step = text_of(node.child_by_field_name("operator"))[:1] or "+"
    return Assigned(target, Literal(1, line_of(node)), line_of(node), step)


def _included(context: Context, node: Node) -> Expr:
    return Included(_inner(context, node), line_of(node))


_MAPPINGS: Final[dict[str, Callable[[Context, Node], Expr]]] = {
    "variable_name": _variable, "integer": _integer, "float": _float, "boolean": _boolean, "null": _null,
    "string": single_quoted, "encapsed_string": double_quoted, "heredoc": heredoc, "nowdoc": heredoc,
    "name": _name, "qualified_name": _name, "relative_name": _name, "relative_scope": scope,
    "parenthesized_expression": _inner, "error_suppression_expression": _inner, "clone_expression": _inner,
    "by_ref": _inner, "reference_assignment_expression": _assigned, "print_intrinsic": _inner,
    "array_creation_expression": _array, "list_literal": _pattern, "argument": _inner,
    "member_access_expression": _member, "nullsafe_member_access_expression": _member,
    "scoped_property_access_expression": _static_property, "class_constant_access_expression": _class_constant,
    "binary_expression": _binary, "unary_op_expression": _unary, "cast_expression": _cast,
    "conditional_expression": _conditional, "match_expression": _match, "subscript_expression": _subscript,
    "assignment_expression": _assigned, "augmented_assignment_expression": _assigned, "update_expression": _updated,
    "require_expression": _included, "require_once_expression": _included, "include_expression": _included,
    "include_once_expression": _included, **CALLS,
}  # fmt: skip
