"""PHP's statements in the common shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ragstone.code.tree import (
    Argument,
    Assigned,
    Attempt,
    Call,
    Do,
    Each,
    Expr,
    FunctionName,
    If,
    Leave,
    Literal,
    Operation,
    Repeated,
    Return,
    Statement,
)
from ragstone_code.php.context import Context, line_of, named, opaque
from ragstone_code.php.definitions import KINDS
from ragstone_code.php.functions import function
from ragstone_code.php.names import text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_Branch = tuple[Expr | None, tuple[Statement, ...]]


def statement(context: Context, node: Node) -> list[Statement]:
    """Return what a statement is mapped to: mostly one, none for comments and text outside of PHP."""
    if node.type in _NOTHING:
        return []
    mapping = _MAPPINGS.get(node.type)
    if mapping:
        return mapping(context, node)
    if node.type.endswith("_expression") or node.type in ("variable_name", "name"):
        return [Do(context.expression(node), line_of(node))]
    return [Do(opaque(node), line_of(node))]


def _expression(context: Context, node: Node) -> list[Statement]:
    inner = next((one for one in node.named_children if one.type != "comment"), None)
    if inner is None:
        return []
    if inner.type == "throw_expression":
        return [Leave("throw", line_of(node))]
    return [Do(context.expression(inner), line_of(node))]


def _return(context: Context, node: Node) -> list[Statement]:
    inner = next((one for one in node.named_children if one.type != "comment"), None)
    return [Return(None if inner is None else context.expression(inner), line_of(node))]


def _leave(_: Context, node: Node) -> list[Statement]:
    return [Leave(node.type.removesuffix("_statement"), line_of(node))]


def _compound(context: Context, node: Node) -> list[Statement]:
    return list(context.statements(node.named_children))


def _if(context: Context, node: Node) -> list[Statement]:
    branches: list[_Branch] = []
    here: Node | None = node
    while here is not None:
        branches.append((_test(context, here), context.block(here.child_by_field_name("body"))))
        here = _alternatives(context, here, branches)
    return [If(tuple(branches), line_of(node))]


def _alternatives(context: Context, node: Node, branches: list[_Branch]) -> Node | None:
    """Add the other branches of an `if`; an `else if` is a nested one, returned to be gone on with."""
    for other in node.children_by_field_name("alternative"):
        body = other.child_by_field_name("body")
        if other.type == "else_clause" and body is not None and body.type == "if_statement":
            return body
        test = _test(context, other) if other.type == "else_if_clause" else None
        branches.append((test, context.block(body)))
    return None


def _test(context: Context, node: Node) -> Expr:
    return context.expression(node.child_by_field_name("condition"))


def _foreach(context: Context, node: Node) -> list[Statement]:
    body = node.child_by_field_name("body")
    inner = [one for one in node.named_children if one.type != "comment" and one != body]
    if len(inner) < 2:
        return [Do(opaque(node), line_of(node))]
    key, target = None, inner[1]
    if target.type == "pair":
        pair = [one for one in target.named_children if one.type != "comment"]
        key, target = context.expression(pair[0]), pair[-1]
    over, value = context.expression(inner[0]), context.expression(target)
    return [Each(over, value, key, context.block(body), line_of(node))]


def _for(context: Context, node: Node) -> list[Statement]:
    first = [Do(context.expression(one), line_of(one)) for one in node.children_by_field_name("initialize")]
    last = tuple(Do(context.expression(one), line_of(one)) for one in node.children_by_field_name("update"))
    body = tuple(one for part in node.children_by_field_name("body") for one in context.block(part))
    tests = node.children_by_field_name("condition")
    test = context.expression(tests[-1]) if tests else None
    return [*first, Repeated(body + last, line_of(node), test)]


def _while(context: Context, node: Node) -> list[Statement]:
    body = context.block(node.child_by_field_name("body"))
    test = _test(context, node) if node.type == "while_statement" else None
    return [Repeated(body, line_of(node), test)]


def _switch(context: Context, node: Node) -> list[Statement]:
    """Return a `switch` as branches; a case that falls through runs what follows it, a last `break` ends it."""
    subject = _test(context, node)
    body = node.child_by_field_name("body")
    cases = [one for one in body.named_children if one.type.endswith("_statement")] if body is not None else []
    branches: list[_Branch] = []
    other: list[_Branch] = []
    for position, case in enumerate(cases):
        value = case.child_by_field_name("value")
        test = None if value is None else Operation("==", subject, context.expression(value), line_of(case))
        into = other if value is None else branches
        into.append((test, _fallen(context, cases[position:])))
    return [If(tuple(branches + other[:1]), line_of(node))] if cases else []


def _fallen(context: Context, cases: list[Node]) -> tuple[Statement, ...]:
    """Return what runs from a case on."""
    run: list[Statement] = []
    for case in cases:
        value = case.child_by_field_name("value")
        for one in context.statements([inner for inner in case.named_children if inner != value]):
            if isinstance(one, Leave) and one.how in ("break", "continue"):
                return tuple(run)
            run.append(one)
            if isinstance(one, Return | Leave):
                return tuple(run)
    return tuple(run)


def _try(context: Context, node: Node) -> list[Statement]:
    caught = [context.block(one.child_by_field_name("body")) for one in node.children if one.type == "catch_clause"]
    last = named(node, "finally_clause")
    after = context.block(last.child_by_field_name("body")) if last is not None else ()
    return [Attempt(context.block(node.child_by_field_name("body")), tuple(caught), after, line_of(node))]


def _class(context: Context, node: Node) -> list[Statement]:
    name = context.names.declared(text_of(node.child_by_field_name("name")))
    return [context.definition(node, name)]


def _function(context: Context, node: Node) -> list[Statement]:
    found = function(context, node, context.names.declared(text_of(node.child_by_field_name("name"))))
    context.found.functions.append(found)
    return [found]


def _constants(context: Context, node: Node) -> list[Statement]:
    """Return `const NAME = value` as the call of `define` it amounts to."""
    found: list[Statement] = []
    for one in node.named_children:
        if one.type == "const_element" and len(one.named_children) >= 2:
            name = Literal(context.names.declared(text_of(one.named_children[0])), line_of(one))
            value = context.expression(one.named_children[-1])
            given = (Argument(name), Argument(value))
            found.append(Do(Call(FunctionName("define", line_of(one)), given, line_of(one)), line_of(one)))
    return found


def _called(context: Context, node: Node) -> list[Statement]:
    """Return `echo`, `unset` and the like as calls."""
    given = tuple(Argument(context.expression(one)) for one in node.named_children if one.type != "comment")
    name = node.type.removesuffix("_statement")
    return [Do(Call(FunctionName(name, line_of(node)), given, line_of(node)), line_of(node))]


def _static(context: Context, node: Node) -> list[Statement]:
    found: list[Statement] = []
    for one in node.named_children:
        name, value = one.child_by_field_name("name"), one.child_by_field_name("value")
        if name is not None and value is not None:
            assigned = Assigned(context.expression(name), context.expression(value), line_of(one))
            found.append(Do(assigned, line_of(one)))
    return found


_NOTHING: Final = frozenset({
    "comment", "php_tag", "text_interpolation", "text", "php_end_tag", "empty_statement", "declare_statement",
    "namespace_use_declaration", "global_declaration", "named_label_statement", "goto_statement",
})  # fmt: skip

_MAPPINGS: Final[dict[str, Callable[[Context, Node], list[Statement]]]] = {
    "expression_statement": _expression, "return_statement": _return, "compound_statement": _compound,
    "break_statement": _leave, "continue_statement": _leave, "exit_statement": _leave, "if_statement": _if,
    "foreach_statement": _foreach, "for_statement": _for, "while_statement": _while, "do_statement": _while,
    "switch_statement": _switch, "try_statement": _try, "function_definition": _function,
    "const_declaration": _constants, "echo_statement": _called, "unset_statement": _called,
    "function_static_declaration": _static, "ERROR": _compound, "colon_block": _compound,
    **{kind: _class for kind in KINDS if kind != "anonymous_class"},
}  # fmt: skip
