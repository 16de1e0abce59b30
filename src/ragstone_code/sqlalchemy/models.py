"""Model classes of SQLAlchemy and SQLModel: which classes are mapped, their tables, and their columns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ragstone_code.python.values import (
    BoundMember,
    CallResult,
    ClassValue,
    ExternalName,
    FunctionValue,
    GenericType,
    Value,
    full_name,
)
from ragstone_code.python_project import Program
from ragstone_code.tables import SchemaColumn

BASES: Final = frozenset(
    (
        "sqlalchemy.orm.DeclarativeBase",
        "sqlalchemy.orm.DeclarativeBaseNoMeta",
        "sqlalchemy.orm.declarative_base",
        "sqlalchemy.ext.declarative.declarative_base",
        "sqlalchemy.ext.declarative.api.declarative_base",
        "flask_sqlalchemy.SQLAlchemy.Model",
        "sqlalchemy.orm.registry.generate_base",
        "sqlalchemy.ext.asyncio.AsyncAttrs",
    )
)
SQLMODEL: Final = frozenset(("sqlmodel.SQLModel", "sqlmodel.main.SQLModel"))
MAPPING_DECORATORS: Final = ("registry.mapped", "as_declarative")
COLUMNS: Final = ("Column", "mapped_column", "Field")
RELATIONS: Final = ("relationship", "Relationship", "relation", "dynamic_loader")
BASE_SETTINGS: Final = ("metadata", "registry", "type_annotation_map")
"""Annotations of a base class that are not columns."""
UNION_TYPES: Final = ("typing.Optional", "typing.Union", "typing.Annotated")
COLUMN_TYPES: Final = {
    "int": "Integer",
    "str": "String",
    "bool": "Boolean",
    "float": "Float",
    "bytes": "LargeBinary",
    "datetime.datetime": "DateTime",
    "datetime.date": "Date",
    "datetime.time": "Time",
    "datetime.timedelta": "Interval",
    "decimal.Decimal": "Numeric",
    "uuid.UUID": "Uuid",
    "pydantic.EmailStr": "String",
}
"""Column types of Python types."""
CAMEL_BOUNDARY: Final = re.compile(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))")


# ── mapped classes and their tables ──────────────────────────────────────────────────────────


def is_mapped(model: ClassValue) -> bool:
    """Return whether a class is a model with a table; base classes, abstract classes and schemas are not."""
    if model.attributes.get("__abstract__") is True:
        return False
    type_names = set(model.type_names())
    if type_names & SQLMODEL:
        return model.options.get("table") is True
    if not type_names & BASES:
        return any(
            full_name(decoration.value).endswith(MAPPING_DECORATORS)
            for decoration in model.decorations
        )
    if "__tablename__" in model.attributes or "__table__" in model.attributes:
        return True
    return not _is_declarative_base(model)


def _is_declarative_base(model: ClassValue) -> bool:
    """Return whether a class is the base class of models: directly below SQLAlchemy's base, without columns."""
    parents: set[str] = set()
    for base in model.bases:
        origin = base.origin if isinstance(base, GenericType) else base
        parents.add(full_name(origin))
    if not parents & BASES:
        return False
    if any(name.endswith("SQLAlchemy.Model") for name in parents):
        return False
    if any(_callee(value) in (*COLUMNS, *RELATIONS) for value in model.attributes.values()):
        return False
    return all(name.startswith("__") or name in BASE_SETTINGS for name in model.annotations)


def find_table(program: Program, model: ClassValue) -> tuple[str, str]:
    """Return the table of a model and its source: explicit, inherited, or convention."""
    parent = _parent_model(model)
    table = _declared_table(program, model, parent)
    if table is not None:
        return table
    if parent is not None:
        own_columns = find_columns(program, model, own=True)
        if not any(column.primary for column in own_columns):
            return find_table(program, parent)
    short_name = model.definition.short
    if SQLMODEL & set(model.type_names()):
        return short_name.lower(), "convention"
    return CAMEL_BOUNDARY.sub(r"_\1", short_name).lower(), "convention"


