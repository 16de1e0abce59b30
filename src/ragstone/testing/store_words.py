# ruff: noqa: D102 (a test's name is its sentence)
"""Tests of searches by words and of filters; see `ragstone.testing.store` for how to use them."""

from __future__ import annotations

import pytest

from ragstone.errors import InputError
from ragstone.protocols import DocumentStore, VectorStore
from ragstone.testing.store_case import (
    HERE,
    KEY,
    OTHER_KEY,
    StoreCase,
    prepare,
    put_text,
)
from ragstone.text import query_terms
from ragstone.types import Condition, Filter, Scope

DOCS = Filter((Condition("path", "glob", "docs/**"), Condition("kind", "eq", "doc")))
DOCUMENTS = (
    prepare("docs/a.md", ["apple pie"], kind="doc"),
    prepare("src/a.py", ["apple tree"]),
)


class StoreWordsContract(StoreCase):
    """Tests of `protocols.DocumentReader` about words and filters."""

    def test_the_better_match_comes_first(self, store: DocumentStore) -> None:
        filler = [prepare(f"{n}.md", [f"nothing of note in number {n}"]) for n in range(20)]
        both = prepare("a", ["a fox and a dog"])
        fox_only = prepare("b", ["only a fox, no cat at all"])
        store.put(KEY, [*filler, both, fox_only])
        texts = self.search_texts(store, "fox dog")
        assert texts[0] == "a fox and a dog"

    def test_rows_are_ordered_by_score_and_the_same_each_time(
        self, store: DocumentStore
    ) -> None:
        store.put(KEY, [prepare(f"{n}.md", ["fox " * n + "dog"]) for n in range(20)])
        terms = query_terms("fox dog")
        first = store.search_words(HERE, terms, limit=50)
        second = store.search_words(HERE, terms, limit=50)
        scores = [row.score for row in first]
        assert scores == sorted(scores, reverse=True)
        assert second == first

    @pytest.mark.parametrize("query", ["charge card", "billing", "invoice", "chargeCard"])
    def test_symbols_headers_and_paths_are_found(
        self, store: DocumentStore, query: str
    ) -> None:
        store.put(
            KEY, [prepare("src/invoice.py", ["pass"], header="Billing", symbol="chargeCard")]
        )
        assert self.search_texts(store, query) == ["pass"]

    def test_the_text_beside_a_document_is_searched_but_not_shown(
        self,
        store: DocumentStore,
    ) -> None:
        store.put(KEY, [prepare("turn", ["yes, gladly"], beside="shall we go sailing")])
        assert self.search_texts(store, "sailing") == ["yes, gladly"]
        assert store.text(KEY, "turn") == "yes, gladly"

    def test_a_new_text_beside_a_document_replaces_the_old_one(
        self, store: DocumentStore
    ) -> None:
        store.put(KEY, [prepare("turn", ["yes, gladly"], beside="shall we go sailing")])
        store.put(KEY, [prepare("turn", ["yes, gladly"], beside="shall we go hiking")])
        assert self.search_texts(store, "sailing") == []
        assert self.search_texts(store, "hiking") == ["yes, gladly"]
        assert all(finding.ok for finding in store.check())
        store.remove(KEY, ["turn"])
        assert self.search_texts(store, "hiking") == []

    @pytest.mark.parametrize(
        "text",
        ['"', "AND OR NOT", "a* NEAR(b)", "\x00", "😀", "col:x", "\ud800", "-", "", "'; DROP"],
    )
    def test_any_text_is_a_legal_term(self, store: DocumentStore, text: str) -> None:
        put_text(store, "a.md", "apple")
        store.search_words(HERE, [text], limit=5)
        rows = store.search_words(HERE, [text, "appl"], limit=5)
        assert len(rows) == 1

    def test_known_terms_are_those_of_chunks_in_scope(self, store: DocumentStore) -> None:
        put_text(store, "a.md", "apple")
        put_text(store, "b.md", "pear", key=OTHER_KEY)
        terms = ["appl", "pear", "plum", "appl pear", '"', "\x00", "\ud800", ""]
        assert store.known_terms(HERE, terms) == {"appl"}
        assert store.known_terms(OTHER_KEY.scope, terms) == {"pear"}
        assert store.known_terms(Scope("missing"), terms) == set()
        store.remove(KEY, ["a.md"])
        assert store.known_terms(HERE, terms) == set()

    def test_a_term_is_as_rare_as_few_chunks_in_scope_have_it(
        self, store: DocumentStore
    ) -> None:
        for number in range(4):
            put_text(store, f"{number}.md", "apple pie" if number else "apple plum")
        before = store.term_rarities(HERE, ["appl", "pie", "plum", "pear"])
        assert before["appl"] < before["pie"] < before["plum"] < before["pear"]
        put_text(store, "other.md", "pear plum pie", key=OTHER_KEY)
        assert store.term_rarities(HERE, list(before)) == before
        put_text(store, "more.md", "a pear")
        assert store.term_rarities(HERE, ["pear"])["pear"] < before["pear"]
        assert store.term_rarities(Scope("missing"), []) == {}

    # ── filters ───────────────────────────────────────────────────────────────────────────────────

    def test_a_filter_limits_words_and_documents(self, store: DocumentStore) -> None:
        store.put(KEY, DOCUMENTS)
        uris = [row.uri for row in store.documents(HERE, filter=DOCS)]
        assert self.search_texts(store, "apple", filter=DOCS) == ["apple pie"]
        assert uris == ["docs/a.md"]

    def test_a_filter_limits_vectors(self, store: DocumentStore, vectors: VectorStore) -> None:
        store.put(KEY, DOCUMENTS)
        space = self.embed(store)
        all_rows = vectors.ids_in(HERE, space)
        filtered = vectors.ids_in(HERE, space, filter=DOCS)
        located = vectors.locate(HERE, space, all_rows, filter=DOCS)
        assert len(all_rows) == 2
        assert len(filtered) == 1
        assert list(located) == filtered

    def test_a_filter_on_an_unknown_field_is_refused(self, store: DocumentStore) -> None:
        nonsense = Filter((Condition("nonsense", "eq", 1),))
        with pytest.raises(InputError):
            store.search_words(HERE, ["x"], limit=5, filter=nonsense)
