"""Values of the members of objects and classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone_code.evaluate.calls import ancestor_recorder, class_constant
from ragstone_code.evaluate.frame import Frame
from ragstone_code.evaluate.values import (
    Array,
    CallSite,
    ClassRef,
    EnumCase,
    Instance,
    Recorder,
    Unknown,
    Value,
    first_known,
)

if TYPE_CHECKING:
    from ragstone_code.evaluate.evaluator import Evaluator


def member(evaluator: Evaluator, owner: Value, name: Value, site: CallSite) -> Value:
    """Return a member of an object by name."""
    owner = first_known(owner)
    if not isinstance(name, str):
        return Unknown("the member is not known")
    if isinstance(owner, Recorder):
        return owner.on_member(name, site, evaluator)
    if isinstance(owner, Instance):
        return _instance_member(evaluator, owner, name, site)
    if isinstance(owner, EnumCase):
        return _case_member(owner, name)
    if isinstance(owner, ClassRef):
        return class_member(evaluator, owner, name)
    if isinstance(owner, Unknown):
        return Unknown(owner.reason)
    if owner is None:
        return None
    return Unknown(f"{name} is not known")


def _case_member(case: EnumCase, name: str) -> Value:
    if name == "value":
        return case.value
    if name == "name":
        return case.name
    return Unknown(f"{name} of a case is not known")


def _instance_member(
    evaluator: Evaluator,
    instance: Instance,
    name: str,
    site: CallSite,
) -> Value:
    """Return a property that was set, its default in the class, or the answer of an ancestor's recorder."""
    if name in instance.properties:
        return instance.properties[name]
    located = evaluator.lookup.property(instance.name, name)
    if located:
        uri, definition, class_property = located
        if class_property.default is not None:
            frame = Frame(uri, owner=definition.name, called_on=instance.name)
            value = evaluator.value(class_property.default, frame)
            instance.properties[name] = value
            return value
        if class_property.type is None:
            return None
        return Unknown(f"{name} is set elsewhere")
    recorder = ancestor_recorder(evaluator, instance.name)
    if recorder is not None:
        return recorder.on_member(name, site, evaluator)
    return Unknown(f"{name} is not known")


def class_member(evaluator: Evaluator, owner: Value, name: Value) -> Value:
    """Return `Owner::NAME`, `Owner::$name` or `Owner::class`."""
    owner = first_known(owner)
    if isinstance(owner, str):
        owner = ClassRef(owner)
    if not isinstance(name, str) or not isinstance(owner, ClassRef | Instance):
        return Unknown("the member is not known")
    if name == "class":
        return owner.name
    if name.startswith("$"):
        return _static_property(evaluator, owner.name, name[1:])
    return class_constant(evaluator, owner.name, name)


def _static_property(evaluator: Evaluator, owner: str, name: str) -> Value:
    """Return the assigned value of a static property, else its default."""
    located = evaluator.lookup.property(owner, name)
    declaring_class = owner.lower()
    if located:
        declaring_class = located[1].name.lower()
    for class_name in (owner.lower(), declaring_class):
        if (class_name, name) in evaluator.statics:
            return evaluator.statics[class_name, name]
    if not located:
        return Unknown(f"{owner}::${name} is not known")
    uri, definition, class_property = located
    if class_property.default is None:
        return None
    value = evaluator.value(class_property.default, Frame(uri, owner=definition.name))
    if isinstance(value, Array):
        evaluator.statics[declaring_class, name] = value
    return value
