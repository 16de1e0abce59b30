"""The operations of Django's migrations, applied to the models and tables of a migration state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from ragstone_code.django.field_operations import (
    add_field,
    alter_field,
    remove_field,
    rename_field,
)
from ragstone_code.django.migration_state import MigrationState, location_of
from ragstone_code.django.model_operations import (
    alter_model_table,
    create_model,
    delete_model,
    rename_model,
)
from ragstone_code.python.values import CallResult, Value
from ragstone_code.tables import SchemaColumn


def apply_operation(state: MigrationState, operation: CallResult) -> None:
    """Apply an operation; a project's own operation is applied as the Django class that it inherits from."""
    for type_name in operation.type_names():
        apply = _OPERATIONS.get(type_name.rpartition(".")[2])
        if apply is not None:
            apply(state, operation)
            return


def _apply_all(state: MigrationState, operations: Value) -> None:
    if not isinstance(operations, list | tuple):
        return
    for operation in operations:
        if isinstance(operation, CallResult):
            apply_operation(state, operation)


def _add_index(state: MigrationState, operation: CallResult) -> None:
    model = state.model_named(operation.argument(0, "model_name"))
    if model is None:
        return
    index = operation.argument(1, "index") or operation.argument(1, "constraint")
    name: str | None = None
    if isinstance(index, CallResult) and isinstance(index.kwargs.get("name"), str):
        name = index.kwargs["name"]
    table = state.alter_table(model, operation, {"index": name})
    if table is not None and name is not None:
        table.indexes.append(name)


def _remove_index(state: MigrationState, operation: CallResult) -> None:
    model = state.model_named(operation.argument(0, "model_name"))
    if model is None:
        return
    name = operation.argument(1, "name")
    table = state.alter_table(model, operation, {"removed": True})
    if table is not None and name in table.indexes:
        table.indexes.remove(name)


def _rename_index(state: MigrationState, operation: CallResult) -> None:
    model = state.model_named(operation.argument(0, "model_name"))
    if model is None:
        return
    old_name = operation.kwargs.get("old_name")
    new_name = operation.kwargs.get("new_name")
    table = state.schema.get(model.table)
    if table is None or not isinstance(new_name, str):
        return
    if old_name in table.indexes:
        position = table.indexes.index(old_name)
        table.indexes[position] = new_name


def _order_with_respect_to(state: MigrationState, operation: CallResult) -> None:
    """Add the `_order` column, or remove it if the operation names no field."""
    model = state.model_named(operation.argument(0, "name"))
    if model is None:
        return
    table = state.alter_table(model, operation, {"columns": ["_order"]})
    if table is None:
        return
    if isinstance(operation.argument(1, "order_with_respect_to"), str):
        table.columns["_order"] = SchemaColumn(
            "_order",
            "OrderWrt",
            place=location_of(operation),
        )
    else:
        table.columns.pop("_order", None)


def _run_sql(state: MigrationState, operation: CallResult) -> None:
    """Add a remark about the SQL; its state operations describe its effect on models and tables."""
    sql = operation.argument(0, "sql")
    text = "something computed"
    if isinstance(sql, str):
        text = " ".join(sql.split())[:120]
    state.builder.add_remark(
        location_of(operation),
        f"SQL that is not followed: {text}",
    )
    _apply_all(state, operation.kwargs.get("state_operations"))


def _separate_database_and_state(state: MigrationState, operation: CallResult) -> None:
    changes_models = state.changes_models
    changes_database = state.changes_database
    state.changes_models = False
    _apply_all(state, operation.argument(0, "database_operations"))
    state.changes_models = changes_models
    state.changes_database = False
    _apply_all(state, operation.argument(1, "state_operations"))
    state.changes_database = changes_database


_OPERATIONS: Final[Mapping[str, Callable[[MigrationState, CallResult], None]]] = {
    "CreateModel": create_model,
    "DeleteModel": delete_model,
    "RenameModel": rename_model,
    "AlterModelTable": alter_model_table,
    "AddField": add_field,
    "RemoveField": remove_field,
    "AlterField": alter_field,
    "RenameField": rename_field,
    "AddIndex": _add_index,
    "RemoveIndex": _remove_index,
    "RenameIndex": _rename_index,
    "AddConstraint": _add_index,
    "RemoveConstraint": _remove_index,
    "AlterOrderWithRespectTo": _order_with_respect_to,
    "RunSQL": _run_sql,
    "SeparateDatabaseAndState": _separate_database_and_state,
}
