"""Evaluation of Python expressions: one function per kind of syntax node."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ragstone_code import program_tree
from ragstone_code.python.assignment import assign, evaluate_assignment
from ragstone_code.python.attributes import defined_later
from ragstone_code.python.calls import evaluate_call
from ragstone_code.python.names import BUILTIN
from ragstone_code.python.native_functions import is_plain, join_texts
from ragstone_code.python.operations import evaluate_choice, evaluate_operation
from ragstone_code.python.values import (
    BoundMember,
    ClassValue,
    ExternalName,
    FunctionValue,
    GenericType,
    ModuleValue,
    Scope,
    UnknownValue,
    Value,
    parts_of,
    truth_of,
)

if TYPE_CHECKING:
    from ragstone_code.python.interpreter import PythonInterpreter

_MAX_ITEMS: Final = 2_000
"""Iterations of one loop in a comprehension."""


def evaluate(
    interpreter: PythonInterpreter,
    expression: program_tree.Expr | None,
    scope: Scope,
) -> Value:
    """Return the value of an expression."""
    if expression is None:
        return None
    if not interpreter.budget.spend():
        return UnknownValue("too much to follow", expression.line)
    evaluate_kind = _EXPRESSIONS.get(type(expression))
    if evaluate_kind is None:
        return UnknownValue(
            f"{type(expression).__name__} is not followed",
            expression.line,
        )
    value = evaluate_kind(interpreter, expression, scope)
    if type(expression) in _CREATING and not interpreter.budget.spend_on(value, parts_of):
        return UnknownValue("too much to follow", expression.line)
    return value


# ── literals and names ────────────────────────────────────────────────────────────────────────────


def _evaluate_literal(
    _: PythonInterpreter,
    literal: program_tree.Literal,
    scope: Scope,
) -> Value:
    return literal.value


def _evaluate_opaque(
    _: PythonInterpreter,
    expression: program_tree.Opaque,
    scope: Scope,
) -> Value:
    return UnknownValue(f"{expression.reason}: {expression.text[:60]}", expression.line)


def _evaluate_variable(
    interpreter: PythonInterpreter,
    variable: program_tree.Variable,
    scope: Scope,
) -> Value:
    is_bound, value = scope.find(variable.name)
    if is_bound:
        return value
    if variable.name in BUILTIN:
        return ExternalName(variable.name)
    unknown = UnknownValue(f"{variable.name} is not known here", variable.line)
    return defined_later(interpreter, scope.module, variable.name) or unknown


def _evaluate_class_name(
    interpreter: PythonInterpreter,
    expression: program_tree.ClassName,
    scope: Scope,
) -> Value:
    return interpreter.resolve(expression.name, scope.module.uri)


def _evaluate_star_import(
    interpreter: PythonInterpreter,
    expression: program_tree.Included,
    scope: Scope,
) -> Value:
    """Bind the public names of a module in the scope."""
    if not isinstance(expression.path, program_tree.Literal):
        return None
    uri = interpreter.project.uri_of(str(expression.path.value), scope.module.uri)
    if not uri:
        return None
    module = interpreter.import_module(uri)
    if module is not None:
        for name in _public_names(module):
            scope.names[name] = module.names[name]
    return None


def _public_names(module: ModuleValue) -> list[str]:
    """Return the names that `import *` binds: those in `__all__`, else those without an underscore."""
    exported = module.names.get("__all__")
    if isinstance(exported, list | tuple) and all(isinstance(name, str) for name in exported):
        return [name for name in module.names if name in exported]
    return [name for name in module.names if not name.startswith("_")]


def _evaluate_text(
    interpreter: PythonInterpreter,
    text: program_tree.Text,
    scope: Scope,
) -> Value:
    parts = [interpreter.evaluate(part, scope) for part in text.parts]
    for part in parts:
        if isinstance(part, UnknownValue):
            return part
    if not all(is_plain(part) for part in parts):
        return UnknownValue("a text with what is not known in it")
    return join_texts([str(part) for part in parts])


def _evaluate_closure(
    _: PythonInterpreter,
    closure: program_tree.Closure,
    scope: Scope,
) -> Value:
    return FunctionValue(
        closure.function,
        f"{scope.module.name}.<lambda>",
        scope.module.uri,
        scope,
    )


# ── collections ───────────────────────────────────────────────────────────────────────────────────


def _evaluate_collection(
    interpreter: PythonInterpreter,
    collection: program_tree.Collected,
    scope: Scope,
) -> Value:
    if collection.kind == "dict":
        return _evaluate_dictionary(interpreter, collection, scope)
    items: list[Value] = []
    for entry in collection.entries:
        value = interpreter.evaluate(entry.value, scope)
        if entry.spread and isinstance(value, list | tuple):
            items.extend(value)
        else:
            items.append(value)
    if collection.kind == "tuple":
        return tuple(items)
    return items


def _evaluate_dictionary(
    interpreter: PythonInterpreter,
    collection: program_tree.Collected,
    scope: Scope,
) -> Value:
    """Return a dictionary; entries with unknown keys are left out."""
    dictionary: dict[Value, Value] = {}
    for entry in collection.entries:
        value = interpreter.evaluate(entry.value, scope)
        if entry.spread:
            if isinstance(value, dict):
                dictionary.update(value)
            continue
        key = interpreter.evaluate(entry.key, scope)
        if is_plain(key) or isinstance(key, ExternalName | ClassValue | FunctionValue):
            dictionary[key] = value
    return dictionary


def _evaluate_comprehension(
    interpreter: PythonInterpreter,
    comprehension: program_tree.Comprehended,
    scope: Scope,
) -> Value:
    pairs: list[tuple[Value, Value]] = []
    inner = Scope(scope.module, scope)
    if not _run_comprehension_loop(interpreter, comprehension, 0, inner, pairs):
        return UnknownValue("a list made of what is not known", comprehension.line)
    if comprehension.kind == "dict":
        return dict(pairs)
    return [value for _, value in pairs]


def _run_comprehension_loop(
    interpreter: PythonInterpreter,
    comprehension: program_tree.Comprehended,
    level: int,
    scope: Scope,
    pairs: list[tuple[Value, Value]],
) -> bool:
    """Add the (key, value) pairs of the loops from a level on; return False if an iterable is unknown."""
    if level == len(comprehension.loops):
        key = interpreter.evaluate(comprehension.element.key, scope)
        if not is_plain(key):
            key = None
        pairs.append((key, interpreter.evaluate(comprehension.element.value, scope)))
        return True
    target, iterable, tests = comprehension.loops[level]
    items = interpreter.evaluate(iterable, scope)
    if not isinstance(items, list | tuple | dict):
        return False
    for item in list(items)[:_MAX_ITEMS]:
        if interpreter.budget.is_spent:
            return False
        assign(interpreter, target, item, scope)
        if any(truth_of(interpreter.evaluate(test, scope)) is False for test in tests):
            continue
        if not _run_comprehension_loop(
            interpreter,
            comprehension,
            level + 1,
            scope,
            pairs,
        ):
            return False
    return True


# ── members and subscripts ────────────────────────────────────────────────────────────────────────


def _evaluate_member(
    interpreter: PythonInterpreter,
    member: program_tree.Member,
    scope: Scope,
) -> Value:
    owner = interpreter.evaluate(member.of, scope)
    return interpreter.attribute(owner, str(member.name))


def _evaluate_subscript(
    interpreter: PythonInterpreter,
    subscript: program_tree.Subscript,
    scope: Scope,
) -> Value:
    container = interpreter.evaluate(subscript.of, scope)
    key = interpreter.evaluate(subscript.key, scope)
    if isinstance(container, UnknownValue):
        return container
    if (
        isinstance(container, list | tuple | str)
        and isinstance(key, int)
        and -len(container) <= key < len(container)
    ):
        return container[key]
    if isinstance(container, dict) and is_plain(key):
        return container.get(key, UnknownValue("no such key", subscript.line))
    if isinstance(container, ExternalName | ClassValue | BoundMember | GenericType):
        if isinstance(key, tuple):
            return GenericType(container, key)
        return GenericType(container, (key,))
    return UnknownValue("a key of what is not known", subscript.line)


_EXPRESSIONS: Final[dict[type, Callable[[PythonInterpreter, Any, Scope], Value]]] = {
    program_tree.Literal: _evaluate_literal,
    program_tree.Opaque: _evaluate_opaque,
    program_tree.Variable: _evaluate_variable,
    program_tree.ClassName: _evaluate_class_name,
    program_tree.Included: _evaluate_star_import,
    program_tree.Text: _evaluate_text,
    program_tree.Closure: _evaluate_closure,
    program_tree.Collected: _evaluate_collection,
    program_tree.Comprehended: _evaluate_comprehension,
    program_tree.Member: _evaluate_member,
    program_tree.Subscript: _evaluate_subscript,
    program_tree.Call: evaluate_call,
    program_tree.Operation: evaluate_operation,
    program_tree.Choice: evaluate_choice,
    program_tree.Assigned: evaluate_assignment,
}
_CREATING: Final = (
    program_tree.Text,
    program_tree.Collected,
    program_tree.Comprehended,
    program_tree.Call,
    program_tree.Operation,
)
"""Expressions that can create a value that is larger than its parts."""
