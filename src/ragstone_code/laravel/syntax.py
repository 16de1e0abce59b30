"""Helpers to read a syntax tree: all nodes of a body, call chains, arguments, class names and strings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ragstone_code import program_tree

SyntaxNode = Any
"""A statement or an expression; both are walked in the same way."""


def walk(roots: Iterable[SyntaxNode]) -> Iterator[tuple[SyntaxNode, bool]]:
    """Yield every node below the roots in source order, with a flag that is true if a condition decides over it."""
    stack: list[tuple[SyntaxNode, bool]] = [(root, False) for root in roots]
    stack.reverse()
    while stack:
        node, conditional = stack.pop()
        yield node, conditional
        below = conditional or isinstance(
            node, (program_tree.If, program_tree.Match, program_tree.Choice)
        )
        children = [(child, below) for child in _children(node)]
        stack.extend(reversed(children))


def called_name(call: program_tree.Call) -> str:
    """Return the name of the called function or method as it is written; empty if it is computed."""
    function = call.function
    if isinstance(function, program_tree.FunctionName):
        return function.name.rpartition("\\")[2]
    if isinstance(function, (program_tree.Member, program_tree.Static)) and isinstance(
        function.name, str
    ):
        return function.name
    return ""


def receiver(call: program_tree.Call) -> SyntaxNode | None:
    """Return the expression a method is called on; None for a plain function."""
    if isinstance(call.function, (program_tree.Member, program_tree.Static)):
        return call.function.of
    return None


def call_chain(expression: SyntaxNode) -> tuple[SyntaxNode, tuple[program_tree.Call, ...]]:
    """Return the expression that a chain of calls starts with, and the calls from first to last."""
    calls: list[program_tree.Call] = []
    current = expression
    while isinstance(current, program_tree.Call) and isinstance(
        current.function, program_tree.Member
    ):
        calls.append(current)
        current = current.function.of
    if isinstance(current, program_tree.Call):
        function = current.function
        if isinstance(function, program_tree.Static):
            calls.append(current)
            current = function.of
        elif isinstance(function, program_tree.FunctionName):
            calls.append(current)
            current = function
    calls.reverse()
    return current, tuple(calls)


def class_of(expression: SyntaxNode, owner: str = "") -> str:
    """Return the class that an expression names (`X::class`, `new X`, `X`, or a string with a namespace), or ''.

    `owner` is the class that `self` and `static` refer to.
    """
    if isinstance(expression, program_tree.Static) and expression.name == "class":
        expression = expression.of
    elif isinstance(expression, program_tree.New):
        expression = expression.of
    if isinstance(expression, program_tree.ClassName):
        refers_to_owner = expression.name.lower() in ("self", "static", "this")
        return owner if refers_to_owner else expression.name.lstrip("\\")
    if isinstance(expression, program_tree.Literal):
        value = expression.value
        if isinstance(value, str) and "\\" in value:
            return value.lstrip("\\")
    return ""


def text_of(expression: SyntaxNode, owner: str = "") -> str | None:
    """Return the string that an expression spells out, also if it is a class name or concatenated; else None."""
    if isinstance(expression, program_tree.Literal):
        return expression.value if isinstance(expression.value, str) else None
    if isinstance(expression, program_tree.Operation) and expression.operator == ".":
        return _joined_text((expression.left, expression.right), owner)
    if isinstance(expression, program_tree.Text):
        return _joined_text(expression.parts, owner)
    return class_of(expression, owner) or None


def _joined_text(expressions: Iterable[SyntaxNode], owner: str) -> str | None:
    """Return the concatenated strings; None if one of them is not spelled out."""
    texts: list[str] = []
    for expression in expressions:
        text = text_of(expression, owner)
        if text is None:
            return None
        texts.append(text)
    return "".join(texts)


def short_text(expression: SyntaxNode, owner: str = "") -> str:
    """Return a short display text of a literal or a string; empty for other expressions."""
    if isinstance(expression, program_tree.Literal):
        return str(expression.value)
    return text_of(expression, owner) or ""


def array_entries(expression: SyntaxNode) -> tuple[program_tree.Entry, ...]:
    """Return the entries of an array; empty for other expressions."""
    return expression.entries if isinstance(expression, program_tree.Collected) else ()


def array_values(expression: SyntaxNode) -> tuple[SyntaxNode, ...]:
    """Return the values of an array; any other expression counts as an array with one value."""
    if isinstance(expression, program_tree.Collected):
        return tuple(entry.value for entry in expression.entries)
    return () if expression is None else (expression,)


def first_array_value(expression: SyntaxNode) -> SyntaxNode | None:
    """Return the first value of an array, or the expression itself if it is no array."""
    return next(iter(array_values(expression)), None)


def argument_at(
    call: program_tree.Call | program_tree.New, position: int, name: str = ""
) -> SyntaxNode | None:
    """Return the argument with this name, else the one at this position, else None."""
    for argument in call.arguments:
        if name and argument.name == name:
            return argument.value
    positional = [argument for argument in call.arguments if not argument.name]
    if position >= len(positional) or positional[position].spread:
        return None
    return positional[position].value


def returned_values(function: program_tree.Function) -> Iterator[SyntaxNode]:
    """Yield the values that a function returns; nested functions are skipped."""
    stack: list[SyntaxNode] = list(reversed(function.body.statements))
    while stack:
        statement = stack.pop()
        if isinstance(statement, program_tree.Return):
            if statement.value is not None:
                yield statement.value
        elif not isinstance(
            statement,
            (program_tree.Do, program_tree.Leave, program_tree.Function, program_tree.Class),
        ):
            stack.extend(reversed(_children(statement)))


def _children(node: SyntaxNode) -> list[SyntaxNode]:
    """Return the direct children of a node in source order."""
    list_children = _CHILDREN.get(type(node))
    if list_children is None:
        return []
    return [child for child in list_children(node) if child is not None]


def _entry_children(array: program_tree.Collected) -> Iterator[SyntaxNode | None]:
    for entry in array.entries:
        yield entry.key
        yield entry.value


def _member_children(
    member: program_tree.Member | program_tree.Static,
) -> Iterator[SyntaxNode | None]:
    yield member.of
    if not isinstance(member.name, str):
        yield member.name


def _call_children(call: program_tree.Call) -> Iterator[SyntaxNode | None]:
    yield call.function
    for argument in call.arguments:
        yield argument.value


def _new_children(new: program_tree.New) -> Iterator[SyntaxNode | None]:
    yield new.of
    for argument in new.arguments:
        yield argument.value


def _match_children(match: program_tree.Match) -> Iterator[SyntaxNode | None]:
    yield match.subject
    for tests, value in match.arms:
        yield from tests
        yield value


def _if_children(statement: program_tree.If) -> Iterator[SyntaxNode | None]:
    for test, body in statement.branches:
        yield test
        yield from body


def _attempt_children(attempt: program_tree.Attempt) -> Iterator[SyntaxNode | None]:
    yield from attempt.body
    for handler in attempt.handlers:
        yield from handler
    yield from attempt.after


_CHILDREN: dict[type, Callable[[Any], Iterable[SyntaxNode | None]]] = {
    program_tree.Text: lambda node: node.parts,
    program_tree.Collected: _entry_children,
    program_tree.Member: _member_children,
    program_tree.Static: _member_children,
    program_tree.Call: _call_children,
    program_tree.New: _new_children,
    program_tree.Closure: lambda node: node.function.body.statements,
    program_tree.Operation: lambda node: (node.left, node.right),
    program_tree.Choice: lambda node: (node.test, node.then, node.other),
    program_tree.Match: _match_children,
    program_tree.Subscript: lambda node: (node.of, node.key),
    program_tree.Assigned: lambda node: (node.target, node.value),
    program_tree.Included: lambda node: (node.path,),
    program_tree.Do: lambda node: (node.expression,),
    program_tree.Each: lambda node: (node.over, *node.body),
    program_tree.If: _if_children,
    program_tree.Repeated: lambda node: node.body,
    program_tree.Return: lambda node: (node.value,),
    program_tree.Attempt: _attempt_children,
}
