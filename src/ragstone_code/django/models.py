"""Django's models: their tables, columns and relations."""

from __future__ import annotations

from collections.abc import Iterator

from ragstone.types import Confidence, Json, Node
from ragstone_code.django.fields import (
    DJANGO_BASE_COLUMNS,
    FieldRelation,
    app_of,
    build_column,
    build_relation,
    field_type,
    own_fields,
)
from ragstone_code.django.model_classes import is_abstract, is_model, meta_option
from ragstone_code.django.settings import DjangoSettings
from ragstone_code.graph_builder import GraphBuilder
from ragstone_code.python.values import BoundMember, CallResult, ClassValue, GenericType, Value
from ragstone_code.python_project import Program
from ragstone_code.tables import DatabaseSchema, SchemaColumn


class DjangoModels:
    """All models of a project."""

    def __init__(
        self,
        program: Program,
        builder: GraphBuilder,
        settings: DjangoSettings,
    ) -> None:
        self.program = program
        self.builder = builder
        self.settings = settings
        self.all: list[ClassValue] = []
        self.by_label: dict[str, ClassValue] = {}
        for class_value in program.classes():
            is_historical = ".migrations." in f"{class_value.full}."
            if is_model(class_value) and not is_historical:
                self.all.append(class_value)
                self.by_label.setdefault(self.label_of(class_value), class_value)

    # ── tables and columns ────────────────────────────────────────────────────────────────────────

    def label_of(self, model: ClassValue) -> str:
        """Return `app.model` in lower case."""
        return ".".join(self._app_and_name(model)).lower()

    def _app_and_name(self, model: ClassValue) -> tuple[str, str]:
        return app_of(model, self.settings), model.definition.short

    def table_of(self, model: ClassValue) -> tuple[str, str, int]:
        """Return a model's table, how its name is known (proxy, explicit, convention), and the line."""
        proxy = meta_option(model, "proxy")
        parent = self._parent_of(model)
        if proxy is not None and proxy[0] is True and proxy[1] is model and parent is not None:
            return self.table_of(parent)[0], "proxy", proxy[2]
        option = meta_option(model, "db_table")
        if option is not None and isinstance(option[0], str):
            table, defining_class, line = option
            if defining_class is not model:
                line = model.line
            return table.strip('"'), "explicit", line
        table = f"{app_of(model, self.settings)}_{model.definition.short.lower()}"
        return table, "convention", model.line

    def _parent_of(self, model: ClassValue) -> ClassValue | None:
        """Return the nearest ancestor with a table."""
        for ancestor in model.lineage()[1:]:
            if (
                isinstance(ancestor, ClassValue)
                and is_model(ancestor)
                and not is_abstract(ancestor)
            ):
                return ancestor
        return None

    def _fields_of(self, model: ClassValue) -> Iterator[tuple[str, CallResult]]:
        """Yield the fields of a model; fields of abstract bases and mixins come first."""
        fields: dict[str, CallResult] = {}
        for ancestor in reversed(model.lineage()):
            if not isinstance(ancestor, ClassValue):
                continue
            has_own_table = (
                ancestor is not model and is_model(ancestor) and not is_abstract(ancestor)
            )
            if not has_own_table:
                fields.update(own_fields(ancestor))
        for name, field in fields.items():
            is_overridden = not isinstance(
                model.attributes.get(name, field),
                CallResult,
            )
            if not is_overridden:
                yield name, field

    def _relations_of(self, model: ClassValue) -> list[FieldRelation]:
        relations: list[FieldRelation] = []
        for name, field in self._fields_of(model):
            relation = build_relation(
                name,
                field,
                self._app_and_name(model),
                self.settings,
            )
            if relation is not None:
                relations.append(relation)
        return relations

    def _columns_of(self, model: ClassValue) -> dict[str, SchemaColumn]:
        """Return the columns of a model's own table by name, the primary key first."""
        columns: dict[str, SchemaColumn] = {}
        for column in _inherited_user_columns(model):
            columns[column.name] = column
        relations = [relation for relation in self._relations_of(model) if relation.target]
        references = {relation.name: self._reference(relation) for relation in relations}
        for name, field in self._fields_of(model):
            field_column = build_column(name, field)
            if field_column is not None:
                field_column.references = references.get(name, "")
                columns.pop(field_column.name, None)
                columns[field_column.name] = field_column
        if any(column.primary for column in columns.values()):
            return columns
        key = self._automatic_key(model)
        columns.pop(key.name, None)
        return {key.name: key, **columns}

    def _automatic_key(self, model: ClassValue) -> SchemaColumn:
        """Return the primary key that Django adds to a model without one."""
        location = (model.uri, model.line)
        parent = self._parent_of(model)
        if parent is None:
            return SchemaColumn(
                "id",
                self._automatic_key_type(),
                primary=True,
                place=location,
            )
        parent_key = f"{self.table_of(parent)[0]}.{self._key_column(parent)}"
        name = _parent_link_column(parent)
        return SchemaColumn(
            name,
            "OneToOneField",
            references=parent_key,
            primary=True,
            place=location,
        )

    def _automatic_key_type(self) -> str:
        setting = self.settings.get("DEFAULT_AUTO_FIELD")
        if isinstance(setting, str):
            return setting.rpartition(".")[2]
        return "AutoField"

    def _key_column(self, model: ClassValue) -> str:
        """Return the column of a model's primary key."""
        for name, field in self._fields_of(model):
            column = build_column(name, field)
            if column is not None and column.primary:
                return column.name
        parent = self._parent_of(model)
        if parent is not None:
            return _parent_link_column(parent)
        return "id"

    def _reference(self, relation: FieldRelation) -> str:
        """Return `table.column` of a relation's target; a model outside the project has Django's default names."""
        target = self.by_label.get(relation.target)
        column = relation.field.kwargs.get("to_field")
        if target is None:
            table = relation.target.replace(".", "_")
            if not isinstance(column, str):
                column = "id"
        else:
            table = self.table_of(target)[0]
            if not isinstance(column, str):
                column = self._key_column(target)
        return f"{table}.{column}"

    def _pivot_table(self, model: ClassValue, relation: FieldRelation) -> str:
        """Return the name of the table between two models."""
        table = relation.field.kwargs.get("db_table")
        if isinstance(table, str):
            return table
        return f"{self.table_of(model)[0]}_{relation.name}"

    # ── nodes ─────────────────────────────────────────────────────────────────────────────────────

    def add_to_graph(self, schema: DatabaseSchema) -> None:
        """Add all models to the graph, and to the schema the tables that no migration creates."""
        migrated = set(schema.current) | {table.name for table in schema.dropped}
        for model in self.all:
            self._add_model(model, schema, migrated)

    def _add_model(
        self,
        model: ClassValue,
        schema: DatabaseSchema,
        migrated: set[str],
    ) -> None:
        fields: list[Json] = [
            f"{name} ({field_type(field)})" for name, field in self._fields_of(model)
        ]
        table, how, line = self.table_of(model)
        attributes: dict[str, Json] = {
            "app": app_of(model, self.settings),
            "fields": fields,
            "abstract": is_abstract(model),
        }
        if not is_abstract(model):
            attributes["table"] = table
        key = self.builder.add_class(model, "model", **attributes)
        self.builder.add_alias(self.label_of(model), key, "class", model.uri)
        for relation in self._relations_of(model):
            self._add_relation(model, relation, key)
        if is_abstract(model):
            return
        confidence: Confidence = "declared"
        if how == "convention":
            confidence = "convention"
        self.builder.add_link(
            "MAPS_TO",
            (key, f"table:{table}"),
            (model.uri, line),
            {"how": how},
            how=confidence,
        )
        managed = meta_option(model, "managed")
        is_managed = managed is None or managed[0] is not False
        if table not in migrated and how != "proxy" and is_managed:
            self._add_table(model, schema)

    def _add_table(self, model: ClassValue, schema: DatabaseSchema) -> None:
        """Add the table of a model without migrations, and its pivot tables."""
        name = self.table_of(model)[0]
        table = schema.create(name, (model.uri, model.line))
        table.columns.update(self._columns_of(model))
        for relation in self._relations_of(model):
            if not relation.has_own_pivot:
                continue
            pivot = schema.create(self._pivot_table(model, relation), relation.location)
            own_end = (model.definition.short.lower(), f"{name}.{self._key_column(model)}")
            target_end = (relation.target.rpartition(".")[2], self._reference(relation))
            pivot.columns.update(pivot_columns(relation.location, own_end, target_end))

    def _add_relation(
        self,
        model: ClassValue,
        relation: FieldRelation,
        key: str,
    ) -> None:
        if not relation.target:
            text = f"the model that {model.definition.short}.{relation.name} points to is not known"
            self.builder.add_remark(relation.location, text)
            return
        target = self.by_label.get(relation.target)
        target_name = relation.target
        if target is not None:
            target_name = target.full
        related_name = relation.field.kwargs.get("related_name")
        if not isinstance(related_name, str):
            related_name = None
        attributes: dict[str, Json] = {
            "name": relation.name,
            "type": relation.kind,
            "related": target_name,
            "related_name": related_name,
            "through": relation.through or None,
        }
        if relation.has_own_pivot:
            attributes["pivot"] = self._pivot_table(model, relation)
        target_key = f"class:{target_name}"
        if target is None:
            self._add_external_model(target_key, relation.target)
        self.builder.add_link(
            "RELATES",
            (key, target_key),
            relation.location,
            attributes,
            how="declared",
        )
        uri, line = relation.location
        node = Node(
            f"relation:{model.full}::{relation.name}",
            "model_relation",
            relation.name,
            uri,
            line,
            line,
            language="python",
            framework="django",
            attributes=attributes,
        )
        self.builder.add_node(node)

    def _add_external_model(self, key: str, label: str) -> None:
        node = Node(
            key,
            "model",
            label,
            language="python",
            framework="django",
            attributes={"external": True},
        )
        self.builder.add_node(node)

    def model_of(self, value: Value) -> ClassValue | None:
        """Return the model of a manager, a query set or the class itself."""
        for _ in range(12):
            if isinstance(value, ClassValue):
                if is_model(value):
                    return value
                return None
            value = _underlying_value(value)
        return None


