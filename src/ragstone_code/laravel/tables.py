"""Database tables as Laravel migrations leave them.

A `Table` object is one lifetime of a table. A rename keeps the object; a drop followed by a create makes a new one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from ragstone.types.graph import Json

ChangeKind = Literal["CREATES", "ALTERS", "RENAMES", "DROPS"]


@dataclass(frozen=True, slots=True)
class MigrationLine:
    """The migration, file and line of a statement."""

    migration: str
    uri: str
    line: int
    conditional: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """A column in its latest definition."""

    name: str
    type: str
    nullable: bool
    at: MigrationLine
    more: dict[str, Json] = field(default_factory=dict)
    """Optional settings: default, unsigned, auto_increment, length, allowed and others."""

    def renamed(self, name: str, at: MigrationLine) -> Column:
        """Return the column under a new name; it remembers its former names and the line of the rename."""
        former = self.more.get("former_names")
        former_names: list[Json] = []
        if isinstance(former, list):
            former_names.extend(former)
        former_names.append(self.name)
        more = {
            **self.more,
            "former_names": former_names,
            "renamed_at": f"{at.uri}:{at.line}",
        }
        return replace(self, name=name, more=more)


@dataclass(frozen=True, slots=True)
class TableIndex:
    """An index of a table: its kind and its columns."""

    kind: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """Columns that refer to columns of another table."""

    columns: tuple[str, ...]
    on: str
    """The table that is referred to."""
    references: tuple[str, ...]
    at: MigrationLine
    more: dict[str, Json] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Return the key as text: `user_id->users.id`."""
        columns = ",".join(self.columns)
        references = ",".join(self.references)
        return f"{columns}->{self.on}.{references}"

    def with_column_renamed(self, name: str, new_name: str) -> ForeignKey:
        """Return the key with one of the referring columns renamed."""
        return replace(self, columns=_rename_in(self.columns, name, new_name))

    def with_reference_renamed(self, name: str, new_name: str) -> ForeignKey:
        """Return the key with one of the columns that it refers to renamed."""
        return replace(
            self,
            references=_rename_in(self.references, name, new_name),
        )


@dataclass(frozen=True, slots=True)
class MigrationChange:
    """One change that a migration makes to a table."""

    kind: ChangeKind
    at: MigrationLine
    columns: tuple[str, ...] = ()
    """The columns that the change adds, alters, drops or renames."""
    former: str = ""
    to: str = ""
    raw: bool = False
    """True if the change is written in SQL instead of calls to the schema builder."""


@dataclass(slots=True)
class Table:
    """One lifetime of a table."""

    name: str
    created: MigrationLine
    columns: dict[str, Column] = field(default_factory=dict)
    indexes: dict[str, TableIndex] = field(default_factory=dict)
    foreign: dict[str, ForeignKey] = field(default_factory=dict)
    former_names: list[str] = field(default_factory=list)
    changes: list[MigrationChange] = field(default_factory=list)
    dropped: MigrationLine | None = None
    has_create: bool = True
    """False if a migration alters the table and no migration in the project creates it."""

    def named_index(self, kind: str, columns: tuple[str, ...]) -> str:
        """Return the name that Laravel gives to an index on these columns."""
        joined = "_".join((self.name, *columns, kind))
        return joined.lower().replace("-", "_").replace(".", "_")

    def add(self, column: Column) -> None:
        """Add a column; a column with the same name is replaced."""
        self.columns[column.name] = column

    def drop(self, name: str) -> None:
        """Remove a column, its foreign keys, and its place in indexes."""
        self.columns.pop(name, None)
        self.foreign = {
            key: foreign for key, foreign in self.foreign.items() if name not in foreign.columns
        }
        indexes: dict[str, TableIndex] = {}
        for key, index in self.indexes.items():
            columns = tuple(column for column in index.columns if column != name)
            if columns:
                indexes[key] = replace(index, columns=columns)
        self.indexes = indexes

    def rename_column(self, name: str, new_name: str, at: MigrationLine) -> None:
        """Rename a column; it keeps its position, and indexes and foreign keys follow."""
        columns: dict[str, Column] = {}
        for key, column in self.columns.items():
            if key == name:
                columns[new_name] = column.renamed(new_name, at)
            else:
                columns[key] = column
        self.columns = columns
        for key, index in self.indexes.items():
            self.indexes[key] = replace(
                index,
                columns=_rename_in(index.columns, name, new_name),
            )
        for key, foreign in self.foreign.items():
            self.foreign[key] = foreign.with_column_renamed(name, new_name)


