"""Migrations, found and followed in the order Laravel runs them: what they leave behind are the tables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ragstone.code.evaluate import PHP, Evaluator, Instance, Known, Recorder, Site
from ragstone.code.frameworks.laravel import dumps, eloquent
from ragstone.code.frameworks.laravel.eloquent import Eloquent
from ragstone.code.frameworks.laravel.recorders import Builder, Database, Drawings, Models, Replay, functions
from ragstone.code.frameworks.laravel.tables import Place, Tables
from ragstone.code.tree import Class
from ragstone.code.world import World

_FOLDER: Final = re.compile(r"(?:^|/)migrations/(?:[^/]+/)*[^/]+\.php\Z", re.IGNORECASE)
_ASIDE: Final = re.compile(r"(?:^|/)(?:tests?|vendor|node_modules|stubs)/", re.IGNORECASE)
_DUMP: Final = re.compile(r"(?:^|/)database/schema/([^/]+)-schema\.(?:sql|dump)\Z")
_BEFORE: Final = re.compile(r"Blueprint::macro|DB::macro|defaultMorphKeyType|morphUsingU[ul]ids", re.IGNORECASE)
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


def name_of(uri: str) -> str:
    """Return a migration's name: its file's, without the ending."""
    return uri.rpartition("/")[2].removesuffix(".php")


def files(world: World) -> list[str]:
    """Return the migration files in the order they run: by file name, whatever folder they are in."""
    found = (uri for uri in world.uris if _FOLDER.search(uri) and not _ASIDE.search(uri) and "_" in name_of(uri))
    return sorted(found, key=lambda uri: (name_of(uri), uri))


def replay(world: World, models: Eloquent | None = None) -> Replayed:
    """Return what the migrations of a project leave, nothing executed."""
    models = models or Eloquent(world)
    state = Replay(Tables(), models, _driver(models), _version(world) < _KEEPS_BEFORE)
    machine = _machine(world, state)
    _prepare(world, machine)
    done = list(_dumped(world, state))
    past = {name for migration in done for name in dumps.migrated(world.read(migration.uri) or "")}
    for uri in files(world):
        definition = _definition(world, uri)
        if definition is None or name_of(uri) in past:
            continue
        done.append(Migration(name_of(uri), uri, definition.line, definition.line_end, definition.doc))
        state.migration = name_of(uri)
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
    }
    return Evaluator(world, PHP, Known(classes, functions(state, database)))


def _prepare(world: World, machine: Evaluator) -> None:
    """Follow what providers set up before migrations run: macros, and the type of morphs' keys."""
    for uri in world.uris:
        if not uri.endswith("Provider.php") or _ASIDE.search(uri) or not _BEFORE.search(world.read(uri) or ""):
            continue
        module = world.module(uri)
        for definition in module.classes if module else ():
            provider = machine.make(definition.name)
            for method in ("register", "boot"):
                if definition.method(method):
                    machine.call_method(provider, method, site=Site(uri, definition.line))


def _definition(world: World, uri: str) -> Class | None:
    """Return the class of a migration: the first in its file that can be run up."""
    module = world.module(uri)
    written = module.classes if module else ()
    return next((one for one in written if one.method("up")), next((one for one in written if one.extends), None))


def _up(machine: Evaluator, uri: str, definition: Class) -> None:
    """Follow a migration's `up`, by its own definition: migrations of one name in two folders are two."""
    machine.lookup.meet(uri, definition)
    machine.call_method(Instance(definition.name, definition, uri), "up", site=Site(uri, definition.line))


def _version(world: World) -> int:
    """Return the major version of Laravel that a project asks for; a late one where it does not say."""
    try:
        asked = json.loads(world.read("composer.json") or "{}").get("require", {})
    except (ValueError, AttributeError):
        return _KEEPS_BEFORE
    said = asked.get("laravel/framework") or asked.get("illuminate/database") if isinstance(asked, dict) else None
    found = re.findall(r"\d+(?=\.|\s|$|\|)", said) if isinstance(said, str) else []
    return max((int(one) for one in re.findall(r"(?<![\d.])\d+", said)), default=_KEEPS_BEFORE) if found else 11


def _driver(models: Eloquent) -> str:
    """Return the driver a migration is told: the configured one, but MySQL for SQLite.

    What is done for SQLite alone is a way around what it cannot do; the other branch says what is meant.
    """
    default = models.literals.config("database.default")
    driver = models.literals.config(f"database.connections.{default}.driver")
    return driver if isinstance(driver, str) and driver not in ("sqlite", "") else "mysql"


def _dumped(world: World, state: Replay) -> Iterator[Migration]:
    """Read the schema dump, if migrations that it holds are gone; yield it as the migration it stands for."""
    found = {match[1]: uri for uri in world.uris if (match := _DUMP.search(uri))}
    kept = {name_of(uri) for uri in files(world)}
    default = str(state.eloquent.literals.config("database.default"))
    order = sorted(found, key=lambda name: (name != default, "sqlite" in name, name))
    for name in order[:1]:
        uri = found[name]
        text = world.read(uri) or ""
        past = dumps.migrated(text)
        if past and all(one in kept for one in past):
            return
        state.migration = f"{name}-schema"
        for line, sql in dumps.statements(text):
            dumps.run(sql, state.tables, Place(state.migration, uri, line))
        yield Migration(state.migration, uri, 1, text.count("\n") + 1)
