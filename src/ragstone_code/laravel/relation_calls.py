"""Calls of Eloquent's relation methods, such as `hasMany(Song::class)`: related model, pivot table and keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from ragstone.types.graph import Json
from ragstone_code.laravel import inflection
from ragstone_code.laravel.calls import string_values, to_json
from ragstone_code.laravel.chains import CallChain, ChainedCall
from ragstone_code.laravel.eloquent import EloquentModel, EloquentModels, eloquent_data
from ragstone_code.laravel.literals import NOT_WRITTEN, ClassContext
from ragstone_code.program_tree import Expr

_PHP_NAMES: Final = {
    "foreign_key": "foreignKey",
    "local_key": "localKey",
    "owner_key": "ownerKey",
    "first_key": "firstKey",
    "second_key": "secondKey",
    "second_local_key": "secondLocalKey",
    "foreign_pivot_key": "foreignPivotKey",
    "related_pivot_key": "relatedPivotKey",
    "parent_key": "parentKey",
    "related_key": "relatedKey",
}
_SINGLE_TYPES: Final = {
    "hasMany": "hasOne",
    "morphMany": "morphOne",
    "hasManyThrough": "hasOneThrough",
}
_PIVOT_TYPES: Final = ("belongsToMany", "morphToMany", "morphedByMany")


@dataclass(frozen=True, slots=True)
class ModelRelation:
    """One relation of a model."""

    name: str
    type: str
    related: str | None
    uri: str
    line: int
    line_end: int
    declared_in: str
    used: tuple[str, int]
    """File and line of the `use` statement, if a trait declares the relation."""
    pivot: str | None = None
    through: str | None = None
    details: dict[str, Json] = field(default_factory=dict)
    unknown: str = ""
    """The reason why the related model is unknown."""


@dataclass(frozen=True, slots=True)
class RelationCallReader:
    """Reads the calls that build a relation."""

    models: EloquentModels

    def read_call(
        self,
        model: EloquentModel,
        empty: ModelRelation,
        call: ChainedCall,
        context: ClassContext,
    ) -> ModelRelation:
        """Return the relation that a call such as `hasMany(Song::class)` builds."""
        kind, parameters = eloquent_data()["relations"][call.name.lower()]
        arguments: dict[str, Expr] = {}
        for index, name in enumerate(parameters):
            argument = call.argument(index, _PHP_NAMES.get(name, name))
            if argument is not None:
                arguments[name] = argument
        values = {
            name: self.models.literals.evaluate(argument, context)
            for name, argument in arguments.items()
        }
        related, reason = self._resolve_class(values.pop("related", None), kind)
        through, through_reason = self._resolve_class(values.pop("through", None), "")
        details: dict[str, Json] = {}
        for name, value in values.items():
            if value is not NOT_WRITTEN and value is not None:
                details[name] = to_json(value)
        table = details.pop("table", None)
        relation = replace(
            empty,
            type=kind,
            related=related,
            through=through,
            details=details,
            unknown=reason or through_reason,
        )
        pivot = self._pivot_table(
            model,
            relation,
            table,
            arguments.get("table"),
        )
        return self._add_foreign_key(model, replace(relation, pivot=pivot))

    def _resolve_class(self, value: object, kind: str) -> tuple[str | None, str]:
        """Return a class name, and the reason if it is unknown."""
        if isinstance(value, list):
            value = next((item for item in value if isinstance(item, str)), None)
        if isinstance(value, str):
            name = value.lstrip("\\")
            part = self.models.hierarchy.find(name)
            return (part.definition.name if part else name), ""
        is_required = kind not in ("", "morphTo")
        if value is NOT_WRITTEN or (value is None and is_required):
            return None, "the related model is not written down"
        return None, ""

    def _pivot_table(
        self,
        model: EloquentModel,
        relation: ModelRelation,
        table: Json,
        argument: Expr | None,
    ) -> str | None:
        """Return the pivot table: the named table, the table of a pivot model, or the table by convention."""
        if relation.type not in _PIVOT_TYPES:
            return None
        if isinstance(table, str):
            pivot_model = self.models.find(table) if "\\" in table else None
            return pivot_model.table if pivot_model else table
        if argument is not None and table is None and not self._is_null(argument):
            return None
        return _conventional_pivot(model, relation)

    def _is_null(self, argument: Expr) -> bool:
        return self.models.literals.value(argument, ClassContext()) is None

    def _add_foreign_key(self, model: EloquentModel, relation: ModelRelation) -> ModelRelation:
        """Return a relation with the foreign key or morph name that convention gives it."""
        if relation.type in ("hasOne", "hasMany"):
            key = inflection.foreign_key_name(model.name, self.models.key_name(model))
        elif relation.type == "belongsTo" and relation.related:
            related = self.models.find(relation.related)
            related_key = self.models.key_name(related) if related else "id"
            key = f"{inflection.snake(relation.name)}_{related_key}"
        elif relation.type == "morphTo":
            name = relation.details.get("name") or inflection.snake(relation.name)
            return replace(relation, details={"name": name, **relation.details})
        else:
            return relation
        return replace(relation, details={"foreign_key": key, **relation.details})

    def apply_modifiers(
        self,
        relation: ModelRelation,
        chain: CallChain,
        context: ClassContext,
    ) -> ModelRelation:
        """Return a relation with the effect of the calls that follow in its chain, such as `withPivot`."""
        details = dict(relation.details)
        kind = relation.type
        for call in chain:
            name = call.name.lower()
            if name == "one":
                kind = _SINGLE_TYPES.get(kind, kind)
            elif name in ("ofmany", "latestofmany", "oldestofmany"):
                details["of_many"] = call.name
            elif name in ("using", "as", "withpivot"):
                values = [
                    self.models.literals.value(argument.value, context)
                    for argument in call.arguments
                ]
                if name == "withpivot":
                    details["with_pivot"] = list(_pivot_columns(values))
                elif values and isinstance(values[0], str):
                    details[name] = values[0]
        return replace(relation, type=kind, details=details)


def _pivot_columns(values: list[object]) -> Iterator[str]:
    """Yield the column names in the arguments of `withPivot`: strings and lists of strings."""
    for value in values:
        if isinstance(value, str | list):
            yield from string_values(value)


def _conventional_pivot(model: EloquentModel, relation: ModelRelation) -> str | None:
    """Return the pivot table of a relation by convention."""
    if relation.type == "belongsToMany":
        if not relation.related:
            return None
        return inflection.joining_table_name(model.name, relation.related)
    name = relation.details.get("name")
    if not isinstance(name, str):
        return None
    head, underscore, last = name.rpartition("_")
    return f"{head}{underscore}{inflection.plural(last)}"
