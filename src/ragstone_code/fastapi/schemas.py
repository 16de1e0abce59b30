"""Which pydantic classes a FastAPI function takes in its body, and which it answers with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ragstone_code.graph_builder import GraphBuilder
from ragstone_code.program import Program
from ragstone_code.python.values import CallResult, ClassValue, FunctionValue, GenericType, Scope, Value
from ragstone_code.sqlalchemy.models import is_mapped

SCHEMAS: Final = frozenset(
    ("pydantic.BaseModel", "pydantic.main.BaseModel", "sqlmodel.SQLModel", "sqlmodel.main.SQLModel")
)


def schemas(program: Program, builder: GraphBuilder, served: tuple[str, FunctionValue, CallResult]) -> None:
    """Keep what a function takes and gives, in VALIDATED_BY and RETURNS."""
    key, function, call = served
    for parameter in function.definition.parameters:
        value = program.evaluate(parameter.annotation, function.scope)
        default = program.interpreter.evaluate(parameter.default, function.scope)
        if _depends(value) or _depends(default):
            continue
        for one in within(program, value, function.scope):
            line = parameter.annotation.line if parameter.annotation is not None else function.line
            target = builder.add_class(one, "model" if is_mapped(one) else "request")
            builder.add_link("VALIDATED_BY", (key, target), (function.uri, line), {"parameter": parameter.name})
    given = call.kwargs.get("response_model")
    place = (call.uri, call.line)
    if given is None:
        given = program.evaluate(function.definition.returned, function.scope)
        place = (function.uri, function.line)
    for one in within(program, given, function.scope):
        builder.add_link("RETURNS", (key, builder.add_class(one, "model" if is_mapped(one) else "resource")), place)


def _depends(value: Value) -> bool:
    """Return whether a parameter is given by a dependency."""
    if isinstance(value, GenericType):
        return any(_depends(one) for one in value.arguments)
    return isinstance(value, CallResult) and value.callee.rpartition(".")[2] in ("Depends", "Security")


def within(program: Program, value: Value, scope: Scope, depth: int = 0) -> Iterator[ClassValue]:
    """Yield the schemas in a type, whatever they are wrapped in."""
    found = program.resolve_quoted(value, scope) if isinstance(value, str) else value
    if isinstance(found, ClassValue) and SCHEMAS & set(found.type_names()):
        yield found
    elif isinstance(found, GenericType) and depth < 6:
        for one in (found.origin, *found.arguments):
            yield from within(program, one, scope, depth + 1)