def _declared_table(
    program: Program,
    model: ClassValue,
    parent: ClassValue | None,
) -> tuple[str, str] | None:
    """Return the table in `__tablename__` or `__table__`; the name of a parent model's table does not count."""
    declared = model.find("__tablename__")
    if declared is not None:
        owner, value = declared
        name = value
        is_usable = owner is model or parent is None
        if isinstance(value, FunctionValue):
            name = program.call(value, model)
            is_usable = True
        if is_usable and isinstance(name, str):
            return name, "explicit" if owner is model else "inherited"
    table = model.attributes.get("__table__")
    if isinstance(table, CallResult) and table.args and isinstance(table.args[0], str):
        return table.args[0], "explicit"
    return None


def _parent_model(model: ClassValue) -> ClassValue | None:
    """Return the nearest model that a model inherits from."""
    for ancestor in model.lineage()[1:]:
        if isinstance(ancestor, ClassValue) and is_mapped(ancestor):
            return ancestor
    return None


# ── columns ──────────────────────────────────────────────────────────────────────────────────


def find_columns(
    program: Program,
    model: ClassValue,
    *,
    own: bool = False,
) -> list[SchemaColumn]:
    """Return the columns of a model and of its mixins and abstract bases, not of a parent model.

    With `own`, only the columns that the class itself declares are returned.
    """
    levels = [model]
    if not own:
        ancestors = [level for level in model.lineage() if isinstance(level, ClassValue)]
        levels = [
            level for level in reversed(ancestors) if level is model or not is_mapped(level)
        ]
    columns: dict[str, SchemaColumn] = {}
    for level in levels:
        for name, value in _members(program, level, model):
            column = _create_column(program, level, name, value)
            if column is not None:
                columns[name] = column
            else:
                columns.pop(name, None)
    return list(columns.values())


def _members(
    program: Program,
    level: ClassValue,
    model: ClassValue,
) -> Iterator[tuple[str, Value]]:
    """Yield the annotated names and the attributes of a class; a `declared_attr` gives its return value."""
    for name in level.annotations:
        if name not in level.attributes:
            yield name, None
    for name, value in level.attributes.items():
        if not _is_declared_attribute(value):
            yield name, value
        elif isinstance(value, FunctionValue) and not name.startswith("__"):
            yield name, program.call(value, model)


def _is_declared_attribute(value: Value) -> bool:
    if not isinstance(value, FunctionValue):
        return False
    return any(
        "declared_attr" in full_name(decoration.value) for decoration in value.decorations
    )


@dataclass(frozen=True, slots=True)
class ColumnAnnotation:
    """The type annotation of a column."""

    type: Value
    nullable: bool
    mapped: bool
    """True for `Mapped[…]`."""


def _create_column(
    program: Program,
    level: ClassValue,
    name: str,
    value: Value,
) -> SchemaColumn | None:
    """Return the column that a member of a class declares; None if it declares none."""
    written = program.evaluate(level.annotations.get(name), level.scope)
    annotation = _read_annotation(program, written, level)
    if not _is_column(level, name, value, annotation):
        return None
    column_type = COLUMN_TYPES.get(full_name(annotation.type), _type_label(annotation.type))
    column = SchemaColumn(
        name,
        column_type,
        annotation.nullable,
        place=(level.uri, level.lines.get(name, 0)),
    )
    if isinstance(value, CallResult) and _callee(value) in COLUMNS:
        nullable_by_default = written is None or _callee(value) == "Column"
        fill_column(column, value, nullable_by_default=nullable_by_default)
    return column


def _is_column(
    level: ClassValue,
    name: str,
    value: Value,
    annotation: ColumnAnnotation,
) -> bool:
    """Return whether a member is a column: by its call, by `Mapped[…]`, or as a field of a SQLModel class."""
    if isinstance(value, CallResult):
        return _callee(value) in COLUMNS
    if isinstance(annotation.type, GenericType):
        return False
    if isinstance(annotation.type, ClassValue) and not _is_enum(annotation.type):
        return False
    if annotation.mapped and value is None:
        return True
    is_plain = value is None or isinstance(value, str | int | float | bool)
    return is_plain and _is_sqlmodel_field(level, name)


def _is_sqlmodel_field(level: ClassValue, name: str) -> bool:
    """Return whether a name is an annotated public field of a SQLModel class."""
    if name not in level.annotations or name.startswith("_"):
        return False
    return bool(SQLMODEL & set(level.type_names()))


def _is_enum(value: ClassValue) -> bool:
    return any(name.startswith("enum.") for name in value.type_names())


