"""The keys facet: keys, plan and usage of a project."""

from __future__ import annotations

from collections.abc import Iterable

from ragstone.access.keys import NewKey
from ragstone.access.plans import DEFAULT_PLAN, PLAN_NAMES, Plan
from ragstone.engine.project import Project
from ragstone.types import StoredKey, Usage


class ProjectKeys:
    """Makes and revokes the keys of one project, and counts how much it stores. Every change is an audit event."""

    def __init__(self, project: Project) -> None:
        """Take the project; nothing is opened yet."""
        self._project = project
        self._ring = project.workspace.keys

    def create(
        self,
        name: str = "",
        *,
        scopes: Iterable[str] = ("read", "write"),
        expires_at: float | None = None,
    ) -> NewKey:
        """Return a new key of the project with its token, which is shown only now."""
        new = self._ring.create(
            self._project.name, name=name, scopes=scopes, expires_at=expires_at
        )
        self._project.events.audit("key.create", key=new.key.id, scopes=list(new.key.scopes))
        return new

    def list(self) -> list[StoredKey]:
        """Return the keys of the project, revoked ones included, oldest first."""
        return self._ring.list(self._project.name)

    def revoke(self, key_id: str) -> StoredKey:
        """Revoke a key and return it; `NotFound` if the project has none with this id."""
        key = self._ring.revoke(self._project.name, key_id)
        self._project.events.audit("key.revoke", key=key.id)
        return key

    def plan(self) -> Plan | None:
        """Return the plan of the project; None if plans are switched off."""
        return self._project.plan()

    def set_plan(self, name: str) -> str:
        """Give the project another plan and return its name; an unknown plan is `starter`."""
        plan = DEFAULT_PLAN
        if name in PLAN_NAMES:
            plan = name
        self._project.store.keys.set_plan(self._project.name, plan)
        self._project.events.audit("plan.set", plan=plan)
        return plan

    def usage(self) -> Usage:
        """Return how much the project stores."""
        store, name = self._project.store, self._project.name
        collections = store.collections(name) + store.collections(name, "agent")
        sessions = store.collections(name, "session")
        return Usage(
            collections=len(collections),
            documents=sum(collection.documents for collection in collections),
            chunks=sum(collection.chunks for collection in collections),
            largest_collection=max(
                (collection.chunks for collection in collections), default=0
            ),
            sessions=len(sessions),
            turns=sum(session.documents for session in sessions),
            longest_session=max((session.documents for session in sessions), default=0),
        )
