"""Validated fields of a request: from the rules of a form request, and from validation inside a method."""

from __future__ import annotations

from collections.abc import Iterator

from ragstone.types import Json
from ragstone_code import program_tree
from ragstone_code.laravel.app import App, AppClass
from ragstone_code.laravel.code_bodies import CodeBody
from ragstone_code.laravel.syntax import (
    SyntaxNode,
    argument_at,
    array_entries,
    called_name,
    receiver,
    text_of,
    walk,
)

VALIDATION_METHODS = frozenset(("validate", "validateWithBag", "make"))


def read_form_request(app: App, request: AppClass) -> dict[str, Json]:
    """Return the fields that a form request validates and the line of its `rules` method."""
    method = app.find_method(request.name, "rules")
    if method is None:
        return {}
    declaring_class, function = method
    fields = dict.fromkeys(_array_keys(function.body.statements))
    attributes: dict[str, Json] = {
        "fields": list(fields),
        "rules_line": function.line,
    }
    if declaring_class.uri != request.uri:
        attributes["rules_uri"] = declaring_class.uri
    return attributes


def find_inline_validation(body: CodeBody) -> tuple[tuple[str, ...], int]:
    """Return the fields that a method validates itself, and the line of the first validation; 0 if there is none."""
    fields: list[str] = []
    first_line = 0
    for call, _ in body.calls:
        if not _is_validation(call):
            continue
        rules = _rules_argument(call)
        if rules is not None:
            for entry in array_entries(rules):
                name = text_of(entry.key)
                if name:
                    fields.append(name)
            first_line = first_line or call.line
        elif receiver(call) is not None and called_name(call) != "make":
            first_line = first_line or call.line
    return tuple(dict.fromkeys(fields)), first_line


def _is_validation(call: program_tree.Call) -> bool:
    """Return whether a call validates: `validate`, `validateWithBag`, or `Validator::make`."""
    name = called_name(call)
    if name not in VALIDATION_METHODS:
        return False
    if name != "make":
        return True
    called_on = receiver(call)
    return (
        isinstance(called_on, program_tree.ClassName)
        and called_on.name.rpartition("\\")[2] == "Validator"
    )


def _rules_argument(call: program_tree.Call) -> program_tree.Collected | None:
    """Return the array of rules: the second array of `Validator::make`, otherwise the first array."""
    arrays: list[program_tree.Collected] = []
    for position in (0, 1):
        argument = argument_at(call, position)
        if isinstance(argument, program_tree.Collected):
            arrays.append(argument)
    if not arrays:
        return None
    return arrays[-1] if called_name(call) == "make" else arrays[0]


def _array_keys(statements: tuple[SyntaxNode, ...]) -> Iterator[str]:
    """Yield the keys of the outermost arrays in a body, and of values that are assigned to `$array['key']`."""
    inner_parts: set[int] = set()
    for part, _ in walk(statements):
        if id(part) in inner_parts:
            inner_parts.update(_part_ids(part))
            continue
        for key, value in _keyed_values(part):
            name = text_of(key)
            if name:
                yield name
                inner_parts.update(_part_ids(value))


def _keyed_values(part: SyntaxNode) -> Iterator[tuple[SyntaxNode, SyntaxNode]]:
    """Yield the keys of an array with their values, or the key of an assignment to an array entry."""
    if isinstance(part, program_tree.Collected):
        for entry in part.entries:
            if entry.key is not None:
                yield entry.key, entry.value
    elif isinstance(part, program_tree.Assigned) and isinstance(
        part.target, program_tree.Subscript
    ):
        if part.target.key is not None:
            yield part.target.key, part.value


def _part_ids(part: SyntaxNode) -> set[int]:
    """Return the identities of a part and of everything in it."""
    return {id(inner) for inner, _ in walk((part,))}
