"""Values of attributes and dotted names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ragstone_code import program_tree
from ragstone_code.python.values import (
    BoundMember,
    CallResult,
    ClassValue,
    ExternalName,
    FunctionValue,
    ModuleValue,
    UnknownValue,
    Value,
)

if TYPE_CHECKING:
    from ragstone_code.python.interpreter import PythonInterpreter

ENVIRONMENT: Final = ("os.environ", "os.getenv", "decouple.config", "environ.Env")
"""Prefixes of names that read the environment."""
_SETTINGS_CLASSES: Final = frozenset(
    (
        "pydantic_settings.BaseSettings",
        "pydantic_settings.main.BaseSettings",
        "pydantic.BaseSettings",
    )
)


def attribute_of(interpreter: PythonInterpreter, owner: Value, name: str) -> Value:
    """Return an attribute of a value; if it is not known, return a `BoundMember`."""
    if isinstance(owner, UnknownValue):
        return owner
    if isinstance(owner, ModuleValue):
        return _module_attribute(interpreter, owner, name)
    if isinstance(owner, ExternalName):
        return _external_attribute(interpreter, f"{owner.name}.{name}")
    if isinstance(owner, ClassValue):
        return _class_attribute(owner, name)
    if isinstance(owner, CallResult):
        return _object_attribute(interpreter, owner, name)
    if isinstance(owner, FunctionValue) and name in owner.attributes:
        return owner.attributes[name]
    return BoundMember(owner, name)


def _external_attribute(interpreter: PythonInterpreter, full_name: str) -> Value:
    """Return the value of an external dotted name; it may be a module of the project."""
    if full_name.startswith(ENVIRONMENT):
        return UnknownValue("read from the environment")
    uri = interpreter.project.uri_of(full_name)
    module: ModuleValue | None = None
    if uri:
        module = interpreter.import_module(uri)
    return module or ExternalName(full_name)


def _module_attribute(
    interpreter: PythonInterpreter,
    module: ModuleValue,
    name: str,
) -> Value:
    """Return a name of a module, a submodule of a package, or a name that the module defines later."""
    if name in module.names:
        return module.names[name]
    if module.uri.endswith("__init__.py"):
        submodule = _submodule(interpreter, module, name)
        if submodule is not None:
            return submodule
    return defined_later(interpreter, module, name) or UnknownValue(
        f"{module.name} has no {name}"
    )


def _submodule(
    interpreter: PythonInterpreter,
    package: ModuleValue,
    name: str,
) -> ModuleValue | None:
    folder = package.uri.rpartition("/")[0]
    for uri in (f"{folder}/{name}.py", f"{folder}/{name}/__init__.py"):
        if interpreter.project.world.has(uri):
            return interpreter.import_module(uri)
    return None


def defined_later(
    interpreter: PythonInterpreter,
    module: ModuleValue,
    name: str,
) -> Value:
    """Return a class or function that a running module defines further down; None if there is none."""
    request = (module.uri, name)
    if module.done or module.scope is None or request in interpreter.requested_names:
        return None
    interpreter.requested_names.add(request)
    for statement in module.program.statements:
        if _defined_name(statement) == name:
            interpreter.run_block((statement,), module.scope)
            return module.names.get(name)
    return None


def _defined_name(statement: program_tree.Statement) -> str:
    if isinstance(statement, program_tree.Class):
        return statement.short or statement.name
    if isinstance(statement, program_tree.Function):
        return statement.name
    return ""


def _class_attribute(owner: ClassValue, name: str) -> Value:
    if name in ("__name__", "__qualname__"):
        return owner.definition.short
    located = owner.find(name)
    if located is None:
        return BoundMember(owner, name)
    return located[1]


def _object_attribute(
    interpreter: PythonInterpreter,
    owner: CallResult,
    name: str,
) -> Value:
    """Return an attribute of an object: assigned, of its class, the result of a property, or a bound method."""
    if name in owner.attributes:
        return owner.attributes[name]
    if owner.method or not isinstance(owner.on, ClassValue):
        return BoundMember(owner, name)
    located = owner.on.find(name)
    if located is None:
        return BoundMember(owner, name)
    if _SETTINGS_CLASSES & set(owner.type_names()):
        interpreter.has_read_settings = True
    value = located[1]
    if not isinstance(value, FunctionValue):
        return value
    method = BoundMember(owner, name, value)
    if _is_property(value):
        return interpreter.call(method, [], {}, ("", value.line))
    return method


def _is_property(function: FunctionValue) -> bool:
    for decoration in function.decorations:
        if isinstance(decoration.value, ExternalName) and decoration.value.name == "property":
            return True
    return False


def resolve_name(
    interpreter: PythonInterpreter,
    full_name: str,
    importer: str,
) -> Value:
    """Return the value of a dotted name: a module, a member of a module, or an external name."""
    parts = full_name.split(".")
    for end in range(len(parts), 0, -1):
        uri = interpreter.project.uri_of(".".join(parts[:end]), importer)
        if not uri:
            continue
        module = interpreter.import_module(uri)
        if module is None:
            continue
        members = parts[end:]
        value: Value = module
        for member in members:
            value = attribute_of(interpreter, value, member)
        is_undefined_yet = isinstance(value, UnknownValue) and bool(members) and not module.done
        if is_undefined_yet:
            return ExternalName(full_name)
        return value
    return ExternalName(full_name)
