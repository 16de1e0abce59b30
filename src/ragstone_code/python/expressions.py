"""Lowering of Python expressions: one function per kind of syntax node."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from ragstone_code import program_tree
from ragstone_code.python.context import ExpressionLowerer, PythonContext, opaque
from ragstone_code.python.names import children_of, end_line_of, line_of, text_of
from ragstone_code.python.strings import lower_concatenated_string, lower_string
from ragstone_code.python.types import lower_annotation

if TYPE_CHECKING:
    from tree_sitter import Node

_COLLECTION_KINDS: Final = {
    "list": "list",
    "tuple": "tuple",
    "set": "set",
    "dictionary": "dict",
    "expression_list": "tuple",
    "pattern_list": "tuple",
    "tuple_pattern": "tuple",
    "list_pattern": "list",
}
_COMPREHENSION_KINDS: Final = {
    "list_comprehension": "list",
    "set_comprehension": "set",
    "dictionary_comprehension": "dict",
    "generator_expression": "list",
}


# ── arguments and parameters ──────────────────────────────────────────────────────────────────────


def lower_arguments(
    context: PythonContext, node: Node | None
) -> tuple[program_tree.Argument, ...]:
    """Return the arguments of a call or the bases of a class."""
    if node is None:
        return ()
    if node.type == "generator_expression":
        return (program_tree.Argument(context.expression(node)),)
    return tuple(_lower_argument(context, child) for child in children_of(node))


def _lower_argument(context: PythonContext, node: Node) -> program_tree.Argument:
    if node.type == "keyword_argument":
        name = text_of(node.child_by_field_name("name"))
        return program_tree.Argument(context.field(node, "value"), name)
    if node.type == "list_splat":
        return program_tree.Argument(context.first_child(node), "", spread=True)
    if node.type == "dictionary_splat":
        return program_tree.Argument(context.first_child(node), "**", spread=True)
    return program_tree.Argument(context.expression(node))


def lower_parameters(
    context: PythonContext, node: Node | None
) -> tuple[program_tree.Parameter, ...]:
    """Return the parameters of a function."""
    if node is None:
        return ()
    separators = ("positional_separator", "keyword_separator")
    return tuple(
        _lower_parameter(context, child)
        for child in children_of(node)
        if child.type not in separators
    )


def _lower_parameter(context: PythonContext, node: Node) -> program_tree.Parameter:
    written = text_of(_parameter_name(node))
    annotation = node.child_by_field_name("type")
    return program_tree.Parameter(
        name=written.lstrip("*").strip(),
        type=lower_annotation(annotation, context.names),
        default=context.optional_expression(node.child_by_field_name("value")),
        spread=written.startswith("*"),
        annotation=context.optional_expression(annotation),
    )


def _parameter_name(node: Node) -> Node:
    name = node.child_by_field_name("name")
    if name is not None:
        return name
    if node.type == "typed_parameter" and children_of(node):
        return children_of(node)[0]
    return node


# ── names, members and calls ──────────────────────────────────────────────────────────────────────


def _lower_name(_: PythonContext, node: Node) -> program_tree.Expr:
    return program_tree.Variable(text_of(node), line_of(node))


def _lower_attribute(context: PythonContext, node: Node) -> program_tree.Expr:
    name = node.child_by_field_name("attribute")
    owner = context.field(node, "object")
    return program_tree.Member(owner, text_of(name), line_of(name or node))


def _lower_call(context: PythonContext, node: Node) -> program_tree.Expr:
    function = context.field(node, "function")
    line = line_of(node)
    if isinstance(function, program_tree.Member):
        line = function.line
    arguments = lower_arguments(context, node.child_by_field_name("arguments"))
    return program_tree.Call(function, arguments, line)


def _lower_subscript(context: PythonContext, node: Node) -> program_tree.Expr:
    keys = [child for child in node.children_by_field_name("subscript") if child.is_named]
    container = context.field(node, "value")
    line = line_of(node)
    return program_tree.Subscript(container, _lower_keys(context, keys, line), line)


def _lower_generic_type(context: PythonContext, node: Node) -> program_tree.Expr:
    parts = children_of(node)
    keys: list[Node] = []
    if len(parts) > 1:
        keys = children_of(parts[1])
    line = line_of(node)
    return program_tree.Subscript(
        context.expression(parts[0]),
        _lower_keys(context, keys, line),
        line,
    )


def _lower_keys(context: PythonContext, keys: list[Node], line: int) -> program_tree.Expr:
    if len(keys) == 1:
        return context.expression(keys[0])
    entries = [program_tree.Entry(context.expression(key)) for key in keys]
    return program_tree.Collected(tuple(entries), line, "tuple")


def _lower_member_type(context: PythonContext, node: Node) -> program_tree.Expr:
    parts = children_of(node)
    return program_tree.Member(context.expression(parts[0]), text_of(parts[-1]), line_of(node))


def _lower_union_type(context: PythonContext, node: Node) -> program_tree.Expr:
    members = [context.expression(child) for child in children_of(node)]
    if not members:
        return opaque(node)
    union = members[0]
    for member in members[1:]:
        union = program_tree.Operation("|", union, member, line_of(node))
    return union


def _lower_lambda(context: PythonContext, node: Node) -> program_tree.Expr:
    body = node.child_by_field_name("body")
    line = line_of(node)
    inner = context.in_body()
    function = program_tree.Function(
        name="",
        parameters=lower_parameters(context, node.child_by_field_name("parameters")),
        body=program_tree.Body(lambda: (program_tree.Return(inner.expression(body), line),)),
        line=line,
        line_end=end_line_of(node),
    )
    return program_tree.Closure(function, line)


# ── numbers and collections ───────────────────────────────────────────────────────────────────────


def _lower_number(_: PythonContext, node: Node) -> program_tree.Expr:
    try:
        value = ast.literal_eval(text_of(node))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return opaque(node)
    if not isinstance(value, int | float):
        return opaque(node)
    return program_tree.Literal(value, line_of(node))


def _lower_collection(context: PythonContext, node: Node) -> program_tree.Expr:
    entries = [_lower_entry(context, child) for child in children_of(node)]
    return program_tree.Collected(tuple(entries), line_of(node), _COLLECTION_KINDS[node.type])


def _lower_entry(context: PythonContext, node: Node) -> program_tree.Entry:
    if node.type == "pair":
        key = context.field(node, "key")
        return program_tree.Entry(context.field(node, "value"), key)
    if node.type in ("list_splat", "dictionary_splat", "list_splat_pattern"):
        return program_tree.Entry(context.first_child(node), spread=True)
    return program_tree.Entry(context.expression(node))


def _lower_comprehension(context: PythonContext, node: Node) -> program_tree.Expr:
    loops: list[tuple[program_tree.Expr, program_tree.Expr, tuple[program_tree.Expr, ...]]] = []
    for child in children_of(node):
        if child.type == "for_in_clause":
            loops.append((context.field(child, "left"), context.field(child, "right"), ()))
        elif child.type == "if_clause" and loops:
            target, iterable, tests = loops[-1]
            loops[-1] = (target, iterable, (*tests, context.first_child(child)))
    element = program_tree.Entry(opaque(node))
    body = node.child_by_field_name("body")
    if body is not None:
        element = _lower_entry(context, body)
    return program_tree.Comprehended(
        element,
        tuple(loops),
        line_of(node),
        _COMPREHENSION_KINDS[node.type],
    )


# ── operations and assignments ────────────────────────────────────────────────────────────────────


def _lower_wrapped(context: PythonContext, node: Node) -> program_tree.Expr:
    return context.first_child(node)


def _lower_binary(context: PythonContext, node: Node) -> program_tree.Expr:
    operator = text_of(node.child_by_field_name("operator"))
    return program_tree.Operation(
        operator,
        context.field(node, "left"),
        context.field(node, "right"),
        line_of(node),
    )


def _lower_boolean(context: PythonContext, node: Node) -> program_tree.Expr:
    operator = text_of(node.child_by_field_name("operator"))
    left = context.field(node, "left")
    right = context.field(node, "right")
    if operator == "or":
        return program_tree.Choice(left, None, right, line_of(node))
    return program_tree.Operation("and", left, right, line_of(node))


def _lower_comparison(context: PythonContext, node: Node) -> program_tree.Expr:
    """Return a comparison; `a < b < c` becomes `a < b and b < c`."""
    values = [context.expression(child) for child in children_of(node)]
    operators = [
        " ".join(text_of(child).split()) for child in node.children_by_field_name("operators")
    ]
    line = line_of(node)
    result: program_tree.Expr | None = None
    for operator, left, right in zip(operators, values, values[1:], strict=False):
        comparison = program_tree.Operation(operator, left, right, line)
        if result is None:
            result = comparison
        else:
            result = program_tree.Operation("and", result, comparison, line)
    return result or opaque(node)


def _lower_not(context: PythonContext, node: Node) -> program_tree.Expr:
    return program_tree.Operation("not", context.field(node, "argument"), None, line_of(node))


def _lower_unary(context: PythonContext, node: Node) -> program_tree.Expr:
    operator = text_of(node.child_by_field_name("operator"))
    return program_tree.Operation(
        operator,
        context.field(node, "argument"),
        None,
        line_of(node),
    )


def _lower_conditional(context: PythonContext, node: Node) -> program_tree.Expr:
    parts = children_of(node)
    if len(parts) != 3:
        return opaque(node)
    then, test, other = [context.expression(part) for part in parts]
    return program_tree.Choice(test, then, other, line_of(node))


def _lower_walrus(context: PythonContext, node: Node) -> program_tree.Expr:
    return program_tree.Assigned(
        context.field(node, "name"),
        context.field(node, "value"),
        line_of(node),
    )


def _lower_assignment(context: PythonContext, node: Node) -> program_tree.Expr:
    """Return an assignment; a bare annotation (`x: int`) has the opaque value "no value"."""
    value: program_tree.Expr = program_tree.Opaque("no value", "", line_of(node))
    value_node = node.child_by_field_name("right")
    if value_node is not None:
        value = context.expression(value_node)
    return program_tree.Assigned(
        context.field(node, "left"),
        value,
        line_of(node),
        text_of(node.child_by_field_name("operator")).removesuffix("="),
        context.optional_expression(node.child_by_field_name("type")),
    )


EXPRESSIONS: Final[dict[str, ExpressionLowerer]] = {
    "identifier": _lower_name,
    "attribute": _lower_attribute,
    "call": _lower_call,
    "subscript": _lower_subscript,
    "generic_type": _lower_generic_type,
    "member_type": _lower_member_type,
    "union_type": _lower_union_type,
    "string": lower_string,
    "concatenated_string": lower_concatenated_string,
    "integer": _lower_number,
    "float": _lower_number,
    "binary_operator": _lower_binary,
    "boolean_operator": _lower_boolean,
    "comparison_operator": _lower_comparison,
    "not_operator": _lower_not,
    "unary_operator": _lower_unary,
    "conditional_expression": _lower_conditional,
    "lambda": _lower_lambda,
    "named_expression": _lower_walrus,
    "assignment": _lower_assignment,
    "augmented_assignment": _lower_assignment,
    "parenthesized_expression": _lower_wrapped,
    "await": _lower_wrapped,
    "type": _lower_wrapped,
    "as_pattern_target": _lower_wrapped,
    **dict.fromkeys(_COLLECTION_KINDS, _lower_collection),
    **dict.fromkeys(_COMPREHENSION_KINDS, _lower_comprehension),
}
