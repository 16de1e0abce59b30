# ruff: noqa: D102 (a test's name is its sentence)
"""Tests of the owners of the code graph and of writing it; see `ragstone.testing.store` for how to use them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragstone.errors import InputError, NotFound
from ragstone.protocols import DocumentStore, GraphStore
from ragstone.testing.example_graph import (
    CLOSE_CALL,
    FILE,
    FRAMEWORK,
    ROUTE,
    SAVE,
    SAVE_CALLS_SONG,
    SAVE_METHOD,
    SONG,
    SONG_CLASS,
    SONG_MODEL,
    SONG_ROUTE,
    SONG_TABLE,
    TOUCH_CALL,
    put_example_graph,
)
from ragstone.testing.store_case import HERE, KEY, MISSING_KEY, NOTES, OTHER_KEY, StoreCase
from ragstone.types import Graph, Link, Node

NOT_A_NUMBER = Node("k", "class", "K", attributes={"x": float("nan")})
WITHOUT_KEY = Node("", "class", "K")
UNKNOWN_CONFIDENCE = Link("CALLS", "a", "b", "f", 1, "surely")  # type: ignore[arg-type]


class StoreGraphOwnersContract(StoreCase):
    """Tests of `protocols.GraphStore` about owners and their graphs."""

    def test_storing_graphs_returns_how_many_rows_changed(self, store: DocumentStore) -> None:
        assert put_example_graph(store) == {
            "nodes": 5,
            "links": 7,
            "aliases": 3,
            "unresolved": 2,
            "kind:class": 1,
            "kind:method": 1,
            "kind:model": 1,
            "kind:route": 1,
            "kind:table": 1,
        }

    def test_graphs_are_read_as_they_were_stored(
        self, store: DocumentStore, graph: GraphStore
    ) -> None:
        put_example_graph(store)
        nodes = graph.nodes(HERE, keys=[SAVE, ROUTE])
        calls = graph.links(HERE, [SAVE], kinds=["CALLS"])
        assert nodes == [SAVE_METHOD, SONG_ROUTE]
        assert nodes[0].collection == NOTES
        assert calls == [SAVE_CALLS_SONG]
        assert graph.unresolved(HERE) == [TOUCH_CALL, CLOSE_CALL]

    def test_owners_have_their_stamps(self, graph: GraphStore) -> None:
        graph.put(KEY, {"a": FILE, "b": FRAMEWORK}, stamps={"a": "1"})
        some = graph.owner_stamps(KEY, owners=["a", "missing"])
        assert graph.owner_stamps(KEY) == {"a": "1", "b": ""}
        assert some == {"a": "1"}
        assert graph.owner_stamps(OTHER_KEY) == {}
        assert graph.owner_stamps(MISSING_KEY) == {}

    def test_storing_the_same_graphs_again_changes_nothing(self, store: DocumentStore) -> None:
        put_example_graph(store)
        generation = store.generation(HERE)
        changed = put_example_graph(store)
        assert set(changed.values()) == {0}
        assert store.generation(HERE) == generation

    def test_only_rows_that_differ_are_written(self, store: DocumentStore) -> None:
        put_example_graph(store)
        moved_route = replace(SONG_ROUTE, line=4)
        graph = replace(FRAMEWORK, nodes=(SONG_MODEL, moved_route, SONG_TABLE))
        changed = store.graph.put(KEY, {"laravel": graph}, stamps={"laravel": "s2"})
        counts = {"nodes": 1, "links": 0, "aliases": 0, "unresolved": 0, "kind:route": 1}
        assert changed == counts
        assert store.graph.nodes(HERE, keys=[ROUTE]) == [moved_route]
        assert store.graph.owner_stamps(KEY)["laravel"] == "s2"

    def test_an_empty_graph_removes_its_owner(
        self, store: DocumentStore, graph: GraphStore
    ) -> None:
        put_example_graph(store)
        changed = graph.put(KEY, {"laravel": Graph()})
        assert changed["links"] == len(FRAMEWORK.links)
        assert graph.owner_stamps(KEY) == {"file:app/Song.php": ""}
        assert graph.nodes(HERE, keys=[SONG, ROUTE]) == [SONG_CLASS]
        assert graph.find_aliases(HERE, ["songs.update"]) == []

    def test_an_empty_graph_of_a_missing_owner_changes_nothing(self, graph: GraphStore) -> None:
        changed = graph.put(KEY, {"missing": Graph()})
        assert set(changed.values()) == {0}
        assert graph.owner_stamps(KEY) == {}

    def test_an_owner_with_a_stamp_may_have_an_empty_graph(self, graph: GraphStore) -> None:
        stamps = {"file:README.md": "h"}
        graph.put(KEY, {"file:README.md": Graph()}, stamps=stamps)
        assert graph.owner_stamps(KEY) == stamps

    def test_the_data_of_an_owner_is_kept_until_it_is_removed(self, graph: GraphStore) -> None:
        data = {"a": b"\0one", "b": b"two"}
        graph.put(KEY, {"a": FILE, "b": FRAMEWORK}, data=data)
        graph.put(KEY, {"a": FILE}, data={"a": b"three"})
        assert graph.owner_data(KEY) == {"a": b"three", "b": b"two"}
        graph.put(KEY, {"b": Graph()})
        assert graph.owner_data(KEY) == {"a": b"three"}
        assert graph.owner_data(OTHER_KEY) == {}
        assert graph.owner_data(MISSING_KEY) == {}

    def test_equal_data_is_not_written(self, store: DocumentStore, graph: GraphStore) -> None:
        graph.put(KEY, {"a": FILE}, data={"a": b"three"})
        generation = store.generation(HERE)
        graph.put(KEY, {"a": FILE}, data={"a": b"three"})
        assert store.generation(HERE) == generation

    @pytest.mark.parametrize(
        "bad_graph",
        [
            Graph(nodes=(NOT_A_NUMBER,)),
            Graph(nodes=(WITHOUT_KEY,)),
            Graph(links=(UNKNOWN_CONFIDENCE,)),
        ],
    )
    def test_either_all_owners_are_stored_or_none(
        self,
        graph: GraphStore,
        bad_graph: Graph,
    ) -> None:
        with pytest.raises(InputError):
            graph.put(KEY, {"a": FILE, "b": bad_graph})
        assert graph.owner_stamps(KEY) == {}
        assert graph.nodes(HERE) == []

    def test_a_graph_needs_a_collection(self, graph: GraphStore) -> None:
        with pytest.raises(NotFound):
            graph.put(MISSING_KEY, {"a": FILE})

    def test_a_graph_is_removed_with_its_collection(
        self, store: DocumentStore, graph: GraphStore
    ) -> None:
        put_example_graph(store)
        store.drop_collection(KEY)
        store.ensure_collection(KEY)
        assert graph.owner_stamps(KEY) == {}
        assert graph.nodes(HERE) == []
        assert graph.links(HERE, [ROUTE]) == []
        assert graph.find_aliases(HERE, ["Song"]) == []
        assert graph.unresolved(HERE) == []
        assert all(finding.ok for finding in store.check())
