"""Pydantic schemas of FastAPI handlers: the schemas of request bodies and of responses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ragstone_code.graph_builder import GraphBuilder
from ragstone_code.python.values import (
    CallResult,
    ClassValue,
    FunctionValue,
    GenericType,
    Scope,
    Value,
)
from ragstone_code.python_project import Program
from ragstone_code.sqlalchemy.models import is_mapped

SCHEMA_BASES: Final = frozenset(
    (
        "pydantic.BaseModel",
        "pydantic.main.BaseModel",
        "sqlmodel.SQLModel",
        "sqlmodel.main.SQLModel",
    )
)
MAX_DEPTH: Final = 6
"""How deep generic types may be nested."""


def add_schemas(
    program: Program,
    builder: GraphBuilder,
    key: str,
    function: FunctionValue,
    call: CallResult,
) -> None:
    """Add links from a handler to the schemas that it accepts (VALIDATED_BY) and returns (RETURNS)."""
    for parameter in function.definition.parameters:
        annotation = program.evaluate(parameter.annotation, function.scope)
        default = program.value_of(parameter.default, function.scope)
        if _is_dependency(annotation) or _is_dependency(default):
            continue
        line = parameter.annotation.line if parameter.annotation is not None else function.line
        for schema in find_schemas(program, annotation, function.scope):
            target = builder.add_class(schema, "model" if is_mapped(schema) else "request")
            attributes = {"parameter": parameter.name}
            builder.add_link(
                "VALIDATED_BY",
                (key, target),
                (function.uri, line),
                attributes,
            )
    response = call.kwargs.get("response_model")
    place = (call.uri, call.line)
    if response is None:
        response = program.evaluate(function.definition.returned, function.scope)
        place = (function.uri, function.line)
    for schema in find_schemas(program, response, function.scope):
        target = builder.add_class(schema, "model" if is_mapped(schema) else "resource")
        builder.add_link("RETURNS", (key, target), place)


def _is_dependency(value: Value) -> bool:
    """Return whether a default or an annotation is `Depends(…)` or `Security(…)`."""
    if isinstance(value, GenericType):
        return any(_is_dependency(argument) for argument in value.arguments)
    return isinstance(value, CallResult) and value.callee.rpartition(".")[2] in (
        "Depends",
        "Security",
    )


def find_schemas(
    program: Program,
    value: Value,
    scope: Scope,
    depth: int = 0,
) -> Iterator[ClassValue]:
    """Yield the schemas in a type, also inside of generic types."""
    resolved = program.resolve_quoted(value, scope) if isinstance(value, str) else value
    if isinstance(resolved, ClassValue) and SCHEMA_BASES & set(resolved.type_names()):
        yield resolved
    elif isinstance(resolved, GenericType) and depth < MAX_DEPTH:
        for inner in (resolved.origin, *resolved.arguments):
            yield from find_schemas(program, inner, scope, depth + 1)
