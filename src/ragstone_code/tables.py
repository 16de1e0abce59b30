"""Tables while migrations are replayed: what each is called, has and was, and which of them live at the end."""

from __future__ import annotations

from dataclasses import dataclass, field

from ragstone.types import Confidence, Json, Node
from ragstone_code.graph_builder import GraphBuilder, Location


@dataclass(slots=True)
class SchemaColumn:
    """A column of a table."""

    name: str
    type: str = ""
    nullable: bool = False
    references: str = ""
    """`table.column` of a foreign key."""
    default: Json = None
    primary: bool = False
    unique: bool = False
    place: Location = ("", 0)

    def to_json(self) -> dict[str, Json]:
        """Return it as an attribute has it."""
        made: dict[str, Json] = {"name": self.name, "type": self.type, "nullable": self.nullable}
        if self.default is not None:
            made["default"] = self.default
        if self.primary:
            made["primary"] = True
        if self.unique:
            made["unique"] = True
        return made


@dataclass(slots=True)
class SchemaTable:
    """One lifetime of a table."""

    name: str
    place: Location
    born: str = ""
    """The migration that creates it."""
    columns: dict[str, SchemaColumn] = field(default_factory=dict)
    indexes: list[str] = field(default_factory=list)
    former: list[str] = field(default_factory=list)
    touched: list[tuple[str, str, Location, dict[str, Json]]] = field(default_factory=list)
    """(link kind, migration, place, what of it)."""
    dropped: bool = False

    @property
    def key(self) -> str:
        """Return its key: a dropped one is told apart by the migration that made it."""
        return f"table:{self.name}#{self.born}" if self.dropped else f"table:{self.name}"

    def rename(self, name: str, to: str) -> None:
        """Rename a column where it stands."""
        self.columns = {
            (to if key == name else key): (_renamed(one, to) if key == name else one)
            for key, one in self.columns.items()
        }


def _renamed(column: SchemaColumn, to: str) -> SchemaColumn:
    column.name = to
    return column


class DatabaseSchema:
    """All of them."""

    def __init__(self) -> None:
        self.current: dict[str, SchemaTable] = {}
        self.dead: list[SchemaTable] = []

    def create(self, name: str, place: Location, migration: str = "") -> SchemaTable:
        """Return a new table."""
        if name in self.current:
            self.drop(name, place, migration)
        made = self.current[name] = SchemaTable(name, place, migration)
        if migration:
            made.touched.append(("CREATES", migration, place, {}))
        return made

    def get(self, name: str) -> SchemaTable | None:
        """Return a living table."""
        return self.current.get(name)

    def alter(self, name: str, place: Location, migration: str, what: dict[str, Json]) -> SchemaTable | None:
        """Return a living table that a migration alters, and note that it does."""
        found = self.current.get(name)
        if found is not None:
            found.touched.append(("ALTERS", migration, place, what))
        return found

    def drop(self, name: str, place: Location, migration: str) -> None:
        """End a table's life."""
        found = self.current.pop(name, None)
        if found is not None:
            found.touched.append(("DROPS", migration, place, {}))
            found.dropped = True
            self.dead.append(found)

    def rename(self, name: str, to: str, place: Location, migration: str) -> None:
        """Give a table another name: it stays the same table, and what refers to it follows."""
        found = self.current.pop(name, None)
        if found is None or name == to:
            self.current.update({name: found} if found is not None else {})
            return
        found.touched.append(("RENAMES", migration, place, {"former": name, "to": to}))
        found.former.append(name)
        found.name = to
        self.current[to] = found
        for table in self.current.values():
            for column in table.columns.values():
                if column.references.startswith(f"{name}."):
                    column.references = f"{to}.{column.references.partition('.')[2]}"

    def add_to_graph(self, builder: GraphBuilder, how: Confidence = "evaluated") -> None:
        """Make nodes, links and names of all tables."""
        for table in [*self.dead, *self.current.values()]:
            _table(builder, table, how)
        for table in self.current.values():
            for column in table.columns.values():
                there = column.references.partition(".")[0]
                if there:
                    if there not in self.current:
                        outside: dict[str, Json] = {"external": True}
                        builder.add_node(
                            Node(f"table:{there}", "table", there, framework=builder.framework, attributes=outside)
                        )
                    more: dict[str, Json] = {"column": column.name, "references": column.references}
                    place = column.place if column.place[1] else table.place
                    builder.add_link("FOREIGN_KEY", (table.key, f"table:{there}"), place, more, how=how)


def _table(builder: GraphBuilder, table: SchemaTable, how: Confidence) -> None:
    keys = [f"{one.name}->{one.references}" for one in table.columns.values() if one.references]
    named = list(dict.fromkeys(migration for _, migration, _, _ in table.touched))
    attributes: dict[str, Json] = {
        "columns": [one.to_json() for one in table.columns.values()],
        "indexes": list(table.indexes),
        "foreign_keys": list(keys),
        "former_names": list(table.former),
        "migrations": list(named),
        "dropped": table.dropped,
    }
    key = builder.add_node(
        Node(
            table.key,
            "table",
            table.name,
            *table.place,
            table.place[1],
            framework=builder.framework,
            attributes=attributes,
        )
    )
    builder.add_alias(table.name, key, "former_table" if table.dropped else "table", table.place[0])
    for former in table.former:
        builder.add_alias(former, key, "former_table", table.place[0])
    for number, (kind, migration, place, what) in enumerate(table.touched):
        builder.add_link(kind, (f"migration:{migration}", key), place, {"order": number, **what}, how=how)
    for column in [] if table.dropped else table.columns.values():
        place = column.place if column.place[1] else table.place
        own = f"column:{table.name}.{column.name}"
        builder.add_node(
            Node(own, "column", column.name, *place, place[1], framework=builder.framework, attributes=column.to_json())
        )
        builder.add_alias(f"{table.name}.{column.name}", own, "column", place[0])
