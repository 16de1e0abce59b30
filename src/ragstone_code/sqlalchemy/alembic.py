"""Alembic's migrations, replayed in the order of their revisions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ragstone.types import Json, Node
from ragstone_code.graph_builder import GraphBuilder, Location
from ragstone_code.program import Program
from ragstone_code.python.values import CallResult, FunctionValue, ModuleValue, Value
from ragstone_code.sqlalchemy.models import filled
from ragstone_code.tables import DatabaseSchema, SchemaColumn

OPERATIONS: Final = "alembic.op."


def migrations(program: Program, builder: GraphBuilder, tables: DatabaseSchema) -> None:
    """Make the tables what migrations leave, and keep a node for each migration."""
    for module in ordered([one for one in program.modules() if _is_migration(one)]):
        name = str(module.names["revision"])
        upgrade = module.names.get("upgrade")
        title = module.uri.rpartition("/")[2].removesuffix(".py")
        doc = _doc(program, module.uri)
        builder.add_node(
            Node(
                f"migration:{title}",
                "migration",
                title,
                module.uri,
                1,
                0,
                "",
                doc,
                "python",
                builder.framework,
                {"revision": name},
            )
        )
        builder.add_alias(title, f"migration:{title}", "migration", module.uri)
        builder.add_alias(name, f"migration:{title}", "migration", module.uri)
        if isinstance(upgrade, FunctionValue):
            before = len(program.interpreter.objects)
            program.call(upgrade)
            replay = Replay(tables, builder, title)
            for made in program.interpreter.objects[before:]:
                replay.one(made)


def _is_migration(module: ModuleValue) -> bool:
    return isinstance(module.names.get("revision"), str) and "down_revision" in module.names


def _doc(program: Program, uri: str) -> str:
    text = program.world.read(uri) or ""
    return text.lstrip().removeprefix('"""').partition("\n")[0].strip() if text.lstrip().startswith('"""') else ""


def ordered(modules: list[ModuleValue]) -> list[ModuleValue]:
    """Return migrations so that each comes after those it stands on."""
    by_revision = {str(one.names["revision"]): one for one in modules}
    done: dict[str, ModuleValue] = {}
    waiting = sorted(by_revision, reverse=True)
    while waiting:
        revision = waiting[-1]
        below = [one for one in _below(by_revision[revision]) if one in by_revision and one not in done]
        if below and len(waiting) <= 2 * len(by_revision):
            waiting.extend(below)
            continue
        done.setdefault(revision, by_revision[waiting.pop()])
    return list(done.values())


def _below(module: ModuleValue) -> list[str]:
    told = [module.names.get("down_revision"), module.names.get("depends_on")]
    flat = [one for each in told for one in (each if isinstance(each, list | tuple) else [each])]
    return [one for one in flat if isinstance(one, str)]


def column_of(value: Value) -> SchemaColumn | None:
    """Return the column that a call makes."""
    if not isinstance(value, CallResult) or value.callee.rpartition(".")[2] not in ("Column", "mapped_column"):
        return None
    made = SchemaColumn("", place=(value.uri, value.line))
    filled(made, value, True)
    return made if made.name else None


@dataclass
class Replay:
    """The operations of one migration."""

    tables: DatabaseSchema
    builder: GraphBuilder
    migration: str

    def one(self, made: CallResult) -> None:
        """Do one operation, of `op` or of a batch."""
        name, args = made.callee.removeprefix(OPERATIONS), list(made.args)
        on = made.on
        if isinstance(on, CallResult) and on.callee == f"{OPERATIONS}batch_alter_table":
            name = made.method
            table = on.argument(0, "table_name")
            at = 1 if name in ("create_foreign_key", "create_index", "create_primary_key") else 0
            args.insert(at, table)
        elif not made.callee.startswith(OPERATIONS):
            return
        ways: dict[str, Callable[[list[Value], CallResult], None]] = {
            "create_table": self._create, "drop_table": self._drop, "rename_table": self._rename,
            "add_column": self._add, "drop_column": self._remove, "alter_column": self._alter,
            "create_foreign_key": self._foreign, "create_index": self._index, "execute": self._raw,
            "create_primary_key": self._primary,
        }  # fmt: skip
        if name in ways:
            ways[name](args, made)

    def _at(self, made: CallResult) -> Location:
        return (made.uri, made.line)

    def _create(self, args: list[Value], made: CallResult) -> None:
        name = args[0] if args else made.kwargs.get("table_name")
        if not isinstance(name, str):
            self.builder.add_remark(self._at(made), "a table whose name is not known")
            return
        table = self.tables.create(name, self._at(made), self.migration)
        for one in args[1:]:
            column = column_of(one)
            if column is not None:
                table.columns[column.name] = column
            elif isinstance(one, CallResult):
                self._constraint(one, table.columns)

    def _constraint(self, one: CallResult, columns: dict[str, SchemaColumn]) -> None:
        kind = one.callee.rpartition(".")[2]
        if kind == "ForeignKeyConstraint" and len(one.args) >= 2:
            for own, there in zip(_names(one.args[0]), _names(one.args[1]), strict=False):
                if own in columns:
                    columns[own].references = there
        elif kind in ("PrimaryKeyConstraint", "UniqueConstraint"):
            for own in _names(one.args):
                if own in columns and kind == "PrimaryKeyConstraint":
                    columns[own].primary, columns[own].nullable = True, False
                elif own in columns and len(one.args) == 1:
                    columns[own].unique = True

    def _drop(self, args: list[Value], made: CallResult) -> None:
        name = made.argument(0, "table_name")
        if isinstance(name, str):
            self.tables.drop(name, self._at(made), self.migration)

    def _rename(self, args: list[Value], made: CallResult) -> None:
        old, new = made.argument(0, "old_table_name"), made.argument(1, "new_table_name")
        if isinstance(old, str) and isinstance(new, str):
            self.tables.rename(old, new, self._at(made), self.migration)

    def _add(self, args: list[Value], made: CallResult) -> None:
        column = column_of(args[1] if len(args) > 1 else made.kwargs.get("column"))
        table = self._altered(args, made, {"columns": [column.name] if column else []})
        if table is not None and column is not None:
            self.tables.current[table].columns[column.name] = column

    def _remove(self, args: list[Value], made: CallResult) -> None:
        name = args[1] if len(args) > 1 else made.kwargs.get("column_name")
        table = self._altered(args, made, {"columns": [name] if isinstance(name, str) else [], "removed": True})
        if table is not None and isinstance(name, str):
            self.tables.current[table].columns.pop(name, None)

    def _alter(self, args: list[Value], made: CallResult) -> None:
        name = args[1] if len(args) > 1 else made.kwargs.get("column_name")
        table = self._altered(args, made, {"columns": [name] if isinstance(name, str) else []})
        column = self.tables.current[table].columns.get(name) if table is not None and isinstance(name, str) else None
        if column is None or table is None:
            return
        if isinstance(made.kwargs.get("nullable"), bool):
            column.nullable = made.kwargs["nullable"]
        if "type_" in made.kwargs:
            filled(
                column,
                CallResult("Column", [made.kwargs["type_"]], {"nullable": column.nullable}, *self._at(made)),
                False,
            )
        to = made.kwargs.get("new_column_name")
        if isinstance(to, str):
            self.tables.current[table].rename(column.name, to)

    def _foreign(self, args: list[Value], made: CallResult) -> None:
        given = [*args, *[None] * 5]
        source, there = made.kwargs.get("source_table", given[1]), made.kwargs.get("referent_table", given[2])
        own, theirs = made.kwargs.get("local_cols", given[3]), made.kwargs.get("remote_cols", given[4])
        columns: list[Json] = [*_names(own)]
        table = self._altered([source], made, {"columns": columns})
        for one, other in zip(_names(own), _names(theirs), strict=False):
            column = self.tables.current[table].columns.get(one) if table is not None else None
            if column is not None and isinstance(there, str):
                column.references = f"{there}.{other}"

    def _index(self, args: list[Value], made: CallResult) -> None:
        found = self.tables.get(args[1]) if len(args) > 1 and isinstance(args[1], str) else None
        if found is not None and isinstance(args[0], str):
            found.indexes.append(args[0])

    def _primary(self, args: list[Value], made: CallResult) -> None:
        columns = _names(args[2]) if len(args) > 2 else _names(made.kwargs.get("columns"))
        noted: list[Json] = [*columns]
        table = self._altered(args[1:2], made, {"columns": noted})
        for name, column in self.tables.current[table].columns.items() if table is not None else ():
            column.primary = name in columns

    def _raw(self, args: list[Value], made: CallResult) -> None:
        said = args[0] if args and isinstance(args[0], str) else "something computed"
        self.builder.add_remark(self._at(made), f"SQL that is not followed: {' '.join(said.split())[:120]}")

    def _altered(self, args: list[Value], made: CallResult, what: dict[str, Json]) -> str | None:
        name = args[0] if args else made.kwargs.get("table_name")
        found = self.tables.alter(name, self._at(made), self.migration, what) if isinstance(name, str) else None
        return found.name if found is not None else None


def _names(value: Value) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list | tuple) else []
