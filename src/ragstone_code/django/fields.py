"""Fields of Django models: what each is in a table, and which model it points to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ragstone_code.django.settings import Settings
from ragstone_code.python.values import CallResult, ClassValue, FunctionValue, Value, full_name
from ragstone_code.tables import SchemaColumn

SINGLE: Final = frozenset(("ForeignKey", "OneToOneField", "ParentalKey", "TreeForeignKey", "TreeOneToOneField"))
MANY: Final = frozenset(("ManyToManyField", "ParentalManyToManyField", "TreeManyToManyField", "SortedManyToManyField"))
NONE: Final = frozenset(("GenericForeignKey", "GenericRelation", "TaggableManager", "CompositePrimaryKey"))
USER: Final = (
    ("password", "CharField"), ("last_login", "DateTimeField"), ("is_superuser", "BooleanField"),
    ("username", "CharField"), ("first_name", "CharField"), ("last_name", "CharField"), ("email", "EmailField"),
    ("is_staff", "BooleanField"), ("is_active", "BooleanField"), ("date_joined", "DateTimeField"),
)  # fmt: skip
OUTSIDE: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "AbstractUser": USER,
    "AbstractBaseUser": USER[:2],
    "PermissionsMixin": USER[2:3],
}
"""Columns of bases that Django itself has."""


@dataclass(frozen=True, slots=True)
class Pointed:
    """A field that points to a model."""

    name: str
    kind: str
    """foreign_key, one_to_one, many_to_many."""
    to: str
    """`app.model` in lower case; nothing where it is not known."""
    made: CallResult
    through: str = ""


def kind_of(value: Value) -> str:
    """Return the class of a field without its module; of the project's own, the first that Django has."""
    if not isinstance(value, CallResult):
        return ""
    names = value.type_names() if not value.method else (value.callee,)
    shorts = [name.rpartition(".")[2] for name in names]
    known = next((one for one in shorts if one in SINGLE or one in MANY or one in NONE), None)
    if known:
        return known
    if isinstance(value.on, ClassValue) and not value.method:
        outside = [name.rpartition(".")[2] for name in names[1:] if name.endswith("Field")]
        return outside[0] if outside else shorts[0] if shorts[0].endswith("Field") else ""
    return shorts[0] if shorts and shorts[0].endswith("Field") else ""


def column_of(name: str, value: CallResult) -> SchemaColumn | None:
    """Return the column of a field, None where it has none; what it refers to is filled in by who knows the tables."""
    kind = kind_of(value)
    if not kind or kind in MANY or kind in NONE:
        return None
    told = value.kwargs.get("db_column")
    column = told if isinstance(told, str) else f"{name}_id" if kind in SINGLE else name
    made = SchemaColumn(column, kind, value.kwargs.get("null") is True, place=(value.uri, value.line))
    if kind == "NullBooleanField":
        made.nullable = True
    made.primary = value.kwargs.get("primary_key") is True
    made.unique = value.kwargs.get("unique") is True or kind == "OneToOneField"
    default = value.kwargs.get("default")
    made.default = default if isinstance(default, str | int | float) else None
    return made


def pointed(name: str, value: CallResult, owner: tuple[str, str], settings: Settings) -> Pointed | None:
    """Return what a field points to; `owner` is the app and model it stands in."""
    kind = kind_of(value)
    if kind not in SINGLE and kind not in MANY:
        return None
    to = label_of(value.argument(0, "to"), owner, settings)
    word = "many_to_many" if kind in MANY else "one_to_one" if kind == "OneToOneField" else "foreign_key"
    through = label_of(value.kwargs.get("through"), owner, settings) if value.kwargs.get("through") is not None else ""
    return Pointed(name, word, to, value, through)


def label_of(given: Value, owner: tuple[str, str], settings: Settings) -> str:
    """Return `app.model` for a class, a name in quotes, `self`, or the model of users."""
    value = settings.value(given)
    if isinstance(value, CallResult) and value.callee.endswith("get_user_model"):
        value = settings.user
    if isinstance(value, FunctionValue):
        return ""
    if isinstance(value, ClassValue):
        return f"{app_of(value, settings)}.{value.definition.short}".lower()
    if isinstance(value, str):
        if value == "self":
            return ".".join(owner).lower()
        return value.lower() if "." in value else f"{owner[0]}.{value}".lower()
    name = full_name(value)
    parts = name.split(".")
    if "models" in parts[:-1]:  # what another package has: `django.contrib.auth.models.User` is auth.user
        return f"{parts[parts.index('models') - 1]}.{parts[-1]}".lower()
    return ""


def app_of(one: ClassValue, settings: Settings) -> str:
    """Return the label of the app a model belongs to."""
    meta = one.attributes.get("Meta")
    told = meta.attributes.get("app_label") if isinstance(meta, ClassValue) else None
    return told if isinstance(told, str) else settings.label_of(one.full.rpartition(".")[0])


def fields_of(one: ClassValue) -> Iterator[tuple[str, CallResult]]:
    """Yield the fields a class itself sets."""
    for name, value in one.attributes.items():
        if isinstance(value, CallResult) and kind_of(value):
            yield name, value
