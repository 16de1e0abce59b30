"""Assignments to variables, members, array entries and destructuring patterns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone_code.evaluate.frame import Frame
from ragstone_code.evaluate.values import (
    Array,
    CallSite,
    ClassRef,
    Instance,
    Recorder,
    Unknown,
    Value,
    first_known,
)
from ragstone_code.program_tree import (
    Collected,
    Expr,
    Member,
    Opaque,
    Static,
    Subscript,
    Variable,
)

if TYPE_CHECKING:
    from ragstone_code.evaluate.evaluator import Evaluator


def assign(
    evaluator: Evaluator,
    target: Expr,
    value: Value,
    frame: Frame,
    site: CallSite,
) -> None:
    """Assign a value to a target; expressions that cannot be assigned are ignored."""
    if isinstance(target, Variable):
        frame.variables[target.name] = evaluator.copy(value)
    elif isinstance(target, Collected):
        _destructure(evaluator, target, value, frame, site)
    elif isinstance(target, Member):
        _assign_member(evaluator, target, value, frame, site)
    elif isinstance(target, Subscript):
        _assign_entry(evaluator, target, value, frame, site)
    elif isinstance(target, Static) and isinstance(target.name, str):
        owner = evaluator.value(target.of, frame)
        if isinstance(owner, ClassRef):
            evaluator.statics[owner.name.lower(), target.name.lstrip("$")] = evaluator.copy(
                value
            )


def _destructure(
    evaluator: Evaluator,
    pattern: Collected,
    value: Value,
    frame: Frame,
    site: CallSite,
) -> None:
    """Assign the entries of an array to the targets of a pattern."""
    array = first_known(value)
    for position, entry in enumerate(pattern.entries):
        if isinstance(entry.value, Opaque):
            continue
        key: Value = position
        if entry.key is not None:
            key = evaluator.value(entry.key, frame)
        part: Value = Unknown("what is taken apart is not known")
        if isinstance(array, Array) and not isinstance(key, Unknown):
            part = array.get(evaluator.language.key(key))
        assign(evaluator, entry.value, part, frame, site)


def _assign_member(
    evaluator: Evaluator,
    target: Member,
    value: Value,
    frame: Frame,
    site: CallSite,
) -> None:
    owner = evaluator.value(target.of, frame)
    name: Value
    if isinstance(target.name, str):
        name = target.name
    else:
        name = evaluator.value(target.name, frame)
    if isinstance(owner, Instance) and isinstance(name, str):
        owner.properties[name] = evaluator.copy(value)
    elif isinstance(owner, Recorder):
        owner.on_assign(name, value, site, evaluator)


def _assign_entry(
    evaluator: Evaluator,
    target: Subscript,
    value: Value,
    frame: Frame,
    site: CallSite,
) -> None:
    """Set or append an array entry in place; a missing array is created."""
    container = _container(evaluator, target.of, frame, site)
    key: Value = None
    if target.key is not None:
        key = evaluator.value(target.key, frame)
    if isinstance(container, Recorder):
        container.on_assign(key, value, site, evaluator)
    elif isinstance(container, Array):
        if target.key is None:
            container.append(evaluator.copy(value))
        elif isinstance(key, Unknown):
            container.complete = False
        else:
            container.set(evaluator.language.key(key), evaluator.copy(value))


def _container(
    evaluator: Evaluator,
    target: Expr,
    frame: Frame,
    site: CallSite,
) -> Value:
    """Return the array itself (not a copy) whose entry is assigned."""
    if isinstance(target, Subscript) and target.key is not None:
        return _inner_container(evaluator, target, target.key, frame, site)
    container: Value = None
    if not isinstance(target, Variable) or target.name in frame.variables:
        container = evaluator.value(target, frame)
    if isinstance(container, Unknown) and container.options:
        option = first_known(container)
        if isinstance(option, Array):
            container = evaluator.copy(option)
        assign(evaluator, target, container, frame, site)
        return evaluator.value(target, frame)
    if container is None and isinstance(target, Variable | Member | Static):
        assign(evaluator, target, Array(), frame, site)
        return evaluator.value(target, frame)
    return container


def _inner_container(
    evaluator: Evaluator,
    target: Subscript,
    key: Expr,
    frame: Frame,
    site: CallSite,
) -> Value:
    """Return the array at `outer[key]`; create it if the entry is missing."""
    outer = _container(evaluator, target.of, frame, site)
    key_value = evaluator.value(key, frame)
    if not isinstance(outer, Array) or isinstance(key_value, Unknown):
        return Unknown("what holds it is not known")
    array_key = evaluator.language.key(key_value)
    inner = outer.get(array_key)
    if inner is None:
        inner = Array()
        outer.set(array_key, inner)
    return inner
