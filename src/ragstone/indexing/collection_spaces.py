"""The embedding spaces of one collection: the main one, and secondary ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragstone.errors import StaleSpace

if TYPE_CHECKING:
    from ragstone.indexing.components import Components
    from ragstone.protocols import Embedder
    from ragstone.types import CollectionKey, Space, SpaceInfo, SpaceState


@dataclass(frozen=True, slots=True)
class CollectionSpaces:
    """Finds or creates the spaces that the vectors of a collection go to."""

    components: Components
    key: CollectionKey

    def embedder(self) -> Embedder:
        """Return the embedder that the collection was created with, or the configured one."""
        collections = self.components.store.collections(self.key.project, self.key.kind)
        for collection in collections:
            if collection.name == self.key.name and collection.settings.get("embedder"):
                return self.components.embedder(str(collection.settings["embedder"]))
        return self.components.embedder()

    def main(self, *, state: SpaceState = "active") -> SpaceInfo:
        """Return the configured embedder's space of the collection; create it if it is missing."""
        store = self.components.store
        store.ensure_collection(self.key)
        space = self.embedder().space
        try:
            return store.vectors.ensure_space(
                self.key, space, storage=self._storage(), state=state
            )
        except StaleSpace as error:
            old = self.active()
            if old is not None and not old.embedded:
                return self._replace_empty(space)
            message = self._describe_stale_space(space)
            hint = "`ragstone reembed` builds the new ones next to the old and switches; until then the old answer"
            raise StaleSpace(message, hint=hint) from error

    def _replace_empty(self, space: Space) -> SpaceInfo:
        """Activate a space instead of one without vectors: its service was down, and nothing is lost."""
        vectors = self.components.store.vectors
        info = vectors.ensure_space(self.key, space, storage=self._storage(), state="building")
        vectors.activate_space(self.key, info.id)
        return replace(info, state="active")

    def secondary(self, name: str) -> SpaceInfo:
        """Return the space of another embedder; it is filled, but not activated."""
        store = self.components.store
        store.ensure_collection(self.key)
        space = self.components.embedder(name).space
        return store.vectors.ensure_space(self.key, space, state="building")

    def active(self) -> SpaceInfo | None:
        """Return the space that searches use, or None."""
        spaces = self.components.store.vectors.spaces(self.key.scope)
        return next((info for info in spaces if info.state == "active"), None)

    def is_configured(self, info: SpaceInfo) -> bool:
        """Return whether new vectors go to this space."""
        same_model = info.space.fingerprint == self.embedder().space.fingerprint
        return same_model and self._storage() in (None, info.storage)

    def _describe_stale_space(self, space: Space) -> str:
        old = self.active()
        maker = "another model"
        if old is not None:
            maker = f"{old.space.model} ({old.space.embedder}, {old.storage})"
        configured = space.embedder
        storage = self._storage()
        if storage:
            configured = f"{configured}, {storage}"
        return (
            f"the vectors of {self.key.name!r} were made by {maker}, "
            f"and the settings now say {space.model} ({configured})"
        )

    def _storage(self) -> str | None:
        """Return the configured storage of vectors; None if the user set none, so that existing vectors decide."""
        settings = self.components.settings
        if settings.origin("embed.storage") == "default":
            return None
        return settings.embed.storage
