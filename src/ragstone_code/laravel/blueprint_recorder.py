"""Recorders for the schema builder: the evaluator calls them while it follows a migration."""

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
from ragstone_code.laravel.blueprint import Blueprint
from ragstone_code.laravel.calls import MethodCall
from ragstone_code.laravel.eloquent import EloquentModels
from ragstone_code.laravel.model_keys import ModelKey
from ragstone_code.laravel.tables import (
    ForeignKey,
    MigrationLine,
    Table,
    TableHistory,
    TableIndex,
)

_MORPH_KEY_TYPES: Final = {
    "uuid": "uuid",
    "ulid": "ulid",
    "int": "unsignedBigInteger",
}
_MORPH_METHODS: Final = {
    "morphusinguuids": "uuid",
    "morphusingulids": "ulid",
}
_SELF_METHODS: Final = ("connection", "setconnection", "new", "getschemabuilder", "schema")
_CHANGE_METHODS: Final = ("rename", "drop", "dropifexists", "dropcolumns", "dropalltables")


def python_value(value: Value) -> object:
    """Return an evaluated value as a plain Python value: arrays as lists or dictionaries, enum cases as their value."""
    plain = first_known(value)
    if isinstance(plain, Array):
        if plain.is_list:
            return [python_value(item) for item in plain.values]
        return {key: python_value(item) for key, item in plain.items.items()}
    if isinstance(plain, EnumCase):
        return python_value(plain.value)
    if isinstance(plain, SqlExpression):
        return plain.text
    return plain


@dataclass(slots=True)
class ReplayState:
    """The state of one replay: the tables so far, the current migration, and macros."""

    history: TableHistory
    models: EloquentModels
    driver: str
    keeps_options: bool
    """True if a changed column keeps options that the change does not repeat (before Laravel 11)."""
    morph_key: str = "unsignedBigInteger"
    migration: str = ""
    macros: dict[str, Lambda] = field(default_factory=dict)
    database_macros: dict[str, Lambda] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    """Folders with migrations that service providers add."""

    def line_of(self, site: CallSite) -> MigrationLine:
        """Return the line of a call, with the current migration."""
        return MigrationLine(
            self.migration,
            site.uri,
            site.line,
            site.conditional,
        )

    def find_model(self, value: object) -> ModelKey | None:
        """Return the table and key of a model; the model is a class name or an instance."""
        if isinstance(value, Instance):
            return self.models.find_key(value.name)
        return self.models.find_key(value)


class SqlExpression(Recorder):
    """A piece of SQL: `DB::raw(…)`."""

    def __init__(self, text: str) -> None:
        self.text = text


class DefinitionChain(Recorder):
    """The definition of a column or key; it records the calls that follow in the chain."""

    def __init__(self, state: ReplayState, calls: list[MethodCall]) -> None:
        self.state = state
        self.calls = calls

    def on_call(
        self,
        name: str,
        arguments: Arguments,
        site: CallSite,
        evaluator: Evaluator,
    ) -> Value:
        """Record one more call of the chain."""
        self.calls.append(method_call(self.state, name, arguments, site))
        return self


def method_call(
    state: ReplayState,
    name: str,
    arguments: Arguments,
    site: CallSite,
) -> MethodCall:
    """Return a call with its arguments as plain Python values."""
    positional = tuple(python_value(value) for value in arguments.positional)
    named = {key: python_value(value) for key, value in arguments.named.items()}
    return MethodCall(name, positional, named, state.line_of(site))


class BlueprintRecorder(Recorder):
    """The blueprint that Laravel passes to the closure of a migration; it records chains of calls."""

    def __init__(self, state: ReplayState, table: str) -> None:
        self.state = state
        self.table = table
        self.chains: list[DefinitionChain] = []

    def on_call(
        self,
        name: str,
        arguments: Arguments,
        site: CallSite,
        evaluator: Evaluator,
    ) -> Value:
        """Start a chain, or follow a macro of the project."""
        macro = self.state.macros.get(name.lower())
        if macro is not None:
            return evaluator.call(
                replace(macro, this=self),
                arguments.positional,
                site,
            )
        if name == "getTable":
            return self.table
        if name == "after" and isinstance(arguments.at(1), Lambda):
            return evaluator.call(arguments.at(1), [self], site)
        chain = DefinitionChain(
            self.state,
            [
                method_call(
                    self.state,
                    name,
                    arguments,
                    site,
                )
            ],
        )
        self.chains.append(chain)
        return chain


class BlueprintClass(Recorder):
    """The class `Blueprint` itself; it records macros."""

    def __init__(self, state: ReplayState) -> None:
        self.state = state

    def on_call(
        self,
        name: str,
        arguments: Arguments,
        site: CallSite,
        evaluator: Evaluator,
    ) -> Value:
        """Record a macro."""
        macro = arguments.at(0)
        body = arguments.at(1)
        if name == "macro" and isinstance(macro, str) and isinstance(body, Lambda):
            self.state.macros[macro.lower()] = body
        return None


