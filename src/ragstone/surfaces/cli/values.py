"""The values that a shell completes: kinds, collections, conversations and settings of the folder."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.config.settings import setting_keys
from ragstone.surfaces.cli.completion import complete_with

if TYPE_CHECKING:
    from ragstone.engine import Engine


def _list_in_index(
    list_values: Callable[[Engine], list[str]],
) -> Callable[[Path | None], list[str]]:
    """Return a function that lists values of a folder's index; a folder without an index has none."""

    return partial(_list_values_of_folder, list_values)


def _list_values_of_folder(
    list_values: Callable[[Engine], list[str]], folder: Path | None
) -> list[str]:
    # The options of a command load without the engine.
    from ragstone.surfaces.cli.engine import open_engine

    with open_engine(folder) as engine:
        return list_values(engine) if engine.exists else []


def _kinds(engine: Engine) -> list[str]:
    return sorted({document.kind for document in engine.sources()})


def _collections(engine: Engine) -> list[str]:
    return [collection.name for collection in engine.admin.collections()]


def _sessions(engine: Engine) -> list[str]:
    return [session.name for session in engine.memory.sessions()]


complete_kind = complete_with(_list_in_index(_kinds))
complete_collection = complete_with(_list_in_index(_collections))
complete_session = complete_with(_list_in_index(_sessions))
complete_document = complete_with(
    _list_in_index(lambda engine: [document.uri for document in engine.sources()])
)
complete_setting = complete_with(lambda folder: list(setting_keys()))
