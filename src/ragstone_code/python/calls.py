"""Calls of an interpreted Python program. Project functions are followed; other calls are recorded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ragstone_code import program_tree
from ragstone_code.python.attributes import ENVIRONMENT
from ragstone_code.python.native_functions import call_builtin, call_native_method
from ragstone_code.python.values import (
    BoundMember,
    CallResult,
    ClassValue,
    ExternalName,
    FunctionValue,
    GenericType,
    Scope,
    UnknownValue,
    Value,
    full_name,
    parts_of,
)

if TYPE_CHECKING:
    from ragstone_code.python.interpreter import PythonInterpreter

_MAX_CALL_DEPTH: Final = 8
"""Nested calls of project functions."""


@dataclass(frozen=True, slots=True)
class PythonCall:
    """The arguments and the location of a call."""

    args: list[Value]
    kwargs: dict[str, Value]
    uri: str
    line: int

    def with_first(self, value: Value) -> PythonCall:
        """Return the call with another first argument, such as `self`."""
        return replace(self, args=[value, *self.args])


# ── call expressions ──────────────────────────────────────────────────────────────────────────────


def evaluate_call(
    interpreter: PythonInterpreter,
    expression: program_tree.Call,
    scope: Scope,
) -> Value:
    """Return the result of a call expression."""
    if isinstance(expression.function, program_tree.Variable):
        result = _call_special_function(
            interpreter,
            expression.function.name,
            expression,
            scope,
        )
        if result is not NotImplemented:
            return result
    function = interpreter.evaluate(expression.function, scope)
    args, kwargs = evaluate_arguments(interpreter, expression.arguments, scope)
    return call_value(
        interpreter,
        function,
        PythonCall(args, kwargs, scope.module.uri, expression.line),
    )


def _call_special_function(
    interpreter: PythonInterpreter,
    name: str,
    call: program_tree.Call,
    scope: Scope,
) -> Value:
    """Return the result of `super`, `getattr`, `globals` or `locals`, else `NotImplemented`."""
    if name == "super":
        return UnknownValue("super()", call.line)
    if name not in ("getattr", "globals", "locals"):
        return NotImplemented
    args, _ = evaluate_arguments(interpreter, call.arguments, scope)
    if name == "getattr":
        if len(args) >= 2 and isinstance(args[1], str):
            return interpreter.attribute(args[0], args[1])
    elif not args:
        return scope.names
    return NotImplemented


def evaluate_arguments(
    interpreter: PythonInterpreter,
    arguments: tuple[program_tree.Argument, ...],
    scope: Scope,
) -> tuple[list[Value], dict[str, Value]]:
    """Return the positional and the named arguments of a call."""
    args: list[Value] = []
    kwargs: dict[str, Value] = {}
    for argument in arguments:
        value = interpreter.evaluate(argument.value, scope)
        if not argument.spread:
            if argument.name:
                kwargs[argument.name] = value
            else:
                args.append(value)
        elif argument.name == "**":
            if isinstance(value, dict):
                kwargs.update((str(key), item) for key, item in value.items())
        elif isinstance(value, list | tuple):
            args.extend(value)
        else:
            args.append(value)
    return args, kwargs


# ── calls of values ───────────────────────────────────────────────────────────────────────────────


def call_value(
    interpreter: PythonInterpreter,
    function: Value,
    call: PythonCall,
) -> Value:
    """Return the result of calling a value."""
    if isinstance(function, ExternalName):
        return _call_external(interpreter, function.name, call)
    if isinstance(function, GenericType):
        return call_value(interpreter, function.origin, call)
    if isinstance(function, ClassValue):
        return _create_object(interpreter, function, call)
    if isinstance(function, FunctionValue):
        result = follow_function(interpreter, function, call)
        return _hide_wrapper(interpreter, function, result, call)
    if isinstance(function, BoundMember):
        return _call_member(interpreter, function, call)
    if isinstance(function, CallResult):
        return _call_result(interpreter, function, call)
    if isinstance(function, UnknownValue):
        return function
    return UnknownValue("a call of what is not known", call.line)


def _new_result(
    interpreter: PythonInterpreter,
    callee: str,
    call: PythonCall,
    on: Value = None,
    method: str = "",
) -> CallResult:
    return CallResult(
        callee,
        call.args,
        call.kwargs,
        call.uri,
        call.line,
        interpreter.conditions > 0,
        on,
        method,
    )


def _record(interpreter: PythonInterpreter, result: CallResult) -> CallResult:
    interpreter.objects.append(result)
    return result


def _call_external(
    interpreter: PythonInterpreter,
    name: str,
    call: PythonCall,
) -> Value:
    """Return the result of a function outside the project; most calls are only recorded."""
    if name == "dict":
        dictionary = _create_dictionary(call)
        if dictionary is not None:
            return dictionary
    if "." not in name:
        result = call_builtin(name, call.args)
        if result is not NotImplemented:
            return result
    if name.startswith(ENVIRONMENT):
        return UnknownValue("read from the environment", call.line)
    if name == "importlib.import_module" and call.args and isinstance(call.args[0], str):
        return interpreter.resolve(call.args[0], call.uri)
    return _record(interpreter, _new_result(interpreter, name, call))


def _create_dictionary(call: PythonCall) -> dict[Value, Value] | None:
    if not call.args:
        return dict(call.kwargs)
    if isinstance(call.args[0], dict):
        return {**call.args[0], **call.kwargs}
    return None


def _create_object(
    interpreter: PythonInterpreter,
    class_value: ClassValue,
    call: PythonCall,
) -> Value:
    """Return a new object of a project class; its `__init__` is followed."""
    created = _record(
        interpreter,
        _new_result(interpreter, class_value.full, call, class_value),
    )
    located = class_value.find("__init__")
    if located is not None and isinstance(located[1], FunctionValue):
        follow_function(interpreter, located[1], call.with_first(created))
    return created


def _call_member(
    interpreter: PythonInterpreter,
    member: BoundMember,
    call: PythonCall,
) -> Value:
    if member.function is not None:
        if member.function.definition.static:
            return follow_function(interpreter, member.function, call)
        return follow_function(
            interpreter,
            member.function,
            call.with_first(member.owner),
        )
    owner = member.owner
    if isinstance(owner, str | list | tuple | dict):
        if not interpreter.budget.spend_on(call.args, parts_of):
            return UnknownValue("too much to follow", call.line)
        return call_native_method(owner, member.name, call.args, call.kwargs)
    if not isinstance(owner, CallResult | ClassValue | FunctionValue | BoundMember):
        return UnknownValue("a call of what is not known", call.line)
    result = _record(
        interpreter,
        _new_result(interpreter, full_name(member), call, owner, member.name),
    )
    if isinstance(owner, CallResult):
        owner.calls.append(result)
    return result


def _call_result(
    interpreter: PythonInterpreter,
    callee: CallResult,
    call: PythonCall,
) -> Value:
    """Return the result of calling a call's result; a method that decorates a function returns the function."""
    if callee.callee == "functools.partial" and callee.args:
        merged = replace(
            call,
            args=[*callee.args[1:], *call.args],
            kwargs={**callee.kwargs, **call.kwargs},
        )
        return call_value(interpreter, callee.args[0], merged)
    decorated = next(iter(call.args), None)
    if isinstance(decorated, FunctionValue | ClassValue):
        callee.applied.append(decorated)
        if callee.method:
            return decorated
    elif isinstance(callee.on, ClassValue) and not callee.method:
        located = callee.on.find("__call__")
        if located is not None and isinstance(located[1], FunctionValue):
            return follow_function(interpreter, located[1], call.with_first(callee))
    return _new_result(interpreter, f"{callee.callee}()", call, callee)


