"""Questions of every kind over the bookshop, each in several wordings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from ragstone.store.sqlite import SqliteStore
from ragstone.types import CollectionKey, Graph, GraphAnswer, Node
from ragstone_code.questions.answer import answer_question, parse_question
from tests.ragstone_code.questions.shop import AC, AUTHOR, BOOK, SCOPE, C, shop


@pytest.fixture(scope="module")
def store() -> Iterator[SqliteStore]:
    with shop() as graph_store:
        yield graph_store


def ask(store: SqliteStore, question: str) -> GraphAnswer | None:
    return answer_question(store, SCOPE, parse_question(store, SCOPE, question))


QUESTIONS: tuple[tuple[str, str, Mapping[str, Any]], ...] = (
    ("Which controller method serves route books.store?", "route_action",
     {"methods": ["POST"], "uri": "api/books", "name": "books.store", "controller": C, "method": "store", "line": 17}),
    ("Which code handles PATCH /api/books/{id}?", "route_action", {"method": "update", "uri": "api/books/{book}"}),
    ("What happens on PUT api/books/42?", "route_action", {"method": "update"}),
    ("What is the full URI of route api:admin:books.list and which code serves it?", "route_action",
     {"uri": "admin/books", "controller": AC}),
    ("Which controller answers rest/ping, and for which HTTP methods?", "route_action",
     {"methods": ["GET"], "controller": AC, "method": "__invoke"}),
    ("Which method of BookController handles route books.destroy?", "route_action",
     {"registered": True, "method": "destroy", "method_exists": False}),
    ("Who handles PATCH /api/books/{book}, and by which column is the book bound?", "route_binding",
     {"binding_fields": {"book": "slug"}, "method": "update", "line": 23}),
    ("What middleware guards POST api/books?", "route_middleware",
     {"middleware": ["api", "auth", "throttle:10,1"], "excluded": []}),
    ("What throttles `books.store`, and what else protects it?", "route_middleware",
     {"middleware": ["api", "auth", "throttle:10,1"]}),
    ("Which middleware does route books.store run, and which class implements the open middleware?",
     "route_middleware", {"aliases": {"open": "App\\Http\\Middleware\\OpenHours"}}),
    ("What middleware guards GET rest/ping?", "route_middleware",
     {"middleware": ["api", "auth", "throttle:10,1"], "controller_middleware": ["log"]}),
    ("Which middleware is explicitly removed from GET rest/ping?", "route_middleware", {"excluded": ["auth"]}),
    ("Which form request validates books.store?", "route_request",
     {"request": "App\\Http\\Requests\\StoreBook", "file": "app/Http/Requests/StoreBook.php", "line": 7}),
    ("Where are the validation rules of POST api/books?", "route_request",
     {"request": "App\\Http\\Requests\\StoreBook"}),
    ("What controller serves route books.update and which model and table does it touch?", "route_models_tables",
     {"controller": C, "method": "update", "models": [{"model": BOOK, "table": "books"},
                                                      {"model": AUTHOR, "table": None}]}),
    ("Which models and tables does PUT api/books/{book} receive by route model binding?", "route_models_tables",
     {"models": [{"model": BOOK, "table": "books"}]}),
    ("Which policy guards the Book model, and which abilities does it define?", "model_policy",
     {"policy": "App\\Policies\\BookPolicy", "abilities": ["view", "update"], "how": "registered"}),
    ("What authorizes actions on App\\Models\\Book?", "model_policy", {"policy": "App\\Policies\\BookPolicy"}),
    ("Which table stores Book models?", "model_table", {"table": "books", "how": "convention"}),
    ("Which database table does the book model use?", "model_table", {"table": "books"}),
    ("Which observer is attached to the Book model?", "model_observer",
     {"observer": "App\\Observers\\BookObserver", "how": "attribute"}),
    ("What listens to the BookSold event?", "event_listeners",
     {"listeners": ["App\\Listeners\\CountSales", "App\\Listeners\\StoreSubscriber"]}),
    ("What handles the event App\\Events\\BookSold?", "event_listeners",
     {"listeners": ["App\\Listeners\\CountSales", "App\\Listeners\\StoreSubscriber"]}),
    ("Which events does StoreSubscriber subscribe to?", "listener_events",
     {"subscribes": ["App\\Events\\BookSold"]}),
    ("Where is the book sold event fired and what handles it?", "event_dispatch",
     {"dispatched_from": ["app/Http/Controllers/BookController.php:27"],
      "listeners": ["App\\Listeners\\CountSales", "App\\Listeners\\StoreSubscriber"]}),
    ("From where is PrintLabel dispatched?", "job_dispatch",
     {"dispatched_from": ["app/Http/Controllers/BookController.php:19"]}),
    ("Which migrations created or altered table books?", "table_migrations",
     {"migrations": ["2024_01_01_create_books", "2024_02_01_prices"], "former_names": ["titles"]}),
    ("Which migration created the books table?", "table_migrations", {"migrations": ["2024_01_01_create_books"]}),
    ("What is the history of the titles table?", "table_migrations",
     {"migrations": ["2024_01_01_create_books", "2024_02_01_prices"]}),
    ("What columns does table books have?", "table_columns",
     {"columns": ["id", "title", "author_id"], "foreign_keys": ["author_id->authors.id"]}),
    ("Which columns does the Book model have?", "table_columns", {"columns": ["id", "title", "author_id"]}),
    ("Which model uses table books?", "table_models", {"models": [BOOK]}),
    ("Which routes does BookController@update serve?", "routes_of_method", {}),
)  # fmt: skip


@pytest.mark.parametrize(
    ("question", "intent", "facts"), QUESTIONS, ids=[row[0] for row in QUESTIONS]
)
def test_a_question_is_answered_with_its_facts(
    store: SqliteStore, question: str, intent: str, facts: Mapping[str, Any]
) -> None:
    answer = ask(store, question)
    assert answer is not None
    assert {name: answer.facts.get(name) for name in facts} == dict(facts)
    assert answer.intent == intent
    assert not answer.negative or answer.looked_in
    assert answer.said.endswith((".", ")"))


@pytest.mark.parametrize(
    ("question", "names"),
    [
        (
            "Which Eloquent relations does Book have, and to which models?",
            ["author", "shelves", "prices"],
        ),
        ("What relations does the Book model declare through HasPrices?", ["prices"]),
        (
            "Which model does Book::shelves() relate to and through which pivot table?",
            ["shelves"],
        ),
        ("How is Book related to Author?", ["author"]),
    ],
)
def test_relations_are_limited_to_those_the_question_names(
    store: SqliteStore, question: str, names: list[str]
) -> None:
    answer = ask(store, question)
    assert answer is not None
    rows: Any = answer.facts["relations"]
    assert [row["name"] for row in rows] == names


def test_relations_without_a_place_are_answered_without_one() -> None:
    with shop() as graph_store:
        relation = Node(
            f"relation:{AUTHOR}::books",
            "model_relation",
            "books",
            attributes={"name": "books", "type": "hasMany", "related": BOOK},
        )
        key = CollectionKey("p", "c")
        graph_store.graph.put(key, {"more": Graph(nodes=(relation,))})
        answer = ask(graph_store, "What relations does the Author model have?")
    assert answer is not None
    assert answer.said == f"{AUTHOR} has books (hasMany {BOOK})."


@pytest.mark.parametrize(
    "question",
    [
        "List every route that Route::apiResource('books', ...) registers (methods, URI, name, controller method).",
        "Which routes does the books API resource define, with URIs and names?",
    ],
)
def test_a_resource_is_expanded_to_its_routes(store: SqliteStore, question: str) -> None:
    answer = ask(store, question)
    assert answer is not None and answer.intent == "route_expansion"
    rows: Any = answer.facts["routes"]
    assert {row["name"] for row in rows} == {
        "books.index",
        "books.store",
        "books.update",
        "books.destroy",
    }


@pytest.mark.parametrize(
    ("question", "facts", "where"),
    [
        (
            "Which policy guards the Author model?",
            {"policy": None},
            "app/Providers/AuthServiceProvider.php",
        ),
        (
            "Which observer is attached to the Order model?",
            {"observer": None},
            "app/Models/Order.php",
        ),
        ("What listens to ShelfMoved?", {"listeners": []}, "app/Listeners"),
        (
            "Which form request validates books.update?",
            {"request": None},
            "app/Http/Controllers/BookController.php:23",
        ),
        (
            "Which relations does the Order model have?",
            {"relations": []},
            "app/Models/Order.php",
        ),
        ("Which middleware guards GET admin/books?", {"middleware": []}, "routes/api.php"),
        (
            "Which controller serves route books.burn?",
            {"registered": False, "controller": None},
            "every route",
        ),
        ("What listens to the BookLost event?", {"listeners": []}, "every event"),
    ],
)
def test_a_negative_answer_lists_the_searched_places(
    store: SqliteStore, question: str, facts: Mapping[str, Any], where: str
) -> None:
    answer = ask(store, question)
    assert answer is not None and answer.negative
    assert {name: answer.facts[name] for name in facts} == dict(facts)
    assert where in answer.looked_in
    assert any(word in answer.said for word in ("No", "no "))


def test_the_weakest_link_of_the_path_is_the_confidence(store: SqliteStore) -> None:
    table, action = (
        ask(store, "Which table does Book use?"),
        ask(store, "Which code serves books.store?"),
    )
    assert table is not None and action is not None
    assert (table.confidence, action.confidence) == ("convention", "evaluated")


def test_the_evidence_of_a_route_is_its_line_and_its_code(store: SqliteStore) -> None:
    answer = ask(store, "Which code serves books.store?")
    assert answer is not None
    assert answer.evidence[:2] == (
        ("routes/api.php", 10),
        ("app/Http/Controllers/BookController.php", 17),
    )


def test_a_current_table_wins_over_a_dropped_one_of_the_same_name(
    store: SqliteStore,
) -> None:
    answer = ask(store, "Which migrations altered the tasks table?")
    assert answer is not None and [node.key for node in answer.nodes] == ["table:tasks"]


@pytest.mark.parametrize(
    "question", ["", "How do I bake bread?", "Which books are good?", "{}/[](", "GET"]
)
def test_a_question_without_known_names_has_no_graph_answer(
    store: SqliteStore, question: str
) -> None:
    assert ask(store, question) is None
