"""The database schema while migrations are replayed: its tables, their columns, and their history."""

from __future__ import annotations

from dataclasses import dataclass, field

from ragstone.types import Confidence, Json, Node
from ragstone_code.graph_builder import GraphBuilder
from ragstone_code.route_definition import Location


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
        """Return the column as a JSON object."""
        column: dict[str, Json] = {
            "name": self.name,
            "type": self.type,
            "nullable": self.nullable,
        }
        if self.default is not None:
            column["default"] = self.default
        if self.primary:
            column["primary"] = True
        if self.unique:
            column["unique"] = True
        return column


@dataclass(frozen=True, slots=True)
class TableChange:
    """A change of a table by a migration."""

    link_kind: str
    migration: str
    place: Location
    details: dict[str, Json] = field(default_factory=dict)


@dataclass(slots=True)
class SchemaTable:
    """One lifetime of a table, from its creation until it is dropped."""

    name: str
    place: Location
    created_by: str = ""
    """The migration that creates the table."""
    columns: dict[str, SchemaColumn] = field(default_factory=dict)
    indexes: list[str] = field(default_factory=list)
    former_names: list[str] = field(default_factory=list)
    changes: list[TableChange] = field(default_factory=list)
    is_dropped: bool = False

    @property
    def key(self) -> str:
        """Return the node key; the key of a dropped table contains its creating migration."""
        if self.is_dropped:
            return f"table:{self.name}#{self.created_by}"
        return f"table:{self.name}"

    def rename(self, old_name: str, new_name: str) -> None:
        """Rename a column and keep its position."""
        columns: dict[str, SchemaColumn] = {}
        for key, column in self.columns.items():
            if key == old_name:
                column.name = new_name
                columns[new_name] = column
            else:
                columns[key] = column
        self.columns = columns

    def location_of(self, column: SchemaColumn) -> Location:
        """Return the location of a column; that of the table if the column has none."""
        if column.place[1]:
            return column.place
        return self.place


class DatabaseSchema:
    """All tables of a project: current ones by name, and dropped ones."""

    def __init__(self) -> None:
        self.current: dict[str, SchemaTable] = {}
        self.dropped: list[SchemaTable] = []

    def create(self, name: str, place: Location, migration: str = "") -> SchemaTable:
        """Create a table and return it; a table of the same name is dropped first."""
        if name in self.current:
            self.drop(name, place, migration)
        table = SchemaTable(name, place, migration)
        self.current[name] = table
        if migration:
            table.changes.append(TableChange("CREATES", migration, place))
        return table

    def get(self, name: str) -> SchemaTable | None:
        """Return a current table."""
        return self.current.get(name)

    def alter(
        self,
        name: str,
        place: Location,
        migration: str,
        details: dict[str, Json],
    ) -> SchemaTable | None:
        """Record that a migration alters a current table, and return the table."""
        table = self.current.get(name)
        if table is not None:
            table.changes.append(TableChange("ALTERS", migration, place, details))
        return table

    def drop(self, name: str, place: Location, migration: str) -> None:
        """Drop a current table."""
        table = self.current.pop(name, None)
        if table is not None:
            table.changes.append(TableChange("DROPS", migration, place))
            table.is_dropped = True
            self.dropped.append(table)

    def rename(
        self,
        old_name: str,
        new_name: str,
        place: Location,
        migration: str,
    ) -> None:
        """Rename a current table; foreign keys to it are updated."""
        table = self.current.pop(old_name, None)
        if table is None:
            return
        self.current[new_name] = table
        if old_name == new_name:
            return
        details: dict[str, Json] = {"former": old_name, "to": new_name}
        table.changes.append(TableChange("RENAMES", migration, place, details))
        table.former_names.append(old_name)
        table.name = new_name
        for other in self.current.values():
            _rename_references(other, old_name, new_name)

    def add_to_graph(
        self,
        builder: GraphBuilder,
        how: Confidence = "evaluated",
    ) -> None:
        """Add nodes, links and names of all tables to a graph."""
        for table in [*self.dropped, *self.current.values()]:
            _add_table(builder, table, how)
        for table in self.current.values():
            for column in table.columns.values():
                if column.references.partition(".")[0]:
                    self._add_foreign_key(builder, table, column, how)

    def _add_foreign_key(
        self,
        builder: GraphBuilder,
        table: SchemaTable,
        column: SchemaColumn,
        how: Confidence,
    ) -> None:
        """Add the link of a foreign key; a target that no migration creates becomes an external table."""
        target = column.references.partition(".")[0]
        if target not in self.current:
            node = Node(
                f"table:{target}",
                "table",
                target,
                framework=builder.framework,
                attributes={"external": True},
            )
            builder.add_node(node)
        attributes: dict[str, Json] = {"column": column.name, "references": column.references}
        ends = (table.key, f"table:{target}")
        builder.add_link(
            "FOREIGN_KEY",
            ends,
            table.location_of(column),
            attributes,
            how=how,
        )


def _rename_references(table: SchemaTable, old_name: str, new_name: str) -> None:
    for column in table.columns.values():
        if column.references.startswith(f"{old_name}."):
            referenced_column = column.references.partition(".")[2]
            column.references = f"{new_name}.{referenced_column}"


def _add_table(builder: GraphBuilder, table: SchemaTable, how: Confidence) -> None:
    uri, line = table.place
    node = Node(
        table.key,
        "table",
        table.name,
        uri,
        line,
        line,
        framework=builder.framework,
        attributes=_table_attributes(table),
    )
    key = builder.add_node(node)
    alias_kind = "table"
    if table.is_dropped:
        alias_kind = "former_table"
    builder.add_alias(table.name, key, alias_kind, uri)
    for former_name in table.former_names:
        builder.add_alias(former_name, key, "former_table", uri)
    for order, change in enumerate(table.changes):
        ends = (f"migration:{change.migration}", key)
        builder.add_link(
            change.link_kind,
            ends,
            change.place,
            {"order": order, **change.details},
            how=how,
        )
    if not table.is_dropped:
        for column in table.columns.values():
            _add_column(builder, table, column)


def _table_attributes(table: SchemaTable) -> dict[str, Json]:
    columns = table.columns.values()
    foreign_keys = [
        f"{column.name}->{column.references}" for column in columns if column.references
    ]
    migrations = dict.fromkeys(change.migration for change in table.changes)
    return {
        "columns": [column.to_json() for column in columns],
        "indexes": list(table.indexes),
        "foreign_keys": list(foreign_keys),
        "former_names": list(table.former_names),
        "migrations": list(migrations),
        "dropped": table.is_dropped,
    }


def _add_column(
    builder: GraphBuilder,
    table: SchemaTable,
    column: SchemaColumn,
) -> None:
    uri, line = table.location_of(column)
    key = f"column:{table.name}.{column.name}"
    node = Node(
        key,
        "column",
        column.name,
        uri,
        line,
        line,
        framework=builder.framework,
        attributes=column.to_json(),
    )
    builder.add_node(node)
    builder.add_alias(f"{table.name}.{column.name}", key, "column", uri)
