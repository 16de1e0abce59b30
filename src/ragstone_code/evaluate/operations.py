"""Evaluation of operators and conditional expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone_code import program_tree
from ragstone_code.evaluate.frame import Frame
from ragstone_code.evaluate.statements import run_alternatives
from ragstone_code.evaluate.values import Unknown, Value, is_identical

if TYPE_CHECKING:
    from ragstone_code.evaluate.evaluator import Evaluator

_LOGICAL_AND = ("&&", "and")
_MAX_OPTIONS = 50
"""More possible values of one expression are not kept; they could double with every condition."""
_LOGICAL = (*_LOGICAL_AND, "||", "or")


def evaluate_operation(
    evaluator: Evaluator,
    operation: program_tree.Operation,
    frame: Frame,
) -> Value:
    """Return the result of a unary or binary operator."""
    left = evaluator.value(operation.left, frame)
    if operation.operator in _LOGICAL:
        return _evaluate_logical(evaluator, operation, left, frame)
    if operation.operator == "?:":
        truth = evaluator.language.truth(left)
        return _choose(evaluator, truth, left, operation.right, frame)
    right: Value = None
    if operation.right is not None:
        right = evaluator.value(operation.right, frame)
    if operation.operator in ("!", "not"):
        return _negate(evaluator, left)
    for side in (left, right):
        if isinstance(side, Unknown):
            return Unknown(side.reason)
    return _apply_operator(evaluator, operation.operator, left, right)


def _negate(evaluator: Evaluator, value: Value) -> Value:
    truth = evaluator.language.truth(value)
    if truth is None:
        return Unknown("it is the contrary of what is not known")
    return not truth


def _apply_operator(
    evaluator: Evaluator,
    operator: str,
    left: Value,
    right: Value,
) -> Value:
    function = evaluator.language.operators.get(operator)
    if function is None:
        return Unknown(f"{operator} is not followed")
    try:
        return function(left, right)
    except (TypeError, ValueError, OverflowError):
        return Unknown(f"{operator} does not fit its sides")


def _evaluate_logical(
    evaluator: Evaluator,
    operation: program_tree.Operation,
    left: Value,
    frame: Frame,
) -> Value:
    """Return `a && b` or `a || b`; the right side is evaluated only if it can matter."""
    is_and = operation.operator in _LOGICAL_AND
    truth = evaluator.language.truth(left)
    if truth is not None and truth is not is_and:
        return truth
    right = operation.right
    if right is None:
        if truth is None:
            return Unknown("it is not known")
        return truth
    if truth is None:
        run_alternatives(evaluator, frame, [lambda: evaluator.value(right, frame)])
        return Unknown("one side of a condition is not known")
    right_truth = evaluator.language.truth(evaluator.value(right, frame))
    if right_truth is None:
        return Unknown("one side of a condition is not known")
    return right_truth


def _choose(
    evaluator: Evaluator,
    takes_left: bool | None,
    left: Value,
    other: program_tree.Expr | None,
    frame: Frame,
) -> Value:
    """Return the left value or the other one; both as options if the choice is unknown."""
    if takes_left is True or other is None:
        return left
    right = evaluator.value(other, frame)
    if takes_left is False:
        return right
    return _combine_options([left, right])


def _combine_options(values: list[Value]) -> Value:
    """Return one value that may be any of several; the first display text is kept."""
    options: list[Value] = []
    display = ""
    has_unknown = False
    for value in values:
        candidates: tuple[Value, ...] = (value,)
        if isinstance(value, Unknown):
            has_unknown = True
            display = display or value.display
            candidates = value.options
        for candidate in candidates[: _MAX_OPTIONS - len(options)]:
            if not any(is_identical(candidate, option) for option in options):
                options.append(candidate)
    if len(options) == 1 and not has_unknown:
        return options[0]
    return Unknown("it depends on a condition", display, tuple(options))


def evaluate_choice(evaluator: Evaluator, choice: program_tree.Choice, frame: Frame) -> Value:
    """Return `test ? then : other` or `test ?? other`."""
    test = evaluator.value(choice.test, frame)
    if choice.then is None:
        return _evaluate_coalesce(evaluator, test, choice.other, frame)
    truth = evaluator.language.truth(test)
    if truth is True:
        return evaluator.value(choice.then, frame)
    if truth is False:
        return evaluator.value(choice.other, frame)
    results: list[Value] = []
    then, other = choice.then, choice.other
    run_alternatives(
        evaluator,
        frame,
        [
            lambda: results.append(evaluator.value(then, frame)),
            lambda: results.append(evaluator.value(other, frame)),
        ],
    )
    return _combine_options(results)


def _evaluate_coalesce(
    evaluator: Evaluator,
    left: Value,
    other: program_tree.Expr,
    frame: Frame,
) -> Value:
    is_absent = evaluator.language.absent(left)
    if is_absent is None:
        return _choose(evaluator, None, left, other, frame)
    return _choose(evaluator, not is_absent, left, other, frame)


def evaluate_match(evaluator: Evaluator, match: program_tree.Match, frame: Frame) -> Value:
    """Return the value of the matching arm; all possible arms as options if the match is unknown."""
    subject = evaluator.value(match.subject, frame)
    is_subject_known = not isinstance(subject, Unknown)
    results: list[Value] = []
    for tests, result in match.arms:
        is_match: bool | None = True
        if tests:
            is_match = _matches(
                subject,
                [evaluator.value(test, frame) for test in tests],
            )
        if is_match is not False:
            results.append(evaluator.value(result, frame))
        if is_match:
            break
    if len(results) == 1 and is_subject_known:
        return results[0]
    return _combine_options(results)


def _matches(subject: Value, values: list[Value]) -> bool | None:
    """Return whether a subject is identical to one of several values, or None if that is unknown."""
    if isinstance(subject, Unknown):
        return None
    if any(is_identical(subject, value) for value in values):
        return True
    if any(isinstance(value, Unknown) for value in values):
        return None
    return False
