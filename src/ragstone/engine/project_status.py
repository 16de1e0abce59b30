"""The state of a project at a glance, and all projects of a store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from ragstone import registry
from ragstone.engine import arguments
from ragstone.engine.project import Project
from ragstone.errors import ConfigError, NotFound
from ragstone.indexing.embedders import EmbedderName
from ragstone.indexing.shared_status import shared_status
from ragstone.store.home_folder import size_on_disk
from ragstone.types import (
    BackgroundStatus,
    CollectionKey,
    ProjectOverview,
    Scope,
    SpaceInfo,
    Status,
)
from ragstone.types.documents import KNOWN_KINDS, OTHER_KINDS


def project_status(project: Project, background: BackgroundStatus) -> Status:
    """Return the counts, the vectors and the last sync of a project."""
    collections = tuple(project.collections())
    sessions = project.store.collections(project.name, "session")
    return Status(
        home=str(project.settings.home),
        project=project.name,
        enabled=project.enabled,
        collections=collections,
        documents=sum(collection.documents for collection in collections),
        chunks=sum(collection.chunks for collection in collections),
        spaces=_spaces(project, project.scope()),
        generation=project.store.generation(project.scope()),
        last_sync=last_sync(project),
        bytes_on_disk=size_on_disk(project.settings.home),
        sources=project.store.count_sources(project.scope()),
        background=background,
        shared=shared_status(project.store, project.name),
        sessions=len(sessions),
        turns=sum(session.documents for session in sessions),
    )


def _spaces(project: Project, scope: Scope) -> tuple[SpaceInfo, ...]:
    """Return the spaces of a scope. The space of the fallback is no unfinished one."""
    spaces = project.store.vectors.spaces(scope)
    fallback = project.settings.embed.fallback
    if fallback is None:
        return tuple(spaces)
    name = EmbedderName.parse(fallback)
    try:
        embedder = registry.find("embedder", name.provider).name
    except ConfigError:  # a sync says so
        return tuple(spaces)
    marked = []
    for info in spaces:
        is_fallback = info.space.embedder == embedder and name.model in (None, info.space.model)
        if is_fallback and info.state == "building":
            info = replace(info, state="fallback")
        marked.append(info)
    return tuple(marked)


def last_sync(project: Project) -> float | None:
    """Return when the folder was last synced, in seconds since 1970."""
    index = project.index
    times = [index.collection(name).state.synced_at for name in index.names()]
    return max((moment for moment in times if moment is not None), default=None)


def list_projects(project: Project) -> list[ProjectOverview]:
    """Return all projects of the store, by name; those of the system are left out."""
    names = [name for name in project.store.projects() if not arguments.is_system_name(name)]
    return [_overview(project, name) for name in names]


def _overview(project: Project, name: str) -> ProjectOverview:
    store = project.store
    collections = tuple(
        collection
        for collection in store.collections(name)
        if not arguments.is_system_name(collection.name)
    )
    keys = [CollectionKey(name, collection.name) for collection in collections]
    states = [store.state.collection_state(key) for key in keys]
    times = [state.synced_at for state in states if state.synced_at is not None]
    unread = chain.from_iterable(store.state.unread_files(key).files.values() for key in keys)
    return ProjectOverview(
        name,
        collections,
        _spaces(project, Scope(name)),
        max(times, default=None),
        sum(file.failed for file in unread),
    )


def require_kinds(project: Project, kinds: Sequence[str]) -> None:
    """Raise `NotFound` for a word that is no kind and that no document has; the hint lists the kinds that exist."""
    for kind in kinds:
        if kind in KNOWN_KINDS or kind in OTHER_KINDS:
            continue
        if next(project.documents(filters={"kind": kind}), None) is not None:
            continue
        existing = sorted({document.kind for document in project.documents()})
        raise NotFound(
            f"there is no document of kind {kind!r}",
            hint=f"there are {', '.join(existing) or 'none yet'}",
        )
