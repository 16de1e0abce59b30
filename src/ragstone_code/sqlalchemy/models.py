"""Which classes SQLAlchemy maps, to which table, with which columns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ragstone_code.program import Program
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
from ragstone_code.tables import SchemaColumn

BASES: Final = frozenset(
    (
        "sqlalchemy.orm.DeclarativeBase", "sqlalchemy.orm.DeclarativeBaseNoMeta", "sqlalchemy.orm.declarative_base",
        "sqlalchemy.ext.declarative.declarative_base", "sqlalchemy.ext.declarative.api.declarative_base",
        "flask_sqlalchemy.SQLAlchemy.Model", "sqlalchemy.orm.registry.generate_base",
        "sqlalchemy.ext.asyncio.AsyncAttrs",
    )
)  # fmt: skip
SQLMODEL: Final = frozenset(("sqlmodel.SQLModel", "sqlmodel.main.SQLModel"))
COLUMNS: Final = ("Column", "mapped_column", "Field")
RELATIONS: Final = ("relationship", "Relationship", "relation", "dynamic_loader")
PYTHON: Final = {
    "int": "Integer", "str": "String", "bool": "Boolean", "float": "Float", "bytes": "LargeBinary",
    "datetime.datetime": "DateTime", "datetime.date": "Date", "datetime.time": "Time", "datetime.timedelta": "Interval",
    "decimal.Decimal": "Numeric", "uuid.UUID": "Uuid", "pydantic.EmailStr": "String",
}  # fmt: skip
CAMEL: Final = re.compile(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))")


def is_mapped(one: ClassValue) -> bool:
    """Return whether a class is a model with a table: not a base, not abstract, not a plain schema."""
    if one.attributes.get("__abstract__") is True:
        return False
    kinds = set(one.type_names())
    if kinds & SQLMODEL:
        return one.options.get("table") is True
    if not kinds & BASES:
        return any(full_name(each.value).endswith(("registry.mapped", "as_declarative")) for each in one.decorations)
    direct = {full_name(base.origin if isinstance(base, GenericType) else base) for base in one.bases}
    declared = "__tablename__" in one.attributes or "__table__" in one.attributes
    return declared or not _is_base(one, direct)


def _is_base(one: ClassValue, direct: set[str]) -> bool:
    """Return whether a class is what models inherit from: no columns of its own, right under SQLAlchemy's."""
    own = [value for value in one.attributes.values() if _short(value) in (*COLUMNS, *RELATIONS)]
    settings = ("metadata", "registry", "type_annotation_map")
    noted = [name for name in one.annotations if not name.startswith("__") and name not in settings]
    flask = any(name.endswith("SQLAlchemy.Model") for name in direct)
    return bool(direct & BASES) and not own and not noted and not flask


def table_of(program: Program, one: ClassValue) -> tuple[str, str]:
    """Return a model's table and how that is known: written, inherited with it, or by convention."""
    found = one.find("__tablename__")
    if found is not None:
        value = found[1]
        if isinstance(value, FunctionValue):
            value = program.call(value, one)
        if isinstance(value, str) and (found[0] is one or not _parent(one) or isinstance(found[1], FunctionValue)):
            return value, "explicit" if found[0] is one else "inherited"
    table = one.attributes.get("__table__")
    if isinstance(table, CallResult) and table.args and isinstance(table.args[0], str):
        return table.args[0], "explicit"
    parent = _parent(one)
    if parent is not None and not any(column.primary for column in columns_of(program, one, own=True)):
        return table_of(program, parent)
    if SQLMODEL & set(one.type_names()):
        return one.definition.short.lower(), "convention"
    return CAMEL.sub(r"_\1", one.definition.short).lower(), "convention"


def _parent(one: ClassValue) -> ClassValue | None:
    """Return the model a model inherits from."""
    return next((each for each in one.lineage()[1:] if isinstance(each, ClassValue) and is_mapped(each)), None)


def columns_of(program: Program, one: ClassValue, *, own: bool = False) -> list[SchemaColumn]:
    """Return the columns of a model, those of its mixins and abstract bases too; not those of a model above it."""
    levels = [each for each in one.lineage() if isinstance(each, ClassValue)]
    kept = [each for each in levels if each is one or not is_mapped(each)]
    found: dict[str, SchemaColumn] = {}
    for level in [one] if own else reversed(kept):
        for name, value in _members(program, level, one):
            made = _column(program, level, name, value)
            if made is not None:
                found[name] = made
            else:
                found.pop(name, None)
    return list(found.values())


