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
        store.graph.put(CollectionKey("p", "c"), {"file:app/Song.php": FILE, "laravel": FRAMEWORK})
        yield store


def test_a_story_groups_links_by_kind_with_what_a_framework_says_first(store: SqliteStore) -> None:
    told = node_story(store.graph, HERE, names.find_node(store.graph, HERE, SAVE))
    assert [kind for kind, _ in told.out_of] == ["USES_MODEL", "CALLS"]
    assert [kind for kind, _ in told.into] == ["HANDLED_BY"]
    assert {one.key for one in told.nodes.values()} == {SONG, ROUTE}
    assert told.unresolved == FILE.unresolved
    assert (told.confidence, told.more) == ("declared", False)


def test_what_is_related_is_the_nearest_first_each_once(store: SqliteStore) -> None:
    found = related_nodes(
        store.graph, HERE, names.find_node(store.graph, HERE, ROUTE), Reach(hops=4)
    )
    assert [(one.node.key, one.hops) for one in found] == [
        (SAVE, 1), ("middleware:auth", 1), ("middleware:throttle", 1),
        (SONG, 2), (TABLE, 3), ("class:Vendor\\Model", 3),
    ]  # fmt: skip
    assert [link.kind for link in found[4].links] == ["HANDLED_BY", "USES_MODEL", "MAPS_TO"]
    assert found[4].confidence == "convention"
    assert [
        one.node.key
        for one in related_nodes(store.graph, HERE, found[4].node, Reach(("MAPS_TO",), hops=4))
    ] == [SONG]


def test_links_of_another_collection_are_not_taken_for_its_own(store: SqliteStore) -> None:
    store.ensure_collection(CollectionKey("p", "d"))
    other = Graph((Node(SONG, "class", "Song"),), (Link("MAPS_TO", SONG, "table:hymns", "x", 1),))
    store.graph.put(CollectionKey("p", "d"), {"file:x": other})
    with pytest.raises(InputError):
        names.find_node(store.graph, HERE, SONG)
    node = names.find_node(store.graph, Scope("p", ("d",)), SONG)
    assert [one.node.key for one in related_nodes(store.graph, HERE, node, Reach())] == [
        "table:hymns"
    ]


def test_what_depends_on_a_class_includes_what_depends_on_its_methods(store: SqliteStore) -> None:
    inside = Node("method:App\\Song::play", "method", "play", "app/Song.php", 10, 12)
    calls = Link("CALLS", "function:main", inside.key, "main.php", 1)
    store.graph.put(CollectionKey("p", "c"), {"file:main.php": Graph((inside,), (calls,))})
    told = impact_of(store.graph, HERE, names.find_node(store.graph, HERE, SONG))
    assert "function:main" in [one.key for _, found in told.groups for one in found]
    assert told.groups[0][0] == "route"


@pytest.mark.parametrize(
    "name", ["", "\ud800", "a" * 10_000, "'; DROP TABLE graph_nodes", "%", "*", "\0"]
)
def test_any_name_is_answered_in_a_sentence(store: SqliteStore, name: str) -> None:
    with pytest.raises(NotFound):
        names.find_node(store.graph, HERE, name)
    assert len(store.graph.nodes(HERE)) == 4


def test_a_name_in_full_is_meant_before_a_short_one(store: SqliteStore) -> None:
    other = Node("class:Other\\Song", "class", "Song", "y", 1)
    store.graph.put(CollectionKey("p", "c"), {"file:y": Graph((other,), (), (
        Alias("Other\\Song", "class:Other\\Song", "class"), Alias("Song", "class:Other\\Song", "short_class"),
    ))})  # fmt: skip
    assert names.find_node(store.graph, HERE, "Other\\Song").key == "class:Other\\Song"
    assert names.find_node(store.graph, HERE, "song").key == SONG  # the one that a framework knows
    assert names.find_node(store.graph, HERE, "Song", kinds=["class"]).key == "class:Other\\Song"
