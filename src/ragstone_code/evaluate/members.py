"""What members of objects and classes are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone_code.evaluate.calling import class_constant
from ragstone_code.evaluate.frame import Frame
from ragstone_code.evaluate.values import (
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


def member(machine: Evaluator, of: Value, name: Value, site: CallSite) -> Value:
    """Return a member of an object by its name."""
    of = first_known(of)
    if not isinstance(name, str):
        return Unknown("the member is not known")
    if isinstance(of, Recorder):
        return of.on_member(name, site, machine)
    if isinstance(of, Instance):
        return _of_instance(machine, of, name, site)
    if isinstance(of, EnumCase):
        return {"value": of.value, "name": of.name}.get(name, Unknown(f"{name} of a case is not known"))
    if isinstance(of, ClassRef):
        return class_member(machine, of, name)
    if isinstance(of, Unknown):
        return Unknown(of.reason)
    return None if of is None else Unknown(f"{name} is not known")


def _of_instance(machine: Evaluator, of: Instance, name: str, site: CallSite) -> Value:
    """Return a member of an object: as it was set, as its class starts it, as a known ancestor tells."""
    if name in of.properties:
        return of.properties[name]
    found = machine.lookup.property(of.name, name)
    if found:
        uri, definition, one = found
        if one.default is None:
            return None if one.type is None else Unknown(f"{name} is set elsewhere")
        value = machine.value(one.default, Frame(uri, owner=definition.name, called_on=of.name))
        of.properties[name] = value
        return value
    method = machine.lookup.method(of.name, name)
    if method and not machine.language.this:
        return Lambda(method[2], method[0], this=of, owner=method[1].name, called_on=of.name)
    for ancestor in machine.lookup.ancestors(of.name):
        known = machine.stubs.classes.get(ancestor.lower())
        if known is not None:
            return known.on_member(name, site, machine)
    return Unknown(f"{name} is not known")


def class_member(machine: Evaluator, of: Value, name: Value) -> Value:
    """Return `Of::NAME`, `Of::$name` or `Of::class`."""
    of = first_known(of)
    if isinstance(of, str):
        of = ClassRef(of)
    if not isinstance(name, str) or not isinstance(of, ClassRef | Instance):
        return Unknown("the member is not known")
    if name == "class":
        return of.name
    if name.startswith("$"):
        return _static_property(machine, of.name, name[1:])
    return class_constant(machine, of.name, name)


def _static_property(machine: Evaluator, owner: str, name: str) -> Value:
    """Return a static property: as it was set, else as it starts."""
    found = machine.lookup.property(owner, name)
    home = found[1].name.lower() if found else owner.lower()
    for key in ((owner.lower(), name), (home, name)):
        if key in machine.statics:
            return machine.statics[key]
    if not found:
        return Unknown(f"{owner}::${name} is not known")
    uri, definition, one = found
    value = machine.value(one.default, Frame(uri, owner=definition.name)) if one.default is not None else None
    if isinstance(value, Array):
        machine.statics[home, name] = value
    return value