def _hide_wrapper(
    interpreter: PythonInterpreter,
    function: FunctionValue,
    result: Value,
    call: PythonCall,
) -> Value:
    """Return the decorator call instead of the wrapper function that a project decorator returns."""
    decorated: Value = None
    for argument in call.args:
        if isinstance(argument, FunctionValue | ClassValue | CallResult):
            decorated = argument
            break
    if decorated is None or result is decorated or not _is_inner_function(function, result):
        return result
    return CallResult(
        function.full,
        list(call.args),
        {},
        function.uri,
        function.line,
        interpreter.conditions > 0,
        function,
    )


def _is_inner_function(outer: FunctionValue, inner: Value) -> bool:
    """Return whether a value is a function that is defined inside another one."""
    if (
        not isinstance(inner, FunctionValue)
        or inner.scope.outer is None
        or inner.uri != outer.uri
    ):
        return False
    return outer.definition.line <= inner.line <= outer.definition.line_end


def apply_decorator(
    interpreter: PythonInterpreter,
    decorator: Value,
    decorated: FunctionValue | ClassValue,
    location: tuple[str, int],
) -> None:
    """Record on a decorator the function or class that it decorates."""
    if isinstance(decorator, CallResult):
        decorator.applied.append(decorated)
    elif isinstance(decorator, BoundMember) and isinstance(decorator.owner, CallResult):
        if decorator.function is None:
            call = PythonCall([decorated], {}, *location)
            result = _new_result(
                interpreter,
                full_name(decorator),
                call,
                decorator.owner,
                decorator.name,
            )
            decorator.owner.calls.append(result)


