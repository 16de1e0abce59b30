"""The state while migrations are replayed: models, tables, and the current migration."""

from __future__ import annotations

from dataclasses import dataclass, field

from ragstone.types import Json
from ragstone_code.django.fields import FieldRelation, build_column, build_relation
from ragstone_code.django.models import pivot_columns
from ragstone_code.django.settings import DjangoSettings
from ragstone_code.graph_builder import GraphBuilder
from ragstone_code.python.values import CallResult, Value
from ragstone_code.route_definition import Location
from ragstone_code.tables import DatabaseSchema, SchemaTable


@dataclass(slots=True)
class MigratedModel:
    """A model as the migrations so far define it."""

    app: str
    name: str
    table: str
    has_explicit_table: bool
    fields: dict[str, CallResult] = field(default_factory=dict)
    has_table: bool = True
    """False for proxies and unmanaged models."""

    @property
    def label(self) -> str:
        """Return `app.model` in lower case."""
        return f"{self.app}.{self.name}".lower()

    def key_column(self) -> str:
        """Return the column of the primary key."""
        for name, model_field in self.fields.items():
            column = build_column(name, model_field)
            if column is not None and column.primary:
                return column.name
        return "id"

    def pivot_table(self, name: str, model_field: CallResult) -> str:
        """Return the name of the table that a many-to-many field creates."""
        table = model_field.kwargs.get("db_table")
        if isinstance(table, str):
            return table
        return f"{self.table}_{name}"


@dataclass(slots=True)
class MigrationState:
    """Models and tables after the operations so far, and the migration that runs now."""

    schema: DatabaseSchema
    builder: GraphBuilder
    settings: DjangoSettings
    models: dict[str, MigratedModel] = field(default_factory=dict)
    """By `app.model` in lower case."""
    app: str = ""
    migration: str = ""
    changes_models: bool = True
    """Whether operations change the models; see `SeparateDatabaseAndState`."""
    changes_database: bool = True

    def begin_migration(self, app: str, migration: str) -> None:
        """Set the migration of the operations that follow."""
        self.app = app
        self.migration = migration
        self.changes_models = True
        self.changes_database = True

    # ── lookups ───────────────────────────────────────────────────────────────────────────────────

    def model_key(self, name: str) -> str:
        """Return the key of a model of the current app."""
        return f"{self.app}.{name}".lower()

    def model_named(self, name: Value) -> MigratedModel | None:
        """Return a model of the current app."""
        if not isinstance(name, str):
            return None
        return self.models.get(self.model_key(name))

    def relation_of(
        self,
        model: MigratedModel,
        name: str,
        model_field: CallResult,
    ) -> FieldRelation | None:
        """Return the relation of a field."""
        return build_relation(name, model_field, (model.app, model.name), self.settings)

    def pivot_tables(self, model: MigratedModel) -> dict[str, str]:
        """Return the pivot tables that a model's fields create, by field name."""
        tables: dict[str, str] = {}
        for name, model_field in model.fields.items():
            relation = self.relation_of(model, name, model_field)
            if relation is not None and relation.has_own_pivot:
                tables[name] = model.pivot_table(name, model_field)
        return tables

    def reference(self, relation: FieldRelation) -> str:
        """Return `table.column` of a relation's target; an unknown model has Django's default names."""
        target = self.models.get(relation.target)
        if target is None:
            table = relation.target.replace(".", "_")
            column = "id"
        else:
            table = target.table
            column = target.key_column()
        explicit_column = relation.field.kwargs.get("to_field")
        if isinstance(explicit_column, str) and not relation.has_own_pivot:
            column = explicit_column
        return f"{table}.{column}"

    # ── changes ───────────────────────────────────────────────────────────────────────────────────

    def changes_table_of(self, model: MigratedModel) -> bool:
        """Return whether an operation on a model changes its table."""
        return self.changes_database and model.has_table

    def alter_table(
        self,
        model: MigratedModel,
        operation: CallResult,
        details: dict[str, Json],
    ) -> SchemaTable | None:
        """Record that the current migration alters a model's table, and return the table."""
        if not self.changes_table_of(model):
            return None
        return self.schema.alter(
            model.table,
            location_of(operation),
            self.migration,
            details,
        )

    def add_field(
        self,
        table: SchemaTable,
        model: MigratedModel,
        name: str,
        model_field: CallResult,
    ) -> None:
        """Add the column of a field, or the pivot table that it creates."""
        column = build_column(name, model_field)
        relation = self.relation_of(model, name, model_field)
        if column is not None:
            if relation is not None and relation.target:
                column.references = self.reference(relation)
            table.columns[column.name] = column
        elif relation is not None and relation.has_own_pivot:
            pivot_name = model.pivot_table(name, model_field)
            own_end = (model.name.lower(), f"{model.table}.{model.key_column()}")
            target_end = (relation.target.rpartition(".")[2], self.reference(relation))
            pivot = self.schema.create(pivot_name, relation.location, self.migration)
            pivot.columns.update(pivot_columns(relation.location, own_end, target_end))

    def remove_field(
        self,
        table: SchemaTable | None,
        model: MigratedModel,
        name: str,
        location: Location,
    ) -> None:
        """Remove the column of a field, or the pivot table that it created."""
        model_field = model.fields.get(name)
        if model_field is None:
            return
        column = build_column(name, model_field)
        if column is None:
            self.schema.drop(
                model.pivot_table(name, model_field),
                location,
                self.migration,
            )
        elif table is not None:
            table.columns.pop(column.name, None)


def location_of(operation: CallResult) -> Location:
    """Return the file and line of an operation."""
    return operation.uri, operation.line
