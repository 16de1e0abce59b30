"""How calls are followed: of closures, functions and methods of the project, recorders, and the language's own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ragstone.code.tree import Function
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

if TYPE_CHECKING:
    from ragstone_code.evaluate.machine import Evaluator


def call_value(machine: Evaluator, function: Value, given: Arguments, site: CallSite) -> Value:
    """Return what calling a value gives."""
    function = first_known(function)
    if isinstance(function, Lambda):
        return call_lambda(machine, function, given, site)
    if isinstance(function, str):
        for mark in ("@", "::"):
            if mark in function:
                owner, _, method = function.partition(mark)
                return call_static(machine, owner.lstrip("\\"), method, given, site)
        return call_function(machine, function, given, site)
    if isinstance(function, Array) and len(function) == 2 and isinstance(function.get(1), str):
        return _call_pair(machine, function, given, site)
    if isinstance(function, ClassRef):
        return make(machine, function, given, site)
    if isinstance(function, Instance | Recorder):
        return call_method(machine, function, "__invoke", given, site)
    return Unknown(function.reason if isinstance(function, Unknown) else "it cannot be called")


def _call_pair(machine: Evaluator, pair: Array, given: Arguments, site: CallSite) -> Value:
    """Return what `[object, "method"]` or `[Class::class, "method"]` gives."""
    of, name = first_known(pair.get(0)), str(pair.get(1))
    if isinstance(of, str):
        return call_static(machine, of, name, given, site)
    return call_method(machine, of, name, given, site)


def call_lambda(machine: Evaluator, one: Lambda, given: Arguments, site: CallSite) -> Value:
    """Return what a function of the project gives."""
    frame = Frame(one.uri, dict(one.variables), one.this, one.owner, one.called_on or one.owner)
    if machine.language.copies:
        frame.variables = {name: copied(machine, value) for name, value in frame.variables.items()}
    bind(machine, one.function, given, frame)
    return machine.enter(one.function, frame)


def bind(machine: Evaluator, function: Function, given: Arguments, frame: Frame) -> None:
    """Put arguments into the variables of a frame."""
    left = list(given.positional)
    named = dict(given.named)
    for parameter in function.parameters:
        if parameter.spread:
            rest = Array([copied(machine, one) for one in left])
            frame.variables[parameter.name] = rest
            left = []
        elif left:
            frame.variables[parameter.name] = copied(machine, left.pop(0))
        elif parameter.name in named:
            frame.variables[parameter.name] = copied(machine, named.pop(parameter.name))
        elif parameter.default is not None:
            frame.variables[parameter.name] = machine.value(parameter.default, frame)
        else:
            frame.variables[parameter.name] = _by_type(machine, function, parameter.name)


def _by_type(machine: Evaluator, function: Function, name: str) -> Value:
    """Return what a parameter nobody gives is: the recorder of its type, as a container would hand in, or unknown."""
    parameter = next(one for one in function.parameters if one.name == name)
    for full in parameter.type.names if parameter.type else ():
        known = machine.stubs.classes.get(full.lower())
        if known is not None:
            return known.on_call("new", Arguments(), CallSite("", function.line), machine)
        if machine.lookup.of_class(full):
            return machine.make(full)
    return Unknown(f"the argument {name} is not known")


def call_function(machine: Evaluator, name: str, given: Arguments, site: CallSite) -> Value:
    """Return what a function gives by its name: the adapter's, the project's, the language's."""
    bare = name.lstrip("\\")
    folded = bare.lower() if machine.language.folds else bare
    last = folded.rpartition(machine.language.separator)[2]
    for wanted in (folded, last):
        known = machine.stubs.functions.get(wanted)
        if known is not None:
            return known(given, site, machine)
    own = machine.language.functions.get(last)
    if own is not None:
        return own(given, site, machine)
    module = machine.world.module(site.uri) if site.uri else None
    within = f"{module.namespace}{machine.language.separator}" if module and module.namespace else ""
    found = machine.lookup.function(within + bare) or machine.lookup.function(bare)
    if found:
        return call_lambda(machine, Lambda(found[1], found[0]), given, site)
    return Unknown(f"{bare}() is not followed")


def call_static(machine: Evaluator, owner: str, name: str, given: Arguments, site: CallSite) -> Value:
    """Return what a static method gives: the adapter's, else the project's."""
    known = machine.stubs.classes.get(owner.lower().lstrip("\\"))
    if known is not None:
        return known.on_call(name, given, site, machine)
    return _project_method(machine, ClassRef(owner), (name, owner), given, site)


