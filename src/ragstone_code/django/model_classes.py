"""Recognition of Django's model classes and their Meta options."""

from __future__ import annotations

from typing import Final

from ragstone_code.python.values import ClassValue, Value, full_name

_MODEL_CLASSES: Final = frozenset(
    (
        "django.db.models.Model",
        "django.db.models.base.Model",
        "django.contrib.gis.db.models.Model",
    )
)
_MODEL_MODULES: Final = ("django.db.models.", "django.contrib.gis.db.models.")
_NO_MODEL_SUFFIXES: Final = ("Manager", "QuerySet", "Field", "Choices", "Form", "Error")


def is_model(value: Value) -> bool:
    """Return whether a value is a model class, abstract or not."""
    if not isinstance(value, ClassValue) or value.definition.short == "Meta":
        return False
    for ancestor in value.lineage():
        if not isinstance(ancestor, ClassValue) and _is_model_name(full_name(ancestor)):
            return True
    return False


def _is_model_name(name: str) -> bool:
    """Return whether an external class is a model: Django's own, or a class in another package's models."""
    if name in _MODEL_CLASSES:
        return True
    if ".models." not in name or name.startswith(_MODEL_MODULES):
        return False
    return not name.endswith(_NO_MODEL_SUFFIXES)


def is_abstract(model: ClassValue) -> bool:
    """Return whether a model's own Meta makes it abstract, so that it has no table."""
    meta = model.attributes.get("Meta")
    return isinstance(meta, ClassValue) and meta.attributes.get("abstract") is True


def meta_option(model: ClassValue, name: str) -> tuple[Value, ClassValue, int] | None:
    """Return a Meta option with its class and line: from the model itself or its nearest abstract base."""
    for ancestor in model.lineage():
        if not isinstance(ancestor, ClassValue):
            continue
        meta = ancestor.attributes.get("Meta")
        counts = ancestor is model or is_abstract(ancestor)
        if counts and isinstance(meta, ClassValue):
            located = meta.find(name)
            if located is None:
                return None
            return located[1], ancestor, located[0].lines.get(name, meta.line)
    return None
