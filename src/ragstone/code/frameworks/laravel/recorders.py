"""What a migration speaks to while it is followed: the schema builder, blueprints, the database, models, functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from ragstone.code.evaluate import Array, Case, Evaluator, Given, Instance, Lambda, Recorder, Site, Unknown, Value
from ragstone.code.evaluate import settle, shown
from ragstone.code.frameworks.laravel import dumps
from ragstone.code.frameworks.laravel.blueprint import Blueprint, Referred, Said
from ragstone.code.frameworks.laravel.eloquent import Eloquent
from ragstone.code.frameworks.laravel.tables import Place, Tables

_MORPHS: Final = {"uuid": "uuid", "ulid": "ulid", "int": "unsignedBigInteger"}
_SILENT: Final = ("SET", "UPDATE", "INSERT", "DELETE", "SELECT", "PRAGMA", "ANALYZE", "TRUNCATE", "WITH")


def python(value: Value) -> object:
    """Return a value as Python has it: arrays as lists and dictionaries, cases by their values."""
    value = settle(value)
    if isinstance(value, Array):
        if value.is_list:
            return [python(one) for one in value.values]
        return {key: python(one) for key, one in value.items.items()}
    if isinstance(value, Case):
        return python(value.value)
    if isinstance(value, Sql):
        return value.text
    return value


def value_of(said: object) -> Value:
    """Return what is written down as the evaluator has it; what is not is unknown."""
    if isinstance(said, dict):
        return Array(items={key: value_of(one) for key, one in said.items()})
    if isinstance(said, list):
        return Array([value_of(one) for one in said])
    if said is None or isinstance(said, str | int | float | bool):
        return said
    return Unknown("it is not written down")


@dataclass(slots=True)
class Replay:
    """What one run over the migrations knows: the tables so far, and where it is."""

    tables: Tables
    eloquent: Eloquent
    driver: str
    keeps: bool
    morph_key: str = "unsignedBigInteger"
    migration: str = ""
    macros: dict[str, Lambda] = field(default_factory=dict)
    database_macros: dict[str, Lambda] = field(default_factory=dict)

    def place(self, site: Site) -> Place:
        """Return where a call stands."""
        return Place(self.migration, site.uri, site.line, site.conditional)

    def model(self, value: object) -> Referred | None:
        """Return what a foreign key needs to know of a model, given by name or as an object."""
        return self.eloquent.referred(value.name if isinstance(value, Instance) else value)


class Sql(Recorder):
    """A piece of SQL, `DB::raw(…)`."""

    def __init__(self, text: str) -> None:
        self.text = text


class Chained(Recorder):
    """A column or key that is being defined: takes the rest of its chain."""

    def __init__(self, replay: Replay, calls: list[Said]) -> None:
        self.replay = replay
        self.calls = calls

    def called(self, name: str, given: Given, site: Site, machine: Evaluator) -> Value:
        """Take one more call of the chain."""
        self.calls.append(said(self.replay, name, given, site))
        return self


def said(replay: Replay, name: str, given: Given, site: Site) -> Said:
    """Return a call as the blueprint reads it."""
    positional = tuple(python(one) for one in given.positional)
    return Said(name, positional, {key: python(one) for key, one in given.named.items()}, replay.place(site))


class Drawing(Recorder):
    """A blueprint, as a migration's closure is given it."""

    def __init__(self, replay: Replay, table: str) -> None:
        self.replay = replay
        self.table = table
        self.chains: list[Chained] = []

    def called(self, name: str, given: Given, site: Site, machine: Evaluator) -> Value:
        """Begin a chain, or follow a macro of the project's own."""
        macro = self.replay.macros.get(name.lower())
        if macro is not None:
            return machine.call(replace(macro, this=self), given.positional, site)
        if name == "getTable":
            return self.table
        if name == "after" and isinstance(given.at(1), Lambda):
            return machine.call(given.at(1), [self], site)
        chain = Chained(self.replay, [said(self.replay, name, given, site)])
        self.chains.append(chain)
        return chain


class Drawings(Recorder):
    """The blueprint's class, which takes macros."""

    def __init__(self, replay: Replay) -> None:
        self.replay = replay

    def called(self, name: str, given: Given, site: Site, machine: Evaluator) -> Value:
        """Keep a macro."""
        macro, body = given.at(0), given.at(1)
        if name == "macro" and isinstance(macro, str) and isinstance(body, Lambda):
            self.replay.macros[macro.lower()] = body
        return None


