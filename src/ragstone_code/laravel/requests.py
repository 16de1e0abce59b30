"""What a request must bring: the fields of a form request's rules and of rules that are written in place."""

from __future__ import annotations

from collections.abc import Iterator

from ragstone.code import tree
from ragstone.types import Json
from ragstone_code.laravel.app import App, AppClass
from ragstone_code.laravel.code_bodies import CodeBody
from ragstone_code.laravel.syntax import SyntaxNode, argument_at, array_entries, called_name, receiver, text_of, walk

VALIDATING = frozenset(("validate", "validateWithBag", "make"))


def read_form_request(app: App, known: AppClass) -> dict[str, Json]:
    """Return the fields a form request checks, with the line of its rules."""
    found = app.find_method(known.name, "rules")
    if found is None:
        return {}
    fields = list(dict.fromkeys(_keys(found[1].body.statements)))
    lines: dict[str, Json] = {"fields": list(fields), "rules_line": found[1].line}
    if found[0].uri != known.uri:
        lines["rules_uri"] = found[0].uri
    return lines


def find_inline_validation(scope: CodeBody) -> tuple[tuple[str, ...], int]:
    """Return the fields that a method validates by itself, and the line of the first such call; 0 for none."""
    fields: list[str] = []
    line = 0
    for call, _ in scope.calls:
        if called_name(call) not in VALIDATING:
            continue
        at = receiver(call)
        made = called_name(call) == "make"
        if made and not (isinstance(at, tree.ClassName) and at.name.rpartition("\\")[2] == "Validator"):
            continue
        arrays = [value for place in (0, 1) if isinstance(value := argument_at(call, place), tree.Collected)]
        rules = arrays[-1] if made and len(arrays) > 1 else next(iter(arrays), None)
        if rules is not None:
            fields += [name for entry in array_entries(rules) if (name := text_of(entry.key))]
            line = line or call.line
        elif at is not None and not made:
            line = line or call.line
    return tuple(dict.fromkeys(fields)), line


def _keys(statements: tuple[SyntaxNode, ...]) -> Iterator[str]:
    """Yield the outermost keys of the arrays in a body, and of what is put into one by its name."""
    waiting = list(reversed(statements))
    covered: set[int] = set()
    for part, _ in walk(reversed(waiting)):
        if id(part) in covered:
            covered.update(id(below) for below, _ in walk((part,)))
            continue
        if isinstance(part, tree.Collected):
            for entry in part.entries:
                name = text_of(entry.key) if entry.key is not None else None
                if name:
                    yield name
                    covered.update(id(below) for below, _ in walk((entry.value,)))
        elif isinstance(part, tree.Assigned) and isinstance(part.target, tree.Subscript):
            name = text_of(part.target.key) if part.target.key is not None else None
            if name:
                yield name
                covered.update(id(below) for below, _ in walk((part.value,)))
