"""Classes of a FastAPI application: routers with settings of their own, and classes whose methods are handlers."""

from __future__ import annotations

from ragstone_code import program_tree
from ragstone_code.python.values import CallResult, ClassValue, FunctionValue, Value
from ragstone_code.python_project import Program


def constructor_argument(program: Program, created: CallResult, name: str) -> Value:
    """Return an argument that the class of an object passes to `super().__init__`; None if it passes none."""
    if not isinstance(created.on, ClassValue) or created.method:
        return None
    located = created.on.find("__init__")
    constructor = located[1] if located else None
    if not isinstance(constructor, FunctionValue):
        return None
    for part in program.body_parts(constructor):
        if not _is_parent_constructor(part):
            continue
        for argument in part.arguments:
            if argument.name == name:
                return program.value_of(argument.value, constructor.scope)
    return None


def _is_parent_constructor(part: object) -> bool:
    """Return whether a part of a body is `super().__init__(…)`."""
    if not isinstance(part, program_tree.Call) or not isinstance(
        part.function, program_tree.Member
    ):
        return False
    if part.function.name != "__init__" or not isinstance(part.function.of, program_tree.Call):
        return False
    called = part.function.of.function
    return isinstance(called, program_tree.Variable) and called.name == "super"


def attribute_names(class_value: ClassValue) -> list[str]:
    """Return the names of the attributes of a class and its parents, those of the parents first."""
    names: list[str] = []
    for ancestor in reversed(class_value.lineage()):
        if isinstance(ancestor, ClassValue):
            names += ancestor.attributes
    return list(dict.fromkeys(names))