def _inherited_user_columns(model: ClassValue) -> Iterator[SchemaColumn]:
    """Yield the columns that a model inherits from Django's user classes."""
    for type_name in model.type_names():
        if "django.contrib.auth" not in type_name:
            continue
        for name, kind in DJANGO_BASE_COLUMNS.get(type_name.rpartition(".")[2], ()):
            yield SchemaColumn(
                name,
                kind,
                nullable=name == "last_login",
                unique=name == "username",
                place=(model.uri, model.line),
            )


def _parent_link_column(parent: ClassValue) -> str:
    return f"{parent.definition.short.lower()}_ptr_id"


def _underlying_value(value: Value) -> Value:
    if isinstance(value, CallResult):
        return value.on
    if isinstance(value, BoundMember):
        return value.owner
    if isinstance(value, GenericType):
        return value.origin
    return None


def pivot_columns(
    location: tuple[str, int],
    first: tuple[str, str],
    second: tuple[str, str],
) -> dict[str, SchemaColumn]:
    """Return the columns of the table between two models; each end is (model name, referenced column)."""
    first_name, first_reference = first
    second_name, second_reference = second
    if first_name == second_name:
        first_name, second_name = f"from_{first_name}", f"to_{second_name}"
    columns = [
        SchemaColumn("id", "AutoField", primary=True, place=location),
        SchemaColumn(
            f"{first_name}_id", "ForeignKey", references=first_reference, place=location
        ),
        SchemaColumn(
            f"{second_name}_id", "ForeignKey", references=second_reference, place=location
        ),
    ]
    return {column.name: column for column in columns}
