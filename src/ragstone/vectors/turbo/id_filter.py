"""The ids that a search may return, with a cache: a caller passes the same list while its filter is the same."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.types.bounded_cache import BoundedCache
from ragstone.vectors.normalise import Ids, id_array
from ragstone.vectors.turbo.snapshot import IndexSnapshot

CACHED_FILTERS = 8


class IdFilter:
    """A list of allowed ids as an array, and their slots in the last snapshot that was searched."""

    def __init__(self, allowed: Sequence[int] | Ids) -> None:
        """Convert the ids once: for 50,000 of them that takes longer than the search."""
        self.allowed = allowed
        self.ids = id_array(allowed)
        self._slots: tuple[IndexSnapshot, Ids] | None = None

    def slots_in(self, snapshot: IndexSnapshot) -> Ids:
        """Return the slots of the allowed ids, ascending."""
        cached = self._slots
        if cached is None or cached[0] is not snapshot:
            cached = self._slots = (snapshot, snapshot.slots_of(self.ids))
        return cached[1]


class IdFilters:
    """The filters of the last searches, by the identity of the list they were made from."""

    def __init__(self) -> None:
        """Create an empty cache."""
        self._cache: BoundedCache[int, IdFilter] = BoundedCache(CACHED_FILTERS)

    def get(self, allowed: Sequence[int] | Ids) -> IdFilter:
        """Return the filter of a list of ids; from the cache if it is the same list with the same length."""
        cached = self._cache.get(id(allowed))
        # A cached filter holds its list, so that no other list can have the same identity.
        if cached is not None and cached.allowed is allowed and len(cached.ids) == len(allowed):
            return cached
        id_filter = IdFilter(allowed)
        self._cache[id(allowed)] = id_filter
        return id_filter
