"""The few inner objects of an engine that tests of inner modules need."""

from __future__ import annotations

from ragstone import Engine
from ragstone.indexing.sync import CollectionSync
from ragstone.protocols import DocumentStore


def index_of(engine: Engine) -> CollectionSync:
    """Return the sync of an engine's collections."""
    return engine._project.index


def store_of(engine: Engine) -> DocumentStore:
    """Return the store of an engine."""
    return engine.workspace.components.store
