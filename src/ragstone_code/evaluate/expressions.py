"""Evaluation of expressions: one function per kind of syntax node."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ragstone_code import program_tree
from ragstone_code.evaluate.assignment import assign
from ragstone_code.evaluate.budget import MAX_TEXT
from ragstone_code.evaluate.call_expressions import evaluate_call, evaluate_name, evaluate_new
from ragstone_code.evaluate.frame import Frame
from ragstone_code.evaluate.members import class_member, member
from ragstone_code.evaluate.operations import (
    evaluate_choice,
    evaluate_match,
    evaluate_operation,
)
from ragstone_code.evaluate.values import (
    Arguments,
    Array,
    ClassRef,
    Instance,
    Lambda,
    Recorder,
    Unknown,
    Value,
    display_text,
    first_known,
)

if TYPE_CHECKING:
    from ragstone_code.evaluate.evaluator import Evaluator


def _evaluate_literal(_: Evaluator, literal: program_tree.Literal, frame: Frame) -> Value:
    return literal.value


def _evaluate_variable(
    evaluator: Evaluator,
    variable: program_tree.Variable,
    frame: Frame,
) -> Value:
    if variable.name in frame.variables:
        return frame.variables[variable.name]
    if variable.name != "this":
        return Unknown(f"{variable.name} is not known")
    if frame.this is None:
        return Unknown("there is no object here")
    return frame.this


def _evaluate_text(evaluator: Evaluator, text: program_tree.Text, frame: Frame) -> Value:
    parts = [evaluator.value(part, frame) for part in text.parts]
    unknown = _first_without_text(parts)
    if unknown is None:
        joined = _join_texts(parts)
        return joined if len(joined) < MAX_TEXT else Unknown("too long a text")
    if not isinstance(unknown, Unknown):
        return Unknown("it is an object", _join_texts(parts))
    if unknown.options and not unknown.display:
        options = [_join_with_option(parts, unknown, option) for option in unknown.options]
        return Unknown(unknown.reason, options=tuple(options))
    return Unknown(unknown.reason, _join_texts(parts))


def _first_without_text(parts: list[Value]) -> Value:
    for part in parts:
        if isinstance(part, Unknown | Instance | Recorder | Array | Lambda):
            return part
    return None


def _join_texts(parts: list[Value]) -> str:
    """Return the parts as one text, cut if it is too long."""
    texts: list[str] = []
    room = MAX_TEXT
    for part in parts:
        text = display_text(part)[:room]
        texts.append(text)
        room -= len(text)
    return "".join(texts)


def _join_with_option(parts: list[Value], unknown: Unknown, option: Value) -> str:
    """Return the joined text with one option in place of the unknown part."""
    filled: list[Value] = []
    for part in parts:
        if part is unknown:
            filled.append(option)
        else:
            filled.append(part)
    return _join_texts(filled)


def _evaluate_array(
    evaluator: Evaluator,
    expression: program_tree.Collected,
    frame: Frame,
) -> Value:
    array = Array()
    array.uri = frame.uri
    for entry in expression.entries:
        value = evaluator.value(entry.value, frame)
        if entry.spread:
            _spread_into(array, value)
        elif entry.key is None:
            array.append(evaluator.copy(value), entry.value.line)
        else:
            key = evaluator.value(entry.key, frame)
            _set_entry(evaluator, array, key, value, entry.key.line)
    return array


def _spread_into(array: Array, value: Value) -> None:
    inner = first_known(value)
    if isinstance(inner, Array):
        array.extend(inner)
    else:
        array.complete = False


def _set_entry(
    evaluator: Evaluator,
    array: Array,
    key: Value,
    value: Value,
    line: int,
) -> None:
    """Set an array entry; an unknown key counts by its display text, if it has one."""
    if isinstance(key, Unknown):
        if not key.display:
            array.complete = False
            return
        key = key.display
    array.set(evaluator.language.key(key), value, line)


def _evaluate_member(
    evaluator: Evaluator,
    expression: program_tree.Member,
    frame: Frame,
) -> Value:
    owner = evaluator.value(expression.of, frame)
    name = evaluate_name(evaluator, expression.name, frame)
    return member(evaluator, owner, name, evaluator.site(frame, expression.line))


def _evaluate_static(
    evaluator: Evaluator,
    expression: program_tree.Static,
    frame: Frame,
) -> Value:
    owner = evaluator.value(expression.of, frame)
    name = evaluate_name(evaluator, expression.name, frame)
    return class_member(evaluator, owner, name)


def _evaluate_class_name(
    evaluator: Evaluator,
    expression: program_tree.ClassName,
    frame: Frame,
) -> Value:
    if expression.name == "self":
        if not frame.owner:
            return Unknown("there is no class here")
        return ClassRef(frame.owner)
    if expression.name == "static":
        return ClassRef(frame.called_on or frame.owner)
    if expression.name == "parent":
        located = evaluator.lookup.of_class(frame.owner)
        if located and located[1].extends:
            return ClassRef(located[1].extends[0])
        return Unknown("there is no parent")
    return ClassRef(expression.name)


def _evaluate_constant(
    evaluator: Evaluator,
    expression: program_tree.FunctionName,
    frame: Frame,
) -> Value:
    if expression.name in evaluator.constants:
        return evaluator.constants[expression.name]
    return Unknown(f"the constant {expression.name} is not known", expression.name)


def _evaluate_closure(
    evaluator: Evaluator,
    closure: program_tree.Closure,
    frame: Frame,
) -> Value:
    captures = closure.function.captures
    if captures is None:
        captured = dict(frame.variables)
    else:
        captured = {name: frame.variables[name] for name in captures if name in frame.variables}
    return Lambda(
        closure.function,
        frame.uri,
        captured,
        frame.this,
        frame.owner,
        frame.called_on,
    )


def _evaluate_subscript(
    evaluator: Evaluator,
    expression: program_tree.Subscript,
    frame: Frame,
) -> Value:
    container = first_known(evaluator.value(expression.of, frame))
    key: Value = None
    if expression.key is not None:
        key = evaluator.value(expression.key, frame)
    if isinstance(container, Recorder):
        site = evaluator.site(frame, expression.line)
        return container.on_call("__getitem__", Arguments((key,)), site, evaluator)
    if container is None:
        return None
    if isinstance(key, Unknown) or not isinstance(container, Array | str):
        return Unknown("the entry is not known")
    if isinstance(container, str):
        return _character_at(container, key)
    array_key = evaluator.language.key(key)
    if array_key in container.items:
        return container.items[array_key]
    if container.complete:
        return None
    return Unknown("the entry is not known")


def _character_at(text: str, position: Value) -> Value:
    if isinstance(position, int) and -len(text) <= position < len(text):
        return text[position]
    return Unknown("there is no such character")


def _evaluate_assignment(
    evaluator: Evaluator,
    assignment: program_tree.Assigned,
    frame: Frame,
) -> Value:
    site = evaluator.site(frame, assignment.line)
    value = _assigned_value(evaluator, assignment, frame)
    assign(evaluator, assignment.target, value, frame, site)
    return value


def _assigned_value(
    evaluator: Evaluator,
    assignment: program_tree.Assigned,
    frame: Frame,
) -> Value:
    """Return the value to assign; `.=`, `??=` and other operators combine it with the target."""
    target, value, line = assignment.target, assignment.value, assignment.line
    if not assignment.operator:
        return evaluator.value(value, frame)
    if assignment.operator == ".":
        return _evaluate_text(evaluator, program_tree.Text((target, value), line), frame)
    if assignment.operator == "??":
        return evaluate_choice(evaluator, program_tree.Choice(target, None, value, line), frame)
    return evaluate_operation(
        evaluator,
        program_tree.Operation(assignment.operator, target, value, line),
        frame,
    )


def _evaluate_include(
    evaluator: Evaluator,
    include: program_tree.Included,
    frame: Frame,
) -> Value:
    path = first_known(evaluator.value(include.path, frame))
    site = evaluator.site(frame, include.line)
    if not isinstance(path, str):
        evaluator.remark(site, "the file that is included is not known")
        return Unknown("the file that is included is not known")
    value = evaluator.include(path, frame)
    if isinstance(value, Unknown):
        is_missing = value.reason.endswith("is not there")
        if is_missing and "vendor/" not in value.reason:
            evaluator.remark(site, value.reason)
    return value


def _evaluate_opaque(_: Evaluator, expression: program_tree.Opaque, frame: Frame) -> Value:
    return Unknown(f"{expression.reason} is not followed")


EXPRESSIONS: Final[dict[type, Callable[[Evaluator, Any, Frame], Value]]] = {
    program_tree.Literal: _evaluate_literal,
    program_tree.Variable: _evaluate_variable,
    program_tree.Text: _evaluate_text,
    program_tree.Collected: _evaluate_array,
    program_tree.Member: _evaluate_member,
    program_tree.Static: _evaluate_static,
    program_tree.ClassName: _evaluate_class_name,
    program_tree.FunctionName: _evaluate_constant,
    program_tree.Call: evaluate_call,
    program_tree.New: evaluate_new,
    program_tree.Closure: _evaluate_closure,
    program_tree.Operation: evaluate_operation,
    program_tree.Choice: evaluate_choice,
    program_tree.Match: evaluate_match,
    program_tree.Subscript: _evaluate_subscript,
    program_tree.Assigned: _evaluate_assignment,
    program_tree.Included: _evaluate_include,
    program_tree.Opaque: _evaluate_opaque,
}
CREATING: Final = (
    program_tree.Text,
    program_tree.Collected,
    program_tree.Call,
    program_tree.Operation,
    program_tree.Choice,
    program_tree.Assigned,
)
"""Expressions that can create a value that is larger than its parts."""
