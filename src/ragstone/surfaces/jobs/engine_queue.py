"""The queue of jobs of a store that several machines share."""

from __future__ import annotations

from ragstone.errors import ConfigError
from ragstone.indexing.components import Components, has_shared_store
from ragstone.protocols import JobQueue, SharedStore


def queue_of(components: Components) -> JobQueue:
    """Return the queue of the store; `ConfigError` if that is a file of one machine, which is not created."""
    if has_shared_store(components) and isinstance(components.store, SharedStore):
        return components.store.jobs
    raise ConfigError(
        "a queue of jobs needs a database that machines share, and store.url is not set",
        hint="set RAGSTONE_STORE_URL=postgresql://user:password@host:5432/database; "
        "without one, `ragstone serve`, `ragstone add` and `ragstone sync` do the work themselves",
    )
