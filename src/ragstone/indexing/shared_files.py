"""Decides which files this machine may check, if machines share the store.

The machine and folder that sync a collection own its files. Elsewhere they are missing, and a sync would remove their
documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.errors import Conflict
from ragstone.protocols import SharedStore

if TYPE_CHECKING:
    from ragstone.indexing.collection import IndexedCollection


def is_shared(collection: IndexedCollection) -> bool:
    """Return whether processes on other machines may use the store."""
    return isinstance(collection.components.store, SharedStore)


def has_foreign_files(collection: IndexedCollection) -> bool:
    """Return whether the files of the documents may be on another machine, so that they cannot be checked here."""
    return is_shared(collection) and not collection.is_rooted_here()


def require_takeover(collection: IndexedCollection, *, full: bool) -> None:
    """Raise `Conflict` if a sync would replace the documents of another folder unasked."""
    root = collection.state.root
    if not is_shared(collection):
        raise Conflict(
            f"the index in {collection.components.home} has the documents of {root}",
            hint="name another project (`--project`), or another home (RAGSTONE_STORE_PATH)",
        )
    if not full:
        raise Conflict(
            f"the collection {collection.key.name!r} has the documents of {root}",
            hint="sync there, name another project (`--project`), or `ragstone sync --full` takes it over",
        )
