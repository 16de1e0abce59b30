"""The operations of Django's migrations, done on the state of models and on tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ragstone.types import Json
from ragstone_code.django.fields import column_of, pointed
from ragstone_code.django.models import joining
from ragstone_code.django.settings import Settings
from ragstone_code.graph_builder import GraphBuilder, Location
from ragstone_code.python.values import CallResult, Value
from ragstone_code.tables import DatabaseSchema, SchemaColumn, SchemaTable


@dataclass
class State:
    """A model as the migrations so far have it."""

    app: str
    name: str
    table: str
    explicit: bool
    fields: dict[str, CallResult] = field(default_factory=dict)
    real: bool = True
    """Whether it has a table: it is managed and no proxy."""


@dataclass
class Replay:
    """Does one operation after the other."""

    tables: DatabaseSchema
    builder: GraphBuilder
    settings: Settings
    states: dict[str, State] = field(default_factory=dict)
    app: str = ""
    migration: str = ""
    in_state: bool = True
    in_database: bool = True

    def __post_init__(self) -> None:
        self._ways: dict[str, Callable[[CallResult], None]] = {
            "CreateModel": self._create, "DeleteModel": self._delete, "RenameModel": self._rename_model,
            "AlterModelTable": self._alter_table, "AddField": self._add, "RemoveField": self._remove,
            "AlterField": self._alter, "RenameField": self._rename, "AddIndex": self._index,
            "RemoveIndex": self._unindex, "RenameIndex": self._rename_index, "AddConstraint": self._index,
            "RemoveConstraint": self._unindex, "AlterOrderWithRespectTo": self._ordered, "RunSQL": self._raw,
            "SeparateDatabaseAndState": self._separate,
        }  # fmt: skip

    def begin(self, app: str, migration: str) -> None:
        """Say whose operations follow."""
        self.app, self.migration = app, migration
        self.in_state = self.in_database = True

    def one(self, operation: CallResult) -> None:
        """Do an operation; one of the project's own does what the class it inherits from does."""
        for name in operation.type_names():
            way = self._ways.get(name.rpartition(".")[2])
            if way is not None:
                way(operation)
                return

    # ── models ────────────────────────────────────────────────────────────────────────────────────

    def _create(self, made: CallResult) -> None:
        name, given = made.argument(0, "name"), made.argument(1, "fields")
        options = made.argument(2, "options")
        options = options if isinstance(options, dict) else {}
        if not isinstance(name, str):
            self.builder.add_remark((made.uri, made.line), "a model whose name is not known")
            return
        told = options.get("db_table")
        table = told.strip('"') if isinstance(told, str) else f"{self.app}_{name.lower()}"
        state = State(self.app, name, table, isinstance(told, str))
        state.real = options.get("proxy") is not True and options.get("managed") is not False
        pairs = [one for one in (given if isinstance(given, list | tuple) else []) if isinstance(one, tuple | list)]
        state.fields = {str(one[0]): one[1] for one in pairs if len(one) == 2 and isinstance(one[1], CallResult)}
        if self.in_state:
            self.states[self._key(name)] = state
        if self.in_database and state.real:
            kept = self.tables.create(table, (made.uri, made.line), self.migration)
            for field_name, value in state.fields.items():
                self._put(kept, state, field_name, value)

    def _delete(self, made: CallResult) -> None:
        state = self._state(made.argument(0, "name"))
        if state is None:
            return
        place = (made.uri, made.line)
        if self.in_database and state.real:
            for name in [*self._between(state).values(), state.table]:
                self.tables.drop(name, place, self.migration)
        if self.in_state:
            self.states.pop(f"{state.app}.{state.name}".lower(), None)

    def _rename_model(self, made: CallResult) -> None:
        old, new = made.argument(0, "old_name"), made.argument(1, "new_name")
        state = self._state(old)
        if state is None or not isinstance(new, str) or not isinstance(old, str):
            return
        table = state.table if state.explicit else f"{state.app}_{new.lower()}"
        self._move(state, table, (made.uri, made.line))
        if self.in_database:
            for name in self._between(state).values():
                between = self.tables.get(name)
                if between is not None:
                    between.rename(f"{old.lower()}_id", f"{new.lower()}_id")
            self._pointing(state, old.lower(), new.lower())
        if self.in_state:
            self.states.pop(self._key(old), None)
            state.name = new
            self.states[self._key(new)] = state
            for other in self.states.values():
                self._repoint(other, f"{state.app}.{old}".lower(), f"{state.app}.{new}")

    def _pointing(self, state: State, old: str, new: str) -> None:
        """Rename the column by which tables between other models and this one point to it."""
        for other in self.states.values():
            for name, value in other.fields.items():
                point = pointed(name, value, (other.app, other.name), self.settings)
                to_it = point is not None and point.to == f"{state.app}.{old}".lower()
                if point is not None and to_it and point.kind == "many_to_many" and not point.through:
                    between = self.tables.get(self._joined(other, name, value))
                    if between is not None and other is not state:
                        between.rename(f"{old}_id", f"{new}_id")

    def _repoint(self, other: State, old: str, new: str) -> None:
        for name, value in list(other.fields.items()):
            point = pointed(name, value, (other.app, other.name), self.settings)
            if point is not None and point.to == old:
                changed = {**value.kwargs, "to": new}
                other.fields[name] = CallResult(
                    value.callee, value.args[1:], changed, value.uri, value.line, on=value.on
                )

    def _alter_table(self, made: CallResult) -> None:
        state, table = self._state(made.argument(0, "name")), made.argument(1, "table")
        if state is None:
            return
        name = table if isinstance(table, str) else f"{state.app}_{state.name.lower()}"
        self._move(state, name, (made.uri, made.line))
        if self.in_state:
            state.explicit = isinstance(table, str)

    def _move(self, state: State, table: str, place: Location) -> None:
        """Give a model's table, and those between it and others, another name."""
        before = self._between(state)
        if self.in_database and state.real:
            self.tables.rename(state.table, table, place, self.migration)
            for name, old in before.items():
                if old == f"{state.table}_{name}":
                    self.tables.rename(old, f"{table}_{name}", place, self.migration)
        if self.in_state:
            state.table = table

    # ── fields ────────────────────────────────────────────────────────────────────────────────────

    def _add(self, made: CallResult) -> None:
        state, name, value = self._field(made)
        if state is None or not isinstance(value, CallResult):
            return
        if self.in_database and state.real:
            table = self._altered(state, made, {"columns": [name]})
            if table is not None:
                self._put(table, state, name, value)
        if self.in_state:
            state.fields[name] = value

    def _remove(self, made: CallResult) -> None:
        state, name, _ = self._field(made)
        if state is None:
            return
        if self.in_database and state.real:
            table = self._altered(state, made, {"columns": [name], "removed": True})
            self._take(table, state, name, (made.uri, made.line))
        if self.in_state:
            state.fields.pop(name, None)

    def _alter(self, made: CallResult) -> None:
        state, name, value = self._field(made)
        if state is None or not isinstance(value, CallResult):
            return
        if self.in_database and state.real:
            table = self._altered(state, made, {"columns": [name]})
            old = column_of(name, state.fields[name]) if name in state.fields else None
            new = column_of(name, value)
            if table is not None and old is not None and new is not None and old.name in table.columns:
                table.rename(old.name, new.name)
                self._put(table, state, name, value)
            elif table is not None and (old is not None or new is not None):
                self._take(table, state, name, (made.uri, made.line))
                self._put(table, state, name, value)
        if self.in_state:
            state.fields[name] = value

    def _rename(self, made: CallResult) -> None:
        state = self._state(made.argument(0, "model_name"))
        old, new = made.argument(1, "old_name"), made.argument(2, "new_name")
        if state is None or not isinstance(old, str) or not isinstance(new, str) or old not in state.fields:
            return
        value = state.fields[old]
        if self.in_database and state.real:
            table = self._altered(state, made, {"columns": [new], "former": old})
            before, after = column_of(old, value), column_of(new, value)
            if table is not None and before is not None and after is not None:
                table.rename(before.name, after.name)
                self._referring(f"{state.table}.{before.name}", f"{state.table}.{after.name}")
            elif before is None:
                place = (made.uri, made.line)
                joined = self._joined(state, old, value)
                self.tables.rename(joined, self._joined(state, new, value), place, self.migration)
        if self.in_state:
            state.fields = {(new if name == old else name): one for name, one in state.fields.items()}

    def _referring(self, old: str, new: str) -> None:
        for table in self.tables.current.values():
            for column in table.columns.values():
                column.references = new if column.references == old else column.references

    def _put(self, table: SchemaTable, state: State, name: str, value: CallResult) -> None:
        """Add a field's column, or the table that joins two models."""
        column = column_of(name, value)
        point = pointed(name, value, (state.app, state.name), self.settings)
        if column is not None:
            if point is not None and point.to:
                told = value.kwargs.get("to_field")
                there, key = self._target(point.to)
                column.references = f"{there}.{told if isinstance(told, str) else key}"
            table.columns[column.name] = column
        elif point is not None and point.kind == "many_to_many" and not point.through:
            place = (value.uri, value.line)
            there, key = self._target(point.to)
            made = self.tables.create(self._joined(state, name, value), place, self.migration)
            own, other = state.name.lower(), point.to.rpartition(".")[2]
            made.columns.update(
                joining(place, (own, f"{state.table}.{self._primary(state)}"), (other, f"{there}.{key}"))
            )

    def _take(self, table: SchemaTable | None, state: State, name: str, place: Location) -> None:
        """Remove a field's column, or the table that joins two models."""
        value = state.fields.get(name)
        column = column_of(name, value) if value is not None else None
        if column is not None and table is not None:
            table.columns.pop(column.name, None)
        elif value is not None and column is None:
            self.tables.drop(self._joined(state, name, value), place, self.migration)

    # ── the rest ──────────────────────────────────────────────────────────────────────────────────

    def _index(self, made: CallResult) -> None:
        state = self._state(made.argument(0, "model_name"))
        inner = made.argument(1, "index") or made.argument(1, "constraint")
        name = inner.kwargs.get("name") if isinstance(inner, CallResult) else None
        table = self._altered(state, made, {"index": name if isinstance(name, str) else None}) if state else None
        if table is not None and isinstance(name, str):
            table.indexes.append(name)

    def _unindex(self, made: CallResult) -> None:
        state, name = self._state(made.argument(0, "model_name")), made.argument(1, "name")
        table = self._altered(state, made, {"removed": True}) if state is not None else None
        if table is not None and name in table.indexes:
            table.indexes.remove(name)

    def _rename_index(self, made: CallResult) -> None:
        state = self._state(made.argument(0, "model_name"))
        old, new = made.kwargs.get("old_name"), made.kwargs.get("new_name")
        table = self.tables.get(state.table) if state is not None else None
        if table is not None and isinstance(new, str):
            table.indexes = [new if name == old else name for name in table.indexes]

    def _ordered(self, made: CallResult) -> None:
        state, told = self._state(made.argument(0, "name")), made.argument(1, "order_with_respect_to")
        table = self._altered(state, made, {"columns": ["_order"]}) if state is not None else None
        if table is not None and isinstance(told, str):
            table.columns["_order"] = SchemaColumn("_order", "OrderWrt", place=(made.uri, made.line))
        elif table is not None:
            table.columns.pop("_order", None)

    def _raw(self, made: CallResult) -> None:
        said = made.argument(0, "sql")
        text = " ".join(said.split())[:120] if isinstance(said, str) else "something computed"
        self.builder.add_remark((made.uri, made.line), f"SQL that is not followed: {text}")
        for one in made.kwargs.get("state_operations") or ():
            if isinstance(one, CallResult):  # what the SQL does to tables is what these say of models
                self.one(one)

    def _separate(self, made: CallResult) -> None:
        kept = self.in_state, self.in_database
        for name, position in (("database_operations", 0), ("state_operations", 1)):
            given = made.argument(position, name)
            self.in_state = kept[0] and name == "state_operations"
            self.in_database = kept[1] and name == "database_operations"
            for one in given if isinstance(given, list | tuple) else ():
                if isinstance(one, CallResult):
                    self.one(one)
        self.in_state, self.in_database = kept

    # ── looking up ────────────────────────────────────────────────────────────────────────────────

    def _key(self, name: str) -> str:
        return f"{self.app}.{name}".lower()

    def _state(self, name: Value) -> State | None:
        return self.states.get(self._key(name)) if isinstance(name, str) else None

    def _field(self, made: CallResult) -> tuple[State | None, str, Value]:
        state = self._state(made.argument(0, "model_name"))
        return state, str(made.argument(1, "name")), made.argument(2, "field")

    def _altered(self, state: State, made: CallResult, what: dict[str, Json]) -> SchemaTable | None:
        if not self.in_database or not state.real:
            return None
        return self.tables.alter(state.table, (made.uri, made.line), self.migration, what)

    def _joined(self, state: State, name: str, value: CallResult) -> str:
        told = value.kwargs.get("db_table")
        return told if isinstance(told, str) else f"{state.table}_{name}"

    def _between(self, state: State) -> dict[str, str]:
        """Return the tables between a model and others, by the field that makes them."""
        found = {}
        for name, value in state.fields.items():
            point = pointed(name, value, (state.app, state.name), self.settings)
            if point is not None and point.kind == "many_to_many" and not point.through:
                found[name] = self._joined(state, name, value)
        return found

    def _target(self, label: str) -> tuple[str, str]:
        """Return the table and the key of a model; one the project lacks has Django's names."""
        state = self.states.get(label)
        return (state.table, self._primary(state)) if state is not None else (label.replace(".", "_"), "id")

    def _primary(self, state: State) -> str:
        for name, value in state.fields.items():
            column = column_of(name, value)
            if column is not None and column.primary:
                return column.name
        return "id"
