"""Chooses among several definitions with the same name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ragstone.code.resolve.entities import (
    OUTSIDE,
    SPLIT_TYPE_FAMILIES,
    Definition,
    FunctionEntity,
    NoMatch,
    TypeEntity,
)

_HEADERS: Final = (".h", ".hpp", ".hh", ".hxx")


def choose_definition(
    definitions: Sequence[Definition], name: str, family: str
) -> Definition | NoMatch:
    """Return the only definition; `NoMatch` if there is none, or if the source does not decide between several."""
    if not definitions:
        return OUTSIDE
    if family == "c" and len(definitions) > 1:
        with_body = [each for each in definitions if not _is_prototype(each)]
        definitions = with_body or definitions
    types = [each for each in definitions if isinstance(each, TypeEntity)]
    full_names = {each.full_name for each in types}
    if family in SPLIT_TYPE_FAMILIES and len(full_names) == 1:
        return types[0]
    if len({each.key for each in definitions}) > 1:
        kind = "types" if types else "functions"
        return NoMatch(f"several {kind} are named {name}")
    return definitions[0]


def is_method(definition: Definition) -> bool:
    """Return whether a definition is a method, not a type or a function."""
    return isinstance(definition, FunctionEntity) and definition.is_method


def _is_prototype(definition: Definition) -> bool:
    """Return whether a function is only declared, in a header."""
    if not isinstance(definition, FunctionEntity):
        return False
    symbol = definition.symbol
    return definition.file.uri.endswith(_HEADERS) and symbol.line == symbol.line_end
