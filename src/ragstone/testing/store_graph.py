# ruff: noqa: D102 (a test's name is its sentence)
"""Tests of the code graph; see `ragstone.testing.store` for how to use them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragstone.protocols import DocumentStore, GraphStore
from ragstone.testing.example_graph import (
    AUTH,
    CLOSE_CALL,
    ROUTE,
    SAVE,
    SAVE_CALLS_SONG,
    SAVE_USES_SONG,
    SONG,
    SONG_CLASS,
    SONG_MODEL,
    TABLE,
    THROTTLE,
    TOUCH_CALL,
    put_example_graph,
)
from ragstone.testing.store_case import HERE, StoreCase
from ragstone.types import Node, Scope


def keys_of(nodes: Sequence[Node]) -> list[str]:
    """Return the keys of nodes."""
    return [node.key for node in nodes]


class StoreGraphContract(StoreCase):
    """Tests of `protocols.GraphReader`."""

    def test_the_node_of_a_framework_is_completed_by_others(
        self, store: DocumentStore, graph: GraphStore
    ) -> None:
        put_example_graph(store)
        (song,) = graph.nodes(HERE, keys=[SONG])
        expected = replace(
            SONG_MODEL,
            signature=SONG_CLASS.signature,
            doc=SONG_CLASS.doc,
            language=SONG_CLASS.language,
            line_end=SONG_CLASS.line_end,
        )
        assert song == expected

    def test_nodes_are_found_by_key_kind_and_file(
        self, store: DocumentStore, graph: GraphStore
    ) -> None:
        put_example_graph(store)
        everything = graph.nodes(HERE)
        by_key = graph.nodes(HERE, keys=[TABLE, SONG, "missing"])
        by_kind = graph.nodes(HERE, kinds=["route", "model"])
        by_file = graph.nodes(HERE, uris=["app/Song.php", "routes/api.php"])
        assert keys_of(everything) == sorted([SONG, ROUTE, SAVE, TABLE])
        assert keys_of(by_key) == [TABLE, SONG]
        assert keys_of(by_kind) == [SONG, ROUTE]
        assert keys_of(by_file) == [SONG, ROUTE]

    def test_nodes_must_pass_every_condition(
        self, store: DocumentStore, graph: GraphStore
    ) -> None:
        put_example_graph(store)
        models = graph.nodes(HERE, uris=["app/Song.php"], kinds=["model"])
        tables = graph.nodes(HERE, keys=[TABLE, SONG], kinds=["table"])
        assert keys_of(models) == [SONG]
        assert keys_of(tables) == [TABLE]
        assert graph.nodes(HERE, kinds=["class"]) == []
        assert graph.nodes(HERE, keys=[]) == []
        assert graph.nodes(HERE, kinds=[]) == []

    def test_nodes_have_a_limit(self, store: DocumentStore, graph: GraphStore) -> None:
        put_example_graph(store)
        assert len(graph.nodes(HERE, limit=2)) == 2
        assert graph.nodes(HERE, limit=0) == []

    def test_nodes_are_counted_by_kind(self, store: DocumentStore, graph: GraphStore) -> None:
        put_example_graph(store)
        kinds = [node.kind for node in graph.nodes(HERE)]
        assert graph.count_kinds(HERE) == {kind: kinds.count(kind) for kind in sorted(kinds)}
        assert graph.count_kinds(Scope("missing")) == {}

    def test_the_nodes_with_the_most_links_come_first(
        self, store: DocumentStore, graph: GraphStore
    ) -> None:
        put_example_graph(store)

        def degree(key: str) -> int:
            return len(graph.links(HERE, [key])) + len(graph.links(HERE, [key], back=True))

        keys = [SONG, ROUTE, SAVE, TABLE]
        kinds = [node.kind for node in graph.nodes(HERE)]
        assert graph.most_linked(HERE, kinds, limit=9) == sorted(
            keys, key=lambda key: (-degree(key), key)
        )
        assert graph.most_linked(HERE, kinds, limit=1) == [max(keys, key=degree)]
        assert graph.most_linked(HERE, ["table"], limit=9) == [TABLE]
        assert graph.most_linked(HERE, [], limit=9) == []

    def test_aliases_are_found_ignoring_case(
        self, store: DocumentStore, graph: GraphStore
    ) -> None:
        put_example_graph(store)
        aliases = graph.find_aliases(HERE, ["SONGS.UPDATE", "app\\song", "missing"])
        assert [alias.name for alias in aliases] == ["Songs.Update", "App\\Song"]
        assert [alias.key for alias in aliases] == [ROUTE, SONG]
        assert [alias.kind for alias in aliases] == ["route_name", "class"]

    def test_links_are_found_from_both_ends_in_their_order(
        self, store: DocumentStore, graph: GraphStore
    ) -> None:
        put_example_graph(store)
        guards = graph.links(HERE, [ROUTE], kinds=["GUARDED_BY"])
        uses = graph.links(HERE, [SONG], kinds=["CALLS", "USES_MODEL"], back=True)
        assert guards == [AUTH, THROTTLE]
        assert uses == [SAVE_CALLS_SONG, SAVE_USES_SONG]
        assert graph.links(HERE, ["missing"]) == []

    def test_links_have_a_limit(self, store: DocumentStore, graph: GraphStore) -> None:
        put_example_graph(store)
        assert len(graph.links(HERE, [ROUTE, SAVE])) == 5
        assert len(graph.links(HERE, [ROUTE, SAVE], limit=4)) == 4
        assert graph.links(HERE, [ROUTE], limit=0) == []

    def test_unresolved_references_are_found_by_name_and_source(
        self, store: DocumentStore, graph: GraphStore
    ) -> None:
        put_example_graph(store)
        unresolved = graph.unresolved
        assert unresolved(HERE, name="touch") == [TOUCH_CALL]
        assert unresolved(HERE, sources=[SAVE, "missing"]) == [TOUCH_CALL, CLOSE_CALL]
        assert unresolved(HERE, sources=[SAVE], name="close") == [CLOSE_CALL]
        assert unresolved(HERE, sources=[]) == []
        assert unresolved(HERE, name="missing") == []
        assert unresolved(HERE, limit=1) == [TOUCH_CALL]
