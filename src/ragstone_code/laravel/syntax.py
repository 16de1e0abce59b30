"""Looking through a program: every expression of a body, the chain a call stands in, and the classes it names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ragstone.code import tree

SyntaxNode = Any
"""A statement or an expression; the two are walked alike."""

_PARTS: dict[type, Callable[[Any], Iterable[SyntaxNode | None]]] = {
    tree.Text: lambda one: one.parts,
    tree.Collected: lambda one: (part for entry in one.entries for part in (entry.key, entry.value)),
    tree.Member: lambda one: (one.of, None if isinstance(one.name, str) else one.name),
    tree.Static: lambda one: (one.of, None if isinstance(one.name, str) else one.name),
    tree.Call: lambda one: (one.function, *(given.value for given in one.arguments)),
    tree.New: lambda one: (one.of, *(given.value for given in one.arguments)),
    tree.Closure: lambda one: one.function.body.statements,
    tree.Operation: lambda one: (one.left, one.right),
    tree.Choice: lambda one: (one.test, one.then, one.other),
    tree.Match: lambda one: (one.subject, *(part for tests, value in one.arms for part in (*tests, value))),
    tree.Subscript: lambda one: (one.of, one.key),
    tree.Assigned: lambda one: (one.target, one.value),
    tree.Included: lambda one: (one.path,),
    tree.Do: lambda one: (one.expression,),
    tree.Each: lambda one: (one.over, *one.body),
    tree.If: lambda one: (part for test, body in one.branches for part in (test, *body)),
    tree.Repeated: lambda one: one.body,
    tree.Return: lambda one: (one.value,),
    tree.Attempt: lambda one: (*one.body, *(part for body in one.handlers for part in body), *one.after),
}
_CONDITIONS = (tree.If, tree.Match, tree.Choice)


def walk(roots: Iterable[SyntaxNode]) -> Iterator[tuple[SyntaxNode, bool]]:
    """Yield everything in it in the order it is written, each with whether it depends on a condition."""
    waiting: list[tuple[SyntaxNode, bool]] = [(root, False) for root in roots]
    waiting.reverse()
    while waiting:
        here, conditional = waiting.pop()
        yield here, conditional
        parts = _PARTS.get(type(here))
        if parts is None:
            continue
        below = conditional or isinstance(here, _CONDITIONS)
        waiting.extend(reversed([(part, below) for part in parts(here) if part is not None]))


def called_name(call: tree.Call) -> str:
    """Return the name of what is called, in its own case; nothing where it is computed."""
    function = call.function
    if isinstance(function, tree.FunctionName):
        return function.name.rpartition("\\")[2]
    name = function.name if isinstance(function, (tree.Member, tree.Static)) else ""
    return name if isinstance(name, str) else ""


def receiver(call: tree.Call) -> SyntaxNode | None:
    """Return what a method is called on, None for a plain function."""
    return call.function.of if isinstance(call.function, (tree.Member, tree.Static)) else None


def call_chain(expression: SyntaxNode) -> tuple[SyntaxNode, tuple[tree.Call, ...]]:
    """Return what a chain of calls begins with, and its calls from the first to the last."""
    calls: list[tree.Call] = []
    here = expression
    while isinstance(here, tree.Call) and isinstance(here.function, tree.Member):
        calls.append(here)
        here = here.function.of
    if isinstance(here, tree.Call) and isinstance(here.function, (tree.Static, tree.FunctionName)):
        calls.append(here)
        here = here.function.of if isinstance(here.function, tree.Static) else here.function
    return here, tuple(reversed(calls))


def class_of(expression: SyntaxNode, owner: str = "") -> str:
    """Return the class that is named: `X::class`, `new X`, `X`, or a string that is one; nothing otherwise."""
    if isinstance(expression, tree.Static) and expression.name == "class":
        expression = expression.of
    elif isinstance(expression, tree.New):
        expression = expression.of
    if isinstance(expression, tree.ClassName):
        own = expression.name.lower() in ("self", "static", "this")
        return owner if own else expression.name.lstrip("\\")
    if isinstance(expression, tree.Literal) and isinstance(expression.value, str) and "\\" in expression.value:
        return expression.value.lstrip("\\")
    return ""


def text_of(expression: SyntaxNode, owner: str = "") -> str | None:
    """Return a string that is written out, class names and joined pieces counted; None for anything else."""
    if isinstance(expression, tree.Literal):
        return expression.value if isinstance(expression.value, str) else None
    if isinstance(expression, tree.Operation) and expression.operator == ".":
        left, right = text_of(expression.left, owner), text_of(expression.right, owner)
        return None if left is None or right is None else left + right
    if isinstance(expression, tree.Text):
        parts = [text_of(part, owner) for part in expression.parts]
        return None if None in parts else "".join(filter(None, parts))
    return class_of(expression, owner) or None


def short_text(expression: SyntaxNode, owner: str = "") -> str:
    """Return a value as a person would write it in a list, short."""
    if isinstance(expression, tree.Literal):
        return str(expression.value)
    return text_of(expression, owner) or ""


def array_entries(expression: SyntaxNode) -> tuple[tree.Entry, ...]:
    """Return the entries of an array, nothing for anything else."""
    return expression.entries if isinstance(expression, tree.Collected) else ()


def array_values(expression: SyntaxNode) -> tuple[SyntaxNode, ...]:
    """Return the values of an array, or the one value that is not an array."""
    if isinstance(expression, tree.Collected):
        return tuple(entry.value for entry in expression.entries)
    return () if expression is None else (expression,)


def argument_at(call: tree.Call | tree.New, place: int, name: str = "") -> SyntaxNode | None:
    """Return an argument by its name or else by its place."""
    for argument in call.arguments:
        if name and argument.name == name:
            return argument.value
    plain = [argument for argument in call.arguments if not argument.name]
    return plain[place].value if place < len(plain) and not plain[place].spread else None


def returned_values(function: tree.Function) -> Iterator[SyntaxNode]:
    """Yield the values a function returns, those of functions inside of it left out."""
    waiting: list[SyntaxNode] = list(reversed(function.body.statements))
    while waiting:
        here = waiting.pop()
        if isinstance(here, tree.Return):
            if here.value is not None:
                yield here.value
        elif not isinstance(here, (tree.Do, tree.Leave, tree.Function, tree.Class)):
            parts = _PARTS.get(type(here), lambda _: ())
            waiting.extend(reversed([part for part in parts(here) if part is not None]))
