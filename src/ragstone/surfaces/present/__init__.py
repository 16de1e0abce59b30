"""The JSON form of Ragstone's types, the same on the command line, over MCP and on the bus."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

Json = dict[str, Any]


def format_time(seconds: float | None) -> str | None:
    """Return seconds since 1970 as ISO 8601 text in UTC, or None."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