class Builder(Recorder):
    """`Schema`, in all its guises."""

    def __init__(self, replay: Replay) -> None:
        self.replay = replay

    def called(self, name: str, given: Given, site: Site, machine: Evaluator) -> Value:
        """Do what one call says to the tables, or tell what they are like now."""
        lower = name.lower()
        if lower in ("create", "table"):
            return self._draw(lower, given, site, machine)
        if lower in ("connection", "setconnection", "new", "getschemabuilder", "schema"):
            return self
        if lower == "getconnection":
            return Database(self.replay, self)
        if lower == "withoutforeignkeyconstraints":
            return machine.call(given.at(0), [], site)
        if lower.startswith("whentable"):
            return self._when(lower, given, site, machine)
        if lower in ("defaultmorphkeytype", "morphusinguuids", "morphusingulids"):
            key = {"morphusinguuids": "uuid", "morphusingulids": "ulid"}.get(lower) or str(python(given.at(0)))
            self.replay.morph_key = _MORPHS.get(key, self.replay.morph_key)
            return None
        if lower in ("rename", "drop", "dropifexists", "dropcolumns", "dropalltables"):
            return self._undo(lower, given, site)
        return self._told(lower, given)

    def _name(self, value: Value) -> str | None:
        name = python(value)
        return name.rpartition(".")[2] if isinstance(name, str) and name else None

    def _draw(self, how: str, given: Given, site: Site, machine: Evaluator) -> Value:
        at = self.replay.place(site)
        name = self._name(given.at(0, "table"))
        tables = self.replay.tables
        if name is None:
            tables.remark(at, f"which table Schema::{how} is about is not known")
            return None
        drawing = Drawing(self.replay, name)
        there = tables.live(name)
        if how == "create" and there is not None and not at.conditional:
            tables.remark(at, f"the table {name} is made again")
        table = tables.create(name, at) if how == "create" else tables.altered(name, at)
        machine.call(given.at(1, "callback"), [drawing], site)
        blueprint = Blueprint(
            tables, table, how == "create", self.replay.model, self.replay.morph_key, self.replay.keeps
        )
        for chain in drawing.chains:
            blueprint.take(tuple(chain.calls))
        blueprint.done(at)
        return None

    def _when(self, name: str, given: Given, site: Site, machine: Evaluator) -> Value:
        """Alter a table if it has a column or an index, or if it has not."""
        wanted = self._told("hascolumn" if "column" in name else "hasindex", given)
        if isinstance(wanted, bool) and wanted == ("doesnt" not in name):
            self._draw("table", Given((given.at(0), given.at(2))), site, machine)
        return None

    def _undo(self, how: str, given: Given, site: Site) -> Value:
        at, name, tables = self.replay.place(site), self._name(given.at(0)), self.replay.tables
        if name is None:
            tables.remark(at, f"which table Schema::{how} is about is not known")
        elif how == "rename":
            to = self._name(given.at(1))
            if to is None:
                tables.remark(at, f"the new name of the table {name} is not known")
            else:
                tables.rename(name, to, at)
        elif how == "dropcolumns":
            blueprint = Blueprint(tables, tables.altered(name, at), False, self.replay.model)
            blueprint.take((Said("dropColumn", tuple(python(one) for one in given.positional[1:]), {}, at),))
            blueprint.done(at)
        else:
            tables.drop(name, at)
        return None

    def _told(self, name: str, given: Given) -> Value:
        """Return what the tables are like now."""
        tables, table, second = self.replay.tables, self._name(given.at(0)), python(given.at(1))
        if table is None:
            return Unknown("the table is not known")
        there = tables.live(table)
        wanted = [one for one in (second if isinstance(second, list) else [second]) if isinstance(one, str)]
        if name == "hastable":
            return there is not None
        if name in ("hascolumn", "hascolumns"):
            return all(tables.has_column(table, one) for one in wanted) if wanted else Unknown("which is not known")
        if name == "hasindex":
            indexes = there.indexes if there else {}
            return any(key == second or list(one.columns) == wanted for key, one in indexes.items())
        if name == "getcolumnlisting":
            return Array(list(there.columns) if there else [])
        if name == "getforeignkeys":
            keys = there.foreign.items() if there else ()
            return Array([Array(items={"name": key, "columns": Array(one.columns)}) for key, one in keys])
        if name == "getindexes":
            held = there.indexes.items() if there else ()
            return Array([Array(items={"name": key, "columns": Array(one.columns)}) for key, one in held])
        return Unknown(f"{name}() is not followed")


