"""The graph methods of the store: each one transaction, each inside one project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ragstone.store import catalog

# What the graph is written and read by is imported by whoever asks it: a search does not wait for that.
if TYPE_CHECKING:
    from ragstone.store.connection import Database
    from ragstone.types import Alias, Graph, Link, Node, Scope, Step, Unresolved, Walked


class GraphPart:
    """What a store does with what code means."""

    _database: Database

    def put_graph(
        self,
        project: str,
        collection: str,
        parts: Mapping[str, Graph],
        *,
        stamps: Mapping[str, str] | None = None,
        kept: Mapping[str, bytes] | None = None,
    ) -> dict[str, int]:
        """Make what each owner gave be exactly this; return how many of each table changed, and `kind:…` of nodes.

        An owner whose part is empty is forgotten, unless it has a stamp: then it is known to have given nothing.
        """
        from ragstone.store import graph

        with self._database.writing() as db:
            return graph.put(
                db, catalog.existing(db, project, collection), graph.Given(parts, stamps or {}, kept or {})
            )

    def graph_kept(self, project: str, collection: str) -> dict[str, bytes]:
        """Return what was kept for the owners of a collection, by owner."""
        from ragstone.store import graph

        with self._database.reading() as db:
            place = catalog.place(db, project, collection)
            return graph.kept(db, place) if place else {}

    def graph_owners(self, project: str, collection: str, *, owners: Sequence[str] | None = None) -> dict[str, str]:
        """Return the owners of a collection, or some of them, with the stamps their parts were put with."""
        from ragstone.store import graph

        with self._database.reading() as db:
            place = catalog.place(db, project, collection)
            return graph.owners(db, place, owners) if place else {}

    def nodes(
        self,
        scope: Scope,
        *,
        keys: Sequence[str] | None = None,
        kinds: Sequence[str] | None = None,
        uris: Sequence[str] | None = None,
        limit: int = 1000,
    ) -> list[Node]:
        """Return nodes that pass all that is asked; of one key that two passes gave, the framework's, completed."""
        from ragstone.store import graph_reading

        with self._database.reading() as db:
            return graph_reading.nodes(db, scope, graph_reading.Which(keys, kinds, uris), limit)

    def named(self, scope: Scope, names: Sequence[str]) -> list[Alias]:
        """Return the aliases that are one of these names, whatever the case."""
        from ragstone.store import graph_reading

        with self._database.reading() as db:
            return graph_reading.named(db, scope, names)

    def links(
        self, scope: Scope, keys: Sequence[str], *, kinds: Sequence[str] = (), back: bool = False, limit: int = 10_000
    ) -> list[Link]:
        """Return the links from these nodes, or to them; in their order."""
        from ragstone.store import graph_reading
        from ragstone.types import Step

        with self._database.reading() as db:
            return graph_reading.links(db, scope, keys, Step(tuple(kinds), back), limit)

    def walk(self, scope: Scope, anchors: Sequence[str], steps: Sequence[Step], *, limit: int = 1000) -> list[Walked]:
        """Return the paths from the anchors along all of the steps; what has no node is named by its key."""
        from ragstone.store import graph_reading

        with self._database.reading() as db:
            return graph_reading.walk(db, scope, anchors, steps, limit=limit)

    def unresolved(
        self, scope: Scope, *, name: str | None = None, sources: Sequence[str] | None = None, limit: int = 1000
    ) -> list[Unresolved]:
        """Return references that nothing written decides, by their name, by where they stand, or both."""
        from ragstone.store import graph_reading

        with self._database.reading() as db:
            return graph_reading.unresolved(db, scope, name=name, sources=sources, limit=limit)
