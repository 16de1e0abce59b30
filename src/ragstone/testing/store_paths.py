# ruff: noqa: D102 (a test's name is its sentence)
"""Tests of paths in the code graph and of its scopes; see `ragstone.testing.store` for how to use them."""

from __future__ import annotations

import pytest

from ragstone.errors import InputError
from ragstone.protocols import DocumentStore, GraphStore
from ragstone.testing.example_graph import (
    ROUTE,
    ROUTE_CALLS_SAVE,
    SAVE,
    SAVE_USES_SONG,
    SONG,
    SONG_IN_TABLE,
    TABLE,
    THROTTLE,
    put_example_graph,
)
from ragstone.testing.store_case import (
    HERE,
    KEY,
    NOTES,
    OTHER,
    PROJECT,
    SECOND_KEY,
    StoreCase,
)
from ragstone.types import Graph, Link, Node, Scope, Step, Walked

CALLS = Step(("CALLS",))
HANDLED_BY = Step(("HANDLED_BY",))
MAPS_TO = Step(("MAPS_TO",))
HYMNS = Link("MAPS_TO", SONG, "table:hymns", "x", 1)


def call(source: int, target: int) -> Link:
    """Return a call between two numbered methods; the number of the target is its order."""
    return Link("CALLS", f"m:{source}", f"m:{target}", "f", target, order=target)


def keys_on(path: Walked) -> list[str]:
    """Return the keys of the nodes on a path."""
    return [node.key for node in path.nodes]


class StorePathsContract(StoreCase):
    """Tests of `protocols.GraphReader` about paths and scopes."""

    # ── paths ─────────────────────────────────────────────────────────────────────────────────────

    def test_a_walk_follows_all_steps(self, store: DocumentStore, graph: GraphStore) -> None:
        put_example_graph(store)
        uses_model = Step(("USES_MODEL", "BINDS"), to=("model",))
        (path,) = graph.walk(HERE, [ROUTE], [HANDLED_BY, uses_model, MAPS_TO])
        assert keys_on(path) == [ROUTE, SAVE, SONG, TABLE]
        assert path.nodes[2].kind == "model"
        assert path.links == (ROUTE_CALLS_SAVE, SAVE_USES_SONG, SONG_IN_TABLE)
        assert path.confidence == "convention"

    def test_a_walk_can_follow_links_backwards(
        self, store: DocumentStore, graph: GraphStore
    ) -> None:
        put_example_graph(store)
        kinds = ["MAPS_TO", "USES_MODEL", "HANDLED_BY"]
        steps = [Step((kind,), back=True) for kind in kinds]
        (path,) = graph.walk(HERE, [TABLE], steps)
        assert keys_on(path) == [TABLE, SONG, SAVE, ROUTE]

    def test_a_link_target_without_a_node_is_named_by_its_key(
        self, store: DocumentStore, graph: GraphStore
    ) -> None:
        put_example_graph(store)
        guarded_by = Step(("GUARDED_BY",), to=("middleware",))
        first, second = graph.walk(HERE, [ROUTE], [guarded_by])
        assert first.nodes[1] == Node("middleware:auth", "middleware", "auth")
        assert second.links == (THROTTLE,)

    def test_no_path_visits_a_node_twice(self, graph: GraphStore) -> None:
        ring = Graph(links=(call(0, 1), call(1, 2), call(2, 0), call(0, 0)))
        graph.put(KEY, {"ring": ring})
        (path,) = graph.walk(HERE, ["m:0"], [CALLS, CALLS])
        assert keys_on(path) == ["m:0", "m:1", "m:2"]
        assert graph.walk(HERE, ["m:0"], [CALLS, CALLS, CALLS]) == []

    def test_walks_have_a_limit(self, graph: GraphStore) -> None:
        links = tuple(call(0, target) for target in range(1, 20))
        graph.put(KEY, {"star": Graph(links=links)})
        paths = graph.walk(HERE, ["m:0"], [CALLS], limit=3)
        targets = [path.nodes[1].key for path in paths]
        assert targets == ["m:1", "m:2", "m:3"]
        assert graph.walk(HERE, ["m:0"], [CALLS], limit=0) == []

    def test_a_walk_with_too_many_steps_is_refused(self, graph: GraphStore) -> None:
        with pytest.raises(InputError):
            graph.walk(HERE, ["m:0"], [CALLS] * 9)

    # ── scopes ────────────────────────────────────────────────────────────────────────────────────

    @pytest.mark.parametrize(
        "scope",
        [
            Scope(OTHER),
            Scope("missing"),
            Scope(PROJECT, ("missing",)),
            SECOND_KEY.scope,
        ],
    )
    def test_a_graph_is_not_seen_outside_of_its_scope(
        self,
        store: DocumentStore,
        graph: GraphStore,
        scope: Scope,
    ) -> None:
        store.ensure_collection(SECOND_KEY)
        put_example_graph(store)
        assert graph.nodes(scope) == []
        assert graph.find_aliases(scope, ["Song"]) == []
        assert graph.links(scope, [SONG]) == []
        assert graph.unresolved(scope) == []
        assert graph.walk(scope, [ROUTE], [HANDLED_BY]) == []

    def test_the_collections_of_a_scope_are_walked_one_by_one(
        self, store: DocumentStore, graph: GraphStore
    ) -> None:
        store.ensure_collection(SECOND_KEY)
        put_example_graph(store)
        graph.put(SECOND_KEY, {"laravel": Graph(links=(HYMNS,))})
        paths = graph.walk(HERE, [SONG], [MAPS_TO])
        tables = {path.nodes[1].collection: path.nodes[1].key for path in paths}
        assert tables == {NOTES: TABLE, SECOND_KEY.name: "table:hymns"}

    def test_a_path_stays_in_one_collection(
        self, store: DocumentStore, graph: GraphStore
    ) -> None:
        store.ensure_collection(SECOND_KEY)
        put_example_graph(store)
        graph.put(SECOND_KEY, {"laravel": Graph(links=(HYMNS,))})
        (path,) = graph.walk(HERE, [SAVE], [Step(("USES_MODEL",)), MAPS_TO])
        assert keys_on(path) == [SAVE, SONG, TABLE]
