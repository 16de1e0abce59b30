"""Lowering of Python functions and classes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from ragstone_code import program_tree
from ragstone_code.python.context import PythonContext
from ragstone_code.python.expressions import lower_arguments, lower_parameters
from ragstone_code.python.names import ModuleNames, children_of, end_line_of, line_of, text_of
from ragstone_code.python.types import lower_annotation

if TYPE_CHECKING:
    from tree_sitter import Node

Decorators: TypeAlias = tuple[program_tree.Expr, ...]
BlockLowerer: TypeAlias = (
    "Callable[[PythonContext, Node | None], tuple[program_tree.Statement, ...]]"
)


def lower_function_definition(
    context: PythonContext,
    node: Node,
    decorators: Decorators,
    lower_block: BlockLowerer,
) -> program_tree.Function:
    """Return a function, and add it to the context if it is not a method. The body is lowered on first use."""
    name = text_of(node.child_by_field_name("name"))
    body = node.child_by_field_name("body")
    return_type = node.child_by_field_name("return_type")
    inner = context.in_body((*context.enclosing, name))
    decorator_names = {
        decorator.name
        for decorator in decorators
        if isinstance(decorator, program_tree.Variable)
    }
    function = program_tree.Function(
        name=name,
        parameters=lower_parameters(context, node.child_by_field_name("parameters")),
        body=program_tree.Body(lambda: lower_block(inner, body)),
        line=line_of(node),
        line_end=end_line_of(node),
        returns=lower_annotation(return_type, context.names),
        attributes=decorators,
        static="staticmethod" in decorator_names,
        visibility=_visibility(name),
        abstract="abstractmethod" in decorator_names,
        doc=_docstring(body),
        returned=context.optional_expression(return_type),
    )
    if not context.in_class:
        context.functions.append(function)
    return function


def _visibility(name: str) -> str:
    if name.startswith("_") and not name.endswith("__"):
        return "private"
    return "public"


def lower_class_definition(
    context: PythonContext,
    node: Node,
    decorators: Decorators,
    lower_block: BlockLowerer,
) -> program_tree.Class:
    """Return a class, and add it to the context before the classes inside it."""
    short_name = text_of(node.child_by_field_name("name"))
    body = node.child_by_field_name("body")
    position = len(context.classes)
    statements = _lower_class_body(context, short_name, body, lower_block)
    bases = lower_arguments(context, node.child_by_field_name("superclasses"))
    name_parts = [context.names.module, *context.enclosing, short_name]
    definition = program_tree.Class(
        name=".".join(part for part in name_parts if part),
        kind="class",
        line=line_of(node),
        line_end=end_line_of(node),
        extends=_base_names(bases, context.names),
        attributes=decorators,
        properties=tuple(_properties(statements, body, context.names)),
        methods=tuple(
            statement
            for statement in statements
            if isinstance(statement, program_tree.Function)
        ),
        body=statements,
        doc=_docstring(body),
        bases=bases,
    )
    context.classes.insert(position, definition)
    return definition


def _lower_class_body(
    context: PythonContext,
    name: str,
    body: Node | None,
    lower_block: BlockLowerer,
) -> tuple[program_tree.Statement, ...]:
    enclosing = context.enclosing
    was_in_class = context.in_class
    context.enclosing = (*enclosing, name)
    context.in_class = True
    statements = lower_block(context, body)
    context.enclosing = enclosing
    context.in_class = was_in_class
    return statements


def _base_names(
    bases: tuple[program_tree.Argument, ...], names: ModuleNames
) -> tuple[str, ...]:
    """Return the full names of base classes; computed bases are left out, generic ones count by their origin."""
    full_names: list[str] = []
    for base in bases:
        if base.name:
            continue
        expression = base.value
        while isinstance(expression, program_tree.Subscript):
            expression = expression.of
        name = dotted_name(expression)
        if name:
            full_names.append(names.resolve(name))
    return tuple(full_names)


def dotted_name(expression: program_tree.Expr) -> str:
    """Return `a.b.c` for names joined by dots, else an empty text."""
    parts: list[str] = []
    while isinstance(expression, program_tree.Member) and isinstance(expression.name, str):
        parts.append(expression.name)
        expression = expression.of
    if not isinstance(expression, program_tree.Variable):
        return ""
    return ".".join([expression.name, *reversed(parts)])


def _docstring(body: Node | None) -> str:
    """Return the string at the start of a block."""
    if body is None:
        return ""
    for node_type in ("expression_statement", "string"):
        children = children_of(body)
        if not children or children[0].type != node_type:
            return ""
        body = children[0]
    contents = [
        text_of(child) for child in body.named_children if child.type == "string_content"
    ]
    return inspect.cleandoc("".join(contents))


def _properties(
    statements: tuple[program_tree.Statement, ...],
    body: Node | None,
    names: ModuleNames,
) -> list[program_tree.Property]:
    """Return the names that a class body assigns or annotates."""
    types = _annotated_types(body, names)
    properties: list[program_tree.Property] = []
    for statement in statements:
        if not isinstance(statement, program_tree.Do) or not isinstance(
            statement.expression,
            program_tree.Assigned,
        ):
            continue
        assignment = statement.expression
        if not isinstance(assignment.target, program_tree.Variable) or assignment.operator:
            continue
        name = assignment.target.name
        default: program_tree.Expr | None = assignment.value
        if (
            isinstance(assignment.value, program_tree.Opaque)
            and assignment.value.reason == "no value"
        ):
            default = None
        properties.append(
            program_tree.Property(
                name,
                types.get(name),
                default,
                statement.line,
                static=True,
            )
        )
    return properties


def _annotated_types(
    body: Node | None, names: ModuleNames
) -> dict[str, program_tree.Typed | None]:
    types: dict[str, program_tree.Typed | None] = {}
    if body is None:
        return types
    for statement in children_of(body):
        for child in children_of(statement):
            if child.type != "assignment":
                continue
            annotation = child.child_by_field_name("type")
            if annotation is not None:
                types[text_of(child.child_by_field_name("left"))] = lower_annotation(
                    annotation, names
                )
            break
    return types