class Database(Recorder):
    """`DB`: transactions are entered, plain SQL about tables is read, queries are unknown."""

    def __init__(self, replay: Replay, builder: Builder) -> None:
        self.replay = replay
        self.builder = builder

    def called(self, name: str, given: Given, site: Site, machine: Evaluator) -> Value:
        """Follow one call."""
        lower = name.lower()
        macro = self.replay.database_macros.get(lower)
        if macro is not None:
            return machine.call(macro, given.positional, site)
        if lower in ("connection", "new", "setconnection"):
            return self
        if lower in ("getschemabuilder", "schema"):
            return self.builder
        if lower in ("transaction", "withoutpretending"):
            return machine.call(given.at(0), [self], site)
        if lower in ("getdrivername", "getconfig"):
            return self.replay.driver if lower == "getdrivername" or given.at(0) == "driver" else Unknown("config")
        if lower == "gettableprefix":
            return ""
        if lower in ("getquerygrammar", "getschemagrammar", "wraptable", "wrap"):
            return self if lower.startswith("get") else given.at(0)
        if lower == "raw":
            return Sql(shown(given.at(0)))
        if lower in ("statement", "unprepared", "affectingstatement"):
            self._sql(settle(given.at(0)), site)
        if lower == "macro" and isinstance(given.at(0), str) and isinstance(given.at(1), Lambda):
            self.replay.database_macros[str(given.at(0)).lower()] = given.at(1)  # type: ignore[assignment]
        return Unknown(f"DB::{name}() is not followed")

    def _sql(self, value: Value, site: Site) -> None:
        """Read plain SQL; what is about tables and is not understood is remarked."""
        at, text = self.replay.place(site), value.text if isinstance(value, Sql) else value
        if not isinstance(text, str):
            self.replay.tables.remark(at, f"SQL that is not written out: {shown(value)[:80]}")
            return
        for _, sql in dumps.statements(text):
            if not dumps.run(sql, self.replay.tables, at) and not sql.upper().startswith(_SILENT):
                self.replay.tables.remark(at, f"SQL that is only noted: {' '.join(sql.split())[:80]}")


class Models(Recorder):
    """What models beyond the project's own methods answer: their table and keys."""

    def __init__(self, eloquent: Eloquent) -> None:
        self.eloquent = eloquent

    def called(self, name: str, given: Given, site: Site, machine: Evaluator) -> Value:
        """Return a model's table or key."""
        if name == "new" or not isinstance(given.this, Instance):
            return Unknown(f"{name}() is not followed")
        model = self.eloquent.model(given.this.name)
        if model is None:
            return Unknown("it is no model")
        if name == "getTable":
            return model.table or Unknown("the table is not written down")
        if name == "getKeyName":
            return self.eloquent.key(model)
        return Unknown(f"{name}() is not followed")


class Listed(Recorder):
    """A collection: goes through its entries where a migration does."""

    def __init__(self, held: Value) -> None:
        self.held = settle(held)

    def entries(self) -> Value:
        """Return what a loop goes over."""
        return self.held

    def called(self, name: str, given: Given, site: Site, machine: Evaluator) -> Value:
        """Follow the few calls migrations make."""
        if not isinstance(self.held, Array):
            return Unknown("the collection is not known")
        if name in ("all", "toArray"):
            return self.held
        items = list(self.held.items.items())
        if name in ("each", "map", "mapWithKeys", "flatMap"):
            made = [machine.call(given.at(0), [value, key], site) for key, value in items]
            return self if name == "each" else Listed(Array(made)) if name == "map" else Unknown(f"{name}()")
        if name in ("values", "keys"):
            return Listed(Array([pair[name == "values"] for pair in items]))
        return Unknown(f"{name}() is not followed")


Own = Callable[[Given, Site, Evaluator], Value]


def functions(replay: Replay, database: Database) -> Mapping[str, Own]:
    """Return the functions of Laravel that migrations call."""

    def config(given: Given, site: Site, machine: Evaluator) -> Value:
        key = python(given.at(0, "key"))
        found = (
            value_of(replay.eloquent.literals.config(key)) if isinstance(key, str) else Unknown("which is not known")
        )
        default = given.at(1, "default")
        if not isinstance(found, Unknown):
            return default if found is None else found
        return Unknown(f"config({key})", f"config({key})", () if default is None else (default,))

    def env(given: Given, site: Site, machine: Evaluator) -> Value:
        key, default = shown(given.at(0)), given.at(1)
        return Unknown(f"env({key})", f"env({key})", () if default is None else (default,))

    def app(given: Given, site: Site, machine: Evaluator) -> Value:
        name = python(given.at(0))
        known = {"db": database, "db.schema": database.builder, "db.connection": database}
        if isinstance(name, str) and name in known:
            return known[name]
        return machine.make(name) if isinstance(name, str) and machine.lookup.of_class(name) else Unknown("app()")

    return {
        "config": config,
        "env": env,
        "app": app,
        "resolve": app,
        "collect": lambda given, site, machine: Listed(given.at(0)),
        "rescue": lambda given, site, machine: machine.call(given.at(0), [], site),
        "retry": lambda given, site, machine: machine.call(given.at(1), [1], site),
    }
