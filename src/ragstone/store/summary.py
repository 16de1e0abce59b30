"""What a database contains, read before it is trusted: nothing is written, and only plain tables are read."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ragstone.errors import StoreError
from ragstone.store import home_folder
from ragstone.store.codec import unpack
from ragstone.store.fetch import fetch_value, limit_time
from ragstone.store.known_schema import require_known_schema

_SECONDS: Final = 10.0
_TIMES: Final = "SELECT min(added_at), max(added_at) FROM documents"
_SOURCES: Final = "SELECT source, count(*) FROM documents GROUP BY source ORDER BY source"
_HAS_GRAPH: Final = "SELECT 1 FROM graph_nodes LIMIT 1"


@dataclass(frozen=True, slots=True)
class DatabaseSummary:
    """The documents of a database: how many of each source, and when the first and the last were added."""

    documents: Mapping[str, int]
    first: float | None
    last: float | None
    is_empty: bool
    """Whether it has neither documents nor a graph."""


def read_summary(path: Path) -> DatabaseSummary | None:
    """Return the summary of a database; None if it cannot be read or is not ours."""
    try:
        uri = home_folder.read_only_uri(path)
        with closing(sqlite3.connect(uri, uri=True, timeout=_SECONDS)) as db:
            limit_time(db, _SECONDS)
            db.execute("PRAGMA trusted_schema = OFF")
            require_known_schema(db)
            return _summarise(db)
    except (sqlite3.Error, StoreError, UnicodeDecodeError):
        return None


def _summarise(db: sqlite3.Connection) -> DatabaseSummary:
    first, last = db.execute(_TIMES).fetchone()
    times = [time if isinstance(time, int | float) else None for time in (first, last)]
    documents = {str(unpack(source)): count for source, count in db.execute(_SOURCES)}
    has_graph = fetch_value(db, _HAS_GRAPH) is not None
    return DatabaseSummary(documents, times[0], times[1], not documents and not has_graph)
