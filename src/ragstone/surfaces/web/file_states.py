"""Where documents come from, and whether their files changed since they were indexed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from ragstone.engine import Engine
from ragstone.errors import RagstoneError
from ragstone.indexing.graph.descriptions import GRAPH_SOURCE
from ragstone.indexing.graph.runs import RUN_SOURCE
from ragstone.sources.command_help.help import HELP
from ragstone.sources.folder.source import FILES
from ragstone.sources.web.pages import WEB
from ragstone.surfaces.web.formats import format_number
from ragstone.text.counts import plural
from ragstone.types import Item, Stamp, StoredDocument

FileState = Literal[
    "current", "changed", "gone", "unknown", "given", "graph", "web", "help", "run"
]
STATE_LABELS: Final[dict[FileState, tuple[str, str]]] = {
    "current": ("up to date", "ok"),
    "changed": ("changed", "warn"),
    "gone": ("file is gone", "warn"),
    "unknown": ("not checked", ""),
    "given": ("added by hand", ""),
    "graph": ("made from code", ""),
    "web": ("web page", ""),
    "help": ("help of a command", ""),
    "run": ("run of an agent", ""),
}
"""The words and the colour of each state."""
ON_DISK: Final[frozenset[FileState]] = frozenset({"current", "changed", "unknown"})
"""The states of documents whose file is still in the folder, as far as is known."""
_STATES_OF_SOURCES: Final[dict[str, FileState]] = {
    GRAPH_SOURCE: "graph",
    WEB: "web",
    HELP: "help",
    RUN_SOURCE: "run",
}
"""The states of documents that are no files of the folder; those of other sources were added by hand."""


def file_states(
    engine: Engine, documents: Sequence[StoredDocument], *, has_folder: bool
) -> dict[str, FileState]:
    """Return the state of each document by uri. Only the stamps of these files are read."""
    uris = [document.uri for document in documents if document.source == FILES]
    stamps = _read_stamps(engine, uris) if has_folder and uris else None
    return {document.uri: _state(document, stamps) for document in documents}


def describe_sources(counts: Mapping[str, int]) -> str:
    """Return how many documents are files, and how many come from elsewhere: `30 files · 17 made from code`."""
    parts = []
    if counts.get(FILES):
        parts.append(plural(counts[FILES], "file"))
    others: Counter[FileState] = Counter()
    for source, count in counts.items():
        if source != FILES:
            others[_STATES_OF_SOURCES.get(source, "given")] += count
    for state in ("given", "graph"):
        if others[state]:
            parts.append(f"{format_number(others.pop(state))} {STATE_LABELS[state][0]}")
    if others.total():
        parts.append(f"{format_number(others.total())} other")
    return " · ".join(parts)


def _read_stamps(engine: Engine, uris: Sequence[str]) -> dict[str, Stamp | None] | None:
    """Return the stamps of the files that exist; None if the folder cannot be read now."""
    try:
        entries = list(engine.admin.source(uris).scan())
    except RagstoneError:
        return None
    return {entry.uri: entry.stamp for entry in entries if isinstance(entry, Item)}


def _state(document: StoredDocument, stamps: Mapping[str, Stamp | None] | None) -> FileState:
    if document.source != FILES:
        return _STATES_OF_SOURCES.get(document.source, "given")
    if stamps is None or document.stamp is None:  # a file that was new has no lasting stamp
        return "unknown"
    if document.uri not in stamps:
        return "gone"
    return "current" if stamps[document.uri] == document.stamp else "changed"
