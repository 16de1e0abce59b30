"""Alembic migrations, replayed in the order of their revisions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ragstone.types import Json, Node
from ragstone_code.graph_builder import GraphBuilder
from ragstone_code.python.values import CallResult, FunctionValue, ModuleValue, Value
from ragstone_code.python_project import Program
from ragstone_code.route_definition import Location
from ragstone_code.sqlalchemy.models import fill_column
from ragstone_code.tables import DatabaseSchema, SchemaColumn, SchemaTable

OPERATIONS: Final = "alembic.op."
BATCH: Final = f"{OPERATIONS}batch_alter_table"
TABLE_AFTER_NAME: Final = ("create_foreign_key", "create_index", "create_primary_key")
"""Operations whose second argument is the table."""
SQL_EXCERPT: Final = 120
"""Characters of a SQL statement that a remark shows."""


def replay_migrations(
    program: Program,
    builder: GraphBuilder,
    schema: DatabaseSchema,
) -> None:
    """Apply all migrations to the schema, and add a node for each migration."""
    modules = [module for module in program.modules() if _is_migration(module)]
    for module in sort_migrations(modules):
        title = module.uri.rpartition("/")[2].removesuffix(".py")
        _add_migration_node(program, builder, module, title)
        upgrade = module.names.get("upgrade")
        if isinstance(upgrade, FunctionValue):
            objects_before = len(program.interpreter.objects)
            program.call(upgrade)
            replay = AlembicReplay(schema, builder, title)
            for call in program.interpreter.objects[objects_before:]:
                replay.apply(call)


def _add_migration_node(
    program: Program,
    builder: GraphBuilder,
    module: ModuleValue,
    title: str,
) -> None:
    revision = str(module.names["revision"])
    key = f"migration:{title}"
    node = Node(
        key,
        "migration",
        title,
        module.uri,
        1,
        doc=_module_doc(program, module.uri),
        language="python",
        framework=builder.framework,
        attributes={"revision": revision},
    )
    builder.add_node(node)
    builder.add_alias(title, key, "migration", module.uri)
    builder.add_alias(revision, key, "migration", module.uri)


def _is_migration(module: ModuleValue) -> bool:
    return isinstance(module.names.get("revision"), str) and "down_revision" in module.names


def _module_doc(program: Program, uri: str) -> str:
    """Return the first line of a module's docstring."""
    text = (program.world.text(uri) or "").lstrip()
    if not text.startswith('"""'):
        return ""
    return text.removeprefix('"""').partition("\n")[0].strip()


def sort_migrations(modules: list[ModuleValue]) -> list[ModuleValue]:
    """Return migrations in an order in which each comes after those that it depends on."""
    by_revision = {str(module.names["revision"]): module for module in modules}
    finished: dict[str, ModuleValue] = {}
    stack = sorted(by_revision, reverse=True)
    # Migrations that depend on each other would extend the stack for ever.
    limit = 2 * len(by_revision)
    while stack:
        revision = stack[-1]
        missing = []
        for dependency in _dependencies(by_revision[revision]):
            if dependency in by_revision and dependency not in finished:
                missing.append(dependency)
        if missing and len(stack) <= limit:
            stack.extend(missing)
            continue
        stack.pop()
        finished.setdefault(revision, by_revision[revision])
    return list(finished.values())


def _dependencies(module: ModuleValue) -> list[str]:
    """Return the revisions in `down_revision` and `depends_on` of a migration."""
    revisions: list[str] = []
    for name in ("down_revision", "depends_on"):
        value = module.names.get(name)
        values = value if isinstance(value, list | tuple) else [value]
        revisions += [revision for revision in values if isinstance(revision, str)]
    return revisions


def column_from_call(value: Value) -> SchemaColumn | None:
    """Return the column that a call of `Column` or `mapped_column` defines; None for any other value."""
    if not isinstance(value, CallResult) or value.callee.rpartition(".")[2] not in (
        "Column",
        "mapped_column",
    ):
        return None
    column = SchemaColumn("", place=(value.uri, value.line))
    fill_column(column, value, nullable_by_default=True)
    return column if column.name else None


