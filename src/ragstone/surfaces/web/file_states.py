"""Whether the files behind documents changed since they were indexed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from ragstone.engine import Engine
from ragstone.errors import RagstoneError
from ragstone.sources.folder.source import FILES
from ragstone.types import Item, StoredDocument

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
    stamps = {}
    is_checked = has_folder
    try:
        entries = engine.admin.source(uris).scan() if uris and has_folder else ()
        stamps = {entry.uri: entry.stamp for entry in entries if isinstance(entry, Item)}
    except RagstoneError:  # the folder cannot be read now
        is_checked = False
    states: dict[str, FileState] = {}
    for document in documents:
        if document.source != FILES:
            states[document.uri] = "given"
        elif (
            not is_checked or document.stamp is None
        ):  # a file that was new has no lasting stamp
            states[document.uri] = "unknown"
        elif document.uri not in stamps:
            states[document.uri] = "gone"
        else:
            is_same = stamps[document.uri] == document.stamp
            states[document.uri] = "current" if is_same else "changed"
    return states
