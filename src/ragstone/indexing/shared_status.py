"""The state of a store that several machines share: its jobs and its replica."""

from __future__ import annotations

from typing import Final

from ragstone.protocols import DocumentStore, SharedStore
from ragstone.types import SharedStatus

_MAX_JOBS: Final = 100


def shared_status(store: DocumentStore, project: str) -> SharedStatus | None:
    """Return the jobs of a project that are not done, and the state of the replica; None if no other machine uses the store."""
    if not isinstance(store, SharedStore):
        return None
    jobs = [job for job in store.jobs.list(project, _MAX_JOBS) if job.state != "done"]
    return SharedStatus(tuple(jobs), store.describe_replica())
