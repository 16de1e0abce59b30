"""Evaluation of call expressions, object creation and their arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from ragstone_code import program_tree
from ragstone_code.evaluate import calls
from ragstone_code.evaluate.frame import Frame
from ragstone_code.evaluate.values import (
    Arguments,
    Array,
    ClassRef,
    Instance,
    Lambda,
    Unknown,
    Value,
    first_known,
)

if TYPE_CHECKING:
    from ragstone_code.evaluate.evaluator import Evaluator


@dataclass(slots=True)
class _ArgumentCollector:
    """Collects the arguments of a call while they are evaluated."""

    positional: list[Value] = field(default_factory=list)
    named: dict[str, Value] = field(default_factory=dict)
    lines: dict[str | int, int] = field(default_factory=dict)
    is_complete: bool = True

    def add(self, name: str, value: Value) -> None:
        if name:
            self.named[name] = value
        else:
            self.positional.append(value)

    def spread(self, value: Value) -> None:
        """Add the entries of an array: those with text keys as named arguments."""
        array = first_known(value)
        if not isinstance(array, Array):
            self.is_complete = False
            return
        self.is_complete = self.is_complete and array.complete
        for key, entry in array.items.items():
            if isinstance(key, str):
                self.named[key] = entry
            else:
                self.positional.append(entry)


def evaluate_arguments(
    evaluator: Evaluator,
    arguments: tuple[program_tree.Argument, ...],
    frame: Frame,
) -> Arguments:
    """Return the evaluated arguments of a call."""
    collector = _ArgumentCollector()
    for argument in arguments:
        value = evaluator.value(argument.value, frame)
        collector.lines[argument.name or len(collector.positional)] = argument.value.line
        if argument.spread:
            collector.spread(value)
        else:
            collector.add(argument.name, value)
    return Arguments(
        tuple(collector.positional),
        collector.named,
        collector.is_complete,
        lines=collector.lines,
    )


def evaluate_name(evaluator: Evaluator, name: str | program_tree.Expr, frame: Frame) -> Value:
    """Return a member name; a computed name is evaluated."""
    if isinstance(name, str):
        return name
    return first_known(evaluator.value(name, frame))


def evaluate_call(evaluator: Evaluator, call: program_tree.Call, frame: Frame) -> Value:
    """Return the result of a call expression."""
    kind_of_call = _CALLS.get(type(call.function), _call_computed_function)
    return kind_of_call(evaluator, call.function, call, frame)


def _call_computed_function(
    evaluator: Evaluator,
    function: program_tree.Expr,
    call: program_tree.Call,
    frame: Frame,
) -> Value:
    callee = evaluator.value(function, frame)
    arguments = evaluate_arguments(evaluator, call.arguments, frame)
    return calls.call_value(
        evaluator,
        callee,
        arguments,
        evaluator.site(frame, call.line),
    )


def _call_member(
    evaluator: Evaluator,
    function: program_tree.Member,
    call: program_tree.Call,
    frame: Frame,
) -> Value:
    site = evaluator.site(frame, call.line)
    target = evaluator.value(function.of, frame)
    name = evaluate_name(evaluator, function.name, frame)
    arguments = evaluate_arguments(evaluator, call.arguments, frame)
    if isinstance(name, str):
        return calls.call_method(evaluator, target, name, arguments, site)
    return calls.call_value(evaluator, name, arguments, site)


def _call_named_function(
    evaluator: Evaluator,
    function: program_tree.FunctionName,
    call: program_tree.Call,
    frame: Frame,
) -> Value:
    construct = _LANGUAGE_CONSTRUCTS.get(function.name)
    if construct is not None:
        return construct(evaluator, call, frame)
    arguments = evaluate_arguments(evaluator, call.arguments, frame)
    return calls.call_function(
        evaluator,
        function.name,
        arguments,
        evaluator.site(frame, call.line),
    )


def _call_static(
    evaluator: Evaluator,
    function: program_tree.Static,
    call: program_tree.Call,
    frame: Frame,
) -> Value:
    """Return the result of `Owner::name()`; `self::`, `static::` and `parent::` keep the current object."""
    site = evaluator.site(frame, call.line)
    owner = first_known(evaluator.value(function.of, frame))
    name = evaluate_name(evaluator, function.name, frame)
    arguments = evaluate_arguments(evaluator, call.arguments, frame)
    if not isinstance(name, str):
        return Unknown("the method is not known")
    if isinstance(owner, str):
        owner = ClassRef(owner)
    if not isinstance(owner, ClassRef):
        return calls.call_method(evaluator, owner, name, arguments, site)
    if _is_relative(function.of) and isinstance(frame.this, Instance):
        located = evaluator.lookup.method(owner.name, name)
        if located:
            uri, definition, method = located
            bound = Lambda(
                method,
                uri,
                this=frame.this,
                owner=definition.name,
                called_on=frame.called_on,
            )
            return calls.call_lambda(evaluator, bound, arguments)
        arguments = replace(arguments, this=frame.this)
    return calls.call_static(evaluator, owner.name, name, arguments, site)


def _is_relative(owner: program_tree.Expr) -> bool:
    return isinstance(owner, program_tree.ClassName) and owner.name in (
        "self",
        "static",
        "parent",
    )


_CALLS: Final[dict[type, Callable[[Evaluator, Any, program_tree.Call, Frame], Value]]] = {
    program_tree.Member: _call_member,
    program_tree.Static: _call_static,
    program_tree.FunctionName: _call_named_function,
}


def _evaluate_isset(evaluator: Evaluator, call: program_tree.Call, frame: Frame) -> Value:
    values = [evaluator.value(argument.value, frame) for argument in call.arguments]
    if any(isinstance(value, Unknown) for value in values):
        return Unknown("isset() is not known")
    return all(value is not None for value in values)


def _evaluate_empty(evaluator: Evaluator, call: program_tree.Call, frame: Frame) -> Value:
    values = [evaluator.value(argument.value, frame) for argument in call.arguments]
    if not values:
        return True
    truth = evaluator.language.truth(values[0])
    if truth is None or any(isinstance(value, Unknown) for value in values):
        return Unknown("empty() is not known")
    return not truth


def _evaluate_unset(evaluator: Evaluator, call: program_tree.Call, frame: Frame) -> Value:
    for argument in call.arguments:
        evaluator.value(argument.value, frame)
    for argument in call.arguments:
        if isinstance(argument.value, program_tree.Variable):
            frame.variables.pop(argument.value.name, None)
    return None


_LANGUAGE_CONSTRUCTS: Final[
    dict[str, Callable[[Evaluator, program_tree.Call, Frame], Value]]
] = {
    "isset": _evaluate_isset,
    "empty": _evaluate_empty,
    "unset": _evaluate_unset,
}


def evaluate_new(evaluator: Evaluator, expression: program_tree.New, frame: Frame) -> Value:
    """Return the object of a `new` expression; an anonymous class is declared first."""
    if expression.definition is not None:
        evaluator.lookup.declare(frame.uri, expression.definition)
    class_value = first_known(evaluator.value(expression.of, frame))
    arguments = evaluate_arguments(evaluator, expression.arguments, frame)
    site = evaluator.site(frame, expression.line)
    return calls.create_object(evaluator, class_value, arguments, site)
