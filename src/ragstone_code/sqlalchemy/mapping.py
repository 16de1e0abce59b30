"""Models of SQLAlchemy as nodes: their tables, and how they relate."""

from __future__ import annotations

from dataclasses import dataclass

from ragstone.code.tree import Return
from ragstone.types import Confidence, Json, Node
from ragstone_code.graph_builder import GraphBuilder
from ragstone_code.program import Program, walk_tree
from ragstone_code.python.values import CallResult, ClassValue, FunctionValue, GenericType, Value, full_name
from ragstone_code.sqlalchemy.alembic import column_of
from ragstone_code.sqlalchemy.models import RELATIONS, columns_of, is_mapped, table_of
from ragstone_code.tables import DatabaseSchema, SchemaColumn, SchemaTable

SEVERAL = ("list", "set", "List", "Set", "Sequence", "Collection", "WriteOnlyMapped", "DynamicMapped")


@dataclass
class Mapping:
    """All models of a program."""

    program: Program
    builder: GraphBuilder

    def read(self, tables: DatabaseSchema) -> None:
        """Keep models, relations, and the tables that no migration makes."""
        models = [one for one in self.program.classes() if is_mapped(one)]
        migrated = set(tables.current)
        self.short = {one.definition.short: one for one in reversed(models)}
        self.columns: dict[int, str] = {}
        self.tables = {one.full: table_of(self.program, one) for one in models}
        for one in models:
            for each in one.lineage():
                for name, value in each.attributes.items() if isinstance(each, ClassValue) else ():
                    if isinstance(value, CallResult):
                        self.columns.setdefault(id(value), f"{self.tables[one.full][0]}.{name}")
        written = {one.uri for one in self.program.modules() if "down_revision" in one.names}
        for made in (one for one in self.program.interpreter.objects if one.uri not in written):
            self._plain_table(made, tables, migrated)
        for one in models:
            self._model(one, tables, migrated)
        for one in models:
            self._relations(one)

    def _plain_table(self, made: CallResult, tables: DatabaseSchema, migrated: set[str]) -> None:
        """Keep a table that is written without a class."""
        name = made.args[0] if made.args else None
        if (
            made.callee.rpartition(".")[2] != "Table"
            or not isinstance(name, str)
            or name in migrated
            or tables.get(name)
        ):
            return
        table = tables.create(name, (made.uri, made.line))
        for column in _listed(made.args[1:]):
            self._into(table, column)

    def _model(self, one: ClassValue, tables: DatabaseSchema, migrated: set[str]) -> None:
        name, how = self.tables[one.full]
        columns = columns_of(self.program, one)
        fields: list[Json] = [column.name for column in columns]
        key = self.builder.add_class(one, "model", table=name, fields=fields)
        place = (one.uri, one.lines.get("__tablename__", one.line) if how == "explicit" else one.line)
        confidence: Confidence = "convention" if how == "convention" else "declared"
        self.builder.add_link("MAPS_TO", (key, f"table:{name}"), place, {"how": how}, how=confidence)
        if name in migrated:
            return
        table = tables.get(name) or tables.create(name, (one.uri, one.line))
        for column in columns:
            self._into(table, column)

    def _into(self, table: SchemaTable, column: SchemaColumn) -> None:
        if column.references.startswith("@"):
            column.references = self.columns.get(int(column.references[1:]), "")
        elif column.references.startswith("?"):
            owner, _, name = column.references[1:].rpartition(".")
            column.references = f"{self.tables[owner][0]}.{name}" if owner in self.tables else ""
        table.columns.setdefault(column.name, column)

    # ── relations ─────────────────────────────────────────────────────────────────────────────────

    def _relations(self, one: ClassValue) -> None:
        for each in one.lineage():
            for name, value in each.attributes.items() if isinstance(each, ClassValue) else ():
                if isinstance(value, CallResult) and value.callee.rpartition(".")[2] in RELATIONS:
                    self._relation(one, each, (name, value))

    def _relation(self, one: ClassValue, level: ClassValue, named: tuple[str, CallResult]) -> None:
        name, made = named
        noted = self.program.evaluate(level.annotations.get(name), level.scope)
        related = self._related(made.argument(0, "argument"), level) or self._related(noted, level)
        secondary = made.kwargs.get("secondary") or made.kwargs.get("link_model")
        several = _several(noted) if noted is not None else made.kwargs.get("uselist") is not False
        kind = "many_to_many" if secondary is not None else "one_to_many" if several else "many_to_one"
        if noted is None and secondary is None:
            kind = "relationship"
        place = (made.uri, made.line)
        if related is None:
            self.builder.add_remark(place, f"the model that {one.definition.short}.{name} relates to is not known")
            return
        pivot = self._pivot(secondary)
        back = made.kwargs.get("back_populates") or made.kwargs.get("backref")
        told = str(back) if isinstance(back, str) else None
        more: dict[str, Json] = {"name": name, "type": kind, "pivot": pivot, "related": related.full, "inverse": told}
        own, key = f"class:{one.full}", f"relation:{one.full}::{name}"
        self.builder.add_link("RELATES", (own, f"class:{related.full}"), place, more, how="declared")
        kept = Node(key, "model_relation", name, *place, made.line, "", "", "python", self.builder.framework, more)
        self.builder.add_node(kept)

    def _pivot(self, secondary: Value) -> str | None:
        if isinstance(secondary, ClassValue):
            return self.tables.get(secondary.full, (secondary.definition.short, ""))[0]
        if isinstance(secondary, CallResult) and secondary.args and isinstance(secondary.args[0], str):
            return secondary.args[0]
        return secondary if isinstance(secondary, str) else None

    def _related(self, value: Value, level: ClassValue, depth: int = 0) -> ClassValue | None:
        """Return the model a relation names: by class, by name in quotes, inside of what it is wrapped in."""
        if isinstance(value, FunctionValue):
            value = self._lambda(value)
        if isinstance(value, str):
            return self.short.get(value.rpartition(".")[2].strip("\"' []")) or self._in_text(value)
        if isinstance(value, ClassValue):
            return value if value.full in self.tables else None
        if isinstance(value, GenericType) and depth < 5:
            found = (self._related(each, level, depth + 1) for each in value.arguments)
            return next((each for each in found if each is not None), None)
        return None

    def _in_text(self, text: str) -> ClassValue | None:
        """Return the model in a quoted type: `list["Order"]`, `Order | None`."""
        parts = "".join(sign if sign.isalnum() or sign in "._" else " " for sign in text).split()
        return next(
            (self.short[part.rpartition(".")[2]] for part in parts if part.rpartition(".")[2] in self.short), None
        )

    def _lambda(self, function: FunctionValue) -> Value:
        returned = next(
            (one for one in walk_tree(function.definition.body.statements) if isinstance(one, Return)), None
        )
        return self.program.evaluate(returned.value, function.scope) if returned is not None else None


def _several(noted: Value, depth: int = 0) -> bool:
    """Return whether a type holds many."""
    if isinstance(noted, str):
        return noted.strip().lower().startswith(("list[", "set[", "sequence["))
    if isinstance(noted, GenericType) and depth < 5:
        return full_name(noted.origin).rpartition(".")[2] in SEVERAL or any(
            _several(one, depth + 1) for one in noted.arguments
        )
    return False


def _listed(values: list[Value]) -> list[SchemaColumn]:
    """Return the columns among what a table is made of."""
    return [column for value in values if (column := column_of(value)) is not None]
