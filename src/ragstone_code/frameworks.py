"""The supported frameworks. The adapters are imported on first use."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Final

from ragstone.protocols import Framework

ADAPTERS: Final = (
    ("ragstone_code.laravel.adapter", "Laravel"),
    ("ragstone_code.django", "Django"),
    ("ragstone_code.fastapi", "FastAPI"),
    ("ragstone_code.flask", "Flask"),
    ("ragstone_code.sqlalchemy", "SqlAlchemy"),
)
"""Module and class name of each adapter."""


@cache
def frameworks() -> tuple[Framework, ...]:
    """Return one adapter per framework."""
    return tuple(
        getattr(
            importlib.import_module(module),
            name,
        )()
        for module, name in ADAPTERS
    )