# ── project functions ─────────────────────────────────────────────────────────────────────────────


def follow_function(
    interpreter: PythonInterpreter,
    function: FunctionValue,
    call: PythonCall,
) -> Value:
    """Run a project function and return its result; it is unknown if calls are nested too deeply."""
    if interpreter.call_depth >= _MAX_CALL_DEPTH:
        return UnknownValue("calls in calls without end", call.line)
    scope = Scope(function.scope.module, function.scope)
    if function.owner is not None:  # a method does not see the names of its class body
        scope.outer = function.scope.outer
    _bind_arguments(interpreter, function, call, scope)
    outer_returned = interpreter.returned
    interpreter.returned = []
    interpreter.call_depth += 1
    try:
        interpreter.run_block(function.definition.body.statements, scope)
    finally:
        returned = interpreter.returned
        interpreter.returned = outer_returned
        interpreter.call_depth -= 1
    return _choose_result(returned, interpreter.conditions)


def _choose_result(returned: list[tuple[int, Value]], conditions: int) -> Value:
    """Return the first known result, else the first that is returned unconditionally."""
    for _, value in returned:
        if value is not None and not isinstance(value, UnknownValue):
            return value
    for level, value in returned:
        if level == conditions:
            return value
    return None


def _bind_arguments(
    interpreter: PythonInterpreter,
    function: FunctionValue,
    call: PythonCall,
    scope: Scope,
) -> None:
    """Set the parameters of a function in its scope."""
    positional = list(call.args)
    named = dict(call.kwargs)
    parameters = function.definition.parameters
    for parameter in parameters:
        if parameter.spread:
            takes_named = parameter is parameters[-1] and not positional and bool(named)
            if takes_named:
                scope.names[parameter.name] = dict(named)
            else:
                scope.names[parameter.name] = tuple(positional)
            positional = []
        elif positional:
            scope.names[parameter.name] = positional.pop(0)
        elif parameter.name in named:
            scope.names[parameter.name] = named.pop(parameter.name)
        elif parameter.default is not None:
            scope.names[parameter.name] = interpreter.evaluate(
                parameter.default,
                function.scope,
            )
        else:
            scope.names[parameter.name] = UnknownValue(
                f"{parameter.name} is given at run time",
                function.line,
            )
