"""Whether the files behind documents changed since they were indexed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from ragstone.engine import Engine
from ragstone.errors import RagstoneError
from ragstone.sources.folder.source import FILES
from ragstone.types import Item, Stamp, StoredDocument

FileState = Literal["current", "changed", "gone", "given", "unknown"]
STATE_LABELS: Final[dict[FileState, tuple[str, str]]] = {
    "current": ("up to date", "ok"),
    "changed": ("changed", "warn"),
    "gone": ("file is gone", "warn"),
    "given": ("added by hand", ""),
    "unknown": ("not checked", ""),
}
"""The words and the colour of each state."""


def file_states(
    engine: Engine, documents: Sequence[StoredDocument], *, has_folder: bool
) -> dict[str, FileState]:
    """Return the state of each document by uri. Only the stamps of these files are read."""
    uris = [document.uri for document in documents if document.source == FILES]
    stamps = _read_stamps(engine, uris) if has_folder and uris else None
    return {document.uri: _state(document, stamps) for document in documents}


def _read_stamps(engine: Engine, uris: Sequence[str]) -> dict[str, Stamp | None] | None:
    """Return the stamps of the files that exist; None if the folder cannot be read now."""
    try:
        entries = list(engine.admin.source(uris).scan())
    except RagstoneError:
        return None
    return {entry.uri: entry.stamp for entry in entries if isinstance(entry, Item)}


def _state(document: StoredDocument, stamps: Mapping[str, Stamp | None] | None) -> FileState:
    if document.source != FILES:
        return "given"
    if stamps is None or document.stamp is None:  # a file that was new has no lasting stamp
        return "unknown"
    if document.uri not in stamps:
        return "gone"
    return "current" if stamps[document.uri] == document.stamp else "changed"
