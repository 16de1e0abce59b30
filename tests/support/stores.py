"""The stores that every surface is tested with. Another store adds an entry to `STORES`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from ragstone.config.settings import setting_keys
from tests.support.postgres_server import empty_database

StoreSettings = Mapping[str, str]
"""Settings by dotted name that make a folder use an empty store of its own."""
OpenStore = Callable[[Path], AbstractContextManager[StoreSettings]]
"""Gives the settings of a store while its context is open; the folder is that of the project."""


@contextmanager
def sqlite_store(folder: Path) -> Iterator[StoreSettings]:
    """Give no setting: the store is a file in the folder's home."""
    yield {}


@contextmanager
def postgres_store(folder: Path) -> Iterator[StoreSettings]:
    """Give the address of an empty PostgreSQL database."""
    with empty_database() as url:
        yield {"store.url": url}


STORES: dict[str, OpenStore] = {"sqlite": sqlite_store, "postgres": postgres_store}


def as_environment(settings: StoreSettings) -> dict[str, str]:
    """Return settings as environment variables."""
    return {setting_keys()[name].variable: value for name, value in settings.items()}
