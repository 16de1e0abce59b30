"""`Blueprint` of Laravel's schema builder: chains of calls become columns, indexes and foreign keys of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ragstone.types.graph import Json
from ragstone_code.laravel import inflection
from ragstone_code.laravel.blueprint_drops import BlueprintDrops
from ragstone_code.laravel.calls import (
    ColumnModifiers,
    MethodCall,
    MethodChain,
    blueprint_methods,
    string_values,
    to_json,
)
from ragstone_code.laravel.model_keys import ModelKey, foreign_column_name
from ragstone_code.laravel.tables import (
    Column,
    ForeignKey,
    MigrationChange,
    MigrationLine,
    Table,
    TableHistory,
    TableIndex,
)

_FOREIGN_KEY_ACTIONS: Final = {
    "cascadeondelete": ("on_delete", "cascade"),
    "restrictondelete": ("on_delete", "restrict"),
    "nullondelete": ("on_delete", "set null"),
    "noactionondelete": ("on_delete", "no action"),
    "cascadeonupdate": ("on_update", "cascade"),
    "restrictonupdate": ("on_update", "restrict"),
    "nullonupdate": ("on_update", "set null"),
    "noactiononupdate": ("on_update", "no action"),
}
_FLAGS: Final = {"auto_increment", "unsigned"}
_PHP_NAMES: Final = {"auto_increment": "autoIncrement"}
_COLUMN_OPTIONS: Final = {
    "length",
    "total",
    "places",
    "allowed",
    "precision",
    "dimensions",
    "subtype",
    "expression",
}
_COLUMN_METHODS: Final = ("addcolumn", "foreignidfor", "foreignuuidfor", "foreignulidfor")
_DROP_PREFIXES: Final = ("drop", "rename", "remove")
_TABLE_METHODS: Final = ("rename", "drop", "dropifexists")
_REMEMBER_TOKEN_LENGTH: Final = 100


@dataclass(slots=True)
class Blueprint:
    """A table that a migration creates or alters; it applies chains of calls to the table."""

    history: TableHistory
    table: Table
    creating: bool
    find_model: Callable[[object], ModelKey | None]
    morph_key: str = "unsignedBigInteger"
    keeps_options: bool = False
    """True before Laravel 11: a changed column keeps the options that the change does not repeat."""
    touched: list[str] = field(default_factory=list)
    """Names of the columns that were added, altered or dropped."""
    altered: bool = False

    def apply_chain(self, chain: MethodChain) -> None:
        """Apply one chain of calls to the table."""
        first = chain[0]
        name = first.name.lower()
        methods = blueprint_methods()
        ignored = name == "after" or name in methods["no column"]
        if name not in (*_TABLE_METHODS, *methods["no column"]):
            self.altered = True
        if name in methods["columns"] or name in _COLUMN_METHODS:
            self._add_column(chain)
        elif name in methods["several"]:
            columns = [tuple(column) for column in methods["several"][name]]
            self._add_columns(first, columns, chain[1:])
        elif name in methods["morphs"]:
            key, nullable = methods["morphs"][name]
            self._add_morph_columns(first, key, nullable=nullable)
        elif name == "foreign":
            key_columns = string_values(first.argument(0, "columns"))
            self._add_foreign_key(key_columns, first.text(1, "name"), chain)
        elif name in methods["indexes"]:
            self._add_index(methods["indexes"][name], first)
        elif name.startswith(_DROP_PREFIXES):
            drops = BlueprintDrops(
                self.history,
                self.table,
                self.find_model,
                self.touched,
            )
            drops.apply(name, first)
        elif not ignored:
            self.history.add_remark(
                first.at, f"{first.name} is no method of Laravel's blueprint"
            )

    def finish(self, at: MigrationLine) -> None:
        """Record the change of the table, if there is one."""
        columns = tuple(dict.fromkeys(self.touched))
        if self.creating:
            self.table.changes.append(MigrationChange("CREATES", at, columns))
        elif self.altered:
            self.table.changes.append(MigrationChange("ALTERS", at, columns))

    # ── columns ──────────────────────────────────────────────────────────────────────────────

    def _add_column(self, chain: MethodChain) -> None:
        first = chain[0]
        method = first.name.lower()
        model_key: ModelKey | None = None
        if method == "addcolumn":
            name = first.text(1, "name")
            definition = self._custom_definition(first)
        elif method.endswith("for"):
            model_key = self.find_model(first.argument(0, "model"))
            name = first.text(1, "column") or foreign_column_name(first, model_key)
            definition = blueprint_methods()["columns"][self._foreign_method(method, model_key)]
        else:
            definition = blueprint_methods()["columns"][method]
            name = first.text(0, "column")
            if name is None and first.argument(0, "column") is None:
                name = definition.get("name")
        if name is None:
            remark = f"the name of a column of {self.table.name} is not known ({first.name})"
            self.history.add_remark(first.at, remark)
            return
        self._put_column(name, definition, first, chain[1:], model_key)

    def _custom_definition(self, call: MethodCall) -> dict[str, Any]:
        """Return the definition of a column that `addColumn(type, name, options)` adds."""
        definition: dict[str, Any] = {"type": str(call.text(0, "type") or "unknown")}
        options = call.argument(2)
        if isinstance(options, Mapping):
            definition.update(options)
        return definition

    def _foreign_method(self, method: str, model_key: ModelKey | None) -> str:
        """Return the plain method that `foreignIdFor` and similar methods call."""
        if method != "foreignidfor":
            return method.removesuffix("for")
        if model_key is None or model_key.key_type == "int":
            return "foreignid"
        return "foreignulid" if model_key.ulid else "foreignuuid"

    def _put_column(
        self,
        name: str,
        definition: Mapping[str, Any],
        call: MethodCall,
        rest: MethodChain,
        model_key: ModelKey | None = None,
    ) -> None:
        """Add or change a column; the rest of the chain sets its options."""
        modifiers = ColumnModifiers(
            bool(definition.get("nullable")), self._column_options(definition, call)
        )
        for index, next_call in enumerate(rest):
            if definition.get("foreign") and next_call.name.lower() in (
                "constrained",
                "references",
            ):
                self._add_foreign_key_of_column(name, rest[index:], model_key)
                break
            modifiers.apply(next_call)
        column = Column(
            name,
            str(definition["type"]),
            modifiers.nullable,
            call.at,
            modifiers.more,
        )
        self._store_column(column, modifiers)

    def _column_options(
        self, definition: Mapping[str, Any], call: MethodCall
    ) -> dict[str, Json]:
        """Return the options of a column: those of its definition, then those in the call's arguments."""
        options: dict[str, Json] = {}
        for key, value in definition.items():
            if key in _COLUMN_OPTIONS or (key in _FLAGS and value):
                options[key] = to_json(value)
        for index, key in enumerate(definition.get("takes", ())):
            value = call.argument(index + 1, _PHP_NAMES.get(key, key))
            if value is not None and value is not False:
                options[key] = to_json(value)
        return options

    def _store_column(self, column: Column, modifiers: ColumnModifiers) -> None:
        previous = self.table.columns.get(column.name)
        if modifiers.changes and previous is not None:
            if self.keeps_options:
                column = self._with_previous_options(
                    column,
                    previous,
                    modifiers,
                )
            column = replace(column, at=previous.at)
        self.table.add(column)
        self.touched.append(column.name)
        columns = (column.name,)
        for kind, name in modifiers.indexes:
            index_name = name or self.table.named_index(kind, columns)
            self.table.indexes[index_name] = TableIndex(kind, columns)

    def _with_previous_options(
        self,
        column: Column,
        previous: Column,
        modifiers: ColumnModifiers,
    ) -> Column:
        """Return a changed column with the options of the previous definition that the change does not set."""
        nullable = column.nullable if modifiers.sets_nullable else previous.nullable
        options = {
            key: value for key, value in previous.more.items() if key in ("default", "comment")
        }
        return replace(
            column,
            nullable=nullable,
            more={**options, **column.more},
        )

    def _add_columns(
        self,
        call: MethodCall,
        columns: list[tuple[str, str, bool]],
        rest: MethodChain,
    ) -> None:
        """Add the columns of a method that adds several, such as `timestamps()`."""
        for method, name, nullable in columns:
            definition = {
                **blueprint_methods()["columns"][method.lower()],
                "nullable": nullable,
                "takes": (),
            }
            if name == "remember_token":
                definition["length"] = _REMEMBER_TOKEN_LENGTH
            self._put_column(name, definition, call, rest)

    def _add_morph_columns(
        self,
        call: MethodCall,
        key: str,
        *,
        nullable: bool,
    ) -> None:
        """Add the type column and the id column of a polymorphic relation, with an index on both."""
        name = call.text(0, "name")
        if name is None:
            self.history.add_remark(
                call.at, f"the name of a morph of {self.table.name} is not known"
            )
            return
        type_column = f"{name}_type"
        id_column = f"{name}_id"
        columns = [
            ("string", type_column, nullable),
            (key or self.morph_key, id_column, nullable),
        ]
        self._add_columns(call, columns, ())
        pair = (type_column, id_column)
        index_name = call.text(1, "indexName") or self.table.named_index("index", pair)
        self.table.indexes[index_name] = TableIndex("index", pair)

    # ── keys and indexes ─────────────────────────────────────────────────────────────────────

    def _add_foreign_key_of_column(
        self,
        column: str,
        chain: MethodChain,
        model_key: ModelKey | None,
    ) -> None:
        """Add the foreign key that `constrained()` or `references()` gives to a column."""
        first = chain[0]
        if first.name.lower() == "references":
            self._add_foreign_key((column,), first.text(1, "indexName"), chain)
            return
        key = first.text(1, "column")
        table = first.text(0, "table")
        if model_key is not None:
            key = key or model_key.key
            table = table or model_key.table
        key = key or "id"
        if table is None and first.argument(0, "table") is None:
            table = inflection.plural(column.rpartition(f"_{key}")[0] or column)
        self._store_foreign_key(
            (column,),
            table,
            (key,),
            first.text(2, "indexName"),
            chain,
        )

    def _add_foreign_key(
        self,
        columns: tuple[str, ...],
        name: str | None,
        chain: MethodChain,
    ) -> None:
        """Add a foreign key whose table and columns are set by `on()` and `references()` in the chain."""
        calls = {call.name.lower(): call for call in chain}
        table = calls["on"].argument(0) if "on" in calls else None
        references: tuple[str, ...] = ()
        if "references" in calls:
            references = string_values(calls["references"].argument(0))
        if not isinstance(table, str):
            table = None
        elif references and "." in references[0]:
            references = tuple(reference.rpartition(".")[2] for reference in references)
        self._store_foreign_key(columns, table, references, name, chain)

    def _store_foreign_key(
        self,
        columns: tuple[str, ...],
        table: str | None,
        references: tuple[str, ...],
        name: str | None,
        chain: MethodChain,
    ) -> None:
        at = chain[0].at
        if not columns or table is None or not references:
            self.history.add_remark(
                at, f"a foreign key of {self.table.name} is not fully known"
            )
            return
        actions: dict[str, Json] = {}
        for call in chain:
            method = call.name.lower()
            if method in _FOREIGN_KEY_ACTIONS:
                event, action = _FOREIGN_KEY_ACTIONS[method]
                actions[event] = action
            elif method in ("ondelete", "onupdate"):
                actions[f"on_{method[2:]}"] = to_json(call.argument(0))
        key_name = name or self.table.named_index("foreign", columns)
        self.table.foreign[key_name] = ForeignKey(
            columns,
            table,
            references,
            at,
            actions,
        )
        self.touched.extend(columns)

    def _add_index(self, kind: str, call: MethodCall) -> None:
        columns = string_values(call.argument(0, "columns"))
        name = call.text(1, "name") or self.table.named_index(kind, columns)
        self.table.indexes[name] = TableIndex(kind, columns)
        self.touched.extend(column for column in columns if column in self.table.columns)
