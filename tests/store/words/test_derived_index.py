"""The derived word index answers like FTS5, and its loss costs only time."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.store.sqlite import SqliteStore
from ragstone.store.words import derived_index, tantivy
from ragstone.testing.store_case import prepare
from ragstone.types import CollectionKey, Condition, Filter, Scope
from tests.support.written import everything

pytest.importorskip("tantivy")
from tests.support.derived_words import HERE, ask, derived, extend, fill, index, reader

VOCABULARY = [f"w{n}" for n in range(80)]
WEIGHTS = [1 / (rank + 1) for rank in range(len(VOCABULARY))]


@pytest.fixture(autouse=True, scope="module")
def small() -> Iterator[None]:
    """Let stores of a few chunks have an index."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(derived_index, "LEAST_CHUNKS", 10)
        patch.setattr(derived_index, "EXTEND_AT", 50)
        yield


# ── the answer ────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    chance = random.Random(5)
    with SqliteStore(tmp_path_factory.mktemp("words") / "ragstone.db") as store:
        for name in ("one", "two"):
            store.ensure_collection(CollectionKey("p", name))
            texts = [
                " ".join(chance.choices(VOCABULARY, WEIGHTS, k=chance.randrange(5, 40)))
                for _ in range(600)
            ]
            symbols = chance.choices([*VOCABULARY, ""], k=600)
            store.put(
                CollectionKey("p", name),
                [prepare(f"{n}.md", [texts[n]], symbol=symbols[n]) for n in range(600)],
            )
        store.remove(CollectionKey("p", "one"), [f"{n}.md" for n in range(0, 600, 7)])
        extend(store)
        fill(store, range(2000, 2020), collection="two", word=" ".join(VOCABULARY[:30]))
        yield store


@settings(max_examples=150, deadline=None)
@given(
    terms=st.lists(
        st.sampled_from([*VOCABULARY, "missing"]), min_size=1, max_size=6, unique=True
    ),
    limit=st.sampled_from((1, 10, 100, 5000)),
    scope=st.sampled_from(
        (HERE, Scope("p", ("one",)), Scope("p", ("two",)), Scope("p", ("one", "two")))
    ),
)
def test_the_derived_index_finds_the_chunks_that_fts5_finds(
    corpus: SqliteStore, terms: list[str], limit: int, scope: Scope
) -> None:
    quick, slow = ask(corpus, terms, limit, scope)
    assert quick is not None and slow is not None
    assert len(quick) == len(slow)
    assert [(-row.score, row.id) for row in quick] == sorted(
        (-row.score, row.id) for row in quick
    )
    chunks = corpus.chunks("p", [row.id for row in quick])
    for row in quick:
        stored = chunks[row.id]
        assert {*stored.chunk.text.split(), stored.chunk.symbol} & set(terms)
        assert scope.collections is None or stored.collection in scope.collections
    if limit == 5000:
        assert {row.id for row in quick} == {row.id for row in slow}


def test_the_best_ten_are_mostly_the_best_ten_of_fts5(corpus: SqliteStore) -> None:
    chance = random.Random(6)
    shares = []
    for _ in range(200):
        terms = list(dict.fromkeys(chance.choices(VOCABULARY, WEIGHTS, k=4)))
        quick, slow = ask(corpus, terms)
        assert quick and slow
        # Equal scores are many here: what is as good as FTS5's tenth counts as one of its ten.
        everything = {row.id: row.score for row in ask(corpus, terms, 5000)[1] or []}
        shares.append(
            sum(everything[row.id] >= 0.9 * slow[-1].score for row in quick) / len(quick)
        )
        assert quick[0].score == pytest.approx(slow[0].score, rel=0.25, abs=0.1), (
            "scores of both are merged"
        )
    assert sum(shares) / len(shares) > 0.95


def test_fts5_answers_searches_with_a_filter(corpus: SqliteStore) -> None:
    filter = Filter((Condition("path", "glob", "1*.md"),))
    rows = corpus.search_words(HERE, ["w1"], limit=1000, filter=filter)
    assert rows and all(
        chunk.uri.startswith("1")
        for chunk in corpus.chunks("p", [row.id for row in rows]).values()
    )


def test_terms_that_no_index_has_find_nothing(corpus: SqliteStore) -> None:
    assert derived(corpus, ["missing", "", "  ", "\ud800"]) == set()


# ── what comes and goes ───────────────────────────────────────────────────────────────────────────


def test_a_small_store_has_no_index(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "ragstone.db") as store:
        fill(store, range(9))
        store.compact()
        assert ask(store, ["appl"])[0] is None
        assert len(store.search_words(HERE, ["appl"], limit=99)) == 9
    assert not (tmp_path / "words").exists()


def test_new_chunks_are_found_at_once_and_added_when_they_are_many(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "ragstone.db") as store:
        fill(store, range(60))
        assert reader(store).last_chunk == 60
        fill(store, range(60, 65))
        assert len(derived(store, ["appl"], 99)) == 65
        assert reader(store).last_chunk == 60
        fill(store, range(65, 120))
        assert reader(store).last_chunk == 120
        assert len(derived(store, ["appl"], 999)) == 120


def test_a_store_that_wrote_adds_missing_chunks_when_it_is_closed(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "ragstone.db") as store:
        fill(store, range(150))
        assert index(store) is None, "too many for a write"
    with SqliteStore(tmp_path / "ragstone.db") as store:
        assert index(store)
        assert len(derived(store, ["appl"], 999)) == 150


