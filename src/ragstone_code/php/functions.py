"""PHP's functions, methods and closures: what they take now, their bodies when asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.code.tree import Body, Closure, Expr, Function, Parameter, Return, Statement, Typed
from ragstone_code.php.arguments import NAMED, attributes
from ragstone_code.php.context import Context, line_of, named
from ragstone_code.php.names import RELATIVE, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_PARAMETERS = ("simple_parameter", "property_promotion_parameter", "variadic_parameter")


def function(context: Context, node: Node, name: str) -> Function:
    """Return a function or method under a name."""
    name_node = node.child_by_field_name("name")
    inner = context.entering(within=name.rpartition("\\")[2])
    body = node.child_by_field_name("body")
    return Function(
        name=name,
        parameters=parameters(context, node.child_by_field_name("parameters")),
        body=Body(lambda: _body(inner, body)),
        line=line_of(name_node or node),
        line_end=node.end_point[0] + 1,
        returns=typed(context, node.child_by_field_name("return_type")),
        attributes=attributes(context, node),
        captures=_captures(node),
        static=named(node, "static_modifier") is not None,
        visibility=text_of(named(node, "visibility_modifier")).lower() or "public",
        abstract=body is None or named(node, "abstract_modifier") is not None,
        doc=doc_of(node),
    )


def closure(context: Context, node: Node) -> Expr:
    """Return a function without a name."""
    return Closure(function(context, node, "{closure}"), line_of(node))


def _body(context: Context, node: Node | None) -> tuple[Statement, ...]:
    """Return the statements of a body; that of an arrow function is the value it returns."""
    context.depth = 0
    if node is None or node.type == "compound_statement":
        return context.block(node)
    return (Return(context.expression(node), line_of(node)),)


def _captures(node: Node) -> tuple[str, ...] | None:
    """Return what a closure takes along: an arrow function everything, others what they name."""
    if node.type == "arrow_function":
        return None
    clause = named(node, "anonymous_function_use_clause")
    found: list[str] = []
    for one in clause.named_children if clause is not None else []:
        variable = one if one.type == "variable_name" else named(one, "variable_name")
        if variable is not None:
            found.append(text_of(variable)[1:])
    return tuple(found)


def parameters(context: Context, node: Node | None) -> tuple[Parameter, ...]:
    """Return what a function takes."""
    if node is None:
        return ()
    return tuple(_parameter(context, one) for one in node.named_children if one.type in _PARAMETERS)


def _parameter(context: Context, node: Node) -> Parameter:
    name = node.child_by_field_name("name")
    default = node.child_by_field_name("default_value")
    if name is not None and name.type == "by_ref":
        name = named(name, "variable_name")
    return Parameter(
        name=text_of(name).lstrip("&$"),
        type=typed(context, node.child_by_field_name("type")),
        default=None if default is None else context.expression(default),
        spread=node.type == "variadic_parameter",
        promoted=node.type == "property_promotion_parameter",
        attributes=attributes(context, node),
    )


def typed(context: Context, node: Node | None) -> Typed | None:
    """Return a written type with its class names resolved."""
    if node is None:
        return None
    names: list[str] = []
    _type_names(context, node, names)
    nullable = node.type == "optional_type" or "null" in names
    kept = tuple(dict.fromkeys(name for name in names if name != "null"))
    return Typed(kept, nullable, text=text_of(node))


def _type_names(context: Context, node: Node, names: list[str], depth: int = 0) -> None:
    """Gather the class and built-in names of a type."""
    if node.type == "primitive_type":
        names.append(text_of(node).lower())
    elif node.type in NAMED:
        written = text_of(node)
        names.append(written.lower() if written.lower() in RELATIVE else context.names.of_class(written))
    elif depth < 20:
        for one in node.named_children:
            _type_names(context, one, names, depth + 1)


def doc_of(node: Node) -> str:
    """Return the text of the doc comment above a definition, without its stars."""
    before = node.prev_named_sibling
    if before is None or before.type != "comment":
        return ""
    written = text_of(before)
    if not written.startswith("/**"):
        return ""
    lines = (line.strip().lstrip("*").strip() for line in written[3:].removesuffix("*/").splitlines())
    return "\n".join(lines).strip()
