"""Django's models: which classes they are, their tables and relations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ragstone.types import Confidence, Json, Node
from ragstone_code.django.fields import (
    OUTSIDE,
    Pointed,
    app_of,
    column_of,
    fields_of,
    kind_of,
    pointed,
)
from ragstone_code.django.settings import Settings
from ragstone_code.graph_builder import GraphBuilder
from ragstone_code.program import Program
from ragstone_code.python.values import BoundMember, CallResult, ClassValue, GenericType, Value, full_name
from ragstone_code.tables import DatabaseSchema, SchemaColumn

MODELS: Final = frozenset(
    ("django.db.models.Model", "django.db.models.base.Model", "django.contrib.gis.db.models.Model")
)


def is_model(value: Value) -> bool:
    """Return whether a class is a model, abstract or not: by Django's own, or by what another package's models have."""
    if not isinstance(value, ClassValue) or value.definition.short == "Meta":
        return False
    return any(_models(full_name(one)) for one in value.lineage() if not isinstance(one, ClassValue))


def _models(name: str) -> bool:
    if name in MODELS:
        return True
    outside = ".models." in name and not name.startswith(("django.db.models.", "django.contrib.gis.db.models."))
    last = name.rpartition(".")[2]
    return outside and not last.endswith(("Manager", "QuerySet", "Field", "Choices", "Form", "Error"))


def is_abstract(one: ClassValue) -> bool:
    """Return whether a model has no table because its own Meta says so."""
    meta = one.attributes.get("Meta")
    return isinstance(meta, ClassValue) and meta.attributes.get("abstract") is True


def meta_of(one: ClassValue, name: str) -> tuple[Value, ClassValue, int] | None:
    """Return an option of Meta with the class that says it and its line: its own, or that of an abstract base."""
    for level in one.lineage():
        meta = level.attributes.get("Meta") if isinstance(level, ClassValue) else None
        if isinstance(level, ClassValue) and (level is one or is_abstract(level)) and isinstance(meta, ClassValue):
            found = meta.find(name)
            return (found[1], level, found[0].lines.get(name, meta.line)) if found else None
    return None


@dataclass
class Models:
    """All models of a project."""

    program: Program
    builder: GraphBuilder
    settings: Settings
    by_label: dict[str, ClassValue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.all = [one for one in self.program.classes() if is_model(one) and ".migrations." not in f"{one.full}."]
        for one in self.all:
            self.by_label.setdefault(self.label(one), one)

    def label(self, one: ClassValue) -> str:
        """Return `app.model`."""
        return f"{app_of(one, self.settings)}.{one.definition.short}".lower()

    def table(self, one: ClassValue) -> tuple[str, str, int]:
        """Return a model's table, how that is known, and the line that says so."""
        proxy = meta_of(one, "proxy")
        parent = self.parent(one)
        if proxy is not None and proxy[0] is True and proxy[1] is one and parent is not None:
            return self.table(parent)[0], "proxy", proxy[2]
        told = meta_of(one, "db_table")
        if told is not None and isinstance(told[0], str):
            return told[0].strip('"'), "explicit", told[2] if told[1] is one else one.line
        return f"{app_of(one, self.settings)}_{one.definition.short.lower()}", "convention", one.line

    def parent(self, one: ClassValue) -> ClassValue | None:
        """Return the model with a table that a model inherits from."""
        above = one.lineage()[1:]
        return next((each for each in above if is_model(each) and not is_abstract(each)), None)

    def fields(self, one: ClassValue) -> Iterator[tuple[str, CallResult]]:
        """Yield the fields of a model: those of abstract bases before its own."""
        levels = [
            each
            for each in one.lineage()
            if isinstance(each, ClassValue) and (each is one or is_abstract(each) or not is_model(each))
        ]
        found: dict[str, CallResult] = {}
        for level in reversed(levels):
            found.update(fields_of(level))
        yield from (
            (name, made) for name, made in found.items() if isinstance(one.attributes.get(name, made), CallResult)
        )

    def columns(self, one: ClassValue) -> list[SchemaColumn]:
        """Return the columns a model itself has in its table."""
        found: list[SchemaColumn] = []
        for name in one.type_names():
            for own, kind in OUTSIDE.get(name.rpartition(".")[2], ()) if "django.contrib.auth" in name else ():
                nullable = own == "last_login"
                found.append(SchemaColumn(own, kind, nullable, unique=own == "username", place=(one.uri, one.line)))
        for name, made in self.fields(one):
            column = column_of(name, made)
            point = pointed(name, made, self.owner(one), self.settings)
            if column is None:
                continue
            if point is not None and point.to:
                column.references = self.reference(point)
            found = [each for each in found if each.name != column.name] + [column]
        return self._keyed(one, found)

    def _keyed(self, one: ClassValue, found: list[SchemaColumn]) -> list[SchemaColumn]:
        """Return columns with the key that Django adds where none is written."""
        if any(column.primary for column in found):
            return found
        parent = self.parent(one)
        place = (one.uri, one.line)
        if parent is not None:
            name = f"{parent.definition.short.lower()}_ptr_id"
            ends = f"{self.table(parent)[0]}.{self.key_of(parent)}"
            kept = [column for column in found if column.name != name]
            return [SchemaColumn(name, "OneToOneField", False, ends, primary=True, place=place), *kept]
        return [SchemaColumn("id", self.auto(one), False, primary=True, place=place), *found]

    def auto(self, one: ClassValue) -> str:
        """Return the kind of key that models get by themselves."""
        told = self.settings.get("DEFAULT_AUTO_FIELD")
        return told.rpartition(".")[2] if isinstance(told, str) else "AutoField"

    def key_of(self, one: ClassValue, depth: int = 0) -> str:
        """Return the column of a model's primary key."""
        for name, made in self.fields(one):
            column = column_of(name, made)
            if column is not None and column.primary:
                return column.name
        parent = self.parent(one) if depth < 10 else None
        return f"{parent.definition.short.lower()}_ptr_id" if parent is not None else "id"

    def reference(self, point: Pointed) -> str:
        """Return `table.column` of what a field points to; a model the project lacks has Django's names."""
        to = self.by_label.get(point.to)
        told = point.made.kwargs.get("to_field")
        if to is None:
            return f"{point.to.replace('.', '_')}.{told if isinstance(told, str) else 'id'}"
        return f"{self.table(to)[0]}.{told if isinstance(told, str) else self.key_of(to)}"

    def owner(self, one: ClassValue) -> tuple[str, str]:
        """Return the app and the name of a model."""
        return app_of(one, self.settings), one.definition.short

    # ── nodes ─────────────────────────────────────────────────────────────────────────────────────

    def read(self, tables: DatabaseSchema) -> None:
        """Keep all models, and the tables that no migration of the project makes."""
        migrated = set(tables.current) | {table.name for table in tables.dropped}
        for one in self.all:
            self._model(one, tables, migrated)

    def _model(self, one: ClassValue, tables: DatabaseSchema, migrated: set[str]) -> None:
        abstract = is_abstract(one)
        fields: list[Json] = [f"{name} ({kind_of(made)})" for name, made in self.fields(one)]
        attributes: dict[str, Json] = {"app": app_of(one, self.settings), "fields": fields, "abstract": abstract}
        name, how, line = self.table(one)
        if not abstract:
            attributes["table"] = name
        key = self.builder.add_class(one, "model", **attributes)
        self.builder.add_alias(self.label(one), key, "class", one.uri)
        points = [
            point for each, made in self.fields(one) if (point := pointed(each, made, self.owner(one), self.settings))
        ]
        for point in points:
            self._relation(one, point, key)
        if abstract:
            return
        confidence: Confidence = "convention" if how == "convention" else "declared"
        self.builder.add_link("MAPS_TO", (key, f"table:{name}"), (one.uri, line), {"how": how}, how=confidence)
        managed = meta_of(one, "managed")
        if name not in migrated and how != "proxy" and not (managed and managed[0] is False):
            self._table(one, tables, points)

    def _table(self, one: ClassValue, tables: DatabaseSchema, points: list[Pointed]) -> None:
        """Keep the table of a model whose app has no migration for it."""
        name = self.table(one)[0]
        made = tables.create(name, (one.uri, one.line))
        made.columns.update({column.name: column for column in self.columns(one)})
        for point in points:
            if point.kind == "many_to_many" and not point.through:
                told = point.made.kwargs.get("db_table")
                other = point.to.rpartition(".")[2]
                own = one.definition.short.lower()
                place = (point.made.uri, point.made.line)
                between = tables.create(told if isinstance(told, str) else f"{name}_{point.name}", place)
                between.columns.update(
                    joining(place, (own, f"{name}.{self.key_of(one)}"), (other, self.reference(point)))
                )

    def _relation(self, one: ClassValue, point: Pointed, key: str) -> None:
        to = self.by_label.get(point.to)
        place = (point.made.uri, point.made.line)
        back = point.made.kwargs.get("related_name")
        more: dict[str, Json] = {
            "name": point.name,
            "type": point.kind,
            "related": to.full if to is not None else point.to,
            "related_name": back if isinstance(back, str) else None,
            "through": point.through or None,
        }
        if not point.to:
            self.builder.add_remark(place, f"the model that {one.definition.short}.{point.name} points to is not known")
            return
        if point.kind == "many_to_many" and not point.through:
            told = point.made.kwargs.get("db_table")
            more["pivot"] = told if isinstance(told, str) else f"{self.table(one)[0]}_{point.name}"
        target = f"class:{to.full}" if to is not None else f"class:{point.to}"
        if to is None:
            outside: dict[str, Json] = {"external": True}
            self.builder.add_node(
                Node(target, "model", point.to, language="python", framework="django", attributes=outside)
            )
        self.builder.add_link("RELATES", (key, target), place, more, how="declared")
        own = f"relation:{one.full}::{point.name}"
        self.builder.add_node(
            Node(own, "model_relation", point.name, *place, place[1], "", "", "python", "django", more)
        )

    def of(self, value: Value) -> ClassValue | None:
        """Return the model behind a manager, a query set or the class itself."""
        for _ in range(12):
            if isinstance(value, ClassValue):
                return value if is_model(value) else None
            value = _underlying_value(value)
        return None


def _underlying_value(value: Value) -> Value:
    if isinstance(value, CallResult):
        return value.on
    if isinstance(value, BoundMember):
        return value.owner
    return value.origin if isinstance(value, GenericType) else None


def joining(place: tuple[str, int], own: tuple[str, str], other: tuple[str, str]) -> dict[str, SchemaColumn]:
    """Return the columns of the table between two models: (name, reference) of both."""
    first, second = own[0], other[0]
    if first == second:
        first, second = f"from_{first}", f"to_{second}"
    found = [
        SchemaColumn("id", "AutoField", False, primary=True, place=place),
        SchemaColumn(f"{first}_id", "ForeignKey", False, own[1], place=place),
        SchemaColumn(f"{second}_id", "ForeignKey", False, other[1], place=place),
    ]
    return {column.name: column for column in found}