@dataclass
class AlembicReplay:
    """Applies the operations of one migration to a schema."""

    schema: DatabaseSchema
    builder: GraphBuilder
    migration: str

    def apply(self, call: CallResult) -> None:
        """Apply one operation, of `op` or of a batch; other calls change nothing."""
        arguments = list(call.args)
        if isinstance(call.on, CallResult) and call.on.callee == BATCH:
            name = call.method
            position = 1 if name in TABLE_AFTER_NAME else 0
            arguments.insert(position, call.on.argument(0, "table_name"))
        elif call.callee.startswith(OPERATIONS):
            name = call.callee.removeprefix(OPERATIONS)
        else:
            return
        operation = self._operations().get(name)
        if operation is not None:
            operation(arguments, call)

    def _operations(self) -> dict[str, Callable[[list[Value], CallResult], None]]:
        return {
            "create_table": self._create_table,
            "drop_table": self._drop_table,
            "rename_table": self._rename_table,
            "add_column": self._add_column,
            "drop_column": self._drop_column,
            "alter_column": self._alter_column,
            "create_foreign_key": self._create_foreign_key,
            "create_index": self._create_index,
            "create_primary_key": self._create_primary_key,
            "execute": self._execute,
        }

    # ── tables ───────────────────────────────────────────────────────────────────────────────

    def _create_table(self, arguments: list[Value], call: CallResult) -> None:
        name = arguments[0] if arguments else call.kwargs.get("table_name")
        if not isinstance(name, str):
            self.builder.add_remark(_place(call), "a table whose name is not known")
            return
        table = self.schema.create(name, _place(call), self.migration)
        for argument in arguments[1:]:
            column = column_from_call(argument)
            if column is not None:
                table.columns[column.name] = column
            elif isinstance(argument, CallResult):
                _apply_constraint(argument, table.columns)

    def _drop_table(self, arguments: list[Value], call: CallResult) -> None:
        name = call.argument(0, "table_name")
        if isinstance(name, str):
            self.schema.drop(name, _place(call), self.migration)

    def _rename_table(self, arguments: list[Value], call: CallResult) -> None:
        name = call.argument(0, "old_table_name")
        new_name = call.argument(1, "new_table_name")
        if isinstance(name, str) and isinstance(new_name, str):
            self.schema.rename(name, new_name, _place(call), self.migration)

    # ── columns and keys ─────────────────────────────────────────────────────────────────────

    def _add_column(self, arguments: list[Value], call: CallResult) -> None:
        column = column_from_call(_second(arguments, call, "column"))
        names: list[Json] = [column.name] if column else []
        table = self._record_change(arguments, call, {"columns": names})
        if table is not None and column is not None:
            table.columns[column.name] = column

    def _drop_column(self, arguments: list[Value], call: CallResult) -> None:
        name = _second(arguments, call, "column_name")
        names: list[Json] = [name] if isinstance(name, str) else []
        table = self._record_change(
            arguments,
            call,
            {"columns": names, "removed": True},
        )
        if table is not None and isinstance(name, str):
            table.columns.pop(name, None)

    def _alter_column(self, arguments: list[Value], call: CallResult) -> None:
        name = _second(arguments, call, "column_name")
        names: list[Json] = [name] if isinstance(name, str) else []
        table = self._record_change(arguments, call, {"columns": names})
        if table is None or not isinstance(name, str):
            return
        column = table.columns.get(name)
        if column is None:
            return
        nullable = call.kwargs.get("nullable")
        if isinstance(nullable, bool):
            column.nullable = nullable
        if "type_" in call.kwargs:
            definition = CallResult(
                "Column",
                [call.kwargs["type_"]],
                {"nullable": column.nullable},
                *_place(call),
            )
            fill_column(column, definition, nullable_by_default=False)
        new_name = call.kwargs.get("new_column_name")
        if isinstance(new_name, str):
            table.rename(column.name, new_name)

    def _create_foreign_key(self, arguments: list[Value], call: CallResult) -> None:
        padded = [*arguments, *[None] * 5]
        table_name = call.kwargs.get("source_table", padded[1])
        target_table = call.kwargs.get("referent_table", padded[2])
        columns = _strings(call.kwargs.get("local_cols", padded[3]))
        target_columns = _strings(call.kwargs.get("remote_cols", padded[4]))
        table = self._record_change(
            [table_name],
            call,
            {"columns": [*columns]},
        )
        if table is None or not isinstance(target_table, str):
            return
        for name, target_name in zip(
            columns,
            target_columns,
            strict=False,
        ):
            column = table.columns.get(name)
            if column is not None:
                column.references = f"{target_table}.{target_name}"

    def _create_index(self, arguments: list[Value], call: CallResult) -> None:
        if len(arguments) < 2:
            return
        index_name, table_name = arguments[:2]
        table = self.schema.get(table_name) if isinstance(table_name, str) else None
        if table is not None and isinstance(index_name, str):
            table.indexes.append(index_name)

    def _create_primary_key(self, arguments: list[Value], call: CallResult) -> None:
        value = arguments[2] if len(arguments) > 2 else call.kwargs.get("columns")
        columns = _strings(value)
        table = self._record_change(
            arguments[1:2],
            call,
            {"columns": [*columns]},
        )
        if table is not None:
            for name, column in table.columns.items():
                column.primary = name in columns

    def _execute(self, arguments: list[Value], call: CallResult) -> None:
        """Add a remark: raw SQL is not applied."""
        sql = arguments[0] if arguments else None
        if not isinstance(sql, str):
            sql = "something computed"
        excerpt = " ".join(sql.split())[:SQL_EXCERPT]
        self.builder.add_remark(_place(call), f"SQL that is not followed: {excerpt}")

    def _record_change(
        self,
        arguments: list[Value],
        call: CallResult,
        details: dict[str, Json],
    ) -> SchemaTable | None:
        """Record that the migration alters the table in the first argument; return the table if it exists."""
        name = arguments[0] if arguments else call.kwargs.get("table_name")
        if not isinstance(name, str):
            return None
        return self.schema.alter(name, _place(call), self.migration, details)


def _place(call: CallResult) -> Location:
    return (call.uri, call.line)


def _second(arguments: list[Value], call: CallResult, name: str) -> Value:
    """Return the second argument, otherwise the keyword argument with this name."""
    return arguments[1] if len(arguments) > 1 else call.kwargs.get(name)


def _apply_constraint(constraint: CallResult, columns: dict[str, SchemaColumn]) -> None:
    """Apply a constraint of a table to its columns: a foreign key, a primary key, or a unique column."""
    kind = constraint.callee.rpartition(".")[2]
    if kind == "ForeignKeyConstraint" and len(constraint.args) >= 2:
        names = _strings(constraint.args[0])
        targets = _strings(constraint.args[1])
        for name, target in zip(names, targets, strict=False):
            if name in columns:
                columns[name].references = target
        return
    if kind not in ("PrimaryKeyConstraint", "UniqueConstraint"):
        return
    for name in _strings(constraint.args):
        column = columns.get(name)
        if column is None:
            continue
        if kind == "PrimaryKeyConstraint":
            column.primary = True
            column.nullable = False
        elif len(constraint.args) == 1:
            column.unique = True


def _strings(value: Value) -> list[str]:
    """Return the strings in a list; nothing if the value is no list."""
    if not isinstance(value, list | tuple):
        return []
    return [item for item in value if isinstance(item, str)]
