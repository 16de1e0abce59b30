"""The schema builder and its blueprints, as a migration speaks to them while it is followed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from ragstone_code.evaluate import (
    Arguments,
    Array,
    CallSite,
    EnumCase,
    Evaluator,
    Instance,
    Lambda,
    Recorder,
    Unknown,
    Value,
    first_known,
)
from ragstone_code.laravel.blueprint import Blueprint, Referred
from ragstone_code.laravel.calls import MethodCall
from ragstone_code.laravel.eloquent import Eloquent
from ragstone_code.laravel.tables import Place, Tables

_MORPHS: Final = {"uuid": "uuid", "ulid": "ulid", "int": "unsignedBigInteger"}


def python(value: Value) -> object:
    """Return a value as Python has it: arrays as lists and dictionaries, cases by their values."""
    value = first_known(value)
    if isinstance(value, Array):
        if value.is_list:
            return [python(one) for one in value.values]
        return {key: python(one) for key, one in value.items.items()}
    if isinstance(value, EnumCase):
        return python(value.value)
    if isinstance(value, Sql):
        return value.text
    return value


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
    folders: set[str] = field(default_factory=set)
    """Those that providers say hold migrations."""

    def place(self, site: CallSite) -> Place:
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

    def __init__(self, replay: Replay, calls: list[MethodCall]) -> None:
        self.replay = replay
        self.calls = calls

    def on_call(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Take one more call of the chain."""
        self.calls.append(said(self.replay, name, given, site))
        return self


def said(replay: Replay, name: str, given: Arguments, site: CallSite) -> MethodCall:
    """Return a call as the blueprint reads it."""
    positional = tuple(python(one) for one in given.positional)
    return MethodCall(name, positional, {key: python(one) for key, one in given.named.items()}, replay.place(site))


class Drawing(Recorder):
    """A blueprint, as a migration's closure is given it."""

    def __init__(self, replay: Replay, table: str) -> None:
        self.replay = replay
        self.table = table
        self.chains: list[Chained] = []

    def on_call(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
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

    def on_call(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Keep a macro."""
        macro, body = given.at(0), given.at(1)
        if name == "macro" and isinstance(macro, str) and isinstance(body, Lambda):
            self.replay.macros[macro.lower()] = body
        return None


class Builder(Recorder):
    """`Schema`, in all its guises."""

    def __init__(self, replay: Replay) -> None:
        self.replay = replay
        self.connection: Recorder = self
        """What `getConnection()` gives."""

    def on_call(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Do what one call says to the tables, or tell what they are like now."""
        lower = name.lower()
        if lower in ("create", "table"):
            return self._draw(lower, given, site, machine)
        if lower in ("connection", "setconnection", "new", "getschemabuilder", "schema"):
            return self
        if lower == "getconnection":
            return self.connection
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

    def _draw(self, how: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
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

    def _when(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Alter a table if it has a column or an index, or if it has not."""
        wanted = self._told("hascolumn" if "column" in name else "hasindex", given)
        if isinstance(wanted, bool) and wanted == ("doesnt" not in name):
            self._draw("table", Arguments((given.at(0), given.at(2))), site, machine)
        return None

    def _undo(self, how: str, given: Arguments, site: CallSite) -> Value:
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
            blueprint.take((MethodCall("dropColumn", tuple(python(one) for one in given.positional[1:]), {}, at),))
            blueprint.done(at)
        else:
            tables.drop(name, at)
        return None

    def _told(self, name: str, given: Arguments) -> Value:
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
