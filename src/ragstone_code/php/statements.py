"""Lowering of PHP statements: one function per kind of syntax node."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from ragstone_code.php.classes import CLASS_KINDS
from ragstone_code.php.context import (
    PhpContext,
    child_of_type,
    children_without_comments,
    first_child,
    line_of,
    opaque,
)
from ragstone_code.php.functions import lower_function
from ragstone_code.php.names import text_of
from ragstone_code.program_tree import (
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

if TYPE_CHECKING:
    from tree_sitter import Node

_Branch: TypeAlias = tuple[Expr | None, tuple[Statement, ...]]


def lower_statement(context: PhpContext, node: Node) -> list[Statement]:
    """Return the statements of a node: usually one, none for comments and text outside PHP."""
    if node.type in _IGNORED:
        return []
    lower = _STATEMENTS.get(node.type)
    if lower:
        return lower(context, node)
    if node.type.endswith("_expression") or node.type in ("variable_name", "name"):
        return [Do(context.expression(node), line_of(node))]
    return [Do(opaque(node), line_of(node))]


def _lower_expression_statement(context: PhpContext, node: Node) -> list[Statement]:
    inner = first_child(node)
    if inner is None:
        return []
    if inner.type == "throw_expression":
        return [Leave("throw", line_of(node))]
    return [Do(context.expression(inner), line_of(node))]


def _lower_return(context: PhpContext, node: Node) -> list[Statement]:
    value: Expr | None = None
    inner = first_child(node)
    if inner is not None:
        value = context.expression(inner)
    return [Return(value, line_of(node))]


def _lower_leave(_: PhpContext, node: Node) -> list[Statement]:
    return [Leave(node.type.removesuffix("_statement"), line_of(node))]


def _lower_compound(context: PhpContext, node: Node) -> list[Statement]:
    return list(context.statements(node.named_children))


# ── conditions ────────────────────────────────────────────────────────────────────────────────────


def _lower_if(context: PhpContext, node: Node) -> list[Statement]:
    branches: list[_Branch] = []
    current: Node | None = node
    while current is not None:
        body = context.block(current.child_by_field_name("body"))
        branches.append((_lower_test(context, current), body))
        current = _lower_alternatives(context, current, branches)
    return [If(tuple(branches), line_of(node))]


def _lower_alternatives(
    context: PhpContext,
    node: Node,
    branches: list[_Branch],
) -> Node | None:
    """Add the `elseif` and `else` branches; return the nested `if` of an `else if`."""
    for alternative in node.children_by_field_name("alternative"):
        body = alternative.child_by_field_name("body")
        if (
            alternative.type == "else_clause"
            and body is not None
            and body.type == "if_statement"
        ):
            return body
        test: Expr | None = None
        if alternative.type == "else_if_clause":
            test = _lower_test(context, alternative)
        branches.append((test, context.block(body)))
    return None


def _lower_test(context: PhpContext, node: Node) -> Expr:
    return context.expression(node.child_by_field_name("condition"))


def _lower_switch(context: PhpContext, node: Node) -> list[Statement]:
    """Return a `switch` as branches; each branch contains the cases that it falls through to."""
    subject = _lower_test(context, node)
    body = node.child_by_field_name("body")
    if body is None:
        return []
    cases = [child for child in body.named_children if child.type.endswith("_statement")]
    if not cases:
        return []
    branches: list[_Branch] = []
    defaults: list[_Branch] = []
    for position, case in enumerate(cases):
        statements = _lower_cases(context, cases[position:])
        value = case.child_by_field_name("value")
        if value is None:
            defaults.append((None, statements))
        else:
            test = Operation("==", subject, context.expression(value), line_of(case))
            branches.append((test, statements))
    return [If(tuple(branches + defaults[:1]), line_of(node))]


def _lower_cases(context: PhpContext, cases: list[Node]) -> tuple[Statement, ...]:
    """Return the statements from the first case up to the next `break` or `return`."""
    statements: list[Statement] = []
    for case in cases:
        value = case.child_by_field_name("value")
        body = [child for child in case.named_children if child != value]
        for statement in context.statements(body):
            if isinstance(statement, Leave) and statement.how in ("break", "continue"):
                return tuple(statements)
            statements.append(statement)
            if isinstance(statement, Return | Leave):
                return tuple(statements)
    return tuple(statements)


# ── loops and exceptions ──────────────────────────────────────────────────────────────────────────


def _lower_foreach(context: PhpContext, node: Node) -> list[Statement]:
    body = node.child_by_field_name("body")
    parts = [child for child in children_without_comments(node) if child != body]
    if len(parts) < 2:
        return [Do(opaque(node), line_of(node))]
    iterable, target = parts[0], parts[1]
    key: Expr | None = None
    if target.type == "pair":
        pair = children_without_comments(target)
        key = context.expression(pair[0])
        target = pair[-1]
    loop = Each(
        context.expression(iterable),
        context.expression(target),
        key,
        context.block(body),
        line_of(node),
    )
    return [loop]


def _lower_for(context: PhpContext, node: Node) -> list[Statement]:
    """Return a `for` loop: its initial expressions, then a loop whose body ends with the updates."""
    initial = [
        Do(
            context.expression(child),
            line_of(child),
        )
        for child in node.children_by_field_name("initialize")
    ]
    updates = [
        Do(
            context.expression(child),
            line_of(child),
        )
        for child in node.children_by_field_name("update")
    ]
    body: list[Statement] = []
    for child in node.children_by_field_name("body"):
        body += context.block(child)
    test: Expr | None = None
    tests = node.children_by_field_name("condition")
    if tests:
        test = context.expression(tests[-1])
    return [*initial, Repeated((*body, *updates), line_of(node), test)]


def _lower_while(context: PhpContext, node: Node) -> list[Statement]:
    """Return a `while` or `do` loop; only `while` tests before each iteration."""
    body = context.block(node.child_by_field_name("body"))
    test: Expr | None = None
    if node.type == "while_statement":
        test = _lower_test(context, node)
    return [Repeated(body, line_of(node), test)]


def _lower_try(context: PhpContext, node: Node) -> list[Statement]:
    body = context.block(node.child_by_field_name("body"))
    catch_clauses = [child for child in node.children if child.type == "catch_clause"]
    handlers = [context.block(clause.child_by_field_name("body")) for clause in catch_clauses]
    after: tuple[Statement, ...] = ()
    finally_clause = child_of_type(node, "finally_clause")
    if finally_clause is not None:
        after = context.block(finally_clause.child_by_field_name("body"))
    return [Attempt(body, tuple(handlers), after, line_of(node))]


# ── definitions ───────────────────────────────────────────────────────────────────────────────────


def _lower_class_statement(context: PhpContext, node: Node) -> list[Statement]:
    name = context.names.qualify(text_of(node.child_by_field_name("name")))
    return [context.definition(node, name)]


def _lower_function_statement(context: PhpContext, node: Node) -> list[Statement]:
    name = context.names.qualify(text_of(node.child_by_field_name("name")))
    function = lower_function(context, node, name)
    context.declarations.functions.append(function)
    return [function]


def _lower_constants(context: PhpContext, node: Node) -> list[Statement]:
    """Return `const NAME = value` as a call of `define`."""
    statements: list[Statement] = []
    for child in node.named_children:
        parts = child.named_children
        if child.type != "const_element" or len(parts) < 2:
            continue
        line = line_of(child)
        name = Literal(context.names.qualify(text_of(parts[0])), line)
        value = context.expression(parts[-1])
        statements.append(_call_statement("define", [name, value], line))
    return statements


def _lower_language_call(context: PhpContext, node: Node) -> list[Statement]:
    """Return `echo` and `unset` as calls."""
    values = [context.expression(child) for child in children_without_comments(node)]
    name = node.type.removesuffix("_statement")
    return [_call_statement(name, values, line_of(node))]


def _call_statement(name: str, values: list[Expr], line: int) -> Statement:
    arguments = tuple(Argument(value) for value in values)
    return Do(Call(FunctionName(name, line), arguments, line), line)


def _lower_static_variables(context: PhpContext, node: Node) -> list[Statement]:
    statements: list[Statement] = []
    for child in node.named_children:
        name = child.child_by_field_name("name")
        value = child.child_by_field_name("value")
        if name is not None and value is not None:
            line = line_of(child)
            assignment = Assigned(
                context.expression(name),
                context.expression(value),
                line,
            )
            statements.append(Do(assignment, line))
    return statements


_IGNORED: Final = frozenset(
    {
        "comment",
        "php_tag",
        "text_interpolation",
        "text",
        "php_end_tag",
        "empty_statement",
        "declare_statement",
        "namespace_use_declaration",
        "global_declaration",
        "named_label_statement",
        "goto_statement",
    }
)

_STATEMENTS: Final[dict[str, Callable[[PhpContext, Node], list[Statement]]]] = {
    "expression_statement": _lower_expression_statement,
    "return_statement": _lower_return,
    "compound_statement": _lower_compound,
    "colon_block": _lower_compound,
    "ERROR": _lower_compound,
    "break_statement": _lower_leave,
    "continue_statement": _lower_leave,
    "exit_statement": _lower_leave,
    "if_statement": _lower_if,
    "switch_statement": _lower_switch,
    "foreach_statement": _lower_foreach,
    "for_statement": _lower_for,
    "while_statement": _lower_while,
    "do_statement": _lower_while,
    "try_statement": _lower_try,
    "function_definition": _lower_function_statement,
    "const_declaration": _lower_constants,
    "echo_statement": _lower_language_call,
    "unset_statement": _lower_language_call,
    "function_static_declaration": _lower_static_variables,
    **{kind: _lower_class_statement for kind in CLASS_KINDS if kind != "anonymous_class"},
}
