"""Chains of calls that methods return: `$this->hasMany(Song::class)->latest()` is two calls on `$this`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

from ragstone_code.program_tree import (
    Argument,
    Assigned,
    Attempt,
    Call,
    Choice,
    ClassName,
    Closure,
    Do,
    Each,
    Expr,
    Function,
    FunctionName,
    If,
    Member,
    Return,
    Statement,
    Static,
    Variable,
)


@dataclass(frozen=True, slots=True)
class ChainedCall:
    """One call of a chain."""

    name: str
    arguments: tuple[Argument, ...]
    line: int

    def argument(self, index: int, name: str = "") -> Expr | None:
        """Return the argument with this name, else the positional one at this index, else None."""
        for argument in self.arguments:
            if name and argument.name == name:
                return argument.value
        positional = [argument for argument in self.arguments if not argument.name]
        return positional[index].value if index < len(positional) else None


CallChain = tuple[ChainedCall, ...]


def all_statements(statements: tuple[Statement, ...]) -> Iterator[Statement]:
    """Yield the statements and all statements nested in them; bodies of functions are skipped."""
    for statement in statements:
        yield statement
        if isinstance(statement, If):
            for _, body in statement.branches:
                yield from all_statements(body)
        elif isinstance(statement, Each):
            yield from all_statements(statement.body)
        elif isinstance(statement, Attempt):
            for body in (statement.body, *statement.handlers, statement.after):
                yield from all_statements(body)


def returned_chains(function: Function) -> Iterator[CallChain]:
    """Yield the chains on `$this` or `parent` that a function can return, on any branch."""
    assigned: dict[str, Expr] = {}
    for statement in all_statements(function.body.statements):
        if isinstance(statement, Do):
            _remember_assignment(statement.expression, assigned)
        elif isinstance(statement, Return) and statement.value is not None:
            yield from find_chains(statement.value, assigned)


def _remember_assignment(expression: Expr, assigned: dict[str, Expr]) -> None:
    """Add a plain assignment to `assigned`; the first assignment of a variable wins."""
    if not isinstance(expression, Assigned) or expression.operator:
        return
    if isinstance(expression.target, Variable):
        assigned.setdefault(expression.target.name, expression.value)


def find_chains(
    value: Expr, assigned: dict[str, Expr] | None = None, root: str = "this"
) -> Iterator[CallChain]:
    """Yield the call chains on the variable `root` that a value can be; `assigned` holds the known variables."""
    variables = assigned or {}
    if isinstance(value, Choice):
        for option in (value.then or value.test, value.other):
            yield from find_chains(option, variables, root)
        return
    if _is_tap(value):
        if value.arguments:
            yield from find_chains(value.arguments[0].value, variables, root)
        return
    calls, start = _unwind(value, variables, root)
    if (
        isinstance(start, Call)
        and isinstance(start.function, Static)
        and _is_parent(start.function)
    ):
        calls.append(
            ChainedCall(
                f"parent::{start.function.name}",
                start.arguments,
                start.line,
            )
        )
        yield tuple(reversed(calls))
    elif isinstance(start, Variable) and start.name == root and calls:
        yield tuple(reversed(calls))


def _is_tap(value: Expr) -> TypeGuard[Call]:
    """Return whether a value is `tap($query, …)`, which returns its first argument."""
    if not isinstance(value, Call) or not isinstance(value.function, FunctionName):
        return False
    return value.function.name.endswith("tap")


def _unwind(
    value: Expr, variables: dict[str, Expr], root: str
) -> tuple[list[ChainedCall], Expr]:
    """Return the calls of a chain from last to first, and the expression the chain starts with."""
    calls: list[ChainedCall] = []
    seen: set[str] = {root}
    while True:
        if isinstance(value, Call) and isinstance(value.function, Member):
            name = value.function.name
            if not isinstance(name, str):
                return calls, value
            calls.append(ChainedCall(name, value.arguments, value.line))
            value = value.function.of
        elif isinstance(value, Variable) and value.name in variables and value.name not in seen:
            seen.add(value.name)
            value = variables[value.name]
        else:
            return calls, value


def _is_parent(function: Static) -> bool:
    """Return whether a static call is `parent::…`."""
    return isinstance(function.of, ClassName) and function.of.name.lower() == "parent"


def closure_chains(value: Expr | None) -> Iterator[CallChain]:
    """Yield the chains on a closure's first parameter that the closure returns."""
    if not isinstance(value, Closure) or not value.function.parameters:
        return
    root = value.function.parameters[0].name
    for statement in all_statements(value.function.body.statements):
        if isinstance(statement, Return) and statement.value is not None:
            yield from find_chains(statement.value, {}, root)


def calls_with_closure(function: Function, name: str) -> Iterator[tuple[str, Expr, Closure]]:
    """Yield the class, first argument and closure of each `Class::name(argument, closure)` in a function."""
    for statement in all_statements(function.body.statements):
        call = statement.expression if isinstance(statement, Do) else None
        if (
            not isinstance(call, Call)
            or not isinstance(call.function, Static)
            or len(call.arguments) < 2
        ):
            continue
        owner = call.function.of
        closure = call.arguments[1].value
        if (
            call.function.name == name
            and isinstance(owner, ClassName)
            and isinstance(closure, Closure)
        ):
            yield owner.name, call.arguments[0].value, closure
