"""Evaluation of statements. Branches that may not run are all followed, each from the same variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ragstone_code import program_tree
from ragstone_code.evaluate.assignment import assign
from ragstone_code.evaluate.frame import ControlTransfer, Frame
from ragstone_code.evaluate.values import (
    Array,
    Unknown,
    Value,
    first_known,
    is_identical,
)

if TYPE_CHECKING:
    from ragstone_code.evaluate.evaluator import Evaluator


def run_block(
    evaluator: Evaluator,
    statements: tuple[program_tree.Statement, ...],
    frame: Frame,
) -> None:
    """Run statements in order."""
    for statement in statements:
        _STATEMENTS[type(statement)](evaluator, statement, frame)


def _run_expression(evaluator: Evaluator, statement: program_tree.Do, frame: Frame) -> None:
    evaluator.value(statement.expression, frame)


def _run_return(evaluator: Evaluator, statement: program_tree.Return, frame: Frame) -> None:
    value: Value = None
    if statement.value is not None:
        value = evaluator.value(statement.value, frame)
    frame.returned.append(value)
    raise ControlTransfer("return")


def _run_leave(_: Evaluator, statement: program_tree.Leave, frame: Frame) -> None:
    raise ControlTransfer(statement.how)


def _run_class(evaluator: Evaluator, definition: program_tree.Class, frame: Frame) -> None:
    evaluator.lookup.declare(frame.uri, definition)


def _run_function(_: Evaluator, definition: program_tree.Function, frame: Frame) -> None:
    """Do nothing: the lookup finds functions by name."""


# ── branches ──────────────────────────────────────────────────────────────────────────────────────


def _run_if(evaluator: Evaluator, statement: program_tree.If, frame: Frame) -> None:
    """Run the branches that may run, up to the first whose condition is certainly true."""
    possible_bodies: list[tuple[program_tree.Statement, ...]] = []
    for test, body in statement.branches:
        truth: bool | None = True
        if test is not None:
            truth = evaluator.language.truth(evaluator.value(test, frame))
        if truth is False:
            continue
        if truth is True and not possible_bodies:
            run_block(evaluator, body, frame)
            return
        possible_bodies.append(body)
        if truth is True:
            break
    else:
        possible_bodies.append(())
    run_alternatives(
        evaluator,
        frame,
        [partial(run_block, evaluator, body, frame) for body in possible_bodies],
    )


def run_alternatives(
    evaluator: Evaluator,
    frame: Frame,
    alternatives: Sequence[Callable[[], object]],
) -> None:
    """Run each alternative from the current variables, then merge the variables of all of them."""
    start = _snapshot(evaluator, frame.variables)
    results: list[dict[str, Value]] = []
    transfers: list[str] = []
    for alternative in alternatives:
        _restore(frame, _snapshot(evaluator, start))
        evaluator.conditions += 1
        try:
            alternative()
            results.append(dict(frame.variables))
        except ControlTransfer as transfer:
            transfers.append(transfer.kind)
        finally:
            evaluator.conditions -= 1
    if transfers and not results:
        raise ControlTransfer(transfers[-1])
    if results:
        _restore(frame, _merge_variables(results))
    else:
        _restore(frame, start)


def _snapshot(evaluator: Evaluator, variables: dict[str, Value]) -> dict[str, Value]:
    """Return a copy of variables; arrays are copied too."""
    return {name: evaluator.copy(value) for name, value in variables.items()}


def _restore(frame: Frame, variables: dict[str, Value]) -> None:
    """Replace the variables of a frame in place, because closures may share the dictionary."""
    frame.variables.clear()
    frame.variables.update(variables)


def _merge_variables(results: list[dict[str, Value]]) -> dict[str, Value]:
    """Merge the variables of several alternatives; different values become options, the last alternative first."""
    merged: dict[str, Value] = {}
    for variables in results:
        for name in variables:
            merged[name] = None
    for name in merged:
        values = [variables[name] for variables in reversed(results) if name in variables]
        merged[name] = _merge_values(values)
    return merged


def _merge_values(values: list[Value]) -> Value:
    distinct: list[Value] = []
    for value in values:
        if not any(is_identical(value, other) for other in distinct):
            distinct.append(value)
    if len(distinct) == 1:
        return distinct[0]
    options = [value for value in distinct if value is not None]
    return Unknown("it depends on a condition", options=tuple(options))


def _do_nothing() -> None:
    """The alternative in which a branch does not run."""


# ── loops ─────────────────────────────────────────────────────────────────────────────────────────


def _run_each(evaluator: Evaluator, loop: program_tree.Each, frame: Frame) -> None:
    """Run a loop once per known entry; if entries are unknown, run it perhaps once with an unknown entry."""
    iterable = first_known(evaluator.value(loop.over, frame))
    entries = getattr(iterable, "entries", None)
    if callable(entries):
        iterable = entries()
    if iterable is None:
        return
    if isinstance(iterable, Array):
        _iterate_array(evaluator, loop, iterable, frame)
        if not iterable.complete:
            _iterate_unknown(evaluator, loop, "part of the list is not known", frame)
    elif isinstance(iterable, Unknown):
        _iterate_unknown(evaluator, loop, iterable.reason, frame)
    else:
        _iterate_unknown(evaluator, loop, "what the loop goes over is not known", frame)


def _iterate_array(
    evaluator: Evaluator,
    loop: program_tree.Each,
    array: Array,
    frame: Frame,
) -> None:
    for key, value in list(array.items.items())[: evaluator.limits.repeats]:
        evaluator.loops.append((array.uri, array.lines.get(key, 0)))
        try:
            if not _iterate_once(evaluator, loop, key, value, frame):
                break
        finally:
            evaluator.loops.pop()


def _iterate_unknown(
    evaluator: Evaluator,
    loop: program_tree.Each,
    reason: str,
    frame: Frame,
) -> None:
    """Run the body with an unknown entry, as an alternative to no iteration."""
    unknown = Unknown(reason)
    iteration = partial(_iterate_once, evaluator, loop, unknown, unknown, frame)
    run_alternatives(evaluator, frame, [iteration, _do_nothing])


def _iterate_once(
    evaluator: Evaluator,
    loop: program_tree.Each,
    key: Value,
    value: Value,
    frame: Frame,
) -> bool:
    """Run one iteration and return whether the loop continues."""
    site = evaluator.site(frame, loop.line)
    if loop.key is not None:
        assign(evaluator, loop.key, key, frame, site)
    assign(evaluator, loop.value, value, frame, site)
    return _run_loop_body(evaluator, loop.body, frame)


def _run_loop_body(
    evaluator: Evaluator,
    body: tuple[program_tree.Statement, ...],
    frame: Frame,
) -> bool:
    """Run the body of a loop and return False if it ended with `break`."""
    try:
        run_block(evaluator, body, frame)
    except ControlTransfer as transfer:
        if transfer.kind == "break":
            return False
        if transfer.kind != "continue":
            raise
    return True


def _run_repeated(evaluator: Evaluator, loop: program_tree.Repeated, frame: Frame) -> None:
    """Run `for` and `while` while the test is known; if it is unknown, run the body perhaps once."""
    if loop.test is not None:
        for _ in range(evaluator.limits.repeats):
            truth = evaluator.language.truth(evaluator.value(loop.test, frame))
            if truth is False:
                return
            if truth is None:
                break
            if not _run_loop_body(evaluator, loop.body, frame):
                return
    iteration = partial(_run_loop_body, evaluator, loop.body, frame)
    run_alternatives(evaluator, frame, [iteration, _do_nothing])


def _run_attempt(evaluator: Evaluator, statement: program_tree.Attempt, frame: Frame) -> None:
    """Run a `try` body, then each handler as an alternative, then the `finally` block."""
    transfer: ControlTransfer | None = None
    try:
        run_block(evaluator, statement.body, frame)
    except ControlTransfer as raised:
        transfer = raised
    for handler in statement.handlers:
        run_alternatives(
            evaluator,
            frame,
            [partial(run_block, evaluator, handler, frame), _do_nothing],
        )
    run_block(evaluator, statement.after, frame)
    if transfer is not None:
        raise transfer


_STATEMENTS: Final[dict[type, Callable[[Evaluator, Any, Frame], None]]] = {
    program_tree.Do: _run_expression,
    program_tree.Return: _run_return,
    program_tree.If: _run_if,
    program_tree.Each: _run_each,
    program_tree.Repeated: _run_repeated,
    program_tree.Attempt: _run_attempt,
    program_tree.Leave: _run_leave,
    program_tree.Class: _run_class,
    program_tree.Function: _run_function,
}
