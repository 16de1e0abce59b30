"""The classes and functions that migrations call besides the schema builder: database, models, files, helpers."""

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
from ragstone_code.laravel.blueprint_recorder import (
    ReplayState,
    SchemaBuilder,
    SqlExpression,
    python_value,
)
from ragstone_code.laravel.eloquent import EloquentModels
from ragstone_code.laravel.literals import call_env

HelperFunction = Callable[[Arguments, CallSite, Evaluator], Value]
_DATA_STATEMENTS: Final = (
    "SET",
    "UPDATE",
    "INSERT",
    "DELETE",
    "SELECT",
    "PRAGMA",
    "ANALYZE",
    "TRUNCATE",
    "WITH",
)
"""First words of SQL that does not change tables; no remark is made about it."""
_SELF_METHODS: Final = (
    "connection",
    "new",
    "setconnection",
    "getquerygrammar",
    "getschemagrammar",
)
_SQL_METHODS: Final = ("statement", "unprepared", "affectingstatement")
_PATH_HELPERS: Final = ("base", "database", "app", "resource")
_SQL_EXCERPT: Final = 80
"""Characters of a SQL statement that a remark shows."""


class DatabaseFacade(Recorder):
    """The facade `DB`: transactions run, SQL about tables is applied, results of queries are unknown."""

    def __init__(self, state: ReplayState, builder: SchemaBuilder) -> None:
        self.state = state
        self.builder = builder
        builder.connection = self

    def on_call(
        self,
        name: str,
        arguments: Arguments,
        site: CallSite,
        evaluator: Evaluator,
    ) -> Value:
        """Follow one call of the facade."""
        method = name.lower()
        macro = self.state.database_macros.get(method)
        if macro is not None:
            return evaluator.call(macro, arguments.positional, site)
        if method in _SELF_METHODS:
            return self
        if method in ("getschemabuilder", "schema"):
            return self.builder
        if method in ("transaction", "withoutpretending"):
            return evaluator.call(arguments.at(0), [self], site)
        if method in _SQL_METHODS:
            self._apply_sql(first_known(arguments.at(0)), site)
        if method == "macro":
            self._add_macro(arguments.at(0), arguments.at(1))
        return self._describe_connection(method, arguments)

    def _add_macro(self, name: Value, body: Value) -> None:
        if isinstance(name, str) and isinstance(body, Lambda):
            self.state.database_macros[name.lower()] = body

    def _describe_connection(self, method: str, arguments: Arguments) -> Value:
        """Return a property of the connection; results of queries are unknown."""
        if method == "getdrivername":
            return self.state.driver
        if method == "getconfig" and arguments.at(0) == "driver":
            return self.state.driver
        if method == "gettableprefix":
            return ""
        if method in ("wraptable", "wrap"):
            return arguments.at(0)
        if method == "raw":
            return SqlExpression(display_text(arguments.at(0)))
        return Unknown(f"DB::{method}() is not followed")

    def _apply_sql(self, value: Value, site: CallSite) -> None:
        """Apply SQL to the tables; add a remark for SQL that is computed or not understood."""
        at = self.state.line_of(site)
        history = self.state.history
        text = value.text if isinstance(value, SqlExpression) else value
        if not isinstance(text, str):
            excerpt = display_text(value)[:_SQL_EXCERPT]
            history.add_remark(at, f"SQL that is not written out: {excerpt}")
            return
        for _, sql in schema_dumps.split_statements(text):
            applied = schema_dumps.apply_statement(sql, history, at)
            if not applied and not sql.upper().startswith(_DATA_STATEMENTS):
                excerpt = " ".join(sql.split())[:_SQL_EXCERPT]
                history.add_remark(at, f"SQL that is only noted: {excerpt}")


class ModelRecorder(Recorder):
    """Answers methods that a model inherits from Eloquent: its table and its key."""

    def __init__(self, models: EloquentModels) -> None:
        self.models = models

    def on_call(
        self,
        name: str,
        arguments: Arguments,
        site: CallSite,
        evaluator: Evaluator,
    ) -> Value:
        """Return the table or the key of a model."""
        if name == "new" or not isinstance(arguments.this, Instance):
            return Unknown(f"{name}() is not followed")
        model = self.models.find(arguments.this.name)
        if model is None:
            return Unknown("it is no model")
        if name == "getTable":
            return model.table or Unknown("the table is not written down")
        if name == "getKeyName":
            return self.models.key_name(model)
        return Unknown(f"{name}() is not followed")


