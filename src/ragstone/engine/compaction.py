"""Compaction of a project's store and, if it must be secure, of its event log."""

from __future__ import annotations

from ragstone.engine.project import Project
from ragstone.indexing.event_erasure import erase_texts


def compact(project: Project, *, secure: bool) -> int:
    """Free the space of removed data and return the bytes freed; `secure` overwrites it, and logged queries, too."""
    bytes_freed = project.store.compact(secure=secure)
    if secure:
        erase_texts(project.log)
    return bytes_freed
