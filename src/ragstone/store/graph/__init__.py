"""The graph of the code: nodes, aliases, links and unresolved references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragstone.store import catalog
from ragstone.store.connection import Database, ReadSource
from ragstone.store.graph import queries, writer
from ragstone.types import Alias, CollectionKey, Graph, Link, Node, Scope, Step, Unresolved, Walked


class SqliteGraphReader:
    """Implements `GraphReader` on a SQLite database or on a snapshot of it."""

    def __init__(self, source: ReadSource) -> None:
        """Take the source of connections."""
        self._source = source

    def owner_stamps(
        self, key: CollectionKey, *, owners: Sequence[str] | None = None
    ) -> dict[str, str]:
        """Return the stamp of each owner of a collection, or of some owners."""
        with self._source.reading() as db:
            return writer.owner_stamps(db, catalog.collection_id(db, key), owners)

    def owner_data(self, key: CollectionKey) -> dict[str, bytes]:
        """Return the data that each owner asked to keep for its next run."""
        with self._source.reading() as db:
            return writer.owner_data(db, catalog.collection_id(db, key))

    def nodes(
        self,
        scope: Scope,
        *,
        keys: Sequence[str] | None = None,
        kinds: Sequence[str] | None = None,
        uris: Sequence[str] | None = None,
        limit: int = 1000,
    ) -> list[Node]:
        """Return nodes that pass every condition."""
        with self._source.reading() as db:
            return queries.nodes(db, scope, queries.NodeConditions(keys, kinds, uris), limit)

    def find_aliases(self, scope: Scope, names: Sequence[str]) -> list[Alias]:
        """Return the aliases with one of these names, ignoring case."""
        with self._source.reading() as db:
            return queries.find_aliases(db, scope, names)

    def links(
        self,
        scope: Scope,
        keys: Sequence[str],
        *,
        kinds: Sequence[str] = (),
        back: bool = False,
        limit: int = 10_000,
    ) -> list[Link]:
        """Return the links that start at these nodes, or end at them if `back`, in their order."""
        with self._source.reading() as db:
            return queries.links(db, scope, keys, Step(tuple(kinds), back), limit)

    def walk(
        self, scope: Scope, anchors: Sequence[str], steps: Sequence[Step], *, limit: int = 1000
    ) -> list[Walked]:
        """Return the paths from the anchors along all of the steps."""
        with self._source.reading() as db:
            return queries.walk(db, scope, anchors, steps, limit=limit)

    def unresolved(
        self,
        scope: Scope,
        *,
        name: str | None = None,
        sources: Sequence[str] | None = None,
        limit: int = 1000,
    ) -> list[Unresolved]:
        """Return references that could not be resolved, by name, by source node, or all."""
        with self._source.reading() as db:
            return queries.unresolved(db, scope, name=name, sources=sources, limit=limit)


class SqliteGraphStore(SqliteGraphReader):
    """Implements `GraphStore` on a SQLite database."""

    def __init__(self, database: Database) -> None:
        """Take the database."""
        super().__init__(database)
        self._database = database

    def put(
        self,
        key: CollectionKey,
        parts: Mapping[str, Graph],
        *,
        stamps: Mapping[str, str] | None = None,
        data: Mapping[str, bytes] | None = None,
    ) -> dict[str, int]:
        """Replace the graph of each owner in `parts`; return how many rows changed, and nodes also by `kind:…`."""
        with catalog.changing(self._database, key) as (db, ids):
            graph_writer = writer.GraphWriter(db, ids.collection)
            return graph_writer.put(parts, stamps or {}, data or {})
