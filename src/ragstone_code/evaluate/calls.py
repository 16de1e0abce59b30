"""Evaluation of calls: closures, functions, methods, object creation, recorders and built-in functions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragstone_code.evaluate.frame import Frame
from ragstone_code.evaluate.values import (
    Arguments,
    Array,
    CallSite,
    ClassRef,
    EnumCase,
    Instance,
    Lambda,
    Recorder,
    Unknown,
    Value,
    first_known,
)
from ragstone_code.program_tree import Function, Parameter

if TYPE_CHECKING:
    from ragstone_code.evaluate.evaluator import Evaluator
    from ragstone_code.evaluate.language import NativeFunction


def call_value(
    evaluator: Evaluator,
    function: Value,
    arguments: Arguments,
    site: CallSite,
) -> Value:
    """Return the result of calling a value."""
    function = first_known(function)
    if isinstance(function, Lambda):
        return call_lambda(evaluator, function, arguments)
    if isinstance(function, str):
        return _call_by_text(evaluator, function, arguments, site)
    if isinstance(function, Array) and len(function) == 2 and isinstance(function.get(1), str):
        return _call_pair(evaluator, function, arguments, site)
    if isinstance(function, ClassRef):
        return create_object(evaluator, function, arguments, site)
    if isinstance(function, Instance | Recorder):
        return call_method(evaluator, function, "__invoke", arguments, site)
    if isinstance(function, Unknown):
        return Unknown(function.reason)
    return Unknown("it cannot be called")


def _call_by_text(
    evaluator: Evaluator,
    text: str,
    arguments: Arguments,
    site: CallSite,
) -> Value:
    """Return the result of `"Class@method"`, `"Class::method"` or a function name."""
    for separator in ("@", "::"):
        if separator in text:
            owner, _, method = text.partition(separator)
            return call_static(evaluator, owner.lstrip("\\"), method, arguments, site)
    return call_function(evaluator, text, arguments, site)


def _call_pair(
    evaluator: Evaluator,
    pair: Array,
    arguments: Arguments,
    site: CallSite,
) -> Value:
    """Return the result of `[object, "method"]` or `[Class::class, "method"]`."""
    target = first_known(pair.get(0))
    name = str(pair.get(1))
    if isinstance(target, str):
        return call_static(evaluator, target, name, arguments, site)
    return call_method(evaluator, target, name, arguments, site)


def call_lambda(evaluator: Evaluator, function: Lambda, arguments: Arguments) -> Value:
    """Return the result of a function of the project."""
    captured = {name: evaluator.copy(value) for name, value in function.variables.items()}
    frame = Frame(
        function.uri,
        captured,
        function.this,
        function.owner,
        function.called_on or function.owner,
    )
    bind_arguments(evaluator, function.function, arguments, frame)
    return evaluator.enter(function.function, frame)


def bind_arguments(
    evaluator: Evaluator,
    function: Function,
    arguments: Arguments,
    frame: Frame,
) -> None:
    """Set the parameters of a function in a frame."""
    positional = list(arguments.positional)
    for parameter in function.parameters:
        if parameter.spread:
            frame.variables[parameter.name] = Array(
                [evaluator.copy(value) for value in positional]
            )
            positional = []
        elif positional:
            frame.variables[parameter.name] = evaluator.copy(positional.pop(0))
        elif parameter.name in arguments.named:
            frame.variables[parameter.name] = evaluator.copy(arguments.named[parameter.name])
        elif parameter.default is not None:
            frame.variables[parameter.name] = evaluator.value(parameter.default, frame)
        else:
            frame.variables[parameter.name] = _inject_by_type(
                evaluator,
                parameter,
                function.line,
            )


def _inject_by_type(evaluator: Evaluator, parameter: Parameter, line: int) -> Value:
    """Return a value for a missing argument: an object of its type, as a service container would inject."""
    type_names: tuple[str, ...] = ()
    if parameter.type:
        type_names = parameter.type.names
    for type_name in type_names:
        recorder = evaluator.stubs.classes.get(type_name.lower())
        if recorder is not None:
            return recorder.on_call("new", Arguments(), CallSite("", line), evaluator)
        if evaluator.lookup.of_class(type_name):
            return evaluator.make(type_name)
    return Unknown(f"the argument {parameter.name} is not known")


def call_function(
    evaluator: Evaluator,
    name: str,
    arguments: Arguments,
    site: CallSite,
) -> Value:
    """Return the result of a named function: of the adapter, of the language or of the project."""
    bare_name = name.lstrip("\\")
    native = _native_function(evaluator, bare_name.lower())
    if native is not None:
        return native(arguments, site, evaluator)
    located = _project_function(evaluator, bare_name, site)
    if located is None:
        return Unknown(f"{bare_name}() is not followed")
    uri, function = located
    return call_lambda(evaluator, Lambda(function, uri), arguments)


def _native_function(evaluator: Evaluator, name: str) -> NativeFunction | None:
    short_name = name.rpartition("\\")[2]
    stubs = evaluator.stubs.functions
    return (
        stubs.get(name) or stubs.get(short_name) or evaluator.language.functions.get(short_name)
    )


def _project_function(
    evaluator: Evaluator,
    name: str,
    site: CallSite,
) -> tuple[str, Function] | None:
    """Return a function of the project; the namespace of the calling file is searched first."""
    module = None
    if site.uri:
        module = evaluator.world.module(site.uri)
    if module and module.namespace:
        located = evaluator.lookup.function(f"{module.namespace}\\{name}")
        if located:
            return located
    return evaluator.lookup.function(name)


def call_static(
    evaluator: Evaluator,
    owner: str,
    name: str,
    arguments: Arguments,
    site: CallSite,
) -> Value:
    """Return the result of a static method: of the adapter, else of the project."""
    recorder = evaluator.stubs.classes.get(owner.lower().lstrip("\\"))
    if recorder is not None:
        return recorder.on_call(name, arguments, site, evaluator)
    return _call_project_method(evaluator, _MethodTarget(owner, name), arguments, site)


def call_method(
    evaluator: Evaluator,
    target: Value,
    name: str,
    arguments: Arguments,
    site: CallSite,
) -> Value:
    """Return the result of a method of a value."""
    target = first_known(target)
    if isinstance(target, Recorder):
        return target.on_call(name, arguments, site, evaluator)
    if isinstance(target, Instance):
        return _call_instance_method(evaluator, target, name, arguments, site)
    if isinstance(target, EnumCase):
        return _call_project_method(
            evaluator,
            _MethodTarget(target.owner, name, target),
            arguments,
            site,
        )
    if isinstance(target, ClassRef):
        return call_static(evaluator, target.name, name, arguments, site)
    if isinstance(target, Lambda):
        if name in ("__invoke", "call", "__call__"):
            return call_lambda(evaluator, target, arguments)
        return target
    if isinstance(target, Unknown):
        return Unknown(target.reason)
    return Unknown(f"{name}() is not followed")


def _call_instance_method(
    evaluator: Evaluator,
    instance: Instance,
    name: str,
    arguments: Arguments,
    site: CallSite,
) -> Value:
    """Return the result of a method; a property that holds a callable counts if there is no such method."""
    held_callable = instance.properties.get(name)
    if held_callable is not None and evaluator.lookup.method(instance.name, name) is None:
        return call_value(evaluator, held_callable, arguments, site)
    return _call_project_method(
        evaluator,
        _MethodTarget(instance.name, name, instance),
        arguments,
        site,
    )


@dataclass(frozen=True, slots=True)
class _MethodTarget:
    """A method name with its class and, if any, its object."""

    owner: str
    name: str
    this: Value = None


def _call_project_method(
    evaluator: Evaluator,
    target: _MethodTarget,
    arguments: Arguments,
    site: CallSite,
) -> Value:
    """Return the result of a method of a project class; else ask the recorder of a known ancestor."""
    located = evaluator.lookup.method(target.owner, target.name)
    if located:
        uri, definition, function = located
        bound = Lambda(
            function,
            uri,
            this=target.this,
            owner=definition.name,
            called_on=target.owner,
        )
        return call_lambda(evaluator, bound, arguments)
    enum_result = _call_enum_method(
        evaluator,
        target.owner,
        target.name.lower(),
        arguments,
    )
    if enum_result is not None:
        return enum_result
    recorder = ancestor_recorder(evaluator, target.owner)
    if recorder is not None:
        return recorder.on_call(
            target.name,
            replace(arguments, this=target.this),
            site,
            evaluator,
        )
    short_owner = target.owner.rpartition("\\")[2]
    return Unknown(f"{short_owner}.{target.name}() is not followed")


def ancestor_recorder(evaluator: Evaluator, class_name: str) -> Recorder | None:
    """Return the recorder of a class or of its nearest ancestor that has one."""
    for ancestor in evaluator.lookup.ancestors(class_name):
        recorder = evaluator.stubs.classes.get(ancestor.lower())
        if recorder is not None:
            return recorder
    return None


def _call_enum_method(
    evaluator: Evaluator,
    owner: str,
    name: str,
    arguments: Arguments,
) -> Value:
    """Return the result of `cases()`, `from()` or `tryFrom()` of an enum; None for any other call."""
    if name not in ("cases", "from", "tryfrom"):
        return None
    located = evaluator.lookup.of_class(owner)
    if located is None or located[1].kind != "enum":
        return None
    cases = [class_constant(evaluator, owner, case) for case in located[1].cases]
    if name == "cases":
        return Array(cases)
    value = first_known(arguments.at(0, "value"))
    for case in cases:
        if isinstance(case, EnumCase) and case.value == value:
            return case
    return Unknown(f"{owner}::{name}() has no such case")


def create_object(
    evaluator: Evaluator,
    class_value: Value,
    arguments: Arguments,
    site: CallSite,
) -> Value:
    """Return a new object of a class; the constructor of a project class is evaluated."""
    name = _class_name(class_value)
    if not name:
        return Unknown("the class is not known")
    recorder = evaluator.stubs.classes.get(name.lower().lstrip("\\"))
    if recorder is not None:
        return recorder.on_call("new", arguments, site, evaluator)
    instance = new_instance(evaluator, name)
    instance.arguments = arguments
    _run_constructor(evaluator, instance, arguments)
    return instance


def _class_name(class_value: Value) -> str:
    if isinstance(class_value, ClassRef):
        return class_value.name
    if isinstance(class_value, str):
        return class_value
    return ""


def new_instance(evaluator: Evaluator, name: str) -> Instance:
    """Return an object of a class whose constructor has not run."""
    located = evaluator.lookup.of_class(name)
    if located is None:
        return Instance(name)
    uri, definition = located
    return Instance(name, definition, uri)


def _run_constructor(
    evaluator: Evaluator,
    instance: Instance,
    arguments: Arguments,
) -> None:
    """Evaluate the constructor of an object; promoted parameters become properties."""
    located = evaluator.lookup.method(instance.name, "__construct")
    if located is None:
        return
    uri, definition, function = located
    frame = Frame(uri, {}, instance, definition.name, instance.name)
    bind_arguments(evaluator, function, arguments, frame)
    for parameter in function.parameters:
        if parameter.promoted:
            instance.properties[parameter.name] = frame.variables[parameter.name]
    evaluator.enter(function, frame)


def class_constant(evaluator: Evaluator, owner: str, name: str) -> Value:
    """Return a constant of a class; a case of an enum as `EnumCase`."""
    located = evaluator.lookup.constant(owner, name)
    if not located:
        return Unknown(f"{owner}::{name} is not known")
    uri, definition, expression = located
    value = evaluator.value(
        expression,
        Frame(uri, owner=definition.name, called_on=owner),
    )
    if name in definition.cases:
        return EnumCase(definition.name, name, value)
    return value
