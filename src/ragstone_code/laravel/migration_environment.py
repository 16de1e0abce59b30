"""What else a migration speaks to while it is followed: the database, models, collections, functions of Laravel."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from typing import Final

from ragstone_code.evaluate import (
    Arguments,
    Array,
    CallSite,
    Evaluator,
    Instance,
    Lambda,
    Recorder,
    Unknown,
    Value,
    display_text,
    first_known,
)
from ragstone_code.laravel import schema_dumps
from ragstone_code.laravel.blueprint_recorder import Builder, Replay, Sql, python
from ragstone_code.laravel.eloquent import Eloquent
from ragstone_code.laravel.literals import call_env

Own = Callable[[Arguments, CallSite, Evaluator], Value]
_SILENT: Final = ("SET", "UPDATE", "INSERT", "DELETE", "SELECT", "PRAGMA", "ANALYZE", "TRUNCATE", "WITH")
_SELVES: Final = ("connection", "new", "setconnection", "getquerygrammar", "getschemagrammar")


class Database(Recorder):
    """`DB`: transactions are entered, plain SQL about tables is read, queries are unknown."""

    def __init__(self, replay: Replay, builder: Builder) -> None:
        self.replay = replay
        self.builder = builder
        builder.connection = self

    def on_call(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Follow one call."""
        lower = name.lower()
        macro = self.replay.database_macros.get(lower)
        if macro is not None:
            return machine.call(macro, given.positional, site)
        if lower in _SELVES:
            return self
        if lower in ("getschemabuilder", "schema"):
            return self.builder
        if lower in ("transaction", "withoutpretending"):
            return machine.call(given.at(0), [self], site)
        if lower in ("statement", "unprepared", "affectingstatement"):
            self._sql(first_known(given.at(0)), site)
        if lower == "macro":
            self._macro(given.at(0), given.at(1))
        return self._told(lower, given)

    def _macro(self, name: Value, body: Value) -> None:
        if isinstance(name, str) and isinstance(body, Lambda):
            self.replay.database_macros[name.lower()] = body

    def _told(self, name: str, given: Arguments) -> Value:
        """Return what is known of the connection; what a query gives is not."""
        if name == "getdrivername" or (name == "getconfig" and given.at(0) == "driver"):
            return self.replay.driver
        if name == "gettableprefix":
            return ""
        if name in ("wraptable", "wrap"):
            return given.at(0)
        return Sql(display_text(given.at(0))) if name == "raw" else Unknown(f"DB::{name}() is not followed")

    def _sql(self, value: Value, site: CallSite) -> None:
        """Read plain SQL; what is about tables and is not understood is remarked."""
        at, text = self.replay.place(site), value.text if isinstance(value, Sql) else value
        if not isinstance(text, str):
            self.replay.tables.remark(at, f"SQL that is not written out: {display_text(value)[:80]}")
            return
        for _, sql in schema_dumps.statements(text):
            if not schema_dumps.run(sql, self.replay.tables, at) and not sql.upper().startswith(_SILENT):
                self.replay.tables.remark(at, f"SQL that is only noted: {' '.join(sql.split())[:80]}")


class Models(Recorder):
    """What models beyond the project's own methods answer: their table and keys."""

    def __init__(self, eloquent: Eloquent) -> None:
        self.eloquent = eloquent

    def on_call(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
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
        self.held = first_known(held)

    def entries(self) -> Value:
        """Return what a loop goes over."""
        return self.held

    def on_call(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
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


class Provider(Recorder):
    """A service provider, as far as it names folders of migrations."""

    def __init__(self, replay: Replay) -> None:
        self.replay = replay

    def on_call(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Keep the folders."""
        if name == "loadMigrationsFrom":
            said = python(given.at(0))
            folders = [one for one in (said if isinstance(said, list) else [said]) if isinstance(one, str)]
            self.replay.folders.update(posixpath.normpath(one).lstrip("/") for one in folders)
        return Unknown(f"{name}() is not followed")


class Nested(Recorder):
    """A widely used package's columns for trees, which are added by a call that is given the blueprint."""

    def on_call(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Add or drop them."""
        drawing, does = given.at(0), {"columns": "nestedSet", "dropColumns": "dropNestedSet"}.get(name)
        return drawing.on_call(does, Arguments(), site, machine) if does and isinstance(drawing, Recorder) else None


class Files(Recorder):
    """`File`, as far as it reads."""

    def on_call(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Return what a file of the project says."""
        return contents(given, site, machine) if name == "get" else Unknown(f"File::{name}() is not followed")


def contents(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    """Return the text of a file of the project."""
    path = python(given.at(0))
    uri = posixpath.normpath(path).lstrip("/") if isinstance(path, str) else ""
    return (machine.world.read(uri) if machine.world.has(uri) else None) or Unknown("the file is not there")


def _inside(folder: str) -> Own:
    """Return a function that gives paths in a folder of the project, such as `database_path`."""

    def path(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        rest = python(given.at(0)) or ""
        return posixpath.join(folder, rest.lstrip("/")) if isinstance(rest, str) else Unknown("the path is not known")

    return path


def functions(replay: Replay, database: Database) -> Mapping[str, Own]:
    """Return the functions of Laravel that migrations call."""

    def config(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        found = replay.eloquent.literals.call_config(given, site, machine)
        lite = python(given.at(0)) == "database.default" and isinstance(found, str) and "sqlite" in found
        return replay.driver if lite else found  # as `getDriverName` is answered

    def app(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        name = python(given.at(0))
        known = {"db": database, "db.schema": database.builder, "db.connection": database}
        if isinstance(name, str) and name in known:
            return known[name]
        return machine.make(name) if isinstance(name, str) and machine.lookup.of_class(name) else Unknown("app()")

    return {
        "config": config,
        "env": call_env,
        "app": app,
        "resolve": app,
        "file_get_contents": contents,
        **{f"{name}_path": _inside("" if name == "base" else name) for name in ("base", "database", "app", "resource")},
        "collect": lambda given, site, machine: Listed(given.at(0)),
        "rescue": lambda given, site, machine: machine.call(given.at(0), [], site),
        "retry": lambda given, site, machine: machine.call(given.at(1), [1], site),
    }
