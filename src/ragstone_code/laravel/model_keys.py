"""Table and primary key of a model, for the columns that refer to it."""

from __future__ import annotations

from dataclasses import dataclass

from ragstone_code.laravel import inflection
from ragstone_code.laravel.calls import MethodCall


@dataclass(frozen=True, slots=True)
class ModelKey:
    """The table and the primary key of a model, for foreign keys that name the model."""

    table: str
    key: str = "id"
    key_type: str = "int"
    ulid: bool = False


def foreign_column_name(call: MethodCall, model_key: ModelKey | None) -> str | None:
    """Return the name of the column that refers to the model in a call's first argument."""
    model = call.argument(0, "model")
    name = model if isinstance(model, str) else getattr(model, "name", None)
    if not isinstance(name, str):
        return None
    key = model_key.key if model_key else "id"
    return inflection.foreign_key_name(name, key)
