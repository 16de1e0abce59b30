"""Django's migrations: found in their apps, ordered by their dependencies, and replayed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeAlias

from ragstone.types import Json, Node
from ragstone_code.django.migration_operations import apply_operation
from ragstone_code.django.migration_state import MigrationState
from ragstone_code.django.settings import DjangoSettings
from ragstone_code.graph_builder import GraphBuilder
from ragstone_code.python.values import CallResult, ClassValue, ModuleValue, Value
from ragstone_code.python_project import Program
from ragstone_code.tables import DatabaseSchema

MigrationKey: TypeAlias = tuple[str, str]
"""App label and migration name."""

_MAX_REPLACEMENTS: Final = 20


@dataclass(slots=True)
class DjangoMigration:
    """One migration file."""

    app: str
    name: str
    module: ModuleValue
    definition: ClassValue
    dependencies: list[MigrationKey] = field(default_factory=list)
    replaces: list[MigrationKey] = field(default_factory=list)

    @property
    def key(self) -> MigrationKey:
        """Return the app label and the name."""
        return self.app, self.name

    @property
    def label(self) -> str:
        """Return `app.name`."""
        return f"{self.app}.{self.name}"


def replay_migrations(
    program: Program,
    builder: GraphBuilder,
    settings: DjangoSettings,
    schema: DatabaseSchema,
) -> None:
    """Add a node for each migration and apply all migrations to the schema."""
    migrations = {migration.key: migration for migration in _find_migrations(program, settings)}
    replacements: dict[MigrationKey, MigrationKey] = {}
    for migration in migrations.values():
        for key in migration.replaces:
            if key in migrations:
                replacements[key] = migration.key
    for migration in migrations.values():
        _add_migration(builder, migration, replacements.get(migration.key))
    state = MigrationState(schema, builder, settings)
    for migration in MigrationOrder(migrations, replacements).sort():
        _apply_migration(state, migration)


def _apply_migration(state: MigrationState, migration: DjangoMigration) -> None:
    state.begin_migration(migration.app, migration.label)
    for operation in _list_attribute(migration.definition, "operations"):
        if isinstance(operation, CallResult):
            apply_operation(state, operation)
        else:
            location = (migration.module.uri, migration.definition.line)
            state.builder.add_remark(location, "an operation that is not known")


def _find_migrations(program: Program, settings: DjangoSettings) -> list[DjangoMigration]:
    migrations: list[DjangoMigration] = []
    for module in program.modules():
        definition = module.names.get("Migration")
        package, _, name = module.name.rpartition(".")
        if not isinstance(definition, ClassValue) or definition.uri != module.uri:
            continue
        if not package.endswith("migrations") or definition.attributes.keys().isdisjoint(
            ("operations", "dependencies")
        ):
            continue
        app = settings.app_label(package.rpartition(".")[0] or package)
        dependencies = _migration_keys(definition, "dependencies", settings)
        replaces = _migration_keys(definition, "replaces", settings)
        migrations.append(
            DjangoMigration(
                app,
                name,
                module,
                definition,
                dependencies,
                replaces,
            )
        )
    return migrations


def _list_attribute(definition: ClassValue, name: str) -> list[Value]:
    value = definition.attributes.get(name)
    if isinstance(value, list | tuple):
        return list(value)
    return []


def _migration_keys(
    definition: ClassValue,
    attribute: str,
    settings: DjangoSettings,
) -> list[MigrationKey]:
    keys: list[MigrationKey] = []
    for value in _list_attribute(definition, attribute):
        if isinstance(value, CallResult):
            if value.callee.endswith("swappable_dependency"):
                keys.append((settings.user_model.partition(".")[0], "__first__"))
        elif isinstance(value, tuple | list) and len(value) == 2:
            app, name = value
            if isinstance(app, str) and isinstance(name, str):
                keys.append((app, name))
    return keys


class MigrationOrder:
    """Sorts migrations so that each comes after its dependencies; a squashed one runs instead of those it replaces."""

    def __init__(
        self,
        migrations: dict[MigrationKey, DjangoMigration],
        replacements: dict[MigrationKey, MigrationKey],
    ) -> None:
        self._migrations = migrations
        self._replacements = replacements
        self._active = {
            key: migration for key, migration in migrations.items() if key not in replacements
        }
        self._first: dict[str, MigrationKey] = {}
        self._last: dict[str, MigrationKey] = {}
        for key in sorted(self._active):
            app = key[0]
            self._first.setdefault(app, key)
            self._last[app] = key

    def sort(self) -> list[DjangoMigration]:
        """Return the active migrations in the order in which they run; a cycle does not stop the sort."""
        sorted_migrations: dict[MigrationKey, DjangoMigration] = {}
        entered: set[MigrationKey] = set()
        for start in sorted(self._active):
            pending = [start]
            while pending:
                key = pending[-1]
                missing = [
                    dependency
                    for dependency in self._dependencies(self._active[key])
                    if dependency not in sorted_migrations and dependency not in entered
                ]
                entered.add(key)
                if missing:
                    pending.extend(reversed(missing))
                else:
                    pending.pop()
                    sorted_migrations.setdefault(key, self._active[key])
        return list(sorted_migrations.values())

    def _dependencies(self, migration: DjangoMigration) -> list[MigrationKey]:
        """Return the active dependencies of a migration and of the migrations that it replaces."""
        dependencies = list(migration.dependencies)
        for key in migration.replaces:
            if key in self._migrations:
                dependencies.extend(self._migrations[key].dependencies)
        active_dependencies: list[MigrationKey] = []
        for dependency in dependencies:
            resolved = self._resolve(dependency)
            if resolved in self._active and resolved != migration.key:
                active_dependencies.append(resolved)
        return active_dependencies

    def _resolve(self, key: MigrationKey) -> MigrationKey:
        """Return the active migration for a key: `__first__`, `__latest__`, or the one that replaces it."""
        app, name = key
        if name == "__first__":
            key = self._first.get(app, key)
        elif name == "__latest__":
            key = self._last.get(app, key)
        for _ in range(_MAX_REPLACEMENTS):
            if key not in self._replacements:
                return key
            key = self._replacements[key]
        return key


def _add_migration(
    builder: GraphBuilder,
    migration: DjangoMigration,
    replaced_by: MigrationKey | None,
) -> None:
    dependencies: list[Json] = [".".join(dependency) for dependency in migration.dependencies]
    attributes: dict[str, Json] = {"app": migration.app, "dependencies": dependencies}
    if replaced_by is not None:
        attributes["replaced_by"] = ".".join(replaced_by)
    node = Node(
        f"migration:{migration.label}",
        "migration",
        migration.label,
        migration.module.uri,
        migration.definition.line,
        migration.definition.definition.line_end,
        language="python",
        framework="django",
        attributes=attributes,
    )
    key = builder.add_node(node)
    for name in (migration.label, migration.name):
        builder.add_alias(name, key, "migration", migration.module.uri)
