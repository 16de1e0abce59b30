"""The queue of jobs of a store that several machines share."""

from __future__ import annotations

from ragstone.errors import ConfigError
from ragstone.protocols import DocumentStore, JobQueue, SharedStore


def queue_of(store: DocumentStore) -> JobQueue:
    """Return the queue of a store; `ConfigError` if it is a file of one machine."""
    if isinstance(store, SharedStore):
        return store.jobs
    raise ConfigError(
        "a queue of jobs needs a database that machines share, and store.url is not set",
        hint="set RAGSTONE_STORE_URL=postgresql://user:password@host:5432/database; "
        "without one, `ragstone serve`, `ragstone add` and `ragstone sync` do the work themselves",
    )
