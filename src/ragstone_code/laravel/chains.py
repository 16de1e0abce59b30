"""Chains of calls as methods return them: `$this->hasMany(Song::class)->latest()` is two calls on `$this`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ragstone.code.tree import (
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
        """Return an argument by name or place, or None."""
        by_name = next((one for one in self.arguments if name and one.name == name), None)
        unnamed = [one for one in self.arguments if not one.name]
        found = by_name or (unnamed[index] if index < len(unnamed) else None)
        return found.value if found else None


CallChain = tuple[ChainedCall, ...]


def all_statements(statements: tuple[Statement, ...]) -> Iterator[Statement]:
    """Yield all statements of a body, whatever they stand in; not those of functions in it."""
    for one in statements:
        yield one
        if isinstance(one, If):
            for _, body in one.branches:
                yield from all_statements(body)
        elif isinstance(one, Each):
            yield from all_statements(one.body)
        elif isinstance(one, Attempt):
            for body in (one.body, *one.handlers, one.after):
                yield from all_statements(body)


def returned_chains(function: Function) -> Iterator[CallChain]:
    """Yield the chains on `$this` (or on the parent) that a function may return, whatever its conditions."""
    assigned: dict[str, Expr] = {}
    for one in all_statements(function.body.statements):
        if isinstance(one, Do) and isinstance(one.expression, Assigned):
            target = one.expression.target
            if isinstance(target, Variable) and not one.expression.operator:
                assigned.setdefault(target.name, one.expression.value)
        elif isinstance(one, Return) and one.value is not None:
            yield from find_chains(one.value, assigned)


def find_chains(value: Expr, assigned: dict[str, Expr] | None = None, root: str = "this") -> Iterator[CallChain]:
    """Yield the chains of calls on a variable that a value may be."""
    known = assigned or {}
    if isinstance(value, Choice):
        for one in (value.then or value.test, value.other):
            yield from find_chains(one, known, root)
        return
    if isinstance(value, Call) and isinstance(value.function, FunctionName) and value.function.name.endswith("tap"):
        yield from find_chains(value.arguments[0].value, known, root) if value.arguments else ()
        return
    calls: list[ChainedCall] = []
    seen: set[str] = set()
    while True:
        if isinstance(value, Call) and isinstance(value.function, Member) and isinstance(value.function.name, str):
            calls.append(ChainedCall(value.function.name, value.arguments, value.line))
            value = value.function.of
        elif isinstance(value, Variable) and value.name in known and value.name not in seen and value.name != root:
            seen.add(value.name)
            value = known[value.name]
        else:
            break
    if _is_parents(value) and isinstance(value, Call) and isinstance(value.function, Static):
        calls.append(ChainedCall(f"parent::{value.function.name}", value.arguments, value.line))
        yield tuple(reversed(calls))
    elif isinstance(value, Variable) and value.name == root and calls:
        yield tuple(reversed(calls))


def _is_parents(value: Expr) -> bool:
    of = value.function.of if isinstance(value, Call) and isinstance(value.function, Static) else None
    return isinstance(of, ClassName) and of.name.lower() == "parent"


def closure_chains(value: Expr | None) -> Iterator[CallChain]:
    """Yield the chains that a closure returns on what it is given first."""
    if isinstance(value, Closure) and value.function.parameters:
        root = value.function.parameters[0].name
        for one in all_statements(value.function.body.statements):
            if isinstance(one, Return) and one.value is not None:
                yield from find_chains(one.value, {}, root)


def calls_with_closure(function: Function, name: str) -> Iterator[tuple[str, Expr, Closure]]:
    """Yield the static calls of a name in a function that are given something and a closure: class, first, closure."""
    for one in all_statements(function.body.statements):
        call = one.expression if isinstance(one, Do) else None
        if isinstance(call, Call) and isinstance(call.function, Static) and len(call.arguments) > 1:
            of, closure = call.function.of, call.arguments[1].value
            if call.function.name == name and isinstance(of, ClassName) and isinstance(closure, Closure):
                yield of.name, call.arguments[0].value, closure
