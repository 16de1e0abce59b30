"""Fills a store and asks its derived word index and FTS5."""

from __future__ import annotations

from pathlib import Path

from ragstone.store import catalog
from ragstone.store.sqlite import SqliteStore
from ragstone.store.words import tantivy
from ragstone.store.words.derived_index import store_state
from ragstone.store.words.fts5 import Fts5Search
from ragstone.store.words.scope import WordScope
from ragstone.store.words.terms import clean_terms
from ragstone.testing.store_case import prepare
from ragstone.types import CollectionKey, Scope, Scored

HERE = Scope("p")


def fill(
    store: SqliteStore, numbers: range, *, collection: str = "c", word: str = "apple"
) -> None:
    store.ensure_collection(CollectionKey("p", collection))
    store.put(
        CollectionKey("p", collection),
        [prepare(f"{n}.md", [f"{word} number{n}"]) for n in numbers],
    )


def index(store: SqliteStore) -> Path | None:
    """Return the folder of the valid index, if there is one."""
    with store.rows() as db:
        name = store_state(db).folder_name
    folder = store._words.derived._folder
    return folder / name if folder and tantivy.commit_mark(folder / name) else None


def reader(store: SqliteStore) -> tantivy.IndexReader:
    """Return the last commit of the index."""
    with store.rows() as db:
        found = store._words.derived.reader(store_state(db))
    assert found is not None
    return found


def ask(
    store: SqliteStore, terms: list[str], limit: int = 10, scope: Scope = HERE
) -> tuple[list[Scored] | None, ...]:
    """Return the answers of the derived index, None if it cannot answer, and of FTS5."""
    with store.rows() as db:
        numbers = (
            list(catalog.in_scope(db, scope).values())
            if scope.collections is not None
            else None
        )
        within = WordScope(numbers, None)
        quick = None
        if store._words.derived.reader(store_state(db)) is not None:
            quick = store._words.search(db, within, terms, limit)
        fts5 = Fts5Search(db)
        rarities = fts5.count_terms(within, clean_terms(terms)).rarities()
        return quick, fts5.search_part(within, rarities, limit)


def derived(
    store: SqliteStore, terms: list[str], limit: int = 10, scope: Scope = HERE
) -> set[int]:
    """Return the chunks that a search finds; the derived index must answer, and FTS5 must find the same."""
    quick, slow = ask(store, terms, limit, scope)
    assert quick is not None and slow is not None
    assert {row.id for row in quick} == {row.id for row in slow}
    return {row.id for row in quick}


def extend(store: SqliteStore) -> None:
    """Add all missing chunks to the index."""
    store._words.derived._extend(least=0)
    assert index(store)
