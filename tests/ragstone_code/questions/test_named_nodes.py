from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragstone.store.sqlite import SqliteStore
from ragstone_code.questions.named_nodes import link_names
from tests.ragstone_code.questions.shop import AC, BOOK, SCOPE, C, shop


@pytest.fixture(scope="module")
def store() -> Iterator[SqliteStore]:
    with shop() as graph_store:
        yield graph_store


def keys(store: SqliteStore, question: str) -> list[str]:
    return [anchor.node.key for anchor in link_names(store, SCOPE, question).anchors]


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("route books.store", "route:POST api/books"),
        ("`api:admin:books.list`", "route:GET admin/books"),
        ("PATCH /api/books/{any}", "route:PUT|PATCH api/books/{book}"),
        ("PUT /books/{id}", "route:PUT|PATCH api/books/{book}"),
        ("GET api/shelves/7/books", "route:GET api/shelves/{shelf}/books"),
        ("rest/ping", "route:GET rest/ping{format?}"),
        ("the Book model", f"class:{BOOK}"),
        ("BookController@update", f"method:{C}::update"),
        ("the titles table", "table:books"),
        ("table tasks", "table:tasks"),
        ("the open middleware", "middleware:open"),
        ("the admin BookController", f"class:{AC}"),
        ("the shelf moved event", "class:App\\Events\\ShelfMoved"),
    ],
)
def test_a_name_is_linked_to_its_node(store: SqliteStore, question: str, key: str) -> None:
    assert key in keys(store, question)


def test_the_http_method_selects_a_route_of_one_uri(store: SqliteStore) -> None:
    assert keys(store, "what is POST api/books") == ["route:POST api/books"]
    assert keys(store, "what is DELETE api/books") == []


def test_an_ambiguous_name_keeps_all_candidates(store: SqliteStore) -> None:
    anchors = link_names(store, SCOPE, "what is BookController for").anchors
    assert {node.key for node in anchors[0].nodes} == {f"class:{C}", f"class:{AC}"}


def test_a_missing_route_is_reported_as_unknown(store: SqliteStore) -> None:
    linked = link_names(store, SCOPE, "Which code serves route books.burn and POST api/ashes?")
    assert [mention.text for mention in linked.unknown] == ["books.burn", "POST api/ashes"]
    assert not linked.anchors


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None
)
@given(st.text(alphabet="GETbook s/{}.:@\\_-'`(?)tale", max_size=60))
def test_any_question_links_without_a_failure(store: SqliteStore, question: str) -> None:
    link_names(store, SCOPE, question)