def call_method(machine: Evaluator, of: Value, name: str, given: Arguments, site: CallSite) -> Value:
    """Return what a method of a value gives."""
    if isinstance(of, Unknown):
        of = first_known(of)
    if isinstance(of, Recorder):
        return of.on_call(name, given, site, machine)
    if isinstance(of, Instance):
        held = of.properties.get(name)
        if held is not None and machine.lookup.method(of.name, name) is None:
            return call_value(machine, held, given, site)
        return _project_method(machine, of, (name, of.name), given, site)
    if isinstance(of, EnumCase):
        return _project_method(machine, of, (name, of.owner), given, site)
    if isinstance(of, ClassRef):
        return call_static(machine, of.name, name, given, site)
    if isinstance(of, Lambda):
        return call_lambda(machine, of, given, site) if name in ("__invoke", "call", "__call__") else of
    if isinstance(of, Unknown):
        return Unknown(of.reason)
    own = machine.language.methods.get(name)
    return own(of, given, site, machine) if own else Unknown(f"{name}() is not followed")


def _project_method(
    machine: Evaluator, of: Instance | EnumCase | ClassRef, wanted: tuple[str, str], given: Arguments, site: CallSite
) -> Value:
    """Return what a method written in the project gives; one that is not goes to a known ancestor's recorder."""
    name, owner = wanted
    found = machine.lookup.method(owner, name)
    this = of if isinstance(of, Instance | EnumCase) else None
    if found:
        uri, definition, function = found
        one = Lambda(function, uri, this=this, owner=definition.name, called_on=owner)
        if not machine.language.this and this is not None and not function.static:
            given = Arguments((this, *given.positional), given.named, given.complete)
        return call_lambda(machine, one, given, site)
    listed = _enum_method(machine, owner, name.lower(), given)
    if listed is not None:
        return listed
    for ancestor in machine.lookup.ancestors(owner):
        known = machine.stubs.classes.get(ancestor.lower())
        if known is not None:
            return known.on_call(name, replace(given, this=this), site, machine)
    return Unknown(f"{owner.rpartition(machine.language.separator)[2]}.{name}() is not followed")


def _enum_method(machine: Evaluator, owner: str, name: str, given: Arguments) -> Value:
    """Return what the methods that every enum has give: `cases()`, `from()`, `tryFrom()`; None for another call."""
    found = machine.lookup.of_class(owner) if name in ("cases", "from", "tryfrom") else None
    if found is None or found[1].kind != "enum":
        return None
    cases = [class_constant(machine, owner, one) for one in found[1].cases]
    if name == "cases":
        return Array(cases)
    wanted = first_known(given.at(0, "value"))
    same = (one for one in cases if isinstance(one, EnumCase) and one.value == wanted)
    return next(same, Unknown(f"{owner}::{name}() has no such case"))


def make(machine: Evaluator, of: Value, given: Arguments, site: CallSite) -> Value:
    """Return a new object of a class; the constructor of one of the project is followed."""
    name = of.name if isinstance(of, ClassRef) else of if isinstance(of, str) else ""
    if not name:
        return Unknown("the class is not known")
    known = machine.stubs.classes.get(name.lower().lstrip("\\"))
    if known is not None:
        return known.on_call("new", given, site, machine)
    found = machine.lookup.of_class(name)
    instance = Instance(name, found[1] if found else None, found[0] if found else "", arguments=given)
    constructor = "__construct" if machine.language.this else "__init__"
    written = machine.lookup.method(name, constructor)
    if written:
        uri, definition, function = written
        frame = Frame(uri, {}, instance, definition.name, name)
        whole = given if machine.language.this else Arguments((instance, *given.positional), given.named)
        bind(machine, function, whole, frame)
        promoted = (one.name for one in function.parameters if one.promoted)
        instance.properties.update({one: frame.variables[one] for one in promoted})
        machine.enter(function, frame)
    return instance


def class_constant(machine: Evaluator, owner: str, name: str) -> Value:
    """Return a constant of a class, a case of an enum as such."""
    found = machine.lookup.constant(owner, name)
    if not found:
        return Unknown(f"{owner}::{name} is not known")
    uri, definition, expression = found
    value = machine.value(expression, Frame(uri, owner=definition.name, called_on=owner))
    return EnumCase(definition.name, name, value) if name in definition.cases else value


def copied(machine: Evaluator, value: Value) -> Value:
    """Return a value as it is handed on: an array as one of its own where the language does so."""
    return value.copy() if machine.language.copies and isinstance(value, Array) else value
