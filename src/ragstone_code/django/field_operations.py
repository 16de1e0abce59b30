"""Migration operations on fields: add, remove, alter and rename."""

from __future__ import annotations

from ragstone_code.django.fields import build_column
from ragstone_code.django.migration_state import MigratedModel, MigrationState, location_of
from ragstone_code.python.values import CallResult
from ragstone_code.tables import DatabaseSchema


def add_field(state: MigrationState, operation: CallResult) -> None:
    """Apply `AddField`."""
    model = state.model_named(operation.argument(0, "model_name"))
    field = operation.argument(2, "field")
    if model is None or not isinstance(field, CallResult):
        return
    name = str(operation.argument(1, "name"))
    table = state.alter_table(model, operation, {"columns": [name]})
    if table is not None:
        state.add_field(table, model, name, field)
    if state.changes_models:
        model.fields[name] = field


def remove_field(state: MigrationState, operation: CallResult) -> None:
    """Apply `RemoveField`."""
    model = state.model_named(operation.argument(0, "model_name"))
    if model is None:
        return
    name = str(operation.argument(1, "name"))
    if state.changes_table_of(model):
        table = state.alter_table(
            model,
            operation,
            {"columns": [name], "removed": True},
        )
        state.remove_field(table, model, name, location_of(operation))
    if state.changes_models:
        model.fields.pop(name, None)


def alter_field(state: MigrationState, operation: CallResult) -> None:
    """Apply `AlterField`."""
    model = state.model_named(operation.argument(0, "model_name"))
    field = operation.argument(2, "field")
    if model is None or not isinstance(field, CallResult):
        return
    name = str(operation.argument(1, "name"))
    if state.changes_table_of(model):
        _alter_column(state, model, name, operation, field)
    if state.changes_models:
        model.fields[name] = field


def _alter_column(
    state: MigrationState,
    model: MigratedModel,
    name: str,
    operation: CallResult,
    field: CallResult,
) -> None:
    """Replace the column of a field in place; if the field is or becomes many-to-many, replace its table."""
    table = state.alter_table(model, operation, {"columns": [name]})
    if table is None:
        return
    old_column = None
    if name in model.fields:
        old_column = build_column(name, model.fields[name])
    new_column = build_column(name, field)
    if old_column is None and new_column is None:
        return
    if old_column is not None and new_column is not None and old_column.name in table.columns:
        table.rename(old_column.name, new_column.name)
    else:
        state.remove_field(table, model, name, location_of(operation))
    state.add_field(table, model, name, field)


def rename_field(state: MigrationState, operation: CallResult) -> None:
    """Apply `RenameField`."""
    model = state.model_named(operation.argument(0, "model_name"))
    old_name = operation.argument(1, "old_name")
    new_name = operation.argument(2, "new_name")
    if model is None or not isinstance(old_name, str) or not isinstance(new_name, str):
        return
    if old_name not in model.fields:
        return
    if state.changes_table_of(model):
        _rename_column(state, model, old_name, new_name, operation)
    if state.changes_models:
        fields: dict[str, CallResult] = {}
        for name, field in model.fields.items():
            if name == old_name:
                fields[new_name] = field
            else:
                fields[name] = field
        model.fields = fields


def _rename_column(
    state: MigrationState,
    model: MigratedModel,
    old_name: str,
    new_name: str,
    operation: CallResult,
) -> None:
    """Rename the column of a field with all references to it, or its pivot table."""
    field = model.fields[old_name]
    table = state.alter_table(
        model,
        operation,
        {"columns": [new_name], "former": old_name},
    )
    old_column = build_column(old_name, field)
    new_column = build_column(new_name, field)
    if old_column is None:
        state.schema.rename(
            model.pivot_table(old_name, field),
            model.pivot_table(new_name, field),
            location_of(operation),
            state.migration,
        )
    elif table is not None and new_column is not None:
        table.rename(old_column.name, new_column.name)
        old_reference = f"{model.table}.{old_column.name}"
        _replace_references(
            state.schema,
            old_reference,
            f"{model.table}.{new_column.name}",
        )


def _replace_references(
    schema: DatabaseSchema,
    old_reference: str,
    new_reference: str,
) -> None:
    for table in schema.current.values():
        for column in table.columns.values():
            if column.references == old_reference:
                column.references = new_reference
