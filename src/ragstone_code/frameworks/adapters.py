"""The supported frameworks. The adapters are imported on first use."""

from __future__ import annotations

import importlib
from typing import Final

from ragstone.protocols import Framework
from ragstone_code.project_files import WorldCache

ADAPTERS: Final = (
    ("ragstone_code.laravel.adapter", "Laravel"),
    ("ragstone_code.django", "Django"),
    ("ragstone_code.fastapi", "FastAPI"),
    ("ragstone_code.flask", "Flask"),
    ("ragstone_code.sqlalchemy", "SqlAlchemy"),
)
"""Module and class name of each adapter."""


def frameworks() -> tuple[Framework, ...]:
    """Return one new adapter per framework; they parse each module of a project once for all."""
    worlds = WorldCache()
    adapters: list[Framework] = []
    for module_name, class_name in ADAPTERS:
        adapter_class = getattr(importlib.import_module(module_name), class_name)
        adapters.append(adapter_class(worlds))
    return tuple(adapters)
