"""Finds whether the code of a function turns requests away: it answers 401 or 403."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ragstone_code import program_tree
from ragstone_code.python.values import ClassValue, FunctionValue
from ragstone_code.python_project import own_methods, walk_tree

_STATUS_NAME: Final = re.compile(r"(?:^|_)(40[13])(?:_|$)")
"""`HTTP_401_UNAUTHORIZED`"""
_STATUS_ARGUMENTS: Final = frozenset({"status", "status_code", "code"})
_EXCEPTIONS: Final = {
    "NotAuthenticated": 401,
    "AuthenticationFailed": 401,
    "Unauthorized": 401,
    "UNAUTHORIZED": 401,
    "PermissionDenied": 403,
    "Forbidden": 403,
    "FORBIDDEN": 403,
}
"""Names of exceptions and statuses of Django, REST framework, Werkzeug and http.HTTPStatus."""


def rejected_statuses(value: FunctionValue | ClassValue) -> list[int]:
    """Return which of 401 and 403 the code of a function, or of the methods of a class, answers with."""
    functions = [value] if isinstance(value, FunctionValue) else list(own_methods(value))
    statuses: set[int] = set()
    for function in functions:
        for part in walk_tree(function.definition.body.statements):
            statuses.update(_statuses_of(part))
    return sorted(statuses)


def _statuses_of(part: object) -> Iterator[int]:
    """Yield the statuses of a `raise`, of `abort(401)`, and of a response with a status."""
    if isinstance(part, program_tree.Leave) and part.raised is not None:
        yield from _named_statuses(part.raised)
    elif isinstance(part, program_tree.Call):
        is_abort = _name_of(part.function) == "abort"
        for argument in part.arguments:
            if is_abort or argument.name in _STATUS_ARGUMENTS:
                yield from _named_statuses(argument.value)


def _named_statuses(expression: program_tree.Expr) -> Iterator[int]:
    """Yield the statuses that are written anywhere in an expression."""
    for part in walk_tree(expression):
        if isinstance(part, program_tree.Literal) and part.value in (401, 403):
            yield int(str(part.value))
        name = _name_of(part)
        if name in _EXCEPTIONS:
            yield _EXCEPTIONS[name]
        match = _STATUS_NAME.search(name)
        if match:
            yield int(match[1])


def _name_of(expression: object) -> str:
    """Return the last part of a dotted name; empty if an expression is none."""
    if isinstance(expression, program_tree.Variable | program_tree.Member):
        return str(expression.name)
    return ""
