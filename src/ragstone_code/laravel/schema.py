"""Graph of tables and migrations: every lifetime of a table, its columns, its migrations and its foreign keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from ragstone.types.graph import Alias, Graph, Json, Link, Node
from ragstone_code.laravel.eloquent import EloquentModels
from ragstone_code.laravel.migrations import MigrationFile, MigrationReplay, replay_migrations
from ragstone_code.laravel.tables import (
    Column,
    MigrationChange,
    MigrationLine,
    Table,
    TableHistory,
)
from ragstone_code.project_files import World

FRAMEWORK: Final = "laravel"
TableKeys = Mapping[int, str]
"""The node key of each table, by the `id` of the table object."""


def read_tables(world: World) -> Graph:
    """Return the migrations of a project and the tables that they leave."""
    return build_table_graph(replay_migrations(world, EloquentModels(world)))


def build_table_graph(replay: MigrationReplay) -> Graph:
    """Return the graph of replayed migrations."""
    history = replay.history
    keys = _table_keys(history)
    order = {migration.name: position for position, migration in enumerate(replay.migrations)}
    graph = Graph(remarks=replay.remarks)
    for table in history.tables:
        graph += _table_graph(table, keys[id(table)], order)
        graph += Graph(links=tuple(_foreign_key_links(table, keys, history)))
    nodes: list[Node] = []
    aliases: list[Alias] = []
    for migration in replay.migrations:
        node = _migration_node(
            migration,
            _list_changes(migration, history, keys),
        )
        nodes.append(node)
        aliases.append(Alias(migration.name, node.key, "migration", migration.uri))
    return graph + Graph(nodes=tuple(nodes), aliases=tuple(aliases))


def _table_keys(history: TableHistory) -> TableKeys:
    """Return the key of every table; a dropped table's key names the migration that created it."""
    keys: dict[int, str] = {}
    for table in history.tables:
        key = f"table:{table.name}"
        if table.dropped is not None:
            key = f"{key}#{table.created.migration}"
            duplicates = sum(_is_same_or_numbered(other, key) for other in keys.values())
            if duplicates:
                key = f"{key}#{duplicates + 1}"
        keys[id(table)] = key
    return keys


def _is_same_or_numbered(key: str, base_key: str) -> bool:
    return key == base_key or key.startswith(f"{base_key}#")


def _table_graph(table: Table, key: str, order: dict[str, int]) -> Graph:
    """Return the node of a table, its columns, its other names, and the links of migrations that changed it."""
    nodes = [
        _node(
            key,
            "table",
            table.name,
            table.created,
            _table_attributes(table),
        )
    ]
    name_kind = "table" if table.dropped is None else "former_table"
    aliases = [Alias(table.name, key, name_kind, table.created.uri)]
    for name in dict.fromkeys(table.former_names):
        aliases.append(Alias(name, key, "former_table", table.created.uri))
    links = tuple(
        _change_link(
            change,
            key,
            order,
        )
        for change in _merge_changes(table.changes)
    )
    if table.dropped is None:
        for column in table.columns.values():
            full_name = f"{table.name}.{column.name}"
            column_key = f"column:{full_name}"
            attributes = {**_column_attributes(column), "table": table.name}
            nodes.append(
                _node(
                    column_key,
                    "column",
                    column.name,
                    column.at,
                    attributes,
                )
            )
            aliases.append(Alias(full_name, column_key, "column", column.at.uri))
    return Graph(tuple(nodes), links, tuple(dict.fromkeys(aliases)))


def _table_attributes(table: Table) -> dict[str, Json]:
    migrations = dict.fromkeys(change.at.migration for change in table.changes)
    foreign_keys = dict.fromkeys(foreign.text for foreign in table.foreign.values())
    indexes: list[Json] = []
    for name, index in table.indexes.items():
        indexes.append({"name": name, "kind": index.kind, "columns": list(index.columns)})
    attributes: dict[str, Json] = {
        "columns": [_column_attributes(column) for column in table.columns.values()],
        "indexes": indexes,
        "foreign_keys": list(foreign_keys),
        "former_names": list(dict.fromkeys(table.former_names)),
        "migrations": list(migrations),
        "dropped": table.dropped is not None,
    }
    if table.dropped is not None:
        attributes["dropped_by"] = table.dropped.migration
    if not table.has_create:
        attributes["partial"] = True
    return attributes


def _merge_changes(changes: list[MigrationChange]) -> list[MigrationChange]:
    """Return changes with those of one line merged: a loop may change each column separately."""
    merged: dict[tuple[object, ...], MigrationChange] = {}
    for change in changes:
        key = (change.kind, change.at, change.former, change.to, change.raw)
        previous = merged.get(key)
        columns = change.columns
        if previous is not None:
            columns = (*previous.columns, *columns)
        merged[key] = replace(change, columns=tuple(dict.fromkeys(columns)))
    return list(merged.values())


def _node(
    key: str,
    kind: str,
    name: str,
    at: MigrationLine,
    attributes: dict[str, Json],
) -> Node:
    return Node(
        key,
        kind,
        name,
        at.uri,
        at.line,
        at.line,
        language="php",
        framework=FRAMEWORK,
        attributes=attributes,
    )


def _column_attributes(column: Column) -> dict[str, Json]:
    return {
        "name": column.name,
        "type": column.type,
        "nullable": column.nullable,
        **column.more,
    }


def _change_link(change: MigrationChange, key: str, order: dict[str, int]) -> Link:
    """Return the link from a migration to a table that it changes."""
    attributes: dict[str, Json] = {}
    if change.columns:
        attributes["columns"] = list(change.columns)
    if change.kind == "RENAMES":
        attributes["former"] = change.former
        attributes["to"] = change.to
    if change.raw:
        attributes["raw"] = True
    at = change.at
    return Link(
        change.kind,
        f"migration:{at.migration}",
        key,
        at.uri,
        at.line,
        confidence="evaluated",
        conditional=at.conditional,
        order=order.get(at.migration, 0),
        attributes=attributes,
    )


def _foreign_key_links(
    table: Table,
    keys: TableKeys,
    history: TableHistory,
) -> list[Link]:
    """Return the links from a table to the current tables that its foreign keys refer to."""
    if table.dropped is not None:
        return []
    links: list[Link] = []
    for foreign in table.foreign.values():
        target = history.find(foreign.on)
        if target is None:
            continue
        references = ",".join(foreign.references)
        attributes: dict[str, Json] = {
            "column": ",".join(foreign.columns),
            "references": f"{foreign.on}.{references}",
            **foreign.more,
        }
        link = Link(
            "FOREIGN_KEY",
            keys[id(table)],
            keys[id(target)],
            foreign.at.uri,
            foreign.at.line,
            confidence="evaluated",
            conditional=foreign.at.conditional,
            attributes=attributes,
        )
        links.append(link)
    return links


def _list_changes(
    migration: MigrationFile,
    history: TableHistory,
    keys: TableKeys,
) -> list[Json]:
    """Return the changes that a migration makes, in the order of their lines."""
    changes: list[tuple[int, str]] = []
    for table in history.tables:
        name = keys[id(table)].removeprefix("table:")
        for change in table.changes:
            if change.at.migration == migration.name:
                changes.append((change.at.line, f"{change.kind} {name}"))
    return [text for _, text in sorted(changes)]


def _migration_node(migration: MigrationFile, changes: list[Json]) -> Node:
    return Node(
        f"migration:{migration.name}",
        "migration",
        migration.name,
        migration.uri,
        migration.line,
        migration.line_end,
        doc=migration.doc,
        language="php",
        framework=FRAMEWORK,
        attributes={"does": changes},
    )
