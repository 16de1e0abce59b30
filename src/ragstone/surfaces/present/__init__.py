"""The JSON form of Ragstone's types, the same on the command line, over MCP and on the bus."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

Json = dict[str, Any]


def pick(value: object, *names: str) -> Json:
    """Return the named attributes of an object; tuples become lists and mappings become dicts."""
    return {name: _plain(getattr(value, name)) for name in names}


def format_time(seconds: float | None) -> str | None:
    """Return seconds since 1970 as ISO 8601 text in UTC, or None."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return dict(value)
    return value
