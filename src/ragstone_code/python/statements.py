"""Lowering of Python statements: one function per kind of syntax node."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from ragstone_code import program_tree
from ragstone_code.python.context import PythonContext, opaque
from ragstone_code.python.definitions import lower_class_definition, lower_function_definition
from ragstone_code.python.names import children_of, line_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

Block: TypeAlias = tuple[program_tree.Statement, ...]
_Branch: TypeAlias = tuple[program_tree.Expr | None, Block]
_MAX_DEPTH: Final = 30
"""Blocks below this depth are left out."""


def lower_block(context: PythonContext, node: Node | None) -> Block:
    """Return the statements of a block in order."""
    if node is None or context.depth > _MAX_DEPTH:
        return ()
    statements: list[program_tree.Statement] = []
    context.depth += 1
    for child in children_of(node):
        lower = _STATEMENTS.get(child.type)
        if lower:
            statements.extend(lower(context, child))
    context.depth -= 1
    return tuple(statements)


def _lower_body(context: PythonContext, node: Node, field: str = "body") -> Block:
    return lower_block(context, node.child_by_field_name(field))


# ── simple statements ─────────────────────────────────────────────────────────────────────────────


def _lower_expression_statement(context: PythonContext, node: Node) -> Block:
    """Return an expression statement; `a, b` on a line of its own gives one statement per value."""
    parts = children_of(node)
    if len(parts) == 1:
        return (program_tree.Do(context.expression(parts[0]), line_of(node)),)
    return tuple(program_tree.Do(context.expression(part), line_of(part)) for part in parts)


def _lower_opaque(_: PythonContext, node: Node) -> Block:
    return (program_tree.Do(opaque(node), line_of(node)),)


def _lower_type_alias(context: PythonContext, node: Node) -> Block:
    line = line_of(node)
    assignment = program_tree.Assigned(
        context.field(node, "left"),
        context.field(node, "right"),
        line,
    )
    return (program_tree.Do(assignment, line),)


def _lower_return(context: PythonContext, node: Node) -> Block:
    value: program_tree.Expr | None = None
    parts = children_of(node)
    if parts:
        value = context.expression(parts[0])
    return (program_tree.Return(value, line_of(node)),)


def _lower_leave(context: PythonContext, node: Node) -> Block:
    """Return `raise`, `break` or `continue`; what is raised is kept, but not evaluated."""
    parts = children_of(node)
    raised = context.expression(parts[0]) if parts else None
    return (program_tree.Leave(node.type.removesuffix("_statement"), line_of(node), raised),)


def _lower_import(context: PythonContext, node: Node) -> Block:
    """Return an import as assignments; `import a.b` binds `a` and also loads `a.b`."""
    line = line_of(node)
    statements: list[program_tree.Statement] = []
    for name, full in context.names.imported_names(node):
        imported: program_tree.Expr
        if name == "*":
            imported = program_tree.Included(program_tree.Literal(full, line), line)
        else:
            imported = program_tree.Assigned(
                program_tree.Variable(name, line),
                program_tree.ClassName(full, name, line),
                line,
            )
        statements.append(program_tree.Do(imported, line))
    if node.type == "import_statement":
        for child in node.children_by_field_name("name"):
            module = text_of(child)
            if child.type == "dotted_name" and "." in module:
                statements.append(
                    program_tree.Do(program_tree.ClassName(module, module, line), line)
                )
    return tuple(statements)


# ── compound statements ───────────────────────────────────────────────────────────────────────────


def _lower_if(context: PythonContext, node: Node) -> Block:
    test = context.field(node, "condition")
    branches: list[_Branch] = [(test, _lower_body(context, node, "consequence"))]
    for alternative in node.children_by_field_name("alternative"):
        condition = context.optional_expression(alternative.child_by_field_name("condition"))
        body = alternative.child_by_field_name(
            "consequence"
        ) or alternative.child_by_field_name("body")
        branches.append((condition, lower_block(context, body)))
    return (program_tree.If(tuple(branches), line_of(node)),)


def _lower_for(context: PythonContext, node: Node) -> Block:
    loop = program_tree.Each(
        context.field(node, "right"),
        context.field(node, "left"),
        None,
        _lower_body(context, node),
        line_of(node),
    )
    return (loop, *_lower_loop_else(context, node))


def _lower_while(context: PythonContext, node: Node) -> Block:
    loop = program_tree.Repeated(_lower_body(context, node), line_of(node))
    return (loop, *_lower_loop_else(context, node))


def _lower_loop_else(context: PythonContext, node: Node) -> Block:
    alternative = node.child_by_field_name("alternative")
    if alternative is None:
        return ()
    return _lower_body(context, alternative)


def _lower_try(context: PythonContext, node: Node) -> Block:
    body = _lower_body(context, node)
    handlers: list[Block] = []
    after: Block = ()
    for clause in children_of(node):
        if clause.type in ("except_clause", "except_group_clause"):
            handlers.append(_lower_clause(context, clause))
        elif clause.type == "else_clause":
            body += _lower_clause(context, clause)
        elif clause.type == "finally_clause":
            after = _lower_clause(context, clause)
    return (program_tree.Attempt(body, tuple(handlers), after, line_of(node)),)


def _lower_clause(context: PythonContext, clause: Node) -> Block:
    body = clause.child_by_field_name("body")
    if body is not None:
        return lower_block(context, body)
    for child in children_of(clause):
        if child.type == "block":
            return lower_block(context, child)
    return ()


def _lower_with(context: PythonContext, node: Node) -> Block:
    """Return a `with` statement: its context managers as assignments, then its body."""
    statements: list[program_tree.Statement] = []
    for clause in children_of(node):
        if clause.type == "with_clause":
            statements.extend(_lower_with_item(context, item) for item in children_of(clause))
    statements.extend(_lower_body(context, node))
    return (program_tree.Attempt(tuple(statements), line=line_of(node)),)


def _lower_with_item(context: PythonContext, item: Node) -> program_tree.Statement:
    value = item.child_by_field_name("value") or item
    line = line_of(item)
    if value.type != "as_pattern":
        return program_tree.Do(context.expression(value), line)
    manager = context.first_child(value)
    target = value.child_by_field_name("alias")
    if target is None:
        return program_tree.Do(manager, line)
    return program_tree.Do(
        program_tree.Assigned(context.expression(target), manager, line), line
    )


def _lower_match(context: PythonContext, node: Node) -> Block:
    subject = context.field(node, "subject")
    body = node.child_by_field_name("body")
    if body is None:
        return ()
    branches: list[_Branch] = []
    for case in children_of(body):
        test = _lower_case_test(context, case, subject)
        branches.append((test, _lower_body(context, case, "consequence")))
    if not branches:
        return ()
    return (program_tree.If(tuple(branches), line_of(node)),)


def _lower_case_test(
    context: PythonContext,
    case: Node,
    subject: program_tree.Expr,
) -> program_tree.Expr | None:
    """Return the test of a case: none for `_`, a comparison for a literal, opaque for other patterns."""
    patterns = [child for child in children_of(case) if child.type == "case_pattern"]
    has_guard = case.child_by_field_name("guard") is not None
    if has_guard or len(patterns) != 1:
        return opaque(case, "pattern")
    pattern = patterns[0]
    if text_of(pattern) == "_":
        return None
    parts = children_of(pattern)
    if len(parts) == 1:
        value = context.expression(parts[0])
        if isinstance(value, program_tree.Literal):
            return program_tree.Operation("==", subject, value, value.line)
    return opaque(case, "pattern")


# ── definitions ───────────────────────────────────────────────────────────────────────────────────


def _lower_function(context: PythonContext, node: Node) -> Block:
    return (lower_function_definition(context, node, (), lower_block),)


def _lower_class(context: PythonContext, node: Node) -> Block:
    return (lower_class_definition(context, node, (), lower_block),)


def _lower_decorated(context: PythonContext, node: Node) -> Block:
    definition = node.child_by_field_name("definition")
    if definition is None:
        return ()
    decorators = tuple(
        context.first_child(child) for child in children_of(node) if child.type == "decorator"
    )
    if definition.type == "class_definition":
        return (lower_class_definition(context, definition, decorators, lower_block),)
    return (lower_function_definition(context, definition, decorators, lower_block),)


_STATEMENTS: Final[dict[str, Callable[[PythonContext, Node], Block]]] = {
    "expression_statement": _lower_expression_statement,
    "return_statement": _lower_return,
    "if_statement": _lower_if,
    "for_statement": _lower_for,
    "while_statement": _lower_while,
    "try_statement": _lower_try,
    "with_statement": _lower_with,
    "match_statement": _lower_match,
    "import_statement": _lower_import,
    "import_from_statement": _lower_import,
    "function_definition": _lower_function,
    "class_definition": _lower_class,
    "decorated_definition": _lower_decorated,
    "type_alias_statement": _lower_type_alias,
    "assert_statement": _lower_opaque,
    "delete_statement": _lower_opaque,
    "raise_statement": _lower_leave,
    "break_statement": _lower_leave,
    "continue_statement": _lower_leave,
}