def _members(program: Program, level: ClassValue, one: ClassValue) -> Iterator[tuple[str, Value]]:
    """Yield names with their values, those that are only annotated too; `declared_attr` gives what it returns."""
    for name in level.annotations:
        if name not in level.attributes:
            yield name, None
    for name, value in level.attributes.items():
        if isinstance(value, FunctionValue) and any(
            "declared_attr" in full_name(each.value) for each in value.decorations
        ):
            if not name.startswith("__"):
                yield name, program.call(value, one)
        else:
            yield name, value


def _column(program: Program, level: ClassValue, name: str, value: Value) -> SchemaColumn | None:
    noted = program.evaluate(level.annotations.get(name), level.scope)
    kind, nullable, mapped = _annotated(program, noted, level)
    sqlmodel = bool(SQLMODEL & set(level.type_names())) and name in level.annotations and not name.startswith("_")
    if _short(value) in RELATIONS or (isinstance(kind, GenericType) and not isinstance(value, CallResult)):
        return None
    if _short(value) not in COLUMNS:
        plain = value is None or isinstance(value, str | int | float | bool)
        if not ((mapped and value is None) or (sqlmodel and plain)) or isinstance(kind, ClassValue) and not _enum(kind):
            return None
        value = None if not isinstance(value, CallResult) else value
    made = SchemaColumn(
        name, PYTHON.get(full_name(kind), _label(kind)), nullable, place=(level.uri, level.lines.get(name, 0))
    )
    if isinstance(value, CallResult):
        filled(made, value, noted is None or _short(value) == "Column")
    return made


def _enum(kind: ClassValue) -> bool:
    return any(name.startswith("enum.") for name in kind.type_names())


def _annotated(program: Program, noted: Value, level: ClassValue) -> tuple[Value, bool, bool]:
    """Return the type an annotation names, whether None is part of it, and whether it is `Mapped[…]`."""
    mapped = False
    if isinstance(noted, GenericType) and full_name(noted.origin).rpartition(".")[2] == "Mapped":
        mapped, noted = True, program.resolve_quoted(noted.arguments[0], level.scope) if noted.arguments else None
    nullable = False
    if isinstance(noted, GenericType) and full_name(noted.origin) in (
        "typing.Optional",
        "typing.Union",
        "typing.Annotated",
    ):
        nullable = full_name(noted.origin) == "typing.Optional" or any(each is None for each in noted.arguments)
        parts = [each for each in noted.arguments if each is not None]
        noted = program.resolve_quoted(parts[0], level.scope) if parts else None
    return noted, nullable, mapped


def filled(made: SchemaColumn, value: CallResult, silent: bool) -> None:
    """Fill a column with what its call says."""
    args = list(value.args)
    if args and isinstance(args[0], str) and _short(value) != "Field":
        made.name = args.pop(0)
    for one in args:
        reference = _reference(one)
        if reference:
            made.references = reference
        elif isinstance(one, ExternalName | CallResult | ClassValue | BoundMember):
            made.type = _label(one)
    for name in ("type_", "sa_type"):
        made.type = _label(value.kwargs[name]) if name in value.kwargs else made.type
    foreign = value.kwargs.get("foreign_key")
    made.references = foreign if isinstance(foreign, str) else made.references
    made.primary = made.primary or value.kwargs.get("primary_key") is True
    made.unique = made.unique or value.kwargs.get("unique") is True
    default = value.kwargs.get("default")
    made.default = default if isinstance(default, str | int | float) else made.default
    told = value.kwargs.get("nullable")
    made.nullable = told if isinstance(told, bool) else (silent or made.nullable) and not made.primary
    inner = value.kwargs.get("sa_column")
    if isinstance(inner, CallResult):
        filled(made, inner, True)


def _reference(one: Value) -> str:
    """Return `table.column` for a foreign key; one that names a model's attribute is filled in later."""
    if _short(one) != "ForeignKey" or not isinstance(one, CallResult) or not one.args:
        return ""
    target = one.args[0]
    if isinstance(target, str):
        return target
    if isinstance(target, CallResult):
        return f"@{id(target)}"
    own = isinstance(target, BoundMember) and isinstance(target.owner, ClassValue)
    return f"?{target.owner.full}.{target.name}" if own else ""


def _label(kind: Value) -> str:
    """Return a type as it is called: `String(64)`, `Integer`."""
    if isinstance(kind, CallResult):
        sizes = [str(one) for one in kind.args if isinstance(one, int) and not isinstance(one, bool)]
        sizes += [str(one) for name, one in kind.kwargs.items() if name == "length" and isinstance(one, int)]
        name = kind.callee.rpartition(".")[2]
        return f"{name}({', '.join(sizes)})" if sizes else name
    return full_name(kind).rpartition(".")[2]


def _short(value: Value) -> str:
    return value.callee.rpartition(".")[2] if isinstance(value, CallResult) else ""
