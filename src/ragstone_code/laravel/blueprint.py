"""What a blueprint's calls make of a table: columns, indexes, foreign keys, as Laravel's schema builder has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ragstone.types.graph import Json
from ragstone_code.laravel import inflection
from ragstone_code.laravel.calls import (
    ColumnModifiers,
    MethodCall,
    MethodChain,
    blueprint_methods,
    string_values,
    to_json,
)
from ragstone_code.laravel.tables import Change, Column, Event, ForeignKey, Index, Place, Table, Tables


@dataclass(frozen=True, slots=True)
class Referred:
    """What a foreign key by model needs to know of it."""

    table: str
    key: str = "id"
    key_type: str = "int"
    ulid: bool = False


_FOREIGN_MORE: Final = {
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
_SHOWN: Final = {"length", "total", "places", "allowed", "precision", "dimensions", "subtype", "expression"}


@dataclass(slots=True)
class Blueprint:
    """A table being made or altered: takes chains of calls and says at the end what was touched."""

    tables: Tables
    table: Table
    creating: bool
    model: Callable[[object], Referred | None]
    morph_key: str = "unsignedBigInteger"
    keeps: bool = False
    """Whether a changed column keeps what the change does not say, as it did before Laravel 11."""
    touched: list[str] = field(default_factory=list)
    acted: bool = False

    def take(self, chain: MethodChain) -> None:
        """Do what one chain of calls says."""
        first = chain[0]
        name = first.name.lower()
        data = blueprint_methods()
        self.acted = self.acted or name not in ("rename", "drop", "dropifexists", *data["no column"])
        if name in data["columns"] or name in ("addcolumn", "foreignidfor", "foreignuuidfor", "foreignulidfor"):
            self._column(chain)
        elif name in data["several"]:
            self._several(first, [tuple(one) for one in data["several"][name]], chain[1:])
        elif name in data["morphs"]:
            self._morphs(first, *data["morphs"][name])
        elif name == "foreign":
            self._foreign(string_values(first.argument(0, "columns")), first.text(1, "name"), chain)
        elif name in data["indexes"]:
            self._index(data["indexes"][name], first)
        elif name.startswith(("drop", "rename", "remove")):
            self._undo(name, first)
        elif name not in data["no column"] and name != "after":
            self.tables.remark(first.at, f"{first.name} is no method of Laravel's blueprint")

    def done(self, at: Place) -> None:
        """Write down that the table was made or altered."""
        kind: Change = "CREATES" if self.creating else "ALTERS"
        if not self.creating and not self.acted:
            return
        self.table.events.append(Event(kind, at, tuple(dict.fromkeys(self.touched))))

    # ── columns ──────────────────────────────────────────────────────────────────────────────

    def _column(self, chain: MethodChain) -> None:
        first = chain[0]
        method = first.name.lower()
        to: Referred | None = None
        if method == "addcolumn":
            kind, name, rest = str(first.text(0, "type") or "unknown"), first.text(1, "name"), first
            more = {"type": kind, **(first.argument(2) if isinstance(first.argument(2), Mapping) else {})}  # type: ignore[dict-item]
        elif method.endswith("for"):
            to = self.model(first.argument(0, "model"))
            name = first.text(1, "column") or self._key_of(first, to)
            more, rest = blueprint_methods()["columns"][self._foreign_method(method, to)], first
        else:
            more, rest = blueprint_methods()["columns"][method], first
            name = first.text(0, "column") or (more.get("name") if first.argument(0, "column") is None else None)
        if name is None:
            self.tables.remark(first.at, f"the name of a column of {self.table.name} is not known ({first.name})")
            return
        self._put(name, more, rest, chain[1:], to)

    def _key_of(self, said: MethodCall, to: Referred | None) -> str | None:
        """Return the column that refers to a model."""
        name = said.argument(0, "model")
        name = name if isinstance(name, str) else getattr(name, "name", None)
        return inflection.foreign_key_name(name, to.key if to else "id") if isinstance(name, str) else None

    def _foreign_method(self, method: str, to: Referred | None) -> str:
        if method != "foreignidfor":
            return method.removesuffix("for")
        if to is None or to.key_type == "int":
            return "foreignid"
        return "foreignulid" if to.ulid else "foreignuuid"

    def _put(
        self, name: str, more: Mapping[str, Any], said: MethodCall, calls: MethodChain, to: Referred | None = None
    ) -> None:
        """Add or change a column, with what the rest of the chain says of it."""
        extra: dict[str, Json] = {
            key: to_json(value) for key, value in more.items() if key in _SHOWN or (key in _FLAGS and value)
        }
        for index, key in enumerate(more.get("takes", ())):
            value = said.argument(index + 1, _PHP_NAMES.get(key, key))
            if value is not None and value is not False:
                extra[key] = to_json(value)
        settings = ColumnModifiers(bool(more.get("nullable")), extra)
        for index, call in enumerate(calls):
            if more.get("foreign") and call.name.lower() in ("constrained", "references"):
                self._referring(name, calls[index:], to)
                break
            settings.take(call)
        self._settle(Column(name, str(more["type"]), settings.nullable, said.at, settings.more), settings, calls)

    def _settle(self, column: Column, settings: ColumnModifiers, calls: MethodChain) -> None:
        before = self.table.columns.get(column.name)
        if settings.changes and before is not None and self.keeps:
            nullable = column.nullable if settings.nullable_said else before.nullable
            kept = {key: value for key, value in before.more.items() if key in ("default", "comment")}
            column = replace(column, nullable=nullable, more={**kept, **column.more})
        if before is not None:
            column = replace(column, at=before.at if settings.changes else column.at)
        self.table.add(column)
        self.touched.append(column.name)
        for kind, name in settings.indexes:
            self.table.indexes[name or self.table.named_index(kind, (column.name,))] = Index(kind, (column.name,))

    def _several(self, said: MethodCall, columns: list[tuple[str, str, bool]], calls: MethodChain) -> None:
        for method, name, nullable in columns:
            more = {**blueprint_methods()["columns"][method.lower()], "nullable": nullable, "takes": ()}
            if name == "remember_token":
                more["length"] = 100
            self._put(name, more, said, calls)

    def _morphs(self, said: MethodCall, key: str, nullable: bool) -> None:
        name = said.text(0, "name")
        if name is None:
            self.tables.remark(said.at, f"the name of a morph of {self.table.name} is not known")
            return
        pair = (f"{name}_type", f"{name}_id")
        self._several(said, [("string", pair[0], nullable), (key or self.morph_key, pair[1], nullable)], ())
        self.table.indexes[said.text(1, "indexName") or self.table.named_index("index", pair)] = Index("index", pair)

    # ── keys and indexes ─────────────────────────────────────────────────────────────────────

    def _referring(self, column: str, calls: MethodChain, to: Referred | None) -> None:
        """Add the foreign key of a `foreignId` and its kin."""
        first = calls[0]
        if first.name.lower() == "references":
            self._foreign((column,), first.text(1, "indexName"), calls)
            return
        key = first.text(1, "column") or (to.key if to else "id")
        table = first.text(0, "table") or (to.table if to else None)
        if table is None and first.argument(0, "table") is None:
            table = inflection.plural(column.rpartition(f"_{key}")[0] or column)
        self._foreign_to((column,), table, (key,), first.text(2, "indexName"), calls)

    def _foreign(self, columns: tuple[str, ...], name: str | None, calls: MethodChain) -> None:
        said = {call.name.lower(): call for call in calls}
        on = said["on"].argument(0) if "on" in said else None
        references = string_values(said["references"].argument(0)) if "references" in said else ()
        if isinstance(on, str) and "." in (references[0] if references else ""):
            references = tuple(one.rpartition(".")[2] for one in references)
        self._foreign_to(columns, on if isinstance(on, str) else None, references, name, calls)

    def _foreign_to(
        self,
        columns: tuple[str, ...],
        on: str | None,
        references: tuple[str, ...],
        name: str | None,
        calls: MethodChain,
    ) -> None:
        at = calls[0].at
        if not columns or on is None or not references:
            self.tables.remark(at, f"a foreign key of {self.table.name} is not fully known")
            return
        more: dict[str, Json] = {}
        for call in calls:
            lower = call.name.lower()
            if lower in _FOREIGN_MORE:
                more[_FOREIGN_MORE[lower][0]] = _FOREIGN_MORE[lower][1]
            elif lower in ("ondelete", "onupdate"):
                more[f"on_{lower[2:]}"] = to_json(call.argument(0))
        key = ForeignKey(columns, on, references, at, more)
        self.table.foreign[name or self.table.named_index("foreign", columns)] = key
        self.touched.extend(columns)

    def _index(self, kind: str, said: MethodCall) -> None:
        columns = string_values(said.argument(0, "columns"))
        name = said.text(1, "name") or self.table.named_index(kind, columns)
        self.table.indexes[name] = Index(kind, columns)
        self.touched.extend(column for column in columns if column in self.table.columns)

    # ── taking away ──────────────────────────────────────────────────────────────────────────

    def _undo(self, name: str, said: MethodCall) -> None:
        data = blueprint_methods()
        if name in data["dropped indexes"]:
            self._drop_index(data["dropped indexes"][name], said)
        elif name == "dropforeign":
            self._drop_foreign(said.argument(0, "index"))
        elif name in ("drop", "dropifexists"):
            self.tables.drop(self.table.name, said.at)
        elif name == "rename":
            self._rename_table(said)
        elif name == "renamecolumn":
            self._rename(said)
        elif name == "renameindex":
            found = self.table.indexes.pop(str(said.argument(0)), None)
            if found is not None:
                self.table.indexes[str(said.argument(1))] = found
        else:
            self._drop_columns(name, said)

    def _rename_table(self, said: MethodCall) -> None:
        to = said.text(0, "to")
        if to is None:
            self.tables.remark(said.at, f"the new name of the table {self.table.name} is not known")
        else:
            self.tables.rename(self.table.name, to, said.at)

    def _drop_columns(self, name: str, said: MethodCall) -> None:
        """Take away the columns that any of the methods for it names."""
        data = blueprint_methods()
        if name in data["dropped columns"]:
            columns = tuple(data["dropped columns"][name])
        elif name in ("dropsoftdeletes", "dropsoftdeletestz"):
            columns = (said.text(0, "column") or "deleted_at",)
        elif name == "dropmorphs":
            columns = tuple(f"{one}_{end}" for one in string_values(said.argument(0, "name")) for end in ("type", "id"))
        elif name in ("dropforeignidfor", "dropconstrainedforeignidfor"):
            column = said.text(1, "column") or self._key_of(said, self.model(said.argument(0, "model")))
            columns = (column,) if column else ()
        elif name in ("dropcolumn", "dropconstrainedforeignid", "removecolumn"):
            columns = tuple(one for value in (*said.arguments, *said.named.values()) for one in string_values(value))
        else:
            self.tables.remark(said.at, f"{said.name} is no method of Laravel's blueprint")
            return
        if not columns:
            self.tables.remark(said.at, f"which column of {self.table.name} is dropped is not known")
        for column in columns:
            self.table.drop(column)
            self.touched.append(column)

    def _drop_index(self, kind: str, said: MethodCall) -> None:
        value = said.argument(0, "index")
        if isinstance(value, str):
            self.table.indexes.pop(value, None)
            return
        columns = string_values(value)
        self.table.indexes = {
            key: one
            for key, one in self.table.indexes.items()
            if one.kind != kind or (columns and one.columns != columns)
        }

    def _drop_foreign(self, value: object) -> None:
        if isinstance(value, str):
            self.table.foreign.pop(value, None)
            return
        columns = string_values(value)
        self.table.foreign = {key: one for key, one in self.table.foreign.items() if one.columns != columns}

    def _rename(self, said: MethodCall) -> None:
        former, to = (name.strip("`") if name else None for name in (said.text(0, "from"), said.text(1, "to")))
        if former is None or to is None:
            self.tables.remark(said.at, f"which column of {self.table.name} is renamed is not known")
            return
        self.tables.rename_column(self.table, former, to, said.at)
        self.touched.extend((former, to))
