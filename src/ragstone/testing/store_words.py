# ruff: noqa: D102 (a test's name is its sentence)
"""Tests of searches by words and of scopes; see `ragstone.testing.store` for how to use them."""

from __future__ import annotations

import pytest

from ragstone.errors import InputError, NotFound
from ragstone.protocols import DocumentStore
from ragstone.testing.store import HERE, KEY, NOTES, OTHER, OTHER_KEY, PROJECT, StoreCase, prepare
from ragstone.text import query_terms
from ragstone.types import CollectionKey, Condition, Filter, Scope


class StoreWordsContract(StoreCase):
    """Tests of `protocols.DocumentReader` about words and scopes."""

    # ── words ─────────────────────────────────────────────────────────────────────────────────────

    def test_the_better_match_comes_first(self, store: DocumentStore) -> None:
        filler = [prepare(f"{n}.md", [f"nothing of note in number {n}"]) for n in range(20)]
        store.put(
            KEY,
            [
                *filler,
                prepare("a", ["a fox and a dog"]),
                prepare("b", ["only a fox, no cat at all"]),
            ],
        )
        assert self.search_texts(store, "fox dog")[0] == "a fox and a dog"
        rows = store.search_words(HERE, query_terms("fox dog"), limit=50)
        assert [row.score for row in rows] == sorted((row.score for row in rows), reverse=True)
        assert store.search_words(HERE, query_terms("fox dog"), limit=50) == rows

    def test_symbols_headers_and_paths_are_found(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("src/invoice.py", ["pass"], header="Billing", symbol="chargeCard")])
        for query in ("charge card", "billing", "invoice", "chargeCard"):
            assert self.search_texts(store, query) == ["pass"], query

    def test_the_text_beside_a_document_is_searched_but_not_shown(
        self, store: DocumentStore
    ) -> None:
        store.put(KEY, [prepare("turn", ["yes, gladly"], beside="shall we go sailing")])
        assert self.search_texts(store, "sailing") == ["yes, gladly"]
        assert store.text(KEY, "turn") == "yes, gladly"
        store.put(KEY, [prepare("turn", ["yes, gladly"], beside="shall we go hiking")])
        assert self.search_texts(store, "sailing") == []
        assert self.search_texts(store, "hiking") == ["yes, gladly"]
        assert [finding for finding in store.check() if not finding.ok] == []
        store.remove(KEY, ["turn"])
        assert self.search_texts(store, "hiking") == []

    @pytest.mark.parametrize(
        "text",
        ['"', "AND OR NOT", "a* NEAR(b)", "\x00", "😀", "col:x", "\ud800", "-", "", "'; DROP"],
    )
    def test_any_text_is_a_legal_term(self, store: DocumentStore, text: str) -> None:
        store.put(KEY, [prepare("a.md", ["apple"])])
        assert isinstance(store.search_words(HERE, [text], limit=5), list)
        assert len(store.search_words(HERE, [text, "appl"], limit=5)) == 1

    def test_filters_apply_to_every_search(self, store: DocumentStore) -> None:
        store.put(
            KEY,
            [prepare("docs/a.md", ["apple pie"], kind="doc"), prepare("src/a.py", ["apple tree"])],
        )
        info = self.embed(store)
        docs = Filter((Condition("path", "glob", "docs/**"), Condition("kind", "eq", "doc")))
        assert self.search_texts(store, "apple", filter=docs) == ["apple pie"]
        assert [row.uri for row in store.documents(HERE, filter=docs)] == ["docs/a.md"]
        (row_id,) = store.vectors.ids_in(HERE, info, filter=docs)
        everything = store.vectors.ids_in(HERE, info)
        assert len(everything) == 2
        assert list(store.vectors.locate(HERE, info, everything, filter=docs)) == [row_id]
        with pytest.raises(InputError):
            store.search_words(
                HERE, ["x"], limit=5, filter=Filter((Condition("nonsense", "eq", 1),))
            )

    # ── scopes ───────────────────────────────────────────────────────────────────────────────────

    def test_no_call_returns_rows_of_another_project(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", ["shared words"])])
        store.put(OTHER_KEY, [prepare("a.md", ["shared words"])])
        info = self.embed(store)
        mine, theirs = (
            store.document_chunks(CollectionKey(project, NOTES), "a.md")[0]
            for project in (PROJECT, OTHER)
        )
        assert mine.text_id != theirs.text_id
        assert [row.id for row in store.search_words(Scope(OTHER), ["share"], limit=9)] == [
            theirs.id
        ]
        assert list(store.chunks(OTHER, [mine.id, theirs.id])) == [theirs.id]
        assert list(store.outlines(OTHER, [mine.id, theirs.id])) == [theirs.id]
        assert store.copies(Scope(OTHER), [mine.text_id]) == {}
        assert store.vectors.pending(Scope(OTHER), info) == []
        assert store.vectors.ids_in(Scope(OTHER), info) == []
        rows = store.vectors.ids_in(HERE, info)
        assert store.vectors.locate(Scope(OTHER), info, rows) == {}
        store.vectors.rows(PROJECT, info).data(rows)  # a store may remember whose texts those were
        assert store.vectors.locate(Scope(OTHER), info, rows) == {}
        assert store.vectors.spaces(Scope(OTHER)) == []
        for foreign in (
            lambda: store.vectors.rows(OTHER, info),
            lambda: store.vectors.put(OTHER, info, []),
        ):
            with pytest.raises(NotFound):
                foreign()
        assert store.vectors.put(PROJECT, info, [(theirs.text_id, b"1234")]) == 0
        store.remove(OTHER_KEY, ["a.md"])
        assert self.search_texts(store, "shared") == ["shared words"]

    def test_a_scope_sees_only_its_collections(self, store: DocumentStore) -> None:
        store.ensure_collection(CollectionKey(PROJECT, "b"))
        store.put(KEY, [prepare("a.md", ["apple"])])
        store.put(CollectionKey(PROJECT, "b"), [prepare("b.md", ["apple"])])
        narrow, both = Scope(PROJECT, ("b",)), store.search_words(HERE, ["appl"], limit=9)
        assert len(both) == 2
        (chunk,) = store.chunks(
            PROJECT, [row.id for row in store.search_words(narrow, ["appl"], limit=9)]
        ).values()
        assert (chunk.collection, chunk.uri) == ("b", "b.md")
        assert store.copies(HERE, [chunk.text_id]) == {
            chunk.text_id: sorted(row.id for row in both)
        }
        assert store.copies(narrow, [chunk.text_id]) == {chunk.text_id: [chunk.id]}
        assert store.search_words(Scope(PROJECT, ("unknown",)), ["appl"], limit=9) == []
        assert store.search_words(Scope(PROJECT, ()), ["appl"], limit=9) == []
