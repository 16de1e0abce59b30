"""How statements are followed: branches that may not run are all taken, each from the same start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ragstone.code.tree import (
    Attempt,
    Class,
    Do,
    Each,
    Expr,
    Function,
    If,
    Leave,
    Repeated,
    Return,
    Statement,
)
from ragstone_code.evaluate.assigning import assign
from ragstone_code.evaluate.frame import Frame, Left
from ragstone_code.evaluate.values import Array, ClassRef, Lambda, Unknown, Value, first_known

if TYPE_CHECKING:
    from ragstone_code.evaluate.machine import Evaluator


def run_block(machine: Evaluator, statements: tuple[Statement, ...], frame: Frame) -> None:
    """Follow statements in order."""
    for one in statements:
        run_statement(machine, one, frame)


def run_statement(machine: Evaluator, one: Statement, frame: Frame) -> None:
    """Follow one statement."""
    if isinstance(one, Do):
        machine.value(one.expression, frame)
    elif isinstance(one, Return):
        frame.returned.append(None if one.value is None else machine.value(one.value, frame))
        raise Left("return")
    elif isinstance(one, If):
        _if(machine, one, frame)
    elif isinstance(one, Each):
        _each(machine, one, frame)
    elif isinstance(one, Repeated):
        _repeated(machine, one, frame)
    elif isinstance(one, Attempt):
        _attempt(machine, one, frame)
    elif isinstance(one, Leave):
        raise Left(one.how)
    else:
        _define(machine, one, frame)


def _define(machine: Evaluator, one: Function | Class, frame: Frame) -> None:
    """Take in a definition; where names are variables too, under its own."""
    if isinstance(one, Class):
        machine.lookup.meet(frame.uri, one)
    if not machine.language.this:
        made = Lambda(one, frame.uri, frame.variables) if isinstance(one, Function) else ClassRef(one.name, one)
        frame.variables[one.name.rpartition(machine.language.separator)[2]] = made


def _if(machine: Evaluator, one: If, frame: Frame) -> None:
    """Follow the branches that can run, up to the first that surely does."""
    open_ones: list[tuple[Statement, ...]] = []
    for test, body in one.branches:
        truth = True if test is None else machine.language.truth(machine.value(test, frame))
        if truth is False:
            continue
        if truth is True and not open_ones:
            run_block(machine, body, frame)
            return
        open_ones.append(body)
        if truth is True:
            break
    else:
        open_ones.append(())
    maybe(machine, frame, [partial(run_block, machine, body, frame) for body in open_ones])


def maybe(machine: Evaluator, frame: Frame, runs: Sequence[Callable[[], object]]) -> None:
    """Follow runs of which any may be the one, each from the variables as they are now, and put the ends together."""
    start = _kept(machine, frame.variables)
    ends: list[dict[str, Value]] = []
    lefts: list[str] = []
    for run in runs:
        _restore(frame, _kept(machine, start))
        machine.conditions += 1
        try:
            run()
            ends.append(dict(frame.variables))
        except Left as left:
            lefts.append(left.how)
        finally:
            machine.conditions -= 1
    if lefts and not ends:
        raise Left(lefts[-1])
    _restore(frame, _merged(ends) if ends else start)


def _kept(machine: Evaluator, variables: dict[str, Value]) -> dict[str, Value]:
    """Return variables as they are now, arrays as ones of their own where the language does so."""
    if not machine.language.copies:
        return dict(variables)
    return {name: value.copy() if isinstance(value, Array) else value for name, value in variables.items()}


def _restore(frame: Frame, variables: dict[str, Value]) -> None:
    """Make a frame's variables be these; the mapping itself stays, as closures may share it."""
    frame.variables.clear()
    frame.variables.update(variables)


def _merged(ends: list[dict[str, Value]]) -> dict[str, Value]:
    """Return variables after several ways: those that differ are unknown, the latest way's value first."""
    names = dict.fromkeys(name for end in ends for name in end)
    merged: dict[str, Value] = {}
    for name in names:
        values = [end[name] for end in reversed(ends) if name in end]
        different = [one for position, one in enumerate(values) if not any(same(one, b) for b in values[:position])]
        known = [one for one in different if one is not None] or different
        merged[name] = values[0] if len(different) == 1 else Unknown("it depends on a condition", options=tuple(known))
    return merged


def same(one: Value, other: Value) -> bool:
    """Return whether two values are one, without taking 1 for True."""
    return one is other or (type(one) is type(other) and one == other)


def _each(machine: Evaluator, one: Each, frame: Frame) -> None:
    """Follow a loop: once per entry of what is known, else once with the entry unknown."""
    over = first_known(machine.value(one.over, frame))
    inner = getattr(over, "entries", None)
    if callable(inner):
        over = inner()
    if not isinstance(over, Array):
        reason = over.reason if isinstance(over, Unknown) else "what the loop goes over is not known"
        if over is not None:
            maybe(machine, frame, [lambda: _turn(machine, one, (Unknown(reason), Unknown(reason)), frame), _nothing])
        return
    for key, value in list(over.items.items())[: machine.limits.repeats]:
        item = (key, value) if machine.language.copies or one.key or over.is_list else (None, key)
        machine.loops.append((over.uri, over.lines.get(key, 0)))
        try:
            if not _turn(machine, one, item, frame):
                break
        finally:
            machine.loops.pop()
    if not over.complete:
        missing = Unknown("part of the list is not known")
        maybe(machine, frame, [lambda: _turn(machine, one, (missing, missing), frame), _nothing])


def _nothing() -> None:
    """Do nothing: the way on which a branch does not run."""


def _turn(machine: Evaluator, one: Each, item: tuple[Value, Value], frame: Frame) -> bool:
    """Follow one turn of a loop and return whether there is a next."""
    key, value = item
    site = machine.site(frame, one.line)
    if one.key is not None:
        assign(machine, one.key, key, frame, site)
    assign(machine, one.value, value, frame, site)
    try:
        run_block(machine, one.body, frame)
    except Left as left:
        if left.how == "break":
            return False
        if left.how != "continue":
            raise
    return True


def _repeated(machine: Evaluator, one: Repeated, frame: Frame) -> None:
    """Follow `for` and `while` as long as the test is known; a body whose test is not runs once, perhaps."""
    for _ in range(machine.limits.repeats if one.test is not None else 0):
        truth = _truth(machine, one.test, frame)
        if truth is False:
            return
        if truth is None:
            break
        try:
            run_block(machine, one.body, frame)
        except Left as left:
            if left.how == "break":
                return
            if left.how != "continue":
                raise
    maybe(machine, frame, [lambda: _once(machine, one.body, frame), _nothing])


def _truth(machine: Evaluator, test: Expr | None, frame: Frame) -> bool | None:
    """Return whether a test holds, where that is known."""
    return None if test is None else machine.language.truth(machine.value(test, frame))


def _once(machine: Evaluator, body: tuple[Statement, ...], frame: Frame) -> None:
    """Follow the body of a loop, left or not."""
    try:
        run_block(machine, body, frame)
    except Left as left:
        if left.how not in ("break", "continue"):
            raise


def _attempt(machine: Evaluator, one: Attempt, frame: Frame) -> None:
    """Follow a `try`: its body as it stands, what handles failures perhaps, what comes after in any case."""
    left: Left | None = None
    try:
        run_block(machine, one.body, frame)
    except Left as way:
        left = way
    for handler in one.handlers:
        maybe(machine, frame, [partial(run_block, machine, handler, frame), _nothing])
    run_block(machine, one.after, frame)
    if left is not None:
        raise left