class SchemaBuilder(Recorder):
    """The facade `Schema` and the other objects that Laravel uses as schema builder."""

    def __init__(self, state: ReplayState) -> None:
        self.state = state
        self.connection: Recorder = self
        """The value of `getConnection()`."""

    def on_call(
        self,
        name: str,
        arguments: Arguments,
        site: CallSite,
        evaluator: Evaluator,
    ) -> Value:
        """Change the tables, or answer a question about them."""
        method = name.lower()
        if method in ("create", "table"):
            return self._run_blueprint(method, arguments, site, evaluator)
        if method in _SELF_METHODS:
            return self
        if method == "getconnection":
            return self.connection
        if method == "withoutforeignkeyconstraints":
            return evaluator.call(arguments.at(0), [], site)
        if method.startswith("whentable"):
            return self._run_conditional_blueprint(
                method,
                arguments,
                site,
                evaluator,
            )
        if method == "defaultmorphkeytype" or method in _MORPH_METHODS:
            self._set_morph_key(method, arguments)
            return None
        if method in _CHANGE_METHODS:
            self._change_table(method, arguments, site)
            return None
        return self._describe(method, arguments)

    def _table_name(self, value: Value) -> str | None:
        """Return the name of a table without its schema; None if the name is unknown."""
        name = python_value(value)
        if isinstance(name, str) and name:
            return name.rpartition(".")[2]
        return None

    def _set_morph_key(self, method: str, arguments: Arguments) -> None:
        key = _MORPH_METHODS.get(method) or str(python_value(arguments.at(0)))
        self.state.morph_key = _MORPH_KEY_TYPES.get(key, self.state.morph_key)

    def _run_blueprint(
        self,
        method: str,
        arguments: Arguments,
        site: CallSite,
        evaluator: Evaluator,
    ) -> Value:
        """Run the closure of `Schema::create` or `Schema::table` and apply its calls to the table."""
        at = self.state.line_of(site)
        name = self._table_name(arguments.at(0, "table"))
        history = self.state.history
        if name is None:
            history.add_remark(at, f"which table Schema::{method} is about is not known")
            return None
        creating = method == "create"
        if creating:
            if history.find(name) is not None and not at.conditional:
                history.add_remark(at, f"the table {name} is made again")
            table = history.create(name, at)
        else:
            table = history.find_to_alter(name, at)
        recorder = BlueprintRecorder(self.state, name)
        evaluator.call(arguments.at(1, "callback"), [recorder], site)
        blueprint = Blueprint(
            history,
            table,
            creating,
            self.state.find_model,
            self.state.morph_key,
            self.state.keeps_options,
        )
        for chain in recorder.chains:
            blueprint.apply_chain(tuple(chain.calls))
        blueprint.finish(at)
        return None

    def _run_conditional_blueprint(
        self,
        method: str,
        arguments: Arguments,
        site: CallSite,
        evaluator: Evaluator,
    ) -> Value:
        """Alter a table only if it has, or does not have, a column or an index."""
        question = "hascolumn" if "column" in method else "hasindex"
        answer = self._describe(question, arguments)
        expected = "doesnt" not in method
        if isinstance(answer, bool) and answer == expected:
            blueprint_arguments = Arguments((arguments.at(0), arguments.at(2)))
            self._run_blueprint("table", blueprint_arguments, site, evaluator)
        return None

    def _change_table(
        self,
        method: str,
        arguments: Arguments,
        site: CallSite,
    ) -> None:
        """Rename or drop a table, or drop some of its columns."""
        at = self.state.line_of(site)
        name = self._table_name(arguments.at(0))
        history = self.state.history
        if name is None:
            history.add_remark(at, f"which table Schema::{method} is about is not known")
        elif method == "rename":
            new_name = self._table_name(arguments.at(1))
            if new_name is None:
                history.add_remark(at, f"the new name of the table {name} is not known")
            else:
                history.rename(name, new_name, at)
        elif method == "dropcolumns":
            table = history.find_to_alter(name, at)
            blueprint = Blueprint(history, table, False, self.state.find_model)
            columns = tuple(python_value(value) for value in arguments.positional[1:])
            blueprint.apply_chain((MethodCall("dropColumn", columns, {}, at),))
            blueprint.finish(at)
        else:
            history.drop(name, at)

    # ── questions about tables ───────────────────────────────────────────────────────────────

    def _describe(self, method: str, arguments: Arguments) -> Value:
        """Return the answer to a question about the current tables."""
        name = self._table_name(arguments.at(0))
        if name is None:
            return Unknown("the table is not known")
        table = self.state.history.find(name)
        second = python_value(arguments.at(1))
        if method == "hastable":
            return table is not None
        if method in ("hascolumn", "hascolumns"):
            return self._has_columns(name, _names(second))
        if table is None:
            # A table that does not exist has no columns, indexes and keys.
            table = Table(name, MigrationLine("", "", 0))
        if method == "hasindex":
            return _has_index(table, second)
        if method == "getcolumnlisting":
            return Array(table.columns)
        if method == "getforeignkeys":
            return _list_keys(table.foreign)
        if method == "getindexes":
            return _list_keys(table.indexes)
        return Unknown(f"{method}() is not followed")

    def _has_columns(self, table_name: str, columns: list[str]) -> Value:
        if not columns:
            return Unknown("which is not known")
        return all(self.state.history.has_column(table_name, column) for column in columns)


def _names(value: object) -> list[str]:
    """Return the strings in a list, or a single string as a list."""
    values = value if isinstance(value, list) else [value]
    return [item for item in values if isinstance(item, str)]


def _has_index(table: Table, name_or_columns: object) -> bool:
    """Return whether a table has an index with this name or on these columns."""
    columns = _names(name_or_columns)
    for name, index in table.indexes.items():
        if name == name_or_columns or list(index.columns) == columns:
            return True
    return False


def _list_keys(keys: dict[str, ForeignKey] | dict[str, TableIndex]) -> Array:
    """Return foreign keys or indexes in the shape that Laravel returns them."""
    listed = Array()
    for name, key in keys.items():
        listed.append(Array(items={"name": name, "columns": Array(key.columns)}))
    return listed
