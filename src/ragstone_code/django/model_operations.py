"""Migration operations on models: create, delete, rename, and change the table."""

from __future__ import annotations

from ragstone_code.django.migration_state import MigratedModel, MigrationState, location_of
from ragstone_code.python.values import CallResult, Value
from ragstone_code.route_definition import Location


def create_model(state: MigrationState, operation: CallResult) -> None:
    """Apply `CreateModel`."""
    name = operation.argument(0, "name")
    if not isinstance(name, str):
        state.builder.add_remark(
            location_of(operation),
            "a model whose name is not known",
        )
        return
    model = _build_model(state.app, name, operation)
    if state.changes_models:
        state.models[state.model_key(name)] = model
    if state.changes_table_of(model):
        table = state.schema.create(
            model.table,
            location_of(operation),
            state.migration,
        )
        for field_name, field in model.fields.items():
            state.add_field(table, model, field_name, field)


def _build_model(app: str, name: str, operation: CallResult) -> MigratedModel:
    options = operation.argument(2, "options")
    if not isinstance(options, dict):
        options = {}
    table = options.get("db_table")
    if isinstance(table, str):
        model = MigratedModel(app, name, table.strip('"'), has_explicit_table=True)
    else:
        model = MigratedModel(
            app,
            name,
            f"{app}_{name.lower()}",
            has_explicit_table=False,
        )
    model.has_table = options.get("proxy") is not True and options.get("managed") is not False
    model.fields = _read_fields(operation.argument(1, "fields"))
    return model


def _read_fields(pairs: Value) -> dict[str, CallResult]:
    """Return the fields of a list of (name, field) pairs."""
    fields: dict[str, CallResult] = {}
    if not isinstance(pairs, list | tuple):
        return fields
    for pair in pairs:
        if isinstance(pair, tuple | list) and len(pair) == 2:
            name, field = pair
            if isinstance(field, CallResult):
                fields[str(name)] = field
    return fields


def delete_model(state: MigrationState, operation: CallResult) -> None:
    """Apply `DeleteModel`."""
    model = state.model_named(operation.argument(0, "name"))
    if model is None:
        return
    if state.changes_table_of(model):
        for table in [*state.pivot_tables(model).values(), model.table]:
            state.schema.drop(table, location_of(operation), state.migration)
    if state.changes_models:
        state.models.pop(model.label, None)


def rename_model(state: MigrationState, operation: CallResult) -> None:
    """Apply `RenameModel`: the table, its pivot tables and the references to the model follow."""
    old_name = operation.argument(0, "old_name")
    new_name = operation.argument(1, "new_name")
    model = state.model_named(old_name)
    if model is None or not isinstance(new_name, str):
        return
    table = model.table
    if not model.has_explicit_table:
        table = f"{model.app}_{new_name.lower()}"
    _move_table(state, model, table, location_of(operation))
    old_column = f"{old_name.lower()}_id"
    new_column = f"{new_name.lower()}_id"
    if state.changes_database:
        _rename_pivot_columns(state, model, old_column, new_column)
    if state.changes_models:
        old_label = model.label
        state.models.pop(state.model_key(old_name), None)
        model.name = new_name
        state.models[state.model_key(new_name)] = model
        for other in state.models.values():
            _change_targets(state, other, old_label, f"{model.app}.{new_name}")


def _rename_pivot_columns(
    state: MigrationState,
    model: MigratedModel,
    old_column: str,
    new_column: str,
) -> None:
    """Rename the column of a model in its own pivot tables and in those of other models."""
    for table in state.pivot_tables(model).values():
        _rename_column(state, table, old_column, new_column)
    for other in state.models.values():
        if other is model:
            continue
        for name, field in other.fields.items():
            relation = state.relation_of(other, name, field)
            if (
                relation is not None
                and relation.has_own_pivot
                and relation.target == model.label
            ):
                _rename_column(
                    state,
                    other.pivot_table(name, field),
                    old_column,
                    new_column,
                )


def _rename_column(
    state: MigrationState,
    table_name: str,
    old_column: str,
    new_column: str,
) -> None:
    table = state.schema.get(table_name)
    if table is not None:
        table.rename(old_column, new_column)


def _change_targets(
    state: MigrationState,
    model: MigratedModel,
    old_label: str,
    new_label: str,
) -> None:
    """Let the fields of a model refer to a renamed model."""
    for name, field in list(model.fields.items()):
        relation = state.relation_of(model, name, field)
        if relation is not None and relation.target == old_label:
            model.fields[name] = CallResult(
                field.callee,
                field.args[1:],
                {**field.kwargs, "to": new_label},
                field.uri,
                field.line,
                on=field.on,
            )


def alter_model_table(state: MigrationState, operation: CallResult) -> None:
    """Apply `AlterModelTable`."""
    model = state.model_named(operation.argument(0, "name"))
    if model is None:
        return
    table = operation.argument(1, "table")
    is_explicit = isinstance(table, str)
    if not is_explicit:
        table = f"{model.app}_{model.name.lower()}"
    _move_table(state, model, table, location_of(operation))
    if state.changes_models:
        model.has_explicit_table = is_explicit


def _move_table(
    state: MigrationState,
    model: MigratedModel,
    table: str,
    location: Location,
) -> None:
    """Rename the table of a model and the pivot tables that are named after it."""
    pivot_tables = state.pivot_tables(model)
    if state.changes_table_of(model):
        state.schema.rename(model.table, table, location, state.migration)
        for name, pivot_table in pivot_tables.items():
            if pivot_table == f"{model.table}_{name}":
                state.schema.rename(
                    pivot_table,
                    f"{table}_{name}",
                    location,
                    state.migration,
                )
    if state.changes_models:
        model.table = table