@dataclass(slots=True)
class TableHistory:
    """All tables of a project while its migrations are replayed, dropped tables included."""

    tables: list[Table] = field(default_factory=list)
    """All lifetimes in the order of their creation."""
    remarks: list[str] = field(default_factory=list)
    _current: dict[str, Table] = field(default_factory=dict)

    def find(self, name: str) -> Table | None:
        """Return the table that has this name now."""
        return self._current.get(name)

    def current(self) -> Iterator[Table]:
        """Yield the tables that exist now, in the order of their creation."""
        return (table for table in self.tables if table.dropped is None)

    def has_column(self, table_name: str, column_name: str) -> bool:
        """Return whether a table has a column; the case of the name does not matter."""
        table = self.find(table_name)
        if table is None:
            return False
        return column_name.lower() in {name.lower() for name in table.columns}

    def create(self, name: str, at: MigrationLine) -> Table:
        """Return a new table, or the current table if one has this name already."""
        existing = self._current.get(name)
        if existing is not None:
            return existing
        table = Table(name, at)
        self.tables.append(table)
        self._current[name] = table
        return table

    def find_to_alter(self, name: str, at: MigrationLine) -> Table:
        """Return the table that a migration alters.

        If no migration creates the table, a remark says so and the table starts here. A statement under a condition
        gets a table that is not recorded, because the statement may never run.
        """
        existing = self._current.get(name)
        if existing is not None:
            return existing
        self.add_remark(
            at, f"the table {name} is altered, and no migration that was read makes it"
        )
        if at.conditional:
            return Table(name, at, has_create=False)
        table = self.create(name, at)
        table.has_create = False
        return table

    def rename(self, name: str, new_name: str, at: MigrationLine) -> None:
        """Rename a table; foreign keys that refer to it follow."""
        table = self._current.pop(name, None)
        if table is None:
            self.add_remark(
                at,
                f"the table {name} is renamed to {new_name}, and no migration that was read makes it",
            )
            if at.conditional:
                return
            table = Table(name, at, has_create=False)
            self.tables.append(table)
        table.former_names.append(name)
        table.name = new_name
        self._current[new_name] = table
        table.changes.append(MigrationChange("RENAMES", at, former=name, to=new_name))
        for other in self.current():
            for key, foreign in other.foreign.items():
                if foreign.on == name:
                    other.foreign[key] = replace(foreign, on=new_name)

    def drop(self, name: str, at: MigrationLine) -> None:
        """End the lifetime of a table; do nothing if no table has this name."""
        table = self._current.pop(name, None)
        if table is None:
            return
        table.dropped = at
        table.changes.append(MigrationChange("DROPS", at))

    def rename_column(
        self,
        table: Table,
        name: str,
        new_name: str,
        at: MigrationLine,
    ) -> None:
        """Rename a column of a table; foreign keys of other tables follow."""
        table.rename_column(name, new_name, at)
        for other in self.current():
            for key, foreign in other.foreign.items():
                if foreign.on == table.name:
                    other.foreign[key] = foreign.with_reference_renamed(name, new_name)

    def add_remark(self, at: MigrationLine, text: str) -> None:
        """Record something that could not be determined, once."""
        remark = f"{at.uri}:{at.line}: {text}"
        if remark not in self.remarks:
            self.remarks.append(remark)


def _rename_in(
    columns: tuple[str, ...],
    name: str,
    new_name: str,
) -> tuple[str, ...]:
    """Return column names with one of them replaced."""
    return tuple(new_name if column == name else column for column in columns)
