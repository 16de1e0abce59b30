"""Moves the index of a folder to a PostgreSQL database."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ragstone import registry
from ragstone.engine.workspace import load_settings
from ragstone.errors import InputError, NotFound
from ragstone.indexing.ownership import require_own
from ragstone.protocols import Progress
from ragstone.store.home_folder import DATABASE
from ragstone.types import MoveReport, StoreSettings

_EXAMPLE: Final = "postgresql://user:password@host:5432/database"


def move_home(
    folder: str | Path, url: str | None = None, *, progress: Progress | None = None
) -> MoveReport:
    """Copy the index of a folder to a database without embedding anything, verify it, and return the counts.

    `url` is `store.url` of the settings by default. The folder keeps its index. A move that was interrupted continues
    if it is called again.
    """
    settings = load_settings(folder, None)
    address = url or settings.store.url
    if not address:
        raise InputError("the address of the database is missing", hint=f"give --to {_EXAMPLE}")
    if not address.startswith(("postgresql://", "postgres://")):
        raise InputError("an index moves to PostgreSQL only", hint=f"give --to {_EXAMPLE}")
    path = settings.home / DATABASE
    if not path.exists():
        raise NotFound(
            f"there is no index in {settings.home}", hint="run `ragstone sync` first"
        )
    if not settings.home_named:
        require_own(settings.home)
    # The driver of PostgreSQL loads here, and its absence is an error with the pip line.
    open_target = registry.load("store", "postgres")
    open_source = registry.load("store", "sqlite")
    from ragstone.store.postgres.move import copy_home

    with (
        open_target(StoreSettings(url=address)) as target,
        open_source(StoreSettings(path=path)) as source,
    ):
        return copy_home(source, target, progress=progress)
