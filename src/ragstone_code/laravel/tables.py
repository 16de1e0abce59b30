"""Tables as migrations leave them: a table is a lifetime, so a rename keeps it, and drop and create make a new one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from ragstone.types.graph import Json

Change = Literal["CREATES", "ALTERS", "RENAMES", "DROPS"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is said: in which migration, on which line."""

    migration: str
    uri: str
    line: int
    conditional: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """A column as it was last defined."""

    name: str
    type: str
    nullable: bool
    at: Place
    more: dict[str, Json] = field(default_factory=dict)
    """default, unsigned, auto_increment, length, allowed, …, each only where it is set."""

    def renamed(self, to: str, at: Place) -> Column:
        """Return it under another name, with the line that gave it."""
        former = self.more.get("former_names")
        names: list[Json] = [*(former if isinstance(former, list) else []), self.name]
        return replace(self, name=to, more={**self.more, "former_names": names, "renamed_at": f"{at.uri}:{at.line}"})


@dataclass(frozen=True, slots=True)
class Index:
    """An index, by its name in the table."""

    kind: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """Columns that refer to those of a table."""

    columns: tuple[str, ...]
    on: str
    references: tuple[str, ...]
    at: Place
    more: dict[str, Json] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Return `user_id->users.id`."""
        return f"{','.join(self.columns)}->{self.on}.{','.join(self.references)}"


@dataclass(frozen=True, slots=True)
class Event:
    """One thing a migration did to a table: `columns` are those it added, changed, dropped or renamed."""

    kind: Change
    at: Place
    columns: tuple[str, ...] = ()
    former: str = ""
    to: str = ""
    raw: bool = False
    """Whether it was said in SQL rather than to the schema builder."""


@dataclass(slots=True)
class Table:
    """One lifetime."""

    name: str
    made: Place
    columns: dict[str, Column] = field(default_factory=dict)
    indexes: dict[str, Index] = field(default_factory=dict)
    foreign: dict[str, ForeignKey] = field(default_factory=dict)
    former: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    dropped: Place | None = None
    given: bool = True
    """Whether its making was seen; not so for a table that is altered and was made elsewhere."""

    def named_index(self, kind: str, columns: tuple[str, ...]) -> str:
        """Return the name Laravel gives an index."""
        return "_".join((self.name, *columns, kind)).lower().replace("-", "_").replace(".", "_")

    def add(self, column: Column) -> None:
        """Put a column in, in the place of one of its name."""
        self.columns[column.name] = column

    def drop(self, name: str) -> None:
        """Take a column out, with its foreign keys and its part in indexes."""
        self.columns.pop(name, None)
        self.foreign = {key: one for key, one in self.foreign.items() if name not in one.columns}
        kept = {
            key: replace(one, columns=tuple(column for column in one.columns if column != name))
            for key, one in self.indexes.items()
        }
        self.indexes = {key: one for key, one in kept.items() if one.columns}

    def rename_column(self, name: str, to: str, at: Place) -> None:
        """Give a column another name, in its place and wherever the table speaks of it."""

        def new(columns: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(to if column == name else column for column in columns)

        self.columns = {
            (to if key == name else key): (one.renamed(to, at) if key == name else one)
            for key, one in self.columns.items()
        }
        self.indexes = {key: replace(one, columns=new(one.columns)) for key, one in self.indexes.items()}
        self.foreign = {key: replace(one, columns=new(one.columns)) for key, one in self.foreign.items()}


@dataclass(slots=True)
class Tables:
    """All lifetimes so far, in the order they began."""

    all: list[Table] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    _live: dict[str, Table] = field(default_factory=dict)

    def live(self, name: str) -> Table | None:
        """Return the table that has a name now."""
        return self._live.get(name)

    def living(self) -> Iterator[Table]:
        """Yield the tables that are there now, by when they began."""
        return (table for table in self.all if table.dropped is None)

    def has_column(self, table: str, column: str) -> bool:
        """Return whether a table has a column, whatever the case."""
        found = self.live(table)
        return found is not None and column.lower() in {name.lower() for name in found.columns}

    def create(self, name: str, at: Place) -> Table:
        """Begin a lifetime; one that is made under a condition and there already goes on."""
        there = self._live.get(name)
        if there is not None:
            return there
        table = Table(name, at)
        self.all.append(table)
        self._live[name] = table
        return table

    def altered(self, name: str, at: Place) -> Table:
        """Return the table of a name; one whose making was not seen begins here, and that is remarked."""
        there = self._live.get(name)
        if there is not None:
            return there
        self.remark(at, f"the table {name} is altered, and no migration that was read makes it")
        if at.conditional:
            return Table(name, at, given=False)  # what may not happen makes no table
        table = self.create(name, at)
        table.given = False
        return table

    def rename(self, name: str, to: str, at: Place) -> None:
        """Give a table another name; what refers to it follows."""
        table = self._live.pop(name, None)
        if table is None:
            self.remark(at, f"the table {name} is renamed to {to}, and no migration that was read makes it")
            if at.conditional:
                return
            table = Table(name, at, given=False)
            self.all.append(table)
        table.former.append(name)
        table.name = to
        self._live[to] = table
        table.events.append(Event("RENAMES", at, former=name, to=to))
        for one in self.living():
            one.foreign = {
                key: replace(foreign, on=to) if foreign.on == name else foreign for key, foreign in one.foreign.items()
            }

    def drop(self, name: str, at: Place) -> None:
        """End a lifetime, if there is one."""
        table = self._live.pop(name, None)
        if table is None:
            return
        table.dropped = at
        table.events.append(Event("DROPS", at))

    def rename_column(self, table: Table, name: str, to: str, at: Place) -> None:
        """Give a column another name, in other tables' foreign keys too."""
        table.rename_column(name, to, at)
        for one in self.living():
            one.foreign = {
                key: replace(foreign, references=tuple(to if ref == name else ref for ref in foreign.references))
                if foreign.on == table.name
                else foreign
                for key, foreign in one.foreign.items()
            }

    def remark(self, at: Place, text: str) -> None:
        """Keep what could not be known."""
        said = f"{at.uri}:{at.line}: {text}"
        if said not in self.remarks:
            self.remarks.append(said)
