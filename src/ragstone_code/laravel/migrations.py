"""Migrations of a Laravel project, followed in the order in which Laravel runs them.

Nothing is executed: the evaluator follows the calls of each migration, and recorders apply them to a `TableHistory`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ragstone_code.evaluate import PHP, CallSite, Evaluator, Instance, Recorder, Stubs
from ragstone_code.laravel import eloquent, schema_dumps
from ragstone_code.laravel.blueprint_recorder import BlueprintClass, ReplayState, SchemaBuilder
from ragstone_code.laravel.eloquent import EloquentModels
from ragstone_code.laravel.migration_environment import (
    DatabaseFacade,
    MigrationFileFacade,
    MigrationProvider,
    ModelRecorder,
    NestedSetRecorder,
    helper_functions,
)
from ragstone_code.laravel.tables import MigrationLine, TableHistory
from ragstone_code.program_tree import Class
from ragstone_code.project_files import World

_MIGRATION_FILE: Final = re.compile(r"(?:^|/)migrations/(?:[^/]+/)*[^/]+\.php\Z", re.IGNORECASE)
_FOREIGN_FOLDER: Final = re.compile(
    r"(?:^|/)(?:tests?|vendor|node_modules|stubs)/", re.IGNORECASE
)
_DUMP_FILE: Final = re.compile(r"(?:^|/)database/schema/([^/]+)-schema\.(?:sql|dump)\Z")
_SETUP_CALL: Final = re.compile(
    r"(?:Blueprint|DB)::macro|defaultMorphKeyType|morphUsingU|loadMigrationsFrom",
    re.IGNORECASE,
)
_DRIVERS: Final = ("mysql", "mariadb", "pgsql", "sqlite", "sqlsrv")
_FIRST_VERSION_WITHOUT_KEEPING: Final = 11
"""From this Laravel version on, a changed column loses the options that the change does not repeat."""


@dataclass(frozen=True, slots=True)
class MigrationFile:
    """A migration file, or the schema dump that replaces older migrations."""

    name: str
    uri: str
    line: int
    line_end: int
    doc: str = ""


@dataclass(frozen=True, slots=True)
class MigrationReplay:
    """All migrations in order, and the tables after the last one."""

    migrations: tuple[MigrationFile, ...]
    history: TableHistory
    remarks: tuple[str, ...]


def migration_name(uri: str) -> str:
    """Return the name of a migration: its file name without the suffix."""
    return uri.rpartition("/")[2].removesuffix(".php")


def find_migration_files(world: World, folders: Iterable[str] = ()) -> list[str]:
    """Return the migration files in the order in which they run: by file name, in whichever folder they are."""
    extra_folders = tuple(f"{folder}/" for folder in folders)
    uris = [uri for uri in world.uris if _is_migration_file(uri, extra_folders)]
    return sorted(uris, key=lambda uri: (migration_name(uri), uri))


def _is_migration_file(uri: str, extra_folders: tuple[str, ...]) -> bool:
    if not uri.endswith(".php") or _FOREIGN_FOLDER.search(uri):
        return False
    in_folder = _MIGRATION_FILE.search(uri) or uri.startswith(extra_folders)
    return bool(in_folder) and "_" in migration_name(uri)


def replay_migrations(world: World, models: EloquentModels | None = None) -> MigrationReplay:
    """Return the migrations of a project and the tables that they leave."""
    if models is None:
        models = EloquentModels(world)
    keeps_options = _laravel_version(world) < _FIRST_VERSION_WITHOUT_KEEPING
    state = ReplayState(
        TableHistory(),
        models,
        _database_driver(models),
        keeps_options,
    )
    evaluator = _create_evaluator(world, state)
    _run_providers(world, evaluator)
    migrations: list[MigrationFile] = []
    done_before: set[str] = set()
    dump = _load_dump(world, state)
    if dump is not None:
        migrations.append(dump)
        done_before.update(schema_dumps.migration_names(world.text(dump.uri) or ""))
    runs: Counter[str] = Counter()
    for uri in find_migration_files(world, state.folders):
        definition = _migration_class(world, uri)
        name = migration_name(uri)
        if definition is None or name in done_before:
            continue
        runs[name] += 1
        state.migration = name
        if runs[name] > 1:
            # Two modules of a project may have migrations with the same name.
            state.migration = f"{name}#{runs[name]}"
        migration = MigrationFile(
            state.migration,
            uri,
            definition.line,
            definition.line_end,
            definition.doc,
        )
        migrations.append(migration)
        _run_migration(evaluator, uri, definition)
    remarks = (*state.history.remarks, *evaluator.remarks)
    return MigrationReplay(tuple(migrations), state.history, remarks)


def _create_evaluator(world: World, state: ReplayState) -> Evaluator:
    """Return an evaluator with recorders for the classes and functions that migrations use."""
    builder = SchemaBuilder(state)
    database = DatabaseFacade(state, builder)
    models = ModelRecorder(state.models)
    classes: dict[str, Recorder] = dict.fromkeys(eloquent.eloquent_data()["models"], models)
    classes |= {
        "schema": builder,
        "illuminate\\support\\facades\\schema": builder,
        "illuminate\\database\\schema\\builder": builder,
        "db": database,
        "illuminate\\support\\facades\\db": database,
        "illuminate\\database\\capsule\\manager": database,
        "illuminate\\database\\connection": database,
        "illuminate\\database\\schema\\blueprint": BlueprintClass(state),
        "illuminate\\support\\serviceprovider": MigrationProvider(state),
        "illuminate\\support\\facades\\file": MigrationFileFacade(),
        "kalnoy\\nestedset\\nestedset": NestedSetRecorder(),
    }
    functions = helper_functions(state, database)
    return Evaluator(world, PHP, Stubs(classes, functions))


def _run_providers(world: World, evaluator: Evaluator) -> None:
    """Follow service providers that define macros, the type of morph keys, or folders of migrations."""
    for uri in world.uris:
        if not uri.endswith("Provider.php") or _FOREIGN_FOLDER.search(uri):
            continue
        if not _SETUP_CALL.search(world.text(uri) or ""):
            continue
        module = world.module(uri)
        for definition in module.classes if module else ():
            provider = evaluator.make(definition.name)
            site = CallSite(uri, definition.line)
            for method in ("register", "boot"):
                if definition.method(method):
                    evaluator.call_method(provider, method, site=site)


def _migration_class(world: World, uri: str) -> Class | None:
    """Return the class of a migration: the first with an `up` method, otherwise the first that extends another."""
    module = world.module(uri)
    classes = module.classes if module else ()
    for definition in classes:
        if definition.method("up"):
            return definition
    for definition in classes:
        if definition.extends:
            return definition
    return None


def _run_migration(evaluator: Evaluator, uri: str, definition: Class) -> None:
    """Follow the constructor and `up` of a migration."""
    # Two folders may define a class with the same name: the evaluator must use the class of this file.
    evaluator.lookup.declare(uri, definition)
    migration = Instance(definition.name, definition, uri)
    site = CallSite(uri, definition.line)
    for method in ("__construct", "up"):
        if evaluator.lookup.method(definition.name, method):
            evaluator.call_method(migration, method, site=site)


def _laravel_version(world: World) -> int:
    """Return the major version of Laravel in `composer.json`; 11 if the file does not name one."""
    try:
        composer = json.loads(world.text("composer.json") or "{}")
        required = composer.get("require", {})
    except (ValueError, AttributeError):
        return _FIRST_VERSION_WITHOUT_KEEPING
    if not isinstance(required, dict):
        return _FIRST_VERSION_WITHOUT_KEEPING
    constraint = required.get("laravel/framework") or required.get("illuminate/database")
    if not isinstance(constraint, str):
        return _FIRST_VERSION_WITHOUT_KEEPING
    majors = [int(number) for number in re.findall(r"(?<![\d.])\d+", constraint)]
    return max(majors, default=_FIRST_VERSION_WITHOUT_KEEPING)


def _database_driver(models: EloquentModels) -> str:
    """Return the database driver that migrations see: the configured driver, but MySQL instead of SQLite.

    Branches for SQLite only work around its limits; the other branch shows the intended schema.
    """
    default = models.literals.config("database.default")
    driver = models.literals.config(f"database.connections.{default}.driver")
    if isinstance(driver, str) and driver not in ("sqlite", ""):
        return driver
    return "mysql"


# ── schema dumps ─────────────────────────────────────────────────────────────────────────────


def _load_dump(world: World, state: ReplayState) -> MigrationFile | None:
    """Apply the schema dump of the project and return it as a migration; None if there is none to use."""
    dump = _find_dump(world, state.models)
    if dump is None:
        return None
    connection, uri = dump
    text = world.text(uri)
    if text is None:
        return None
    existing = {migration_name(file) for file in find_migration_files(world)}
    dumped = schema_dumps.migration_names(text)
    still_there = sum(name in existing for name in dumped)
    if dumped and 2 * still_there >= len(dumped):
        # The migration files still exist, and they also show which migration made each change.
        return None
    state.migration = f"{connection}-schema"
    for line, sql in schema_dumps.split_statements(text):
        at = MigrationLine(state.migration, uri, line)
        schema_dumps.apply_statement(sql, state.history, at)
    return MigrationFile(state.migration, uri, 1, text.count("\n") + 1)


def _find_dump(world: World, models: EloquentModels) -> tuple[str, str] | None:
    """Return connection and file of the dump to use: of the default connection, otherwise of a known driver."""
    dumps: dict[str, str] = {}
    for uri in world.uris:
        match = _DUMP_FILE.search(uri)
        if match:
            dumps[match[1]] = uri
    default = models.literals.config("database.default")
    for connection in (default, *_DRIVERS):
        if isinstance(connection, str) and connection in dumps:
            return connection, dumps[connection]
    return None
