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
    if family == "c":
        definitions = _prefer_bodies(definitions)
    types = [each for each in definitions if isinstance(each, TypeEntity)]
    if family in SPLIT_TYPE_FAMILIES and len({each.full_name for each in types}) == 1:
        return types[0]
    keys = {each.key for each in definitions}
    if len(keys) == 1:
        return definitions[0]
    kind = "types" if types else "functions"
    return NoMatch(f"several {kind} are named {name}")


def is_method(definition: Definition) -> bool:
    """Return whether a definition is a method, not a type or a function."""
    return isinstance(definition, FunctionEntity) and definition.is_method


def _prefer_bodies(definitions: Sequence[Definition]) -> Sequence[Definition]:
    """Return the definitions without prototypes, if any remain."""
    return [each for each in definitions if not _is_prototype(each)] or definitions


def _is_prototype(definition: Definition) -> bool:
    """Return whether a function is only declared, in a header."""
    if not isinstance(definition, FunctionEntity):
        return False
    symbol = definition.symbol
    return definition.file.uri.endswith(_HEADERS) and symbol.line == symbol.line_end
