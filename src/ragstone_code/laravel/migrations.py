"""Migrations, found and followed in the order Laravel runs them: what they leave behind are the tables."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from ragstone.code.tree import Class
from ragstone.code.world import World
from ragstone_code.evaluate import PHP, CallSite, Evaluator, Instance, Recorder, Stubs
from ragstone_code.laravel import eloquent, schema_dumps
from ragstone_code.laravel.blueprint_recorder import Builder, Drawings, Replay
from ragstone_code.laravel.eloquent import Eloquent
from ragstone_code.laravel.migration_environment import Database, Files, Models, Nested, Provider, functions
from ragstone_code.laravel.tables import Place, Tables

_FOLDER: Final = re.compile(r"(?:^|/)migrations/(?:[^/]+/)*[^/]+\.php\Z", re.IGNORECASE)
_ASIDE: Final = re.compile(r"(?:^|/)(?:tests?|vendor|node_modules|stubs)/", re.IGNORECASE)
_DUMP: Final = re.compile(r"(?:^|/)database/schema/([^/]+)-schema\.(?:sql|dump)\Z")
_BEFORE: Final = re.compile(
    r"(?:Blueprint|DB)::macro|defaultMorphKeyType|morphUsingU|loadMigrationsFrom", re.IGNORECASE
)
_DRIVERS: Final = ("mysql", "mariadb", "pgsql", "sqlite", "sqlsrv")
_KEEPS_BEFORE: Final = 11
"""Laravel's version from which a changed column keeps nothing that is not said again."""


@dataclass(frozen=True, slots=True)
class Migration:
    """A file that changes tables."""

    name: str
    uri: str
    line: int
    line_end: int
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Replayed:
    """All migrations in order, and the tables they leave."""

    migrations: tuple[Migration, ...]
    tables: Tables
    remarks: tuple[str, ...]


def full_name(uri: str) -> str:
    """Return a migration's name: its file's, without the ending."""
    return uri.rpartition("/")[2].removesuffix(".php")


def files(world: World, folders: Iterable[str] = ()) -> list[str]:
    """Return the migration files in the order they run: by file name, whatever folder they are in."""
    more = tuple(f"{folder}/" for folder in folders)
    found = (
        uri
        for uri in world.uris
        if uri.endswith(".php") and (_FOLDER.search(uri) or uri.startswith(more)) and not _ASIDE.search(uri)
    )
    return sorted((uri for uri in found if "_" in full_name(uri)), key=lambda uri: (full_name(uri), uri))


def replay(world: World, models: Eloquent | None = None) -> Replayed:
    """Return what the migrations of a project leave, nothing executed."""
    models = models or Eloquent(world)
    state = Replay(Tables(), models, _driver(models), _version(world) < _KEEPS_BEFORE)
    machine = _machine(world, state)
    _prepare(world, machine)
    done = list(_dumped(world, state))
    past = {name for migration in done for name in schema_dumps.migrated(world.read(migration.uri) or "")}
    seen: Counter[str] = Counter()
    for uri in files(world, state.folders):
        definition = _definition(world, uri)
        name = full_name(uri)
        if definition is None or name in past:
            continue
        seen[name] += 1
        state.migration = name if seen[name] == 1 else f"{name}#{seen[name]}"  # one name in two modules' folders
        done.append(Migration(state.migration, uri, definition.line, definition.line_end, definition.doc))
        _up(machine, uri, definition)
    return Replayed(tuple(done), state.tables, (*state.tables.remarks, *machine.remarks))


