"""Makes vectors for stored texts that have none. It can stop at any point and go on later."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ragstone.errors import StaleSpace, StoreBusy
from ragstone.store.home import EMBED_LOCK
from ragstone.store.lock import FileLock

if TYPE_CHECKING:
    from ragstone.indexing.components import Components
    from ragstone.protocols import Progress
    from ragstone.types import CollectionKey, Space, SpaceInfo, SpaceState

# Texts embedded between two commits; a kill loses a few seconds of work at most.
_BATCH: Final = 128
# A batch cannot be stopped half way, so it is smaller if the time is limited.
_TIMED_BATCH: Final = 32
_FLUSHED_COUNT: Final = 1000
"""With fewer new vectors, the next search adds them to the index itself."""
TEXTS_PER_SECOND: Final = 200
"""About the speed of the built-in model, for deciding whether a short time is worth using."""


@dataclass(frozen=True, slots=True)
class VectorBackfill:
    """Embeds the texts of one collection with the configured embedder."""

    components: Components
    key: CollectionKey

    def run(self, *, seconds: float | None = None, progress: Progress | None = None) -> int:
        """Embed pending texts and return how many vectors were stored; `StaleSpace` if another model made the others.

        With `seconds` it stops after that time.
        """
        return self._fill(self.space(), seconds, progress)

    def run_if_few(self, seconds: float) -> int:
        """Embed pending texts only if the time is about enough for all of them; return how many were stored.

        A few vectors out of many improve no answer, so a waiting user does not wait for them.
        """
        info = self._active_space()
        if info is None or not info.embedded:
            return 0
        pending = info.texts - info.embedded
        is_quick = 0 < pending <= seconds * TEXTS_PER_SECOND
        if not is_quick or not self._is_configured(info):
            return 0
        return self._fill(info, seconds, None)

    def rebuild(self, progress: Progress | None = None) -> int:
        """Build the vectors of the configured embedder next to the old ones, then switch; return how many are new.

        Existing vectors of that embedder are kept, unless they are damaged.
        """
        components, project = self.components, self.key.project
        info = self.space(state="building")
        damaged = components.damaged_vectors(project, info)
        if damaged:
            components.store.vectors.remove(project, info.id, damaged)
        count = self._fill(info, None, progress)
        components.store.vectors.activate_space(self.key, info.id)
        return count

    def pending(self) -> int:
        """Return how many texts of the collection have no vector."""
        info = self._active_space()
        if info is None:
            return 0
        return info.texts - info.embedded

    def space(self, *, state: SpaceState = "active") -> SpaceInfo:
        """Return the configured embedder's space of the collection; create it if it is missing."""
        store = self.components.store
        space = self.components.embedder().space
        store.ensure_collection(self.key)
        try:
            return store.vectors.ensure_space(
                self.key, space, storage=self._storage(), state=state
            )
        except StaleSpace as error:
            message = self._describe_stale_space(space)
            hint = "`ragstone reembed` builds the new ones beside the old and switches; until then the old answer"
            raise StaleSpace(message, hint=hint) from error

    def _describe_stale_space(self, space: Space) -> str:
        old = self._active_space()
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

    def _fill(self, info: SpaceInfo, seconds: float | None, progress: Progress | None) -> int:
        # Two processes that embed the same texts would do the work twice: the second waits for the first.
        lock = FileLock(self.components.lock_file(EMBED_LOCK), wait=seconds)
        try:
            with lock:
                count = self._embed_pending(info, seconds, progress)
        except StoreBusy:
            return 0
        if count >= _FLUSHED_COUNT:
            # A large index is written to disk now, so that the next process opens it at once.
            self.components.space_index(self.key.project, info).flush()
        return count

    def _embed_pending(
        self, info: SpaceInfo, seconds: float | None, progress: Progress | None
    ) -> int:
        store = self.components.store
        embedder = self.components.embedder(info.space.embedder)
        codec = self.components.codec(info)
        deadline = math.inf
        batch = _BATCH
        if seconds is not None:
            deadline = time.monotonic() + seconds
            batch = _TIMED_BATCH
        total = info.texts - info.embedded
        stored = last_id = 0
        if progress and total:
            progress("embed", 0, total)
        while texts := store.vectors.pending(
            self.key.scope, info.id, after=last_id, limit=batch
        ):
            if time.monotonic() >= deadline:
                break
            ids = [text.text_id for text in texts]
            vectors = embedder.embed([text.text for text in texts], "document")
            rows = zip(ids, codec.encode(vectors), strict=True)
            stored += store.vectors.put(self.key.project, info.id, rows)
            last_id = ids[-1]
            if progress:
                progress("embed", min(stored, total), total)
        return stored

    def _active_space(self) -> SpaceInfo | None:
        spaces = self.components.store.vectors.spaces(self.key.scope)
        return next((info for info in spaces if info.state == "active"), None)

    def _is_configured(self, info: SpaceInfo) -> bool:
        same_model = info.space.fingerprint == self.components.embedder().space.fingerprint
        return same_model and self._storage() in (None, info.storage)

    def _storage(self) -> str | None:
        """Return the configured storage of vectors; None if the user set none, so that existing vectors decide."""
        settings = self.components.settings
        if settings.origin("embed.storage") == "default":
            return None
        return settings.embed.storage
