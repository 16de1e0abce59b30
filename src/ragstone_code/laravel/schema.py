"""Tables in the graph: every lifetime with its columns, the migrations that made it what it is, foreign keys."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ragstone.code.world import World
from ragstone.types.graph import Alias, Graph, Json, Link, Node
from ragstone_code.laravel.eloquent import Eloquent
from ragstone_code.laravel.migrations import Migration, Replayed, replay
from ragstone_code.laravel.tables import Column, Event, Place, Table, Tables

FRAMEWORK: Final = "laravel"


def read_tables(world: World) -> Graph:
    """Return the migrations of a project and the tables they leave."""
    return build_table_graph(replay(world, Eloquent(world)))


def build_table_graph(replayed: Replayed) -> Graph:
    """Return the same from migrations that are followed already."""
    keys = _keys(replayed.tables)
    order = {migration.name: at for at, migration in enumerate(replayed.migrations)}
    graph = Graph(remarks=replayed.remarks)
    for table in replayed.tables.all:
        graph += _of_table(table, keys[id(table)], order)
        graph += Graph(links=tuple(_foreign(table, keys, replayed.tables)))
    told = {migration.name: _told(migration, replayed.tables, keys) for migration in replayed.migrations}
    nodes = tuple(_migration(migration, told[migration.name]) for migration in replayed.migrations)
    aliases = tuple(Alias(one.name, f"migration:{one.name}", "migration", one.uri) for one in replayed.migrations)
    return graph + Graph(nodes=nodes, aliases=aliases)


def _keys(all_tables: Tables) -> dict[int, str]:
    """Return the key of every lifetime: a table that is gone is told apart by the migration that made it."""
    keys: dict[int, str] = {}
    for table in all_tables.all:
        key = f"table:{table.name}" if table.dropped is None else f"table:{table.name}#{table.made.migration}"
        again = sum(one == key or one.startswith(f"{key}#") for one in keys.values())
        keys[id(table)] = f"{key}#{again + 1}" if again and table.dropped is not None else key
    return keys


def _of_table(table: Table, key: str, order: dict[str, int]) -> Graph:
    names = list(dict.fromkeys(event.at.migration for event in table.events))
    attributes: dict[str, Json] = {
        "columns": [_column(one) for one in table.columns.values()],
        "indexes": [
            {"name": name, "kind": one.kind, "columns": list(one.columns)} for name, one in table.indexes.items()
        ],
        "foreign_keys": list(dict.fromkeys(one.text for one in table.foreign.values())),
        "former_names": list(dict.fromkeys(table.former)),
        "migrations": list(names),
        "dropped": table.dropped is not None,
    }
    if table.dropped is not None:
        attributes["dropped_by"] = table.dropped.migration
    if not table.given:
        attributes["partial"] = True
    node = _node(key, "table", table.name, table.made, attributes)
    aliases = [Alias(table.name, key, "table" if table.dropped is None else "former_table", table.made.uri)]
    aliases += [Alias(name, key, "former_table", table.made.uri) for name in dict.fromkeys(table.former)]
    links = tuple(_link(event, key, order) for event in _grouped(table.events))
    if table.dropped is not None:
        return Graph((node,), links, tuple(dict.fromkeys(aliases)))
    columns = tuple(
        _node(f"column:{table.name}.{one.name}", "column", one.name, one.at, {**_column(one), "table": table.name})
        for one in table.columns.values()
    )
    aliases += [Alias(f"{table.name}.{one.name}", f"column:{table.name}.{one.name}", "column", one.at.uri)
                for one in table.columns.values()]  # fmt: skip
    return Graph((node, *columns), links, tuple(dict.fromkeys(aliases)))


def _grouped(events: list[Event]) -> list[Event]:
    """Return events with those of one line as one: a loop says the same of each column by itself."""
    found: dict[tuple[object, ...], Event] = {}
    for event in events:
        key = (event.kind, event.at, event.former, event.to, event.raw)
        before = found.get(key)
        columns = dict.fromkeys((*before.columns, *event.columns) if before else event.columns)
        found[key] = replace(event, columns=tuple(columns))
    return list(found.values())


def _node(key: str, kind: str, name: str, at: Place, attributes: dict[str, Json]) -> Node:
    return Node(key, kind, name, at.uri, at.line, at.line, language="php", framework=FRAMEWORK, attributes=attributes)


def _column(column: Column) -> dict[str, Json]:
    return {"name": column.name, "type": column.type, "nullable": column.nullable, **column.more}


def _link(event: Event, key: str, order: dict[str, int]) -> Link:
    attributes: dict[str, Json] = {"columns": list(event.columns)} if event.columns else {}
    if event.kind == "RENAMES":
        attributes |= {"former": event.former, "to": event.to}
    if event.raw:
        attributes["raw"] = True
    return Link(
        event.kind, f"migration:{event.at.migration}", key, event.at.uri, event.at.line,
        confidence="evaluated", conditional=event.at.conditional,
        order=order.get(event.at.migration, 0), attributes=attributes,
    )  # fmt: skip


def _foreign(table: Table, keys: dict[int, str], all_tables: Tables) -> list[Link]:
    """Return links to the tables that are referred to and known."""
    found: list[Link] = []
    for one in table.foreign.values() if table.dropped is None else ():
        to = all_tables.live(one.on)
        if to is not None:
            said: dict[str, Json] = {
                "column": ",".join(one.columns), "references": f"{one.on}.{','.join(one.references)}", **one.more,
            }  # fmt: skip
            found.append(
                Link(
                    "FOREIGN_KEY", keys[id(table)], keys[id(to)], one.at.uri, one.at.line,
                    confidence="evaluated", conditional=one.at.conditional, attributes=said,
                )
            )  # fmt: skip
    return found


def _told(migration: Migration, all_tables: Tables, keys: dict[int, str]) -> list[Json]:
    """Return what a migration does, in its order."""
    done = [
        (event.at.line, f"{event.kind} {keys[id(table)].removeprefix('table:')}")
        for table in all_tables.all
        for event in table.events
        if event.at.migration == migration.name
    ]
    return [text for _, text in sorted(done)]


def _migration(migration: Migration, told: list[Json]) -> Node:
    return Node(
        f"migration:{migration.name}", "migration", migration.name, migration.uri, migration.line, migration.line_end,
        doc=migration.doc, language="php", framework=FRAMEWORK, attributes={"does": told},
    )  # fmt: skip
