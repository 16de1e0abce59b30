"""The state of a project at a glance."""

from __future__ import annotations

from ragstone.engine.project import Project
from ragstone.indexing.shared_status import shared_status
from ragstone.store.home import size_on_disk
from ragstone.types import BackgroundStatus, Status


def project_status(project: Project, background: BackgroundStatus) -> Status:
    """Return the counts, the vectors and the last sync of a project."""
    collections = tuple(project.collections())
    return Status(
        home=str(project.settings.home),
        project=project.name,
        enabled=project.enabled,
        collections=collections,
        documents=sum(collection.documents for collection in collections),
        chunks=sum(collection.chunks for collection in collections),
        spaces=tuple(project.store.vectors.spaces(project.scope())),
        generation=project.store.generation(project.scope()),
        last_sync=last_sync(project),
        bytes_on_disk=size_on_disk(project.settings.home),
        background=background,
        shared=shared_status(project.store, project.name),
    )


def last_sync(project: Project) -> float | None:
    """Return when the folder was last synced, in seconds since 1970."""
    index = project.index
    times = [index.collection(name).state.synced_at for name in index.names()]
    return max((moment for moment in times if moment is not None), default=None)