def _read_annotation(
    program: Program,
    written: Value,
    level: ClassValue,
) -> ColumnAnnotation:
    """Return the type of a column without `Mapped[…]`, `Optional[…]` and similar wrappers."""
    inner = written
    mapped = _is_mapped_type(written)
    if isinstance(written, GenericType) and mapped:
        arguments = written.arguments
        inner = program.resolve_quoted(arguments[0], level.scope) if arguments else None
    nullable = False
    if isinstance(inner, GenericType) and full_name(inner.origin) in UNION_TYPES:
        is_optional = full_name(inner.origin) == "typing.Optional"
        nullable = is_optional or any(argument is None for argument in inner.arguments)
        types = [argument for argument in inner.arguments if argument is not None]
        inner = program.resolve_quoted(types[0], level.scope) if types else None
    return ColumnAnnotation(inner, nullable, mapped)


def _is_mapped_type(annotation: Value) -> bool:
    """Return whether an annotation is `Mapped[…]`."""
    if not isinstance(annotation, GenericType):
        return False
    return full_name(annotation.origin).rpartition(".")[2] == "Mapped"


def fill_column(
    column: SchemaColumn,
    call: CallResult,
    *,
    nullable_by_default: bool,
) -> None:
    """Set the properties of a column from the arguments of its call."""
    _apply_positional(column, call)
    _apply_keywords(column, call)
    nullable = call.kwargs.get("nullable")
    if not isinstance(nullable, bool):
        nullable = (nullable_by_default or column.nullable) and not column.primary
    column.nullable = nullable
    inner = call.kwargs.get("sa_column")
    if isinstance(inner, CallResult):
        fill_column(column, inner, nullable_by_default=True)


def _apply_positional(column: SchemaColumn, call: CallResult) -> None:
    """Set name, type and foreign key from the positional arguments of a column's call."""
    arguments = list(call.args)
    if arguments and isinstance(arguments[0], str) and _callee(call) != "Field":
        column.name = arguments.pop(0)
    for argument in arguments:
        reference = _foreign_key_target(argument)
        if reference:
            column.references = reference
        elif isinstance(argument, ExternalName | CallResult | ClassValue | BoundMember):
            column.type = _type_label(argument)


def _apply_keywords(column: SchemaColumn, call: CallResult) -> None:
    """Set type, foreign key, keys and default from the keyword arguments of a column's call."""
    for keyword in ("type_", "sa_type"):
        if keyword in call.kwargs:
            column.type = _type_label(call.kwargs[keyword])
    reference = call.kwargs.get("foreign_key")
    if isinstance(reference, str):
        column.references = reference
    if call.kwargs.get("primary_key") is True:
        column.primary = True
    if call.kwargs.get("unique") is True:
        column.unique = True
    default = call.kwargs.get("default")
    if isinstance(default, str | int | float):
        column.default = default


def _foreign_key_target(value: Value) -> str:
    """Return `table.column` of a `ForeignKey`.

    A key that names a column object gives `@` and its identity; a key that names a model's attribute gives `?` and
    its full name. The reader of the models resolves both when all tables are known.
    """
    if _callee(value) != "ForeignKey" or not isinstance(value, CallResult) or not value.args:
        return ""
    target = value.args[0]
    if isinstance(target, str):
        return target
    if isinstance(target, CallResult):
        return f"@{id(target)}"
    if isinstance(target, BoundMember) and isinstance(target.owner, ClassValue):
        return f"?{target.owner.full}.{target.name}"
    return ""


def _type_label(value: Value) -> str:
    """Return the name of a column type with its length: `String(64)`, `Integer`."""
    if not isinstance(value, CallResult):
        return full_name(value).rpartition(".")[2]
    sizes: list[str] = []
    for size in value.args:
        if isinstance(size, int) and not isinstance(size, bool):
            sizes.append(str(size))
    length = value.kwargs.get("length")
    if isinstance(length, int):
        sizes.append(str(length))
    name = _callee(value)
    return f"{name}({', '.join(sizes)})" if sizes else name


def _callee(value: Value) -> str:
    """Return the bare name of the function that a value is the result of; an empty string for other values."""
    return value.callee.rpartition(".")[2] if isinstance(value, CallResult) else ""
