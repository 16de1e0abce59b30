"""What an assignment does: to variables, members, keys and patterns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.code.tree import Collected, Expr, Member, Opaque, Static, Subscript, Variable
from ragstone_code.evaluate.calling import copied
from ragstone_code.evaluate.frame import Frame
from ragstone_code.evaluate.values import Array, CallSite, ClassRef, Instance, Recorder, Unknown, Value, first_known

if TYPE_CHECKING:
    from ragstone_code.evaluate.machine import Evaluator


def assign(machine: Evaluator, target: Expr, value: Value, frame: Frame, site: CallSite) -> None:
    """Make a target be a value; what cannot be a target is left alone."""
    if isinstance(target, Variable):
        frame.variables[target.name] = copied(machine, value)
    elif isinstance(target, Collected):
        _pattern(machine, target, value, frame, site)
    elif isinstance(target, Member):
        _member(machine, target, value, frame, site)
    elif isinstance(target, Subscript):
        _subscript(machine, target, value, frame, site)
    elif isinstance(target, Static) and isinstance(target.name, str):
        of = machine.value(target.of, frame)
        if isinstance(of, ClassRef):
            machine.statics[of.name.lower(), target.name.lstrip("$")] = copied(machine, value)


def _pattern(machine: Evaluator, target: Collected, value: Value, frame: Frame, site: CallSite) -> None:
    """Take an array apart."""
    whole = first_known(value)
    for position, entry in enumerate(target.entries):
        if isinstance(entry.value, Opaque):
            continue
        key: Value = position if entry.key is None else machine.value(entry.key, frame)
        part: Value = Unknown("what is taken apart is not known")
        if isinstance(whole, Array) and not isinstance(key, Unknown):
            part = whole.get(machine.language.key(key))
        assign(machine, entry.value, part, frame, site)


def _member(machine: Evaluator, target: Member, value: Value, frame: Frame, site: CallSite) -> None:
    """Set a member of an object."""
    of = machine.value(target.of, frame)
    name = target.name if isinstance(target.name, str) else machine.value(target.name, frame)
    if isinstance(of, Instance) and isinstance(name, str):
        of.properties[name] = copied(machine, value)
    elif isinstance(of, Recorder):
        of.on_assign(name, value, site, machine)


def _subscript(machine: Evaluator, target: Subscript, value: Value, frame: Frame, site: CallSite) -> None:
    """Set or add an entry, in place; an array that is not there yet is made."""
    of = _container(machine, target.of, frame, site)
    key = None if target.key is None else machine.value(target.key, frame)
    if isinstance(of, Recorder):
        of.on_assign(key, value, site, machine)
    elif isinstance(of, Array):
        if target.key is None:
            of.append(copied(machine, value))
        elif isinstance(key, Unknown):
            of.complete = False
        else:
            of.set(machine.language.key(key), copied(machine, value))


def _container(machine: Evaluator, of: Expr, frame: Frame, site: CallSite) -> Value:
    """Return the array itself that an entry of is set, not a copy of it."""
    if isinstance(of, Subscript) and of.key is not None:
        outer = _container(machine, of.of, frame, site)
        key = machine.value(of.key, frame)
        if isinstance(outer, Array) and not isinstance(key, Unknown):
            inner = outer.get(machine.language.key(key))
            if inner is None:
                inner = Array()
                outer.set(machine.language.key(key), inner)
            return inner
        return Unknown("what holds it is not known")
    found = machine.value(of, frame)
    if isinstance(of, Variable) and machine.language.copies and of.name not in frame.variables:
        found = None
    if isinstance(found, Unknown) and found.options:
        settled = first_known(found)
        found = settled.copy() if isinstance(settled, Array) else found
        assign(machine, of, found, frame, site)
        return machine.value(of, frame)
    if found is None and isinstance(of, Variable | Member | Static):
        assign(machine, of, Array(), frame, site)
        return machine.value(of, frame)
    return found
