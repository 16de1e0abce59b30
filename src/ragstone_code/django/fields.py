"""Fields of Django models: their columns and the models that they refer to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ragstone_code.django.settings import DjangoSettings
from ragstone_code.python.values import CallResult, ClassValue, FunctionValue, Value, full_name
from ragstone_code.tables import SchemaColumn

_TO_ONE: Final = frozenset(
    ("ForeignKey", "OneToOneField", "ParentalKey", "TreeForeignKey", "TreeOneToOneField")
)
_TO_MANY: Final = frozenset(
    (
        "ManyToManyField",
        "ParentalManyToManyField",
        "TreeManyToManyField",
        "SortedManyToManyField",
    )
)
_WITHOUT_COLUMN: Final = frozenset(
    ("GenericForeignKey", "GenericRelation", "TaggableManager", "CompositePrimaryKey")
)
_SPECIAL: Final = _TO_ONE | _TO_MANY | _WITHOUT_COLUMN
_USER_COLUMNS: Final = (
    ("password", "CharField"),
    ("last_login", "DateTimeField"),
    ("is_superuser", "BooleanField"),
    ("username", "CharField"),
    ("first_name", "CharField"),
    ("last_name", "CharField"),
    ("email", "EmailField"),
    ("is_staff", "BooleanField"),
    ("is_active", "BooleanField"),
    ("date_joined", "DateTimeField"),
)
DJANGO_BASE_COLUMNS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "AbstractUser": _USER_COLUMNS,
    "AbstractBaseUser": _USER_COLUMNS[:2],
    "PermissionsMixin": _USER_COLUMNS[2:3],
}
"""Columns (name, type) of base classes that Django itself provides."""


@dataclass(frozen=True, slots=True)
class FieldRelation:
    """A field that refers to a model."""

    name: str
    kind: str
    """foreign_key, one_to_one or many_to_many."""
    target: str
    """`app.model` in lower case; empty if the model is unknown."""
    field: CallResult
    through: str = ""
    """`app.model` of an explicit table between both models."""

    @property
    def has_own_pivot(self) -> bool:
        """Return whether Django creates a table between both models."""
        return self.kind == "many_to_many" and not self.through

    @property
    def location(self) -> tuple[str, int]:
        """Return the file and line of the field."""
        return self.field.uri, self.field.line


def field_type(value: Value) -> str:
    """Return the class name of a field; for a project class, its first ancestor in Django; empty for no field."""
    if not isinstance(value, CallResult):
        return ""
    names: tuple[str, ...] = (value.callee,)
    if not value.method:
        names = value.type_names()
    short_names = [name.rpartition(".")[2] for name in names]
    for name in short_names:
        if name in _SPECIAL:
            return name
    is_project_class = isinstance(value.on, ClassValue) and not value.method
    if is_project_class:
        short_names = [*short_names[1:], short_names[0]]
    else:
        short_names = short_names[:1]
    for name in short_names:
        if name.endswith("Field"):
            return name
    return ""


def build_column(name: str, field: CallResult) -> SchemaColumn | None:
    """Return the column of a field, or None if it has no column. `references` is set by the caller."""
    kind = field_type(field)
    if not kind or kind in _TO_MANY or kind in _WITHOUT_COLUMN:
        return None
    column_name = field.kwargs.get("db_column")
    if not isinstance(column_name, str):
        column_name = name
        if kind in _TO_ONE:
            column_name = f"{name}_id"
    column = SchemaColumn(column_name, kind, place=(field.uri, field.line))
    column.nullable = field.kwargs.get("null") is True or kind == "NullBooleanField"
    column.primary = field.kwargs.get("primary_key") is True
    column.unique = field.kwargs.get("unique") is True or kind == "OneToOneField"
    default = field.kwargs.get("default")
    if isinstance(default, str | int | float):
        column.default = default
    return column


def build_relation(
    name: str,
    field: CallResult,
    owner: tuple[str, str],
    settings: DjangoSettings,
) -> FieldRelation | None:
    """Return the relation of a field, or None if it refers to no model; `owner` is its app and model."""
    kind = field_type(field)
    if kind in _TO_MANY:
        relation_kind = "many_to_many"
    elif kind == "OneToOneField":
        relation_kind = "one_to_one"
    elif kind in _TO_ONE:
        relation_kind = "foreign_key"
    else:
        return None
    target = model_label(field.argument(0, "to"), owner, settings)
    through = ""
    if field.kwargs.get("through") is not None:
        through = model_label(field.kwargs["through"], owner, settings)
    return FieldRelation(name, relation_kind, target, field, through)


def model_label(
    reference: Value,
    owner: tuple[str, str],
    settings: DjangoSettings,
) -> str:
    """Return `app.model` in lower case for a class, a quoted name, `self` or the user model; empty if unknown."""
    value = settings.resolve(reference)
    if isinstance(value, CallResult) and value.callee.endswith("get_user_model"):
        value = settings.user_model
    if isinstance(value, FunctionValue):
        return ""
    if isinstance(value, ClassValue):
        return f"{app_of(value, settings)}.{value.definition.short}".lower()
    if isinstance(value, str):
        return _quoted_label(value, owner)
    return _external_label(full_name(value))


def _quoted_label(name: str, owner: tuple[str, str]) -> str:
    if name == "self":
        return ".".join(owner).lower()
    if "." in name:
        return name.lower()
    return f"{owner[0]}.{name}".lower()


def _external_label(name: str) -> str:
    """Return the label of a model outside the project: `django.contrib.auth.models.User` is `auth.user`."""
    parts = name.split(".")
    if "models" not in parts[:-1]:
        return ""
    app = parts[parts.index("models") - 1]
    return f"{app}.{parts[-1]}".lower()


def app_of(model: ClassValue, settings: DjangoSettings) -> str:
    """Return the label of a model's app."""
    meta = model.attributes.get("Meta")
    if isinstance(meta, ClassValue):
        label = meta.attributes.get("app_label")
        if isinstance(label, str):
            return label
    return settings.app_label(model.full.rpartition(".")[0])


def own_fields(class_value: ClassValue) -> Iterator[tuple[str, CallResult]]:
    """Yield the fields that a class itself defines."""
    for name, value in class_value.attributes.items():
        if isinstance(value, CallResult) and field_type(value):
            yield name, value
