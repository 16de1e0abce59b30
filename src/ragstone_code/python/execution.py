"""Execution of Python statements: one function per kind of statement, each returns how the statement ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ragstone_code import program_tree
from ragstone_code.python.assignment import assign
from ragstone_code.python.calls import apply_decorator, evaluate_arguments
from ragstone_code.python.operations import decide
from ragstone_code.python.values import (
    BoundMember,
    CallResult,
    ClassValue,
    Decoration,
    FunctionValue,
    Scope,
    UnknownValue,
    Value,
)

if TYPE_CHECKING:
    from ragstone_code.python.interpreter import PythonInterpreter

_MAX_ITERATIONS: Final = 2_000
"""Iterations of one loop."""


def run_block(
    interpreter: PythonInterpreter,
    statements: tuple[program_tree.Statement, ...],
    scope: Scope,
) -> str:
    """Run statements and return how they end: "", return, break, continue or raise."""
    for statement in statements:
        if not interpreter.budget.spend():
            return "raise"
        ending = _run_statement(interpreter, statement, scope)
        if ending:
            return ending
    return ""


def _run_statement(
    interpreter: PythonInterpreter,
    statement: program_tree.Statement,
    scope: Scope,
) -> str:
    return _STATEMENTS[type(statement)](interpreter, statement, scope)


def _run_expression(
    interpreter: PythonInterpreter,
    statement: program_tree.Do,
    scope: Scope,
) -> str:
    interpreter.evaluate(statement.expression, scope)
    return ""


def _run_return(
    interpreter: PythonInterpreter,
    statement: program_tree.Return,
    scope: Scope,
) -> str:
    value = interpreter.evaluate(statement.value, scope)
    interpreter.returned.append((interpreter.conditions, value))
    return "return"


def _run_leave(_: PythonInterpreter, statement: program_tree.Leave, scope: Scope) -> str:
    return statement.how


# ── branches ──────────────────────────────────────────────────────────────────────────────────────


def _run_conditionally(
    interpreter: PythonInterpreter,
    statements: tuple[program_tree.Statement, ...],
    scope: Scope,
) -> str:
    """Run statements that may not run in the real program."""
    interpreter.conditions += 1
    try:
        return run_block(interpreter, statements, scope)
    finally:
        interpreter.conditions -= 1


def _run_if(interpreter: PythonInterpreter, statement: program_tree.If, scope: Scope) -> str:
    """Run all branches that may be taken, each from the same names, then merge the names."""
    before = dict(scope.names)
    endings: list[str] = []
    outcomes: list[dict[str, Value]] = []
    for test, body in statement.branches:
        is_taken: bool | None = True
        if test is not None:
            is_taken = decide(interpreter, test, scope)[1]
        if is_taken is False:
            continue
        if is_taken and not outcomes:
            return run_block(interpreter, body, scope)
        _restore_names(scope, before)
        endings.append(_run_conditionally(interpreter, body, scope))
        outcomes.append(dict(scope.names))
        if is_taken:
            break
    else:
        endings.append("")
        outcomes.append(before)
    continuing = [names for names, ending in zip(outcomes, endings, strict=True) if not ending]
    _restore_names(scope, _merge_names(continuing or outcomes, statement.line))
    return _common_ending(endings)


def _common_ending(endings: list[str]) -> str:
    """Return the ending that all branches share, else an empty text."""
    if len(set(endings)) == 1:
        return endings[0]
    return ""


def _restore_names(scope: Scope, names: dict[str, Value]) -> None:
    """Replace the names of a scope in place, because other objects share the dictionary."""
    replacement = dict(names)
    scope.names.clear()
    scope.names.update(replacement)


def _merge_names(outcomes: list[dict[str, Value]], line: int) -> dict[str, Value]:
    """Return the names after several possible branches."""
    merged: dict[str, Value] = {}
    for names in outcomes:
        for name, value in names.items():
            if name in merged:
                merged[name] = _merge_values(merged[name], value, line)
            else:
                merged[name] = value
    return merged


def _merge_values(first: Value, second: Value, line: int) -> Value:
    """Return the known one of two values; different scalars are unknown, lists are united."""
    if first is second:
        return first
    if first is None or isinstance(first, UnknownValue):
        return second
    if isinstance(first, str | int | float) and second != first and second is not None:
        return UnknownValue("depends on a condition", line)
    if isinstance(first, list) and isinstance(second, list):
        return _unite_lists(first, second)
    return first


def _unite_lists(first: list[Value], second: list[Value]) -> list[Value]:
    return [*first, *(value for value in second if not _contains(first, value))]


def _contains(values: list[Value], value: Value) -> bool:
    return any(
        other is value or (isinstance(other, str) and other == value) for other in values
    )


def _run_attempt(
    interpreter: PythonInterpreter,
    statement: program_tree.Attempt,
    scope: Scope,
) -> str:
    """Run a `try` body, then each handler; a handler may only add names."""
    ending = run_block(interpreter, statement.body, scope)
    for handler in statement.handlers:
        before = dict(scope.names)
        _run_conditionally(interpreter, handler, scope)
        added = {name: value for name, value in scope.names.items() if name not in before}
        _restore_names(scope, {**before, **added})
    if ending == "raise" and statement.handlers:
        return ending
    return run_block(interpreter, statement.after, scope) or ending


# ── loops ─────────────────────────────────────────────────────────────────────────────────────────


def _run_repeated(
    interpreter: PythonInterpreter,
    loop: program_tree.Repeated,
    scope: Scope,
) -> str:
    _run_conditionally(interpreter, loop.body, scope)
    return ""


def _run_each(interpreter: PythonInterpreter, loop: program_tree.Each, scope: Scope) -> str:
    iterable = interpreter.evaluate(loop.over, scope)
    if not isinstance(iterable, list | tuple | dict):
        assign(
            interpreter,
            loop.value,
            UnknownValue("a loop over what is not known", loop.line),
            scope,
        )
        _run_conditionally(interpreter, loop.body, scope)
        return ""
    for item in list(iterable)[:_MAX_ITERATIONS]:
        assign(interpreter, loop.value, item, scope)
        ending = run_block(interpreter, loop.body, scope)
        if ending == "return" or interpreter.budget.is_spent:
            return ending
        if ending in ("break", "raise"):
            break
    return ""


# ── definitions ───────────────────────────────────────────────────────────────────────────────────


def _run_function(
    interpreter: PythonInterpreter,
    definition: program_tree.Function,
    scope: Scope,
) -> str:
    scope.names[definition.name] = _create_function(interpreter, definition, scope)
    return ""


def _create_function(
    interpreter: PythonInterpreter,
    definition: program_tree.Function,
    scope: Scope,
    owner: ClassValue | None = None,
) -> FunctionValue:
    qualifier = scope.module.name
    if owner:
        qualifier = owner.full
    function = FunctionValue(
        definition,
        f"{qualifier}.{definition.name}",
        scope.module.uri,
        scope,
        owner=owner,
    )
    for decorator in reversed(definition.attributes):
        _decorate(interpreter, decorator, function, scope)
    return function


def _decorate(
    interpreter: PythonInterpreter,
    decorator: program_tree.Expr,
    decorated: FunctionValue | ClassValue,
    scope: Scope,
) -> None:
    """Record a decorator on a function and the function on the decorator; the function is not replaced."""
    value = _evaluate_project_decorator(interpreter, decorator, scope)
    if value is None:
        value = interpreter.evaluate(decorator, scope)
    written = _written_method(decorator, value)
    decorated.decorations.insert(0, Decoration(value, decorator.line, written))
    apply_decorator(interpreter, value, decorated, (scope.module.uri, decorator.line))


def _written_method(decorator: program_tree.Expr, value: Value) -> str:
    """Return `name.method` of a decorator that is a method of an object; empty for other decorators."""
    function = decorator.function if isinstance(decorator, program_tree.Call) else decorator
    if not isinstance(function, program_tree.Member) or not isinstance(
        function.of, program_tree.Variable
    ):
        return ""
    owner = value.owner if isinstance(value, BoundMember) else None
    if isinstance(value, CallResult):
        owner = value.on
    return f"{function.of.name}.{function.name}" if isinstance(owner, CallResult) else ""


def _evaluate_project_decorator(
    interpreter: PythonInterpreter,
    decorator: program_tree.Expr,
    scope: Scope,
) -> CallResult | None:
    """Return the call of a decorator factory of the project, which is recorded and not followed."""
    if not isinstance(decorator, program_tree.Call):
        return None
    factory = interpreter.evaluate(decorator.function, scope)
    if not isinstance(factory, FunctionValue):
        return None
    args, kwargs = evaluate_arguments(interpreter, decorator.arguments, scope)
    return CallResult(
        factory.full,
        args,
        kwargs,
        scope.module.uri,
        decorator.line,
        interpreter.conditions > 0,
        factory,
    )


def _run_class(
    interpreter: PythonInterpreter,
    definition: program_tree.Class,
    scope: Scope,
) -> str:
    scope.names[definition.short] = _create_class(interpreter, definition, scope)
    return ""


def _create_class(
    interpreter: PythonInterpreter,
    definition: program_tree.Class,
    scope: Scope,
) -> ClassValue:
    bases: list[Value] = []
    options: dict[str, Value] = {}
    for base in definition.bases:
        if base.spread:
            continue
        value = interpreter.evaluate(base.value, scope)
        if base.name:
            options[base.name] = value
        else:
            bases.append(value)
    class_value = ClassValue(definition, scope.module.uri, scope, bases, options)
    inner = Scope(scope.module, scope, {"__name__": definition.name})
    for statement in definition.body:
        _run_class_statement(interpreter, statement, class_value, inner)
    attributes = {name: value for name, value in inner.names.items() if name != "__name__"}
    class_value.attributes.update(attributes)
    for decorator in reversed(definition.attributes):
        _decorate(interpreter, decorator, class_value, scope)
    return class_value


def _run_class_statement(
    interpreter: PythonInterpreter,
    statement: program_tree.Statement,
    class_value: ClassValue,
    scope: Scope,
) -> None:
    """Run a statement of a class body; the lines of new names and their annotations are recorded."""
    if not interpreter.budget.spend():
        return
    if isinstance(statement, program_tree.Function):
        scope.names[statement.name] = _create_function(
            interpreter,
            statement,
            scope,
            class_value,
        )
        class_value.lines[statement.name] = statement.line
        return
    names_before = set(scope.names)
    _record_annotation(statement, class_value)
    _run_statement(interpreter, statement, scope)
    for name in set(scope.names) - names_before:
        class_value.lines.setdefault(name, statement.line)


def _record_annotation(statement: program_tree.Statement, class_value: ClassValue) -> None:
    if not isinstance(statement, program_tree.Do) or not isinstance(
        statement.expression,
        program_tree.Assigned,
    ):
        return
    assignment = statement.expression
    if isinstance(assignment.target, program_tree.Variable):
        name = assignment.target.name
        class_value.lines[name] = statement.line
        if assignment.annotation is not None:
            class_value.annotations[name] = assignment.annotation


_STATEMENTS: Final[dict[type, Callable[[PythonInterpreter, Any, Scope], str]]] = {
    program_tree.Do: _run_expression,
    program_tree.Return: _run_return,
    program_tree.If: _run_if,
    program_tree.Each: _run_each,
    program_tree.Repeated: _run_repeated,
    program_tree.Attempt: _run_attempt,
    program_tree.Leave: _run_leave,
    program_tree.Function: _run_function,
    program_tree.Class: _run_class,
}
