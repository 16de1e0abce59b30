"""Calls as a blueprint is given them, and what the chain of a column sets; its methods are data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, Final

from ragstone.types.graph import Json
from ragstone_code.laravel.tables import MigrationLine


@dataclass(frozen=True, slots=True)
class MethodCall:
    """A call with what it was given; a value that is not known is none of Python's plain ones."""

    name: str
    arguments: tuple[object, ...]
    named: Mapping[str, object]
    at: MigrationLine

    def argument(self, index: int, name: str = "") -> object:
        """Return an argument by its place or name, or None."""
        return self.arguments[index] if index < len(self.arguments) else self.named.get(name)

    def text(self, index: int, name: str = "") -> str | None:
        """Return an argument that is a text."""
        value = self.argument(index, name)
        return value if isinstance(value, str) and value else None


MethodChain = tuple[MethodCall, ...]


@cache
def blueprint_methods() -> dict[str, Any]:
    """Return the methods of a blueprint as data, columns by their names in lower case."""
    data: dict[str, Any] = json.loads(
        resources.files(__package__).joinpath("blueprint.json").read_text(encoding="utf-8")
    )
    for part in ("columns", "several", "morphs"):
        data[part] = {name.lower(): value for name, value in data[part].items()}
    data["no column"] = {name.lower() for name in data["no column"]}
    return data


def string_values(value: object) -> tuple[str, ...]:
    """Return the texts that a value is or holds."""
    if isinstance(value, str):
        return (value,)
    held = value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else ()
    return tuple(one for one in held if isinstance(one, str))


def to_json(value: object) -> Json:
    """Return a value as it may stand in attributes; what is not known as it may be shown."""
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, Mapping):
        keys = list(value)
        if keys == list(range(len(keys))):
            return [to_json(one) for one in value.values()]
        return {str(key): to_json(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(one) for one in value]
    return str(getattr(value, "display", "") or getattr(value, "name", "") or "?")


_INDEX_CALLS: Final = {
    "primary": "primary",
    "unique": "unique",
    "index": "index",
    "fulltext": "fulltext",
    "spatialindex": "spatialIndex",
    "vectorindex": "vectorIndex",
}


@dataclass(slots=True)
class ColumnModifiers:
    """What the rest of a column's chain sets."""

    nullable: bool
    more: dict[str, Json]
    nullable_said: bool = False
    changes: bool = False
    indexes: list[tuple[str, str | None]] = field(default_factory=list)

    def take(self, call: MethodCall) -> None:
        """Read one call."""
        name = call.name.lower()
        if name == "nullable":
            self.nullable, self.nullable_said = call.argument(0, "value") is not False, True
        elif name == "default":
            self.more["default"] = to_json(call.argument(0, "value"))
        elif name == "usecurrent":
            self.more["default"] = "CURRENT_TIMESTAMP"
        elif name == "change":
            self.changes = True
        elif name in ("unsigned", "autoincrement"):
            self.more["unsigned" if name == "unsigned" else "auto_increment"] = True
        elif name in ("comment", "storedas", "virtualas"):
            self.more["comment" if name == "comment" else "generated"] = to_json(call.argument(0))
        elif name in _INDEX_CALLS and call.argument(0) is not False:
            self.indexes.append((_INDEX_CALLS[name], call.text(0, "indexName")))
