"""Assignments of an interpreted Python program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone_code import program_tree
from ragstone_code.python.native_functions import apply_operator, is_plain
from ragstone_code.python.values import ModuleValue, Scope, UnknownValue, Value, parts_of

if TYPE_CHECKING:
    from ragstone_code.python.interpreter import PythonInterpreter


def evaluate_assignment(
    interpreter: PythonInterpreter,
    assignment: program_tree.Assigned,
    scope: Scope,
) -> Value:
    """Assign the value of an assignment expression and return it."""
    if (
        isinstance(assignment.value, program_tree.Opaque)
        and assignment.value.reason == "no value"
    ):
        return None
    value = interpreter.evaluate(assignment.value, scope)
    if assignment.operator:
        return _assign_augmented(interpreter, assignment, value, scope)
    assign(interpreter, assignment.target, value, scope)
    return value


def _assign_augmented(
    interpreter: PythonInterpreter,
    assignment: program_tree.Assigned,
    value: Value,
    scope: Scope,
) -> Value:
    """Apply `+=` and similar; a list is extended in place."""
    current = interpreter.evaluate(assignment.target, scope)
    if assignment.operator == "+" and isinstance(current, list):
        if isinstance(value, list | tuple):
            current.extend(value)
        else:
            current.append(value)
        return current
    result = apply_operator(assignment.operator, current, value)
    if isinstance(current, UnknownValue) and isinstance(value, list):
        result = value  # the known items of a list count, even if the list was unknown before
    if result is NotImplemented:
        assign(
            interpreter,
            assignment.target,
            UnknownValue("not known", assignment.line),
            scope,
        )
    else:
        assign(interpreter, assignment.target, result, scope)
    return result


def assign(
    interpreter: PythonInterpreter,
    target: program_tree.Expr,
    value: Value,
    scope: Scope,
) -> None:
    """Assign a value to a name, an attribute, a key, or several targets."""
    if isinstance(target, program_tree.Variable):
        scope.names[target.name] = value
    elif isinstance(target, program_tree.Member):
        owner = interpreter.evaluate(target.of, scope)
        _assign_attribute(owner, str(target.name), value)
    elif isinstance(target, program_tree.Subscript):
        container = interpreter.evaluate(target.of, scope)
        key = interpreter.evaluate(target.key, scope)
        is_paid = interpreter.budget.spend_on(value, parts_of)
        if isinstance(container, dict) and is_plain(key) and is_paid:
            container[key] = value
    elif isinstance(target, program_tree.Collected):
        _assign_several(interpreter, target, value, scope)


def _assign_attribute(owner: Value, name: str, value: Value) -> None:
    if isinstance(owner, ModuleValue):
        owner.names[name] = value
        return
    attributes = getattr(owner, "attributes", None)
    if isinstance(attributes, dict):
        attributes[name] = value


def _assign_several(
    interpreter: PythonInterpreter,
    target: program_tree.Collected,
    value: Value,
    scope: Scope,
) -> None:
    parts: list[Value] = []
    if isinstance(value, list | tuple):
        parts.extend(value)
    missing = len(target.entries) - len(parts)
    parts += [UnknownValue("not known", target.line)] * missing
    for entry, part in zip(target.entries, parts, strict=False):
        assign(interpreter, entry.value, part, scope)
