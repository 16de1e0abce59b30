"""Events of the index in words that a page shows."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, get_args
from urllib.parse import quote, urlencode

from ragstone.indexing.events import (
    AUDIT,
    CHUNK_INDEXED,
    CONTEXT_LOADED,
    DOCUMENT_REMOVED,
    SEARCH_COMPLETED,
    SEARCH_STARTED,
    EventRecord,
)
from ragstone.surfaces.web.formats import format_milliseconds
from ragstone.surfaces.web.search_lab import MAX_HITS
from ragstone.text.counts import plural
from ragstone.types import Mode

LABELS: Final[Mapping[str, str]] = {
    SEARCH_COMPLETED: "search",
    SEARCH_STARTED: "search started",
    CONTEXT_LOADED: "context",
    CHUNK_INDEXED: "indexed",
    DOCUMENT_REMOVED: "removed",
    AUDIT: "audit",
}
"""The words of each kind of event."""
_ACTIONS: Final[Mapping[str, str]] = {
    "collection.delete": "Collection deleted",
    "document.delete": "Documents deleted",
    "export": "Collection exported",
    "key.create": "Key created",
    "key.revoke": "Key revoked",
    "memory.delete": "Conversation forgotten",
    "plan.set": "Plan changed",
    "quota": "Limit of the plan reached",
}
"""The words of each action that is audited."""
_MAX_CHARACTERS: Final = 300
_SHOWN_NAMES: Final = 3
_IN_SUBJECT: Final = ("time", "name", "query", "task", "uri", "action")


@dataclass(frozen=True, slots=True)
class EventView:
    """An event as a row of the page; a search has the address that repeats it."""

    time: float
    name: str
    label: str
    subject: str
    detail: str
    address: str = ""


def view_event(record: EventRecord) -> EventView:
    """Return an event in words."""
    name = str(record.get("name", ""))
    subject = _text(record.get("query") or record.get("task") or record.get("uri") or "")
    address = ""
    if name in (SEARCH_COMPLETED, SEARCH_STARTED, CONTEXT_LOADED) and subject:
        address = _search_address(subject, record)
    return EventView(
        _number(record.get("time")),
        name,
        LABELS.get(name, name),
        _visible(subject or _action(record)),
        _detail(name, record),
        address,
    )


def _search_address(query: str, record: EventRecord) -> str:
    """Return the address of the search lab with the settings that the event knows."""
    parameters = {"q": query}
    mode, top_k = record.get("mode"), record.get("top_k")
    if mode in get_args(Mode):
        parameters["mode"] = str(mode)
    if isinstance(top_k, int) and 1 <= top_k <= MAX_HITS:
        parameters["top_k"] = str(top_k)
    return f"/search?{urlencode(parameters, quote_via=quote)}"


def _visible(text: str) -> str:
    """Return a text; one without visible characters in words, because links need a name."""
    has_signs = any(unicodedata.category(sign)[0] in "LMNPS" for sign in text)
    return text if has_signs or not text else "(empty)"


def _detail(name: str, record: EventRecord) -> str:
    """Return the numbers of an event in words."""
    if name == SEARCH_COMPLETED:
        count = plural(_length(record.get("ids")), "hit")
        return f"{count} in {format_milliseconds(_number(record.get('milliseconds')))}"
    if name == SEARCH_STARTED:
        return f"{record.get('mode', 'search')}, top {record.get('top_k', '')}"
    if name == CONTEXT_LOADED:
        return f"{plural(int(_number(record.get('tokens'))), 'token')}"
    if name == CHUNK_INDEXED:
        return _indexed_detail(record)
    fields = [(key, value) for key, value in record.items() if key not in _IN_SUBJECT]
    return _text(", ".join(words for key, value in fields if (words := _words(key, value))))


def _action(record: EventRecord) -> str:
    """Return the action in words; of a removal the documents."""
    names = record.get("uris")
    if isinstance(names, Sequence) and not isinstance(names, str) and names:
        return _names(names)
    action = _text(record.get("action", ""))
    return _ACTIONS.get(action, action)


def _words(key: str, value: object) -> str:
    """Return a field of an event in words; empty if it adds nothing."""
    if key == "uris" or value in ("", None):
        return ""
    if key in ("documents", "turns"):
        return plural(int(_number(value)), key.removesuffix("s"))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return _names(value) if key == "ids" else f"{key}: {_names(value)}"
    if key == "actor":
        return f"by the key {value}"
    return str(value) if key == "reason" else f"{key}: {value}"


def _names(values: Sequence[object]) -> str:
    """Return the first names of a list, and how many more there are."""
    names = ", ".join(map(str, values[:_SHOWN_NAMES]))
    more = len(values) - _SHOWN_NAMES
    return _text(names if more <= 0 else f"{names} and {more:,} more")


def _indexed_detail(record: EventRecord) -> str:
    """Return the counts of chunks; one event may be about many documents."""
    counts = [
        f"{plural(int(_number(record.get(key))), 'chunk')} {key}"
        for key in ("added", "kept", "removed")
        if record.get(key)
    ]
    others = int(_number(record.get("documents"))) - 1
    if others > 0:
        counts.append(f"also {plural(others, 'other document')}")
    collection = _text(record.get("collection") or "")
    return ", ".join([*counts, f"in {collection}"] if collection else counts)


def _text(value: object) -> str:
    text = str(value)
    return text if len(text) <= _MAX_CHARACTERS else f"{text[:_MAX_CHARACTERS]}…"


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _length(value: object) -> int:
    return len(value) if isinstance(value, Sequence) and not isinstance(value, str) else 0
