"""The store of keys and plans."""

from __future__ import annotations

from typing import Protocol

from ragstone import types


class KeyStore(Protocol):
    """Reads and writes the keys and the plan of each project. A change is seen by every process at once."""

    def any(self) -> bool:
        """Return whether a key was ever made, also if it is revoked by now."""

    def add(self, key: types.StoredKey) -> None:
        """Store a new key; the project is created if it is missing. `Conflict` if the id is taken."""

    def get(self, key_id: str) -> types.StoredKey | None:
        """Return a key by its id, or None."""

    def list(self, project: str) -> list[types.StoredKey]:
        """Return the keys of a project, revoked ones included, oldest first."""

    def revoke(self, project: str, key_id: str, at: float) -> bool:
        """Revoke a key of a project; return whether there is such a key. The first time of revocation is kept."""

    def plan(self, project: str) -> str | None:
        """Return the name of the project's plan, or None."""

    def set_plan(self, project: str, plan: str) -> None:
        """Store the name of the project's plan; the project is created if it is missing."""
