"""Blueprint calls that drop or rename: columns, indexes, foreign keys, and the table itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ragstone_code.laravel.calls import MethodCall, blueprint_methods, string_values
from ragstone_code.laravel.model_keys import ModelKey, foreign_column_name
from ragstone_code.laravel.tables import Table, TableHistory, TableIndex


@dataclass(frozen=True, slots=True)
class BlueprintDrops:
    """Applies the calls of a blueprint that drop or rename."""

    history: TableHistory
    table: Table
    find_model: Callable[[object], ModelKey | None]
    touched: list[str]
    """Names of the columns that were dropped or renamed are added to this list."""

    def apply(self, name: str, call: MethodCall) -> None:
        """Apply one call; `name` is its method in lower case."""
        dropped_indexes = blueprint_methods()["dropped indexes"]
        if name in dropped_indexes:
            self._drop_index(dropped_indexes[name], call)
        elif name == "dropforeign":
            self._drop_foreign_key(call.argument(0, "index"))
        elif name in ("drop", "dropifexists"):
            self.history.drop(self.table.name, call.at)
        elif name == "rename":
            self._rename_table(call)
        elif name == "renamecolumn":
            self._rename_column(call)
        elif name == "renameindex":
            self._rename_index(call)
        else:
            self._drop_columns(name, call)

    def _rename_table(self, call: MethodCall) -> None:
        new_name = call.text(0, "to")
        if new_name is None:
            self.history.add_remark(
                call.at, f"the new name of the table {self.table.name} is not known"
            )
        else:
            self.history.rename(self.table.name, new_name, call.at)

    def _rename_index(self, call: MethodCall) -> None:
        index = self.table.indexes.pop(str(call.argument(0)), None)
        if index is not None:
            self.table.indexes[str(call.argument(1))] = index

    def _drop_columns(self, name: str, call: MethodCall) -> None:
        """Drop the columns that a `drop…` method names; add a remark if Laravel has no such method."""
        columns = self._columns_to_drop(name, call)
        if columns is None:
            self.history.add_remark(call.at, f"{call.name} is no method of Laravel's blueprint")
            return
        if not columns:
            self.history.add_remark(
                call.at, f"which column of {self.table.name} is dropped is not known"
            )
        for column in columns:
            self.table.drop(column)
            self.touched.append(column)

    def _columns_to_drop(self, name: str, call: MethodCall) -> tuple[str, ...] | None:
        """Return the columns that a method drops; None if Laravel has no such method."""
        dropped_columns = blueprint_methods()["dropped columns"]
        if name in dropped_columns:
            return tuple(dropped_columns[name])
        if name in ("dropsoftdeletes", "dropsoftdeletestz"):
            return (call.text(0, "column") or "deleted_at",)
        if name == "dropmorphs":
            return _morph_columns(call)
        if name in ("dropforeignidfor", "dropconstrainedforeignidfor"):
            model_key = self.find_model(call.argument(0, "model"))
            column = call.text(1, "column") or foreign_column_name(call, model_key)
            return (column,) if column else ()
        if name in ("dropcolumn", "dropconstrainedforeignid", "removecolumn"):
            return _named_columns(call)
        return None

    def _drop_index(self, kind: str, call: MethodCall) -> None:
        value = call.argument(0, "index")
        if isinstance(value, str):
            self.table.indexes.pop(value, None)
            return
        columns = string_values(value)
        remaining: dict[str, TableIndex] = {}
        for key, index in self.table.indexes.items():
            if index.kind != kind or (columns and index.columns != columns):
                remaining[key] = index
        self.table.indexes = remaining

    def _drop_foreign_key(self, value: object) -> None:
        if isinstance(value, str):
            self.table.foreign.pop(value, None)
            return
        columns = string_values(value)
        self.table.foreign = {
            key: foreign
            for key, foreign in self.table.foreign.items()
            if foreign.columns != columns
        }

    def _rename_column(self, call: MethodCall) -> None:
        former = call.text(0, "from")
        new_name = call.text(1, "to")
        if former is None or new_name is None:
            self.history.add_remark(
                call.at, f"which column of {self.table.name} is renamed is not known"
            )
            return
        former = former.strip("`")
        new_name = new_name.strip("`")
        self.history.rename_column(self.table, former, new_name, call.at)
        self.touched.extend((former, new_name))


def _morph_columns(call: MethodCall) -> tuple[str, ...]:
    """Return the type column and the id column of each morph that a call names."""
    columns: list[str] = []
    for morph in string_values(call.argument(0, "name")):
        columns += (f"{morph}_type", f"{morph}_id")
    return tuple(columns)


def _named_columns(call: MethodCall) -> tuple[str, ...]:
    """Return the columns in all arguments of a call."""
    columns: list[str] = []
    for value in (*call.arguments, *call.named.values()):
        columns.extend(string_values(value))
    return tuple(columns)
