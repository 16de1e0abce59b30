"""Evaluation of Python operators and conditional expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone_code import program_tree
from ragstone_code.python.native_functions import apply_operator, is_plain
from ragstone_code.python.values import (
    ExternalName,
    GenericType,
    Scope,
    UnknownValue,
    Value,
    truth_of,
)

if TYPE_CHECKING:
    from ragstone_code.python.interpreter import PythonInterpreter


def evaluate_operation(
    interpreter: PythonInterpreter,
    operation: program_tree.Operation,
    scope: Scope,
) -> Value:
    """Return the result of a unary or binary operator."""
    left = interpreter.evaluate(operation.left, scope)
    if operation.operator == "and":
        return _evaluate_and(interpreter, left, operation, scope)
    if operation.right is None:
        return _evaluate_unary(operation, left)
    right = interpreter.evaluate(operation.right, scope)
    result = apply_operator(operation.operator, left, right)
    if result is not NotImplemented:
        return result
    if operation.operator == "|":
        return GenericType(ExternalName("typing.Union"), (left, right))
    if operation.operator == "+":
        if isinstance(left, list):
            return [*left, right]
        if isinstance(right, list):
            return [left, *right]
    for side in (left, right):
        if isinstance(side, UnknownValue):
            return side
    return UnknownValue(f"{operation.operator} of what is not known", operation.line)


def _evaluate_and(
    interpreter: PythonInterpreter,
    left: Value,
    operation: program_tree.Operation,
    scope: Scope,
) -> Value:
    left_truth = truth_of(left)
    if left_truth is False:
        return left
    right = interpreter.evaluate(operation.right, scope)
    if left_truth:
        return right
    if truth_of(right) is False:
        return False
    return UnknownValue("a condition", operation.line)


def _evaluate_unary(operation: program_tree.Operation, value: Value) -> Value:
    if operation.operator == "not":
        truth = truth_of(value)
        if truth is None:
            return UnknownValue("a condition", operation.line)
        return not truth
    if operation.operator == "-" and isinstance(value, int | float):
        return -value
    return UnknownValue(operation.operator, operation.line)


def evaluate_choice(
    interpreter: PythonInterpreter,
    choice: program_tree.Choice,
    scope: Scope,
) -> Value:
    """Return `then if test else other` or `test or other`."""
    test, decision = decide(interpreter, choice.test, scope)
    if decision is False:
        return interpreter.evaluate(choice.other, scope)
    if choice.then is None:
        if decision is None and isinstance(test, UnknownValue):
            return UnknownValue(test.reason, choice.line)
        return test
    if decision:
        return interpreter.evaluate(choice.then, scope)
    return _evaluate_both(interpreter, choice, scope)


def _evaluate_both(
    interpreter: PythonInterpreter,
    choice: program_tree.Choice,
    scope: Scope,
) -> Value:
    """Return the known one of both results of an undecided choice; different scalars are unknown."""
    interpreter.conditions += 1
    then = interpreter.evaluate(choice.then, scope)
    other = interpreter.evaluate(choice.other, scope)
    interpreter.conditions -= 1
    if is_plain(then) and is_plain(other) and then != other:
        return UnknownValue("depends on a condition", choice.line)
    if isinstance(then, UnknownValue) or not then:
        return other
    return then


def decide(
    interpreter: PythonInterpreter,
    test: program_tree.Expr,
    scope: Scope,
) -> tuple[Value, bool | None]:
    """Return the value of a test and its truth; the truth is None if it is unknown or depends on settings."""
    interpreter.has_read_settings = False
    value = interpreter.evaluate(test, scope)
    if interpreter.has_read_settings:
        return value, None
    return value, truth_of(value)
