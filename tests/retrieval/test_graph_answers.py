from __future__ import annotations

from collections.abc import Iterator

import pytest

from ragstone.errors import InputError, NotFound
from ragstone.retrieval.code import names
from ragstone.retrieval.code.graph_answers import Reach, impact_of, node_story, related_nodes
from ragstone.store.sqlite import SqliteStore
from ragstone.testing.example_graph import FILE, FRAMEWORK, ROUTE, SAVE, SONG, TABLE
from ragstone.types import Alias, CollectionKey, Graph, Link, Node, Scope

HERE = Scope("p")


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    with SqliteStore(":memory:") as store:
        store.ensure_collection(CollectionKey("p", "c"))
        store.graph.put(
            CollectionKey("p", "c"), {"file:app/Song.php": FILE, "laravel": FRAMEWORK}
        )
        yield store


def test_a_story_groups_links_by_kind_and_framework_links_come_first(
    store: SqliteStore,
) -> None:
    story = node_story(store.graph, HERE, names.find_node(store.graph, HERE, SAVE))
    assert [kind for kind, _ in story.out_of] == ["USES_MODEL", "CALLS"]
    assert [kind for kind, _ in story.into] == ["HANDLED_BY"]
    assert {node.key for node in story.nodes.values()} == {SONG, ROUTE}
    assert story.unresolved == FILE.unresolved
    assert (story.confidence, story.more) == ("declared", False)


def test_related_nodes_are_listed_once_and_nearest_first(store: SqliteStore) -> None:
    related = related_nodes(
        store.graph, HERE, names.find_node(store.graph, HERE, ROUTE), Reach(hops=4)
    )
    assert [(entry.node.key, entry.hops) for entry in related] == [
        (SAVE, 1), ("middleware:auth", 1), ("middleware:throttle", 1),
        (SONG, 2), (TABLE, 3), ("class:Vendor\\Model", 3),
    ]  # fmt: skip
    assert [link.kind for link in related[4].links] == ["HANDLED_BY", "USES_MODEL", "MAPS_TO"]
    assert related[4].confidence == "convention"
    assert [
        entry.node.key
        for entry in related_nodes(
            store.graph, HERE, related[4].node, Reach(("MAPS_TO",), hops=4)
        )
    ] == [SONG]


def test_links_of_another_collection_are_left_out(store: SqliteStore) -> None:
    store.ensure_collection(CollectionKey("p", "d"))
    other = Graph(
        (Node(SONG, "class", "Song"),), (Link("MAPS_TO", SONG, "table:hymns", "x", 1),)
    )
    store.graph.put(CollectionKey("p", "d"), {"file:x": other})
    with pytest.raises(InputError):
        names.find_node(store.graph, HERE, SONG)
    node = names.find_node(store.graph, Scope("p", ("d",)), SONG)
    assert [entry.node.key for entry in related_nodes(store.graph, HERE, node, Reach())] == [
        "table:hymns"
    ]


def test_the_impact_of_a_class_includes_the_impact_of_its_methods(store: SqliteStore) -> None:
    inside = Node("method:App\\Song::play", "method", "play", "app/Song.php", 10, 12)
    calls = Link("CALLS", "function:main", inside.key, "main.php", 1)
    store.graph.put(CollectionKey("p", "c"), {"file:main.php": Graph((inside,), (calls,))})
    impact = impact_of(store.graph, HERE, names.find_node(store.graph, HERE, SONG))
    assert "function:main" in [node.key for _, nodes in impact.groups for node in nodes]
    assert impact.groups[0][0] == "route"


@pytest.mark.parametrize(
    "name", ["", "\ud800", "a" * 10_000, "'; DROP TABLE graph_nodes", "%", "*", "\0"]
)
def test_any_unknown_name_is_an_error_with_a_sentence(store: SqliteStore, name: str) -> None:
    with pytest.raises(NotFound):
        names.find_node(store.graph, HERE, name)
    assert len(store.graph.nodes(HERE)) == 4


def test_a_full_name_wins_over_a_short_one(store: SqliteStore) -> None:
    other = Node("class:Other\\Song", "class", "Song", "y", 1)
    store.graph.put(CollectionKey("p", "c"), {"file:y": Graph((other,), (), (
        Alias("Other\\Song", "class:Other\\Song", "class"), Alias("Song", "class:Other\\Song", "short_class"),
    ))})  # fmt: skip
    assert names.find_node(store.graph, HERE, "Other\\Song").key == "class:Other\\Song"
    assert (
        names.find_node(store.graph, HERE, "song").key == SONG
    )  # the one that a framework knows
    assert (
        names.find_node(store.graph, HERE, "Song", kinds=["class"]).key == "class:Other\\Song"
    )
