"""Graph of SQLAlchemy models: their tables and their relations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ragstone.types import Confidence, Json, Node
from ragstone_code.graph_builder import GraphBuilder
from ragstone_code.program_tree import Return
from ragstone_code.python.values import (
    CallResult,
    ClassValue,
    FunctionValue,
    GenericType,
    Value,
    full_name,
)
from ragstone_code.python_project import Program, walk_tree
from ragstone_code.sqlalchemy.alembic import column_from_call
from ragstone_code.sqlalchemy.models import RELATIONS, find_columns, find_table, is_mapped
from ragstone_code.tables import DatabaseSchema, SchemaColumn, SchemaTable

COLLECTION_TYPES: Final = (
    "list",
    "set",
    "List",
    "Set",
    "Sequence",
    "Collection",
    "WriteOnlyMapped",
    "DynamicMapped",
)
MAX_DEPTH: Final = 5
"""How deep generic types may be nested."""


@dataclass
class ModelGraphReader:
    """Adds the models of a program, their relations and their tables to a graph and a schema."""

    program: Program
    builder: GraphBuilder
    _tables: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Table and source of each model, by the model's full name."""
    _by_short_name: dict[str, ClassValue] = field(default_factory=dict)
    _column_names: dict[int, str] = field(default_factory=dict)
    """`table.column` of each column object, by its identity."""

    def read(self, schema: DatabaseSchema) -> None:
        """Add models, relations, and the tables that no migration creates."""
        models = [model for model in self.program.classes() if is_mapped(model)]
        migrated = set(schema.current)
        self._collect_names(models)
        migration_files = {
            module.uri for module in self.program.modules() if "down_revision" in module.names
        }
        for call in list(self.program.interpreter.objects):
            if call.uri not in migration_files:
                self._add_plain_table(call, schema, migrated)
        for model in models:
            self._add_model(model, schema, migrated)
        for model in models:
            self._add_relations(model)

    def _collect_names(self, models: list[ClassValue]) -> None:
        """Collect the tables of all models and the full names of their columns."""
        for model in models:
            self._by_short_name.setdefault(model.definition.short, model)
            self._tables[model.full] = find_table(self.program, model)
        for model in models:
            table_name, _ = self._tables[model.full]
            for _, name, value in _member_calls(model):
                self._column_names.setdefault(id(value), f"{table_name}.{name}")

    def _add_plain_table(
        self,
        call: CallResult,
        schema: DatabaseSchema,
        migrated: set[str],
    ) -> None:
        """Add a table that is defined with `Table(…)` instead of a class."""
        if call.callee.rpartition(".")[2] != "Table" or not call.args:
            return
        name = call.args[0]
        if not isinstance(name, str) or name in migrated or schema.get(name):
            return
        table = schema.create(name, (call.uri, call.line))
        for argument in call.args[1:]:
            column = column_from_call(argument)
            if column is not None:
                self._add_column(table, column)

    def _add_model(
        self,
        model: ClassValue,
        schema: DatabaseSchema,
        migrated: set[str],
    ) -> None:
        """Add a model, the link to its table, and the table's columns if no migration creates the table."""
        name, source = self._tables[model.full]
        columns = find_columns(self.program, model)
        fields: list[Json] = [column.name for column in columns]
        key = self.builder.add_class(model, "model", table=name, fields=fields)
        line = model.line
        if source == "explicit":
            line = model.lines.get("__tablename__", model.line)
        confidence: Confidence = "convention" if source == "convention" else "declared"
        self.builder.add_link(
            "MAPS_TO",
            (key, f"table:{name}"),
            (model.uri, line),
            {"how": source},
            how=confidence,
        )
        if name in migrated:
            return
        table = schema.get(name) or schema.create(name, (model.uri, model.line))
        for column in columns:
            self._add_column(table, column)

    def _add_column(self, table: SchemaTable, column: SchemaColumn) -> None:
        """Add a column to a table, with the target of its foreign key resolved."""
        marker = column.references[:1]
        target = column.references[1:]
        if marker == "@":
            column.references = self._column_names.get(int(target), "")
        elif marker == "?":
            owner, _, name = target.rpartition(".")
            column.references = ""
            if owner in self._tables:
                table_name, _ = self._tables[owner]
                column.references = f"{table_name}.{name}"
        table.columns.setdefault(column.name, column)

    # ── relations ────────────────────────────────────────────────────────────────────────────

    def _add_relations(self, model: ClassValue) -> None:
        for level, name, value in _member_calls(model):
            if value.callee.rpartition(".")[2] in RELATIONS:
                self._add_relation(model, level, name, value)

    def _add_relation(
        self,
        model: ClassValue,
        level: ClassValue,
        name: str,
        call: CallResult,
    ) -> None:
        """Add a relation that a class of the model's lineage declares."""
        place = (call.uri, call.line)
        annotation = self.program.evaluate(level.annotations.get(name), level.scope)
        related = self._find_related(call.argument(0, "argument")) or self._find_related(
            annotation
        )
        if related is None:
            remark = f"the model that {model.definition.short}.{name} relates to is not known"
            self.builder.add_remark(place, remark)
            return
        secondary = call.kwargs.get("secondary") or call.kwargs.get("link_model")
        inverse = call.kwargs.get("back_populates") or call.kwargs.get("backref")
        attributes: dict[str, Json] = {
            "name": name,
            "type": _relation_type(annotation, secondary),
            "pivot": self._pivot_table(secondary),
            "related": related.full,
            "inverse": inverse if isinstance(inverse, str) else None,
        }
        ends = (f"class:{model.full}", f"class:{related.full}")
        self.builder.add_link(
            "RELATES",
            ends,
            place,
            attributes,
            how="declared",
        )
        node = Node(
            f"relation:{model.full}::{name}",
            "model_relation",
            name,
            *place,
            call.line,
            language="python",
            framework=self.builder.framework,
            attributes=attributes,
        )
        self.builder.add_node(node)

    def _pivot_table(self, secondary: Value) -> str | None:
        """Return the table between two models: of a model, of a `Table(…)`, or by name."""
        if isinstance(secondary, ClassValue):
            if secondary.full in self._tables:
                return self._tables[secondary.full][0]
            return secondary.definition.short
        if (
            isinstance(secondary, CallResult)
            and secondary.args
            and isinstance(secondary.args[0], str)
        ):
            return secondary.args[0]
        return secondary if isinstance(secondary, str) else None

    def _find_related(self, value: Value, depth: int = 0) -> ClassValue | None:
        """Return the model that a relation names: by class, by quoted name, or inside of a generic type."""
        if isinstance(value, FunctionValue):
            value = self._lambda_result(value)
        if isinstance(value, str):
            short_name = value.rpartition(".")[2].strip("\"' []")
            return self._by_short_name.get(short_name) or self._find_in_text(value)
        if isinstance(value, ClassValue):
            return value if value.full in self._tables else None
        if isinstance(value, GenericType) and depth < MAX_DEPTH:
            for argument in value.arguments:
                related = self._find_related(argument, depth + 1)
                if related is not None:
                    return related
        return None

    def _find_in_text(self, text: str) -> ClassValue | None:
        """Return the model in a quoted type: `list["Order"]`, `Order | None`."""
        characters = [
            character if character.isalnum() or character in "._" else " " for character in text
        ]
        for name in "".join(characters).split():
            model = self._by_short_name.get(name.rpartition(".")[2])
            if model is not None:
                return model
        return None

    def _lambda_result(self, function: FunctionValue) -> Value:
        """Return the value of the first return statement of a function."""
        for part in walk_tree(function.definition.body.statements):
            if isinstance(part, Return):
                return self.program.evaluate(part.value, function.scope)
        return None


def _member_calls(model: ClassValue) -> Iterator[tuple[ClassValue, str, CallResult]]:
    """Yield the members of a model and its ancestors that are results of calls: class, name and value."""
    for level in model.lineage():
        if isinstance(level, ClassValue):
            for name, value in level.attributes.items():
                if isinstance(value, CallResult):
                    yield level, name, value


def _relation_type(annotation: Value, secondary: Value) -> str:
    """Return the type of a relation; `relationship` if neither an annotation nor a pivot table tells it."""
    if secondary is not None:
        return "many_to_many"
    if annotation is None:
        return "relationship"
    return "one_to_many" if _is_collection(annotation) else "many_to_one"


def _is_collection(annotation: Value, depth: int = 0) -> bool:
    """Return whether a type holds many objects."""
    if isinstance(annotation, str):
        return annotation.strip().lower().startswith(("list[", "set[", "sequence["))
    if not isinstance(annotation, GenericType) or depth >= MAX_DEPTH:
        return False
    if full_name(annotation.origin).rpartition(".")[2] in COLLECTION_TYPES:
        return True
    return any(_is_collection(argument, depth + 1) for argument in annotation.arguments)
