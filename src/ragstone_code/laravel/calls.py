"""Calls on a migration's blueprint, and the modifiers that the rest of a column's chain sets."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, Final

from ragstone.types.graph import Json
from ragstone_code.laravel.tables import MigrationLine


@dataclass(frozen=True, slots=True)
class MethodCall:
    """A call with its arguments; an argument is a plain Python value, or another object if it is not known."""

    name: str
    arguments: tuple[object, ...]
    named: Mapping[str, object]
    at: MigrationLine

    def argument(self, index: int, name: str = "") -> object:
        """Return an argument by position or name, or None."""
        if index < len(self.arguments):
            return self.arguments[index]
        return self.named.get(name)

    def text(self, index: int, name: str = "") -> str | None:
        """Return an argument that is a non-empty string, or None."""
        value = self.argument(index, name)
        return value if isinstance(value, str) and value else None


MethodChain = tuple[MethodCall, ...]


@cache
def blueprint_methods() -> dict[str, Any]:
    """Return the data about a blueprint's methods; the names of methods are in lower case."""
    text = resources.files(__package__).joinpath("blueprint.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    for part in ("columns", "several", "morphs"):
        data[part] = {name.lower(): value for name, value in data[part].items()}
    data["no column"] = {name.lower() for name in data["no column"]}
    return data


def string_values(value: object) -> tuple[str, ...]:
    """Return a string, or the strings of a list or a mapping, as a tuple."""
    if isinstance(value, str):
        return (value,)
    elements: Iterable[object] = ()
    if isinstance(value, Mapping):
        elements = value.values()
    elif isinstance(value, (list, tuple)):
        elements = value
    return tuple(element for element in elements if isinstance(element, str))


def to_json(value: object) -> Json:
    """Return a value for the attributes of a node; an unknown value becomes its display text or name."""
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, Mapping):
        keys = list(value)
        if keys == list(range(len(keys))):
            return [to_json(element) for element in value.values()]
        return {str(key): to_json(element) for key, element in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(element) for element in value]
    return str(getattr(value, "display", "") or getattr(value, "name", "") or "?")


_INDEX_METHODS: Final = {
    "primary": "primary",
    "unique": "unique",
    "index": "index",
    "fulltext": "fulltext",
    "spatialindex": "spatialIndex",
    "vectorindex": "vectorIndex",
}
"""Methods that add an index, and the kind of the index."""


@dataclass(slots=True)
class ColumnModifiers:
    """The options that the calls after a column's definition set."""

    nullable: bool
    more: dict[str, Json]
    sets_nullable: bool = False
    """Whether a call set `nullable`."""
    changes: bool = False
    indexes: list[tuple[str, str | None]] = field(default_factory=list)

    def apply(self, call: MethodCall) -> None:
        """Apply one call of the chain."""
        name = call.name.lower()
        if name == "nullable":
            self.nullable = call.argument(0, "value") is not False
            self.sets_nullable = True
        elif name == "default":
            self.more["default"] = to_json(call.argument(0, "value"))
        elif name == "usecurrent":
            self.more["default"] = "CURRENT_TIMESTAMP"
        elif name == "change":
            self.changes = True
        elif name == "unsigned":
            self.more["unsigned"] = True
        elif name == "autoincrement":
            self.more["auto_increment"] = True
        elif name == "comment":
            self.more["comment"] = to_json(call.argument(0))
        elif name in ("storedas", "virtualas"):
            self.more["generated"] = to_json(call.argument(0))
        elif name in _INDEX_METHODS and call.argument(0) is not False:
            self.indexes.append((_INDEX_METHODS[name], call.text(0, "indexName")))