class CollectionRecorder(Recorder):
    """A Laravel collection; loops of a migration go through its entries."""

    def __init__(self, items: Value) -> None:
        self.items = first_known(items)

    def entries(self) -> Value:
        """Return the entries that a loop goes through."""
        return self.items

    def on_call(
        self,
        name: str,
        arguments: Arguments,
        site: CallSite,
        evaluator: Evaluator,
    ) -> Value:
        """Follow the methods of collections that migrations use."""
        if not isinstance(self.items, Array):
            return Unknown("the collection is not known")
        if name in ("all", "toArray"):
            return self.items
        if name in ("each", "map", "mapWithKeys", "flatMap"):
            return self._call_for_each(
                name,
                self.items,
                arguments.at(0),
                site,
                evaluator,
            )
        if name == "values":
            return CollectionRecorder(Array(self.items.values))
        if name == "keys":
            return CollectionRecorder(Array(self.items.items))
        return Unknown(f"{name}() is not followed")

    def _call_for_each(
        self,
        name: str,
        items: Array,
        function: Value,
        site: CallSite,
        evaluator: Evaluator,
    ) -> Value:
        """Call a function for each entry; return the collection that the method returns."""
        pairs = list(items.items.items())
        results = [
            evaluator.call(
                function,
                [value, key],
                site,
            )
            for key, value in pairs
        ]
        if name == "each":
            return self
        if name == "map":
            return CollectionRecorder(Array(results))
        return Unknown(f"{name}()")


class MigrationProvider(Recorder):
    """A service provider; it records the folders of migrations that the provider adds."""

    def __init__(self, state: ReplayState) -> None:
        self.state = state

    def on_call(
        self,
        name: str,
        arguments: Arguments,
        site: CallSite,
        evaluator: Evaluator,
    ) -> Value:
        """Record the folders of `loadMigrationsFrom`."""
        if name == "loadMigrationsFrom":
            value = python_value(arguments.at(0))
            folders = value if isinstance(value, list) else [value]
            for folder in folders:
                if isinstance(folder, str):
                    self.state.folders.add(_project_path(folder))
        return Unknown(f"{name}() is not followed")


class NestedSetRecorder(Recorder):
    """The package `kalnoy/nestedset`, whose static calls add tree columns to a blueprint."""

    def on_call(
        self,
        name: str,
        arguments: Arguments,
        site: CallSite,
        evaluator: Evaluator,
    ) -> Value:
        """Add or drop the tree columns of the blueprint in the first argument."""
        methods = {"columns": "nestedSet", "dropColumns": "dropNestedSet"}
        method = methods.get(name)
        blueprint = arguments.at(0)
        if method is None or not isinstance(blueprint, Recorder):
            return None
        return blueprint.on_call(method, Arguments(), site, evaluator)


class MigrationFileFacade(Recorder):
    """The facade `File`; only reading is followed."""

    def on_call(
        self,
        name: str,
        arguments: Arguments,
        site: CallSite,
        evaluator: Evaluator,
    ) -> Value:
        """Return the text of a file of the project."""
        if name == "get":
            return read_project_file(arguments, site, evaluator)
        return Unknown(f"File::{name}() is not followed")


def _project_path(path: str) -> str:
    """Return a path relative to the project folder."""
    return posixpath.normpath(path).lstrip("/")


def read_project_file(
    arguments: Arguments,
    site: CallSite,
    evaluator: Evaluator,
) -> Value:
    """Return the text of a file of the project: `file_get_contents`."""
    path = python_value(arguments.at(0))
    uri = _project_path(path) if isinstance(path, str) else ""
    text = evaluator.world.text(uri) if evaluator.world.has(uri) else None
    return text or Unknown("the file is not there")


def _path_helper(folder: str) -> HelperFunction:
    """Return a helper that builds paths in a folder of the project, such as `database_path`."""

    def join_path(
        arguments: Arguments,
        site: CallSite,
        evaluator: Evaluator,
    ) -> Value:
        path = python_value(arguments.at(0)) or ""
        if not isinstance(path, str):
            return Unknown("the path is not known")
        return posixpath.join(folder, path.lstrip("/"))

    return join_path


def _collect(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    return CollectionRecorder(arguments.at(0))


def _rescue(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    return evaluator.call(arguments.at(0), [], site)


def _retry(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
    return evaluator.call(arguments.at(1), [1], site)


def helper_functions(
    state: ReplayState, database: DatabaseFacade
) -> Mapping[str, HelperFunction]:
    """Return the global functions of Laravel that migrations call, by name."""

    def config(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
        value = state.models.literals.call_config(arguments, site, evaluator)
        is_default_connection = python_value(arguments.at(0)) == "database.default"
        if is_default_connection and isinstance(value, str) and "sqlite" in value:
            return state.driver  # the same answer as `getDriverName`
        return value

    def app(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
        name = python_value(arguments.at(0))
        services: dict[str, Recorder] = {
            "db": database,
            "db.schema": database.builder,
            "db.connection": database,
        }
        if not isinstance(name, str):
            return Unknown("app()")
        if name in services:
            return services[name]
        if evaluator.lookup.of_class(name):
            return evaluator.make(name)
        return Unknown("app()")

    functions: dict[str, HelperFunction] = {
        "config": config,
        "env": call_env,
        "app": app,
        "resolve": app,
        "file_get_contents": read_project_file,
        "collect": _collect,
        "rescue": _rescue,
        "retry": _retry,
    }
    for name in _PATH_HELPERS:
        folder = "" if name == "base" else name
        functions[f"{name}_path"] = _path_helper(folder)
    return functions
