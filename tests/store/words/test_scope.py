"""A search in a small part of the file counts how rare words are in that part."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.store.sqlite import SqliteStore
from ragstone.store.words import derived_index
from ragstone.store.words.fts5 import Fts5Search
from ragstone.store.words.scope import WordScope
from ragstone.testing.store_case import prepare
from ragstone.types import CollectionKey, Condition, Filter, Scope, Scored

TALK, OTHERS = Scope("p", ("talk",)), Scope("p", ("others",))
VOCABULARY = [f"w{n}" for n in range(30)]


def fill(store: SqliteStore) -> None:
    """Store a talk with `anna` in all turns but the last, and other documents with `kayak` in each."""
    for name in ("talk", "others"):
        store.ensure_collection(CollectionKey("p", name))
    turns = [f"anna mentions number {n}" for n in range(20)]
    store.put(
        CollectionKey("p", "talk"),
        [
            prepare(f"{n}.md", [text])
            for n, text in enumerate([*turns, "somebody bought a kayak"])
        ],
    )
    store.put(
        CollectionKey("p", "others"),
        [prepare(f"{n}.md", [f"a kayak on water {n}"]) for n in range(200)],
    )


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(tmp_path / "ragstone.db") as store:
        fill(store)
        yield store


def first(store: SqliteStore, rows: list[Scored]) -> str:
    """Return the text of the best hit."""
    return store.chunks("p", [rows[0].id])[rows[0].id].chunk.text


def test_a_word_that_is_common_in_the_part_weighs_less_than_one_that_is_rare_there(
    store: SqliteStore,
) -> None:
    rows = store.search_words(TALK, ["anna", "kayak"], limit=50)
    assert first(store, rows) == "somebody bought a kayak"
    assert len(rows) == 21


def test_a_search_in_most_of_the_file_uses_the_counts_of_the_file(store: SqliteStore) -> None:
    assert first(store, store.search_words(Scope("p"), ["anna", "kayak"], limit=50)).startswith(
        "anna"
    )
    assert len(store.search_words(OTHERS, ["anna", "kayak"], limit=300)) == 200


def test_a_filter_leaves_rows_out_and_their_scores_alone(store: SqliteStore) -> None:
    every = {
        row.id: row.score
        for row in store.search_words(TALK, ["anna", "kayak", "number"], limit=50)
    }
    filter = Filter((Condition("path", "in", ("3.md", "20.md")),))
    rows = store.search_words(TALK, ["anna", "kayak", "number"], limit=50, filter=filter)
    assert len(rows) == 2
    assert {row.id: row.score for row in rows} == {row.id: every[row.id] for row in rows}


def test_words_that_are_nowhere_find_nothing(store: SqliteStore) -> None:
    assert store.search_words(TALK, ["missing"], limit=5) == []
    assert store.search_words(TALK, ["water"], limit=5) == []


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    """A store whose derived index has all but the last twenty chunks."""
    chance = random.Random(4)
    weights = [1 / (rank + 1) for rank in range(len(VOCABULARY))]

    def texts(count: int) -> list[str]:
        return [" ".join(chance.choices(VOCABULARY, weights, k=8)) for _ in range(count)]

    with (
        pytest.MonkeyPatch.context() as patch,
        SqliteStore(tmp_path_factory.mktemp("w") / "ragstone.db") as store,
    ):
        patch.setattr(derived_index, "LEAST_CHUNKS", 1)
        for name, count in (("talk", 80), ("others", 400)):
            store.ensure_collection(CollectionKey("p", name))
            store.put(
                CollectionKey("p", name),
                [prepare(f"{n}", [text]) for n, text in enumerate(texts(count))],
            )
        store._words.derived._extend(least=0)
        store.put(
            CollectionKey("p", "talk"),
            [prepare(f"late {n}", [text]) for n, text in enumerate(texts(20))],
        )
        yield store


@settings(max_examples=60, deadline=None)
@given(
    terms=st.lists(
        st.sampled_from([*VOCABULARY, "missing"]), min_size=1, max_size=5, unique=True
    )
)
def test_the_derived_index_gives_the_same_chunks_in_much_the_same_order(
    mixed: SqliteStore, terms: list[str]
) -> None:
    with mixed.rows() as db:
        number = db.execute("SELECT id FROM collections WHERE name = 'talk'").fetchone()[0]
        within = WordScope([number], None)
        assert mixed._words.derived.reader(derived_index.store_state(db)) is not None
        quick = mixed._words.search(db, within, terms, 200)
        fts5 = Fts5Search(db)
        counts = fts5.count_terms(within, terms)
        slow = fts5.search_part(within, counts.rarities(), 200)
    assert counts.chunks == 100
    scores = {row.id: row.score for row in quick}
    assert set(scores) == {row.id for row in slow}
    # Tantivy keeps lengths in steps, and has not counted the chunks behind its end.
    assert all(scores[row.id] == pytest.approx(row.score, rel=0.35) for row in slow)