def _machine(world: World, state: Replay) -> Evaluator:
    builder = Builder(state)
    database = Database(state, builder)
    models = Models(state.eloquent)
    classes: dict[str, Recorder] = dict.fromkeys(eloquent.known()["models"], models)
    classes |= {
        "schema": builder,
        "illuminate\\support\\facades\\schema": builder,
        "illuminate\\database\\schema\\builder": builder,
        "db": database,
        "illuminate\\support\\facades\\db": database,
        "illuminate\\database\\capsule\\manager": database,
        "illuminate\\database\\connection": database,
        "illuminate\\database\\schema\\blueprint": Drawings(state),
        "illuminate\\support\\serviceprovider": Provider(state),
        "illuminate\\support\\facades\\file": Files(),
        "kalnoy\\nestedset\\nestedset": Nested(),
    }
    return Evaluator(world, PHP, Stubs(classes, functions(state, database)))


def _prepare(world: World, machine: Evaluator) -> None:
    """Follow what providers set up before migrations run: macros, the type of morphs' keys, folders of migrations."""
    for uri in world.uris:
        if not uri.endswith("Provider.php") or _ASIDE.search(uri) or not _BEFORE.search(world.read(uri) or ""):
            continue
        module = world.module(uri)
        for definition in module.classes if module else ():
            provider = machine.make(definition.name)
            for method in ("register", "boot"):
                if definition.method(method):
                    machine.call_method(provider, method, site=CallSite(uri, definition.line))


def _definition(world: World, uri: str) -> Class | None:
    """Return the class of a migration: the first in its file that can be run up."""
    module = world.module(uri)
    written = module.classes if module else ()
    return next((one for one in written if one.method("up")), next((one for one in written if one.extends), None))


def _up(machine: Evaluator, uri: str, definition: Class) -> None:
    """Follow a migration's `up`, by its own definition: migrations of one name in two folders are two."""
    machine.lookup.declare(uri, definition)
    migration = Instance(definition.name, definition, uri)
    for method in ("__construct", "up"):
        if machine.lookup.method(definition.name, method):
            machine.call_method(migration, method, site=CallSite(uri, definition.line))


def _version(world: World) -> int:
    """Return the major version of Laravel that a project asks for; a late one where it does not say."""
    try:
        asked = json.loads(world.read("composer.json") or "{}").get("require", {})
    except (ValueError, AttributeError):
        return _KEEPS_BEFORE
    said = asked.get("laravel/framework") or asked.get("illuminate/database") if isinstance(asked, dict) else None
    majors = re.findall(r"(?<![\d.])\d+", said) if isinstance(said, str) else []
    return max(map(int, majors), default=_KEEPS_BEFORE)


def _driver(models: Eloquent) -> str:
    """Return the driver a migration is told: the configured one, but MySQL for SQLite.

    What is done for SQLite alone is a way around what it cannot do; the other branch says what is meant.
    """
    default = models.literals.config("database.default")
    driver = models.literals.config(f"database.connections.{default}.driver")
    return driver if isinstance(driver, str) and driver not in ("sqlite", "") else "mysql"


def _dumped(world: World, state: Replay) -> Iterator[Migration]:
    """Read the schema dump, if the migrations it holds are gone; yield it as the migration it stands for."""
    name, uri = _dump(world, state.eloquent)
    text = world.read(uri) if uri else None
    if text is None:
        return
    kept = {full_name(one) for one in files(world)}
    past = schema_dumps.migrated(text)
    if past and 2 * sum(one in kept for one in past) >= len(past):
        return  # the files are still there, and say more than the dump: which of them did what
    state.migration = f"{name}-schema"
    for line, sql in schema_dumps.statements(text):
        schema_dumps.run(sql, state.tables, Place(state.migration, uri, line))
    yield Migration(state.migration, uri, 1, text.count("\n") + 1)


def _dump(world: World, models: Eloquent) -> tuple[str, str]:
    """Return the connection and the file of the dump that counts: the default connection's, else a driver's."""
    found = {match[1]: uri for uri in world.uris if (match := _DUMP.search(uri))}
    default = models.literals.config("database.default")
    wanted = (default if isinstance(default, str) else "", *_DRIVERS)
    return next(((name, found[name]) for name in wanted if name in found), ("", ""))
