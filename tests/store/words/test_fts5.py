"""FTS5 returns the best rows of the scope and the filter."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.store.sqlite import SqliteStore
from ragstone.store.words import scope as word_scope
from ragstone.testing.store_case import prepare
from ragstone.types import CollectionKey, Condition, Filter, Scope

VOCABULARY = [f"w{n}" for n in range(60)]
FULL = """
    SELECT rowid, bm25(words, 1.0, 4.0, 1.0, 8.0) AS score FROM words
    WHERE words MATCH ? ORDER BY score, rowid LIMIT ?"""


@pytest.fixture(scope="module")
def store() -> Iterator[SqliteStore]:
    chance = random.Random(11)
    weights = [1 / (rank + 1) for rank in range(len(VOCABULARY))]
    with SqliteStore(":memory:") as store:
        for name in ("one", "two"):
            store.ensure_collection(CollectionKey("p", name))
            texts = [
                " ".join(chance.choices(VOCABULARY, weights, k=chance.randrange(3, 25)))
                for _ in range(600)
            ]
            batch = [
                prepare(f"{i % 7}/{i}", texts[i : i + 3], symbol=chance.choice(VOCABULARY))
                for i in range(0, 600, 3)
            ]
            store.put(CollectionKey("p", name), batch)
        yield store


@contextmanager
def whole_file_counts() -> Iterator[None]:
    """Count terms in the whole file, as for very large scopes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_scope, "MOST_CHUNKS", 0)
        yield


@settings(max_examples=150, deadline=None)
@given(
    terms=st.lists(
        st.sampled_from([*VOCABULARY, "missing"]), min_size=1, max_size=6, unique=True
    ),
    limit=st.sampled_from((1, 3, 10, 100, 5000)),
)
def test_the_best_rows_are_those_of_a_full_search(
    store: SqliteStore, terms: list[str], limit: int
) -> None:
    query = " OR ".join(f'"{term}"' for term in terms)
    full = store._database._writer.execute(FULL, (query, limit)).fetchall()
    with whole_file_counts():
        rows = store.search_words(Scope("p"), terms, limit=limit)
    assert [round(row.score, 9) for row in rows] == [round(-score, 9) for _, score in full]
    if limit == 5000:
        assert {row.id for row in rows} == {row for row, _ in full}


@settings(max_examples=80, deadline=None)
@given(
    terms=st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=5, unique=True),
    limit=st.sampled_from((1, 10, 50)),
    folder=st.integers(0, 6),
)
def test_scopes_and_filters_take_the_best_of_what_they_allow(
    store: SqliteStore, terms: list[str], limit: int, folder: int
) -> None:
    with whole_file_counts():
        everything = store.search_words(Scope("p"), terms, limit=10_000)
    chunks = store.chunks("p", [row.id for row in everything])
    allowed = [row for row in everything if chunks[row.id].collection == "two"]
    inside = [row for row in allowed if chunks[row.id].uri.startswith(f"{folder}/")]
    filter = Filter((Condition("path", "glob", f"{folder}/**"),))
    with whole_file_counts():
        scoped = store.search_words(Scope("p", ("two",)), terms, limit=limit)
        filtered = store.search_words(Scope("p", ("two",)), terms, limit=limit, filter=filter)
    assert [round(row.score, 9) for row in scoped] == [
        round(row.score, 9) for row in allowed[:limit]
    ]
    assert [round(row.score, 9) for row in filtered] == [
        round(row.score, 9) for row in inside[:limit]
    ]


def put_texts(store: SqliteStore, collection: str, texts: dict[str, str]) -> None:
    key = CollectionKey("p", collection)
    store.ensure_collection(key)
    store.put(key, [prepare(uri, [text]) for uri, text in texts.items()])


def test_a_term_of_most_chunks_still_counts() -> None:
    with SqliteStore(":memory:") as store:
        put_texts(store, "one", {"a": "mast bell", "b": "mast mast", "c": "mast dock"})
        rows = store.search_words(Scope("p"), ["mast"], limit=9)
        uris = [store.chunks("p", [row.id])[row.id].uri for row in rows]
        assert uris == ["b", "a", "c"]
        assert all(row.score > 0.05 for row in rows)


def test_documents_elsewhere_do_not_change_how_rare_a_term_is() -> None:
    with SqliteStore(":memory:") as store:
        put_texts(store, "one", {"a": "mast bell", "b": "bell dock", "c": "mast dock"})
        scope = Scope("p", ("one",))
        before = store.search_words(scope, ["mast", "bell"], limit=9)
        # They have the same length: the mean length of a chunk is still that of the file.
        put_texts(store, "two", {chr(ord("d") + n): "mast rope" for n in range(20)})
        after = store.search_words(scope, ["mast", "bell"], limit=9)
        assert [row.id for row in after] == [row.id for row in before]
        assert [row.score for row in after] == pytest.approx([row.score for row in before])
