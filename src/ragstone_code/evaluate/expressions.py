"""What each kind of expression is found to be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ragstone.code import tree
from ragstone_code.evaluate import calling
from ragstone_code.evaluate.assigning import assign
from ragstone_code.evaluate.frame import Frame
from ragstone_code.evaluate.members import class_member, member
from ragstone_code.evaluate.statements import maybe, same
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
    from ragstone_code.evaluate.machine import Evaluator


def _literal(_: Evaluator, one: tree.Literal, frame: Frame) -> Value:
    return one.value


def _variable(machine: Evaluator, one: tree.Variable, frame: Frame) -> Value:
    if one.name in frame.variables:
        return frame.variables[one.name]
    if machine.language.this and one.name == machine.language.this:
        return frame.this if frame.this is not None else Unknown("there is no object here")
    if machine.language.resolve is not None:
        return machine.language.resolve(one.name, frame, machine)
    return Unknown(f"{one.name} is not known")


def _text(machine: Evaluator, one: tree.Text, frame: Frame) -> Value:
    parts = [machine.value(part, frame) for part in one.parts]
    unknown = next((part for part in parts if isinstance(part, Unknown | Instance | Recorder | Array | Lambda)), None)
    if unknown is None:
        return "".join(display_text(part) for part in parts)
    if isinstance(unknown, Unknown) and unknown.options and not unknown.display:
        return Unknown(unknown.reason, options=tuple(_joined(parts, unknown, option) for option in unknown.options))
    reason = unknown.reason if isinstance(unknown, Unknown) else "it is an object"
    return Unknown(reason, "".join(display_text(part) for part in parts))


def _joined(parts: list[Value], unknown: Unknown, option: Value) -> str:
    """Return a text with one of the options in the place of what is not known."""
    return "".join(display_text(option if part is unknown else part) for part in parts)


def _collected(machine: Evaluator, one: tree.Collected, frame: Frame) -> Value:
    made = Array()
    made.uri = frame.uri
    for entry in one.entries:
        value = machine.value(entry.value, frame)
        if entry.spread:
            inner = first_known(value)
            if isinstance(inner, Array):
                made.extend(inner)
            else:
                made.complete = False
        elif entry.key is None:
            made.append(calling.copied(machine, value), entry.value.line)
        else:
            key = machine.value(entry.key, frame)
            if isinstance(key, Unknown) and not key.display:
                made.complete = False
            else:
                made.set(machine.language.key(key.display if isinstance(key, Unknown) else key), value, entry.key.line)
    return made


def _member(machine: Evaluator, one: tree.Member, frame: Frame) -> Value:
    of = machine.value(one.of, frame)
    name = one.name if isinstance(one.name, str) else first_known(machine.value(one.name, frame))
    return member(machine, of, name, machine.site(frame, one.line))


def _static(machine: Evaluator, one: tree.Static, frame: Frame) -> Value:
    of = machine.value(one.of, frame)
    name = one.name if isinstance(one.name, str) else first_known(machine.value(one.name, frame))
    return class_member(machine, of, name)


def _class_name(machine: Evaluator, one: tree.ClassName, frame: Frame) -> Value:
    if one.name == "self":
        return ClassRef(frame.owner) if frame.owner else Unknown("there is no class here")
    if one.name == "static":
        return ClassRef(frame.called_on or frame.owner)
    if one.name == "parent":
        found = machine.lookup.of_class(frame.owner)
        return ClassRef(found[1].extends[0]) if found and found[1].extends else Unknown("there is no parent")
    return ClassRef(one.name)


def _constant(machine: Evaluator, one: tree.FunctionName, frame: Frame) -> Value:
    if one.name in machine.constants:
        return machine.constants[one.name]
    if machine.language.resolve is not None:
        return machine.language.resolve(one.name, frame, machine)
    return Unknown(f"the constant {one.name} is not known", one.name)


def given_of(machine: Evaluator, arguments: tuple[tree.Argument, ...], frame: Frame) -> Arguments:
    """Return the arguments of a call."""
    positional: list[Value] = []
    named: dict[str, Value] = {}
    lines: dict[str | int, int] = {}
    complete = True
    for one in arguments:
        value = machine.value(one.value, frame)
        lines[one.name or len(positional)] = one.value.line
        if not one.spread:
            if one.name:
                named[one.name] = value
            else:
                positional.append(value)
            continue
        inner = first_known(value)
        if not isinstance(inner, Array):
            complete = False
            continue
        complete = complete and inner.complete
        for key, part in inner.items.items():
            if isinstance(key, str):
                named[key] = part
            else:
                positional.append(part)
    return Arguments(tuple(positional), named, complete, lines=lines)


def _call(machine: Evaluator, one: tree.Call, frame: Frame) -> Value:
    site = machine.site(frame, one.line)
    function = one.function
    if isinstance(function, tree.Member):
        of = machine.value(function.of, frame)
        name = function.name if isinstance(function.name, str) else first_known(machine.value(function.name, frame))
        given = given_of(machine, one.arguments, frame)
        if isinstance(name, str):
            return calling.call_method(machine, of, name, given, site)
        return calling.call_value(machine, name, given, site)
    if isinstance(function, tree.Static):
        return _static_call(machine, function, one, frame)
    if isinstance(function, tree.FunctionName):
        if function.name in ("isset", "empty", "unset"):
            return _language_call(machine, function.name, one, frame)
        given = given_of(machine, one.arguments, frame)
        return calling.call_function(machine, function.name, given, site)
    called = machine.value(function, frame)
    return calling.call_value(machine, called, given_of(machine, one.arguments, frame), site)


def _static_call(machine: Evaluator, function: tree.Static, one: tree.Call, frame: Frame) -> Value:
    """Return what `Of::name()` gives; inside an object, `self::`, `static::` and `parent::` stay on it."""
    site = machine.site(frame, one.line)
    of = first_known(machine.value(function.of, frame))
    name = function.name if isinstance(function.name, str) else first_known(machine.value(function.name, frame))
    given = given_of(machine, one.arguments, frame)
    if not isinstance(name, str):
        return Unknown("the method is not known")
    if isinstance(of, str):
        of = ClassRef(of)
    if not isinstance(of, ClassRef):
        return calling.call_method(machine, of, name, given, site)
    relative = isinstance(function.of, tree.ClassName) and function.of.name in ("self", "static", "parent")
    if relative and isinstance(frame.this, Instance):
        found = machine.lookup.method(of.name, name)
        if found:
            inner = Lambda(found[2], found[0], this=frame.this, owner=found[1].name, called_on=frame.called_on)
            return calling.call_lambda(machine, inner, given, site)
        given = replace(given, this=frame.this)
    return calling.call_static(machine, of.name, name, given, site)


def _language_call(machine: Evaluator, name: str, one: tree.Call, frame: Frame) -> Value:
    """Return what `isset` and `empty` give: of what is not there they are known."""
    values = [machine.value(argument.value, frame) for argument in one.arguments]
    if name == "unset":
        for argument in one.arguments:
            if isinstance(argument.value, tree.Variable):
                frame.variables.pop(argument.value.name, None)
        return None
    if any(isinstance(value, Unknown) for value in values):
        return Unknown(f"{name}() is not known")
    if name == "empty":
        truth = machine.language.truth(values[0]) if values else False
        return Unknown("empty() is not known") if truth is None else not truth
    return all(value is not None for value in values)


def _new(machine: Evaluator, one: tree.New, frame: Frame) -> Value:
    if one.definition is not None:
        machine.lookup.meet(frame.uri, one.definition)
    of = first_known(machine.value(one.of, frame))
    return calling.make(machine, of, given_of(machine, one.arguments, frame), machine.site(frame, one.line))


def _closure(machine: Evaluator, one: tree.Closure, frame: Frame) -> Value:
    captures = one.function.captures
    if captures is None:
        around = frame.variables if not machine.language.copies else dict(frame.variables)
    else:
        around = {name: frame.variables[name] for name in captures if name in frame.variables}
    return Lambda(one.function, frame.uri, around, frame.this, frame.owner, frame.called_on)


def _operation(machine: Evaluator, one: tree.Operation, frame: Frame) -> Value:
    left = machine.value(one.left, frame)
    if one.operator in ("&&", "and", "||", "or"):
        return _logical(machine, one, left, frame)
    if one.operator == "?:":
        truth = machine.language.truth(left)
        return _either(machine, truth, left, one.right, frame)
    right = None if one.right is None else machine.value(one.right, frame)
    if one.operator in ("!", "not"):
        truth = machine.language.truth(left)
        return Unknown("it is the contrary of what is not known") if truth is None else not truth
    unknown = next((side for side in (left, right) if isinstance(side, Unknown)), None)
    if unknown is not None:
        return Unknown(unknown.reason)
    own = machine.language.operators.get(one.operator)
    if own is None:
        return Unknown(f"{one.operator} is not followed")
    try:
        return own(left, right)
    except (TypeError, ValueError, OverflowError):
        return Unknown(f"{one.operator} does not fit its sides")


def _logical(machine: Evaluator, one: tree.Operation, left: Value, frame: Frame) -> Value:
    """Return `a && b`, `a || b`: the second is looked at only where it may count."""
    both = one.operator in ("&&", "and")
    truth = machine.language.truth(left)
    if truth is not None and truth is not both:
        return truth
    if one.right is None:
        return truth if truth is not None else Unknown("it is not known")
    other: Value = None

    def second() -> None:
        nonlocal other
        other = machine.value(one.right or one.left, frame)

    if truth is None:
        maybe(machine, frame, [second])
        return Unknown("one side of a condition is not known")
    second()
    truth = machine.language.truth(other)
    return Unknown("one side of a condition is not known") if truth is None else truth


def _either(machine: Evaluator, first: bool | None, left: Value, other: tree.Expr | None, frame: Frame) -> Value:
    """Return the left where it counts, the other where not, both as options where that is not known."""
    if first is True or other is None:
        return left
    right = machine.value(other, frame)
    if first is False:
        return right
    return _options(left, right)


def _options(*values: Value) -> Value:
    """Return one value that may be any of several; what is not known comes last, what stands for it is kept."""
    known: list[Value] = []
    reason, written = "it depends on a condition", ""
    for value in values:
        if isinstance(value, Unknown):
            written = written or value.display
        for option in value.options if isinstance(value, Unknown) else (value,):
            if not any(same(option, one) for one in known):
                known.append(option)
    if len(known) == 1 and not any(isinstance(value, Unknown) for value in values):
        return known[0]
    return Unknown(reason, written, tuple(known))


def _choice(machine: Evaluator, one: tree.Choice, frame: Frame) -> Value:
    test = machine.value(one.test, frame)
    if one.then is None:
        absent = machine.language.absent(test)
        return _either(machine, None if absent is None else not absent, test, one.other, frame)
    truth = machine.language.truth(test)
    if truth is not None:
        return machine.value(one.then if truth else one.other, frame)
    found: list[Value] = []
    then, other = one.then, one.other
    maybe(
        machine,
        frame,
        [lambda: found.append(machine.value(then, frame)), lambda: found.append(machine.value(other, frame))],
    )
    return _options(*found)


def _match(machine: Evaluator, one: tree.Match, frame: Frame) -> Value:
    subject = machine.value(one.subject, frame)
    may: list[Value] = []
    for tests, value in one.arms:
        values = [machine.value(test, frame) for test in tests]
        if not isinstance(subject, Unknown) and any(same(subject, test) for test in values) or not tests:
            may.append(machine.value(value, frame))
            break
        if isinstance(subject, Unknown) or any(isinstance(test, Unknown) for test in values):
            may.append(machine.value(value, frame))
    return may[0] if len(may) == 1 and not isinstance(subject, Unknown) else _options(*may)


def _subscript(machine: Evaluator, one: tree.Subscript, frame: Frame) -> Value:
    of = first_known(machine.value(one.of, frame))
    key = None if one.key is None else machine.value(one.key, frame)
    if isinstance(of, Recorder):
        return of.on_call("__getitem__", Arguments((key,)), machine.site(frame, one.line), machine)
    if isinstance(key, Unknown) or not isinstance(of, Array | str):
        return Unknown("the entry is not known") if of is not None else None
    if isinstance(of, str):
        return of[key] if isinstance(key, int) and -len(of) <= key < len(of) else Unknown("there is no such character")
    found = machine.language.key(key)
    if found in of.items:
        return of.items[found]
    if isinstance(found, int) and found < 0 and -found <= len(of) and not machine.language.copies:
        return of.values[found]
    return None if of.complete else Unknown("the entry is not known")


def _assigned(machine: Evaluator, one: tree.Assigned, frame: Frame) -> Value:
    site = machine.site(frame, one.line)
    if not one.operator:
        value = machine.value(one.value, frame)
        assign(machine, one.target, value, frame, site)
        return value
    if one.operator == ".":
        value = _text(machine, tree.Text((one.target, one.value), one.line), frame)
    elif one.operator == "??":
        value = _choice(machine, tree.Choice(one.target, None, one.value, one.line), frame)
    else:
        value = _operation(machine, tree.Operation(one.operator, one.target, one.value, one.line), frame)
    assign(machine, one.target, value, frame, site)
    return value


def _included(machine: Evaluator, one: tree.Included, frame: Frame) -> Value:
    path = first_known(machine.value(one.path, frame))
    site = machine.site(frame, one.line)
    if not isinstance(path, str):
        machine.remark(site, "the file that is included is not known")
        return Unknown("the file that is included is not known")
    found = machine.include(path, frame)
    if isinstance(found, Unknown) and found.reason.endswith("is not there") and "vendor/" not in found.reason:
        machine.remark(site, found.reason)
    return found


def _opaque(_: Evaluator, one: tree.Opaque, frame: Frame) -> Value:
    return Unknown(f"{one.reason} is not followed")


EXPRESSIONS: Final[dict[type, Callable[[Evaluator, Any, Frame], Value]]] = {
    tree.Literal: _literal, tree.Variable: _variable, tree.Text: _text, tree.Collected: _collected,
    tree.Member: _member, tree.Static: _static, tree.ClassName: _class_name, tree.FunctionName: _constant,
    tree.Call: _call, tree.New: _new, tree.Closure: _closure, tree.Operation: _operation, tree.Choice: _choice,
    tree.Match: _match, tree.Subscript: _subscript, tree.Assigned: _assigned, tree.Included: _included,
    tree.Opaque: _opaque,
}  # fmt: skip