def test_missing_chunks_are_added_in_a_thread_after_several_searches(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "ragstone.db") as store:
        fill(store, range(30))
        for _ in range(derived_index.SLOW_SEARCHES):
            assert len(store.search_words(HERE, ["appl"], limit=99)) == 30
        thread = store._words.derived._thread
        if thread is not None:
            thread.join()
        assert reader(store).last_chunk == 30
        assert len(derived(store, ["appl"], 99)) == 30


def test_a_store_can_be_closed_while_a_thread_adds_chunks(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "ragstone.db") as store:
        fill(store, range(40))
        for _ in range(derived_index.SLOW_SEARCHES):
            store.search_words(HERE, ["appl"], limit=99)
    with SqliteStore(tmp_path / "ragstone.db") as store:
        assert len(store.search_words(HERE, ["appl"], limit=99)) == 40


def test_removed_chunks_are_not_found(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "ragstone.db") as store:
        fill(store, range(100))
        extend(store)
        store.remove(CollectionKey("p", "c"), [f"{n}.md" for n in range(90)])
        assert len(derived(store, ["appl"], 10)) == 10
        fill(store, range(95, 100), word="pear")
        assert len(derived(store, ["appl"], 10)) == 5
        assert len(derived(store, ["pear"], 10)) == 5
        assert derived(store, ["number3"]) == set()


def test_an_index_with_many_removed_chunks_is_rebuilt_when_a_store_that_wrote_is_closed(
    tmp_path: Path,
) -> None:
    with SqliteStore(tmp_path / "ragstone.db") as store:
        fill(store, range(100))
    with SqliteStore(tmp_path / "ragstone.db") as store:
        store.remove(CollectionKey("p", "c"), [f"{n}.md" for n in range(60)])
        assert len(derived(store, ["appl"], 99)) == 40
        assert reader(store).entries == 100
    with SqliteStore(tmp_path / "ragstone.db") as store:
        assert len(derived(store, ["appl"], 99)) == 40
        assert reader(store).entries == 40


def test_a_dropped_collection_is_not_found_and_its_chunk_ids_are_not_reused(
    tmp_path: Path,
) -> None:
    with SqliteStore(tmp_path / "ragstone.db") as store:
        fill(store, range(60))
        extend(store)
        store.drop_collection(CollectionKey("p", "c"))
        assert derived(store, ["appl"]) == set()
        store.ensure_collection(CollectionKey("p", "empty"))
        assert derived(store, ["appl"], scope=Scope("p", ("empty",))) == set()
        fill(store, range(20), word="pear")
        assert derived(store, ["appl"]) == set()
        assert len(derived(store, ["pear"], 99)) == 20


def test_projects_do_not_see_each_other(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "ragstone.db") as store:
        fill(store, range(60))
        store.ensure_collection(CollectionKey("q", "c"))
        store.put(
            CollectionKey("q", "c"), [prepare(f"{n}.md", [f"apple {n}"]) for n in range(3)]
        )
        extend(store)
        assert {row.id for row in store.search_words(Scope("q"), ["appl"], limit=99)} == {
            61,
            62,
            63,
        }
        assert {row.id for row in store.search_words(HERE, ["appl"], limit=99)} == set(
            range(1, 61)
        )
        assert store.search_words(Scope("q", ("none",)), ["appl"], limit=99) == []


# ── what must be gone ─────────────────────────────────────────────────────────────────────────────


def _entries_with(home: Path, term: str) -> int:
    """Return how many entries of all indexes there are have a term: their files do not spell terms out."""
    folders = [mark.parent for mark in (home / "words").rglob("meta.json")]
    return sum(
        tantivy.IndexReader(folder)._searcher.doc_freq("terms", term) for folder in folders
    )


def test_removed_words_are_nowhere_in_the_files_after_a_secure_compaction(
    tmp_path: Path,
) -> None:
    with (
        SqliteStore(tmp_path / "ragstone.db") as store,
        SqliteStore(tmp_path / "ragstone.db") as other,
    ):
        fill(store, range(80), word="zqsecretzq")
        fill(store, range(80, 160))
        fill(other, range(160, 170), word="zqsecretzq")
        extend(store)
        assert len(derived(other, ["zqsecretzq"], 999)) == 90
        assert _entries_with(tmp_path, "zqsecretzq") == 90
        before = {
            file
            for file in (tmp_path / "words").rglob("*")
            if file.is_file() and file.name != "lock"
        }
        store.remove(
            CollectionKey("p", "c"), [f"{n}.md" for n in (*range(80), *range(160, 170))]
        )
        assert store.search_words(HERE, ["zqsecretzq"], limit=9) == []
        store.compact(secure=True)
        assert b"zqsecretzq" not in everything(tmp_path)
        assert [file for file in before if file.exists()] == []
        assert _entries_with(tmp_path, "zqsecretzq") == 0
        assert _entries_with(tmp_path, "appl") == 80
        fill(other, range(200, 260))
        assert _entries_with(tmp_path, "zqsecretzq") == 0
        assert _entries_with(tmp_path, "appl") == 140
        assert len(derived(other, ["appl"], 999)) == 140
        assert other.search_words(HERE, ["zqsecretzq"], limit=9) == []
