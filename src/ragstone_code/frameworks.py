"""The frameworks whose projects are understood, each loaded on first use."""

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
"""Module and class of each."""


@cache
def frameworks() -> tuple[Framework, ...]:
    """Return an adapter for every framework."""
    return tuple(getattr(importlib.import_module(module), name)() for module, name in ADAPTERS)
