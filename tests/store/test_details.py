"""Details of the SQLite store that the contract does not ask of other stores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ragstone.errors import InputError
from ragstone.protocols import DocumentStore
from ragstone.store.sqlite import SqliteStore
from ragstone.testing.example_graph import FRAMEWORK, SAVE, SONG, TABLE, put_example_graph
from ragstone.testing.store_case import (
    HERE,
    KEY,
    NOTES,
    OTHER_KEY,
    PROJECT,
    SPACE,
    StoreCase,
    prepare,
)
from ragstone.types import (
    DEFAULT_STORAGE,
    Alias,
    CollectionKey,
    Graph,
    Link,
    Mark,
    Node,
    Scope,
    Step,
    Unresolved,
)


class TestDetails(StoreCase):
    def make_store(self, folder: Path) -> DocumentStore:
        return SqliteStore(folder / "home" / "ragstone.db")

    def test_a_shorter_version_of_a_document_removes_the_last_chunks(
        self, store: DocumentStore
    ) -> None:
        store.put(KEY, [prepare("a.md", ["alpha", "beta", "gamma"])])
        store.put(KEY, [prepare("a.md", ["alpha"])])
        assert [row.chunk.text for row in store.document_chunks(KEY, "a.md")] == ["alpha"]
        assert self.search_texts(store, "gamma") == []

    def test_header_and_text_are_kept_apart(self, store: DocumentStore) -> None:
        store.put(
            KEY,
            [prepare("a.md", ["b\nc"], header="a"), prepare("b.md", ["c"], header="a\nb")],
        )
        store.put(KEY, [prepare("c.md", ["a\nb\nc"])])
        chunks = [store.document_chunks(KEY, uri)[0].chunk for uri in ("a.md", "b.md", "c.md")]
        assert [(c.header, c.text) for c in chunks] == [
            ("a", "b\nc"),
            ("a\nb", "c"),
            ("", "a\nb\nc"),
        ]

    def test_of_two_documents_with_one_uri_the_later_is_stored(
        self, store: DocumentStore
    ) -> None:
        results = store.put(KEY, [prepare("a.md", ["old"]), prepare("a.md", ["new"])])
        assert [result.uri for result in results] == ["a.md", "a.md"]
        assert store.text(KEY, "a.md") == "new"
        assert self.search_texts(store, "old") == []

    @pytest.mark.parametrize(
        "value",
        [
            float("nan"),
            float("inf"),
            [1.0, float("-inf")],
            object(),
            b"bytes",
            {1},
            {"deep": {1: "x"}},
            10**5000,
        ],
        ids=["nan", "inf", "list", "object", "bytes", "set", "key", "endless"],
    )
    def test_metadata_that_json_cannot_represent_is_refused(
        self, store: DocumentStore, value: object
    ) -> None:
        good = replace(prepare("b.md", ["x"]), content_hash="h")
        bad = replace(good, document=replace(good.document, metadata={"k": value}))  # type: ignore[dict-item]
        with pytest.raises(InputError):
            store.put(KEY, [prepare("a.md", ["x"]), bad])
        with pytest.raises(InputError):
            store.ensure_collection(CollectionKey(PROJECT, "new"), settings={"k": value})  # type: ignore[dict-item]
        assert store.documents(HERE) == []
        assert [c.name for c in store.collections(PROJECT)] == [NOTES]

    def test_metadata_keeps_every_character(self, store: DocumentStore) -> None:
        about = {"lone \ud800": "\udfff", "nul": "\0", "n": [1, -0.5, True, None, "é"]}
        store.put(KEY, [prepare("a.md", ["x"], metadata=about)])
        stored = store.document(KEY, "a.md")
        assert stored is not None
        assert stored.metadata == about

    def test_pages_and_slides_are_read_as_they_were_stored(self, store: DocumentStore) -> None:
        deck = prepare("deck.pptx", ["first"], marks=(Mark(0, 3, "", "slide"),))
        span = replace(deck.chunks[0].span, page=3, unit="slide")
        store.put(KEY, [replace(deck, chunks=(replace(deck.chunks[0], span=span),))])
        assert store.document_chunks(KEY, "deck.pptx")[0].chunk.span == span
        stored = store.document(KEY, "deck.pptx")
        assert stored is not None
        assert stored.marks == (Mark(0, 3, "", "slide"),)

    def test_limits_and_endless_queries_are_harmless(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", ["apple"])])
        assert store.search_words(HERE, ["appl"], limit=0) == []
        assert len(store.search_words(HERE, ["appl"], limit=10**30)) == 1
        assert store.search_words(HERE, [], limit=5) == []
        assert isinstance(
            store.search_words(HERE, [f"w{n}" for n in range(5000)], limit=5), list
        )

    def test_many_vectors_are_stored_in_one_call(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", [f"text {n}" for n in range(2300)])])
        store.put(OTHER_KEY, [prepare("b.md", ["theirs"])])
        info = store.vectors.ensure_space(KEY, SPACE).id
        texts = [text.text_id for text in store.vectors.pending(HERE, info, limit=3000)]
        assert (
            store.vectors.put(PROJECT, info, [(text, b"odd.") for text in texts[::2]]) == 1150
        )
        rows = [
            (text, b"%04d" % place)
            for place, text in enumerate([*texts, *texts[:9], texts[-1] + 1, 2**70, -1])
        ]
        assert store.vectors.put(PROJECT, info, rows) == 1150
        held = {
            row.text_id: row.data for row in store.vectors.rows(PROJECT, info).after(0, 3000)
        }
        assert held == {
            text: b"%04d" % place if place % 2 else b"odd." for place, text in enumerate(texts)
        }

    def test_spaces_do_not_share_vectors(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", ["x"])])
        self.embed(store)
        other = store.vectors.ensure_space(KEY, replace(SPACE, model="big"), state="building")
        (chunk,), rows = (
            store.document_chunks(KEY, "a.md"),
            store.vectors.rows(PROJECT, other.id),
        )
        assert (rows.by_chunk([chunk.id]), rows.by_text([chunk.text_id])) == ({}, [])
        assert store.vectors.put(PROJECT, other.id, [(chunk.text_id, b"longer by far")]) == 1
        assert rows.by_chunk([chunk.id]) == {chunk.id: b"longer by far"}

    def test_a_space_without_vectors_accepts_another_length(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", ["x", "y"])])
        info = self.embed(store)
        assert store.vectors.remove(PROJECT, info) == 2
        first, second = store.vectors.pending(HERE, info)
        assert store.vectors.put(PROJECT, info, [(first.text_id, b"another length")]) == 1
        with pytest.raises(InputError):
            store.vectors.put(PROJECT, info, [(second.text_id, b"abcd")])
        assert all(finding.ok for finding in store.check())

    def test_only_stored_vectors_decide_the_length(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", ["x"])])
        info = store.vectors.ensure_space(KEY, SPACE).id
        assert store.vectors.put(PROJECT, info, [(10**9, b"the text of which is unknown")]) == 0
        (text,) = store.vectors.pending(HERE, info)
        assert store.vectors.put(PROJECT, info, [(text.text_id, b"abcd")]) == 1
        store.remove(KEY, ["a.md"])
        store.compact()
        store.put(KEY, [prepare("a.md", ["x"])])
        (text,) = store.vectors.pending(HERE, info)
        assert store.vectors.put(PROJECT, info, [(text.text_id, b"another length")]) == 1

    def test_a_vector_is_located_in_its_scope(self, store: DocumentStore) -> None:
        store.ensure_collection(CollectionKey(PROJECT, "b"))
        store.put(KEY, [prepare("a.md", ["apple"])])
        store.put(CollectionKey(PROJECT, "b"), [prepare("b.md", ["apple"])])
        info = self.embed(store)
        (row,) = store.vectors.ids_in(HERE, info)
        for name, uri in ((NOTES, "a.md"), ("b", "b.md")):
            (chunk,) = store.document_chunks(CollectionKey(PROJECT, name), uri)
            assert list(store.vectors.rows(PROJECT, info).data([row])) == [row]
            assert store.vectors.locate(Scope(PROJECT, (name,)), info, [row]) == {row: chunk.id}

    def test_a_project_with_an_impossible_name_is_empty(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", ["apple"])])
        (chunk,) = store.document_chunks(KEY, "a.md")
        for name in ("", "\0", "\ud800", "unknown"):
            assert not store.chunks(name, [chunk.id])
            assert not store.outlines(name, [chunk.id])

    def test_without_a_storage_the_space_of_another_collection_is_used(
        self, store: DocumentStore
    ) -> None:
        store.ensure_collection(CollectionKey(PROJECT, "b"))
        number = store.vectors.ensure_space(KEY, SPACE, storage="int16").id
        assert store.vectors.ensure_space(CollectionKey(PROJECT, "b"), SPACE).id == number
        assert store.vectors.ensure_space(OTHER_KEY, SPACE).storage == DEFAULT_STORAGE
        store.ensure_collection(CollectionKey(PROJECT, "c"))
        own = store.vectors.ensure_space(CollectionKey(PROJECT, "c"), SPACE, storage="int8").id
        assert store.vectors.ensure_space(CollectionKey(PROJECT, "c"), SPACE).id == own

    def test_without_a_storage_unused_vectors_are_used_again(
        self, store: DocumentStore
    ) -> None:
        store.put(KEY, [prepare("a.md", ["x", "y"])])
        few = store.vectors.ensure_space(KEY, SPACE, storage="int8", state="building").id
        number = store.vectors.ensure_space(KEY, SPACE, storage="int16").id
        first, second = (text.text_id for text in store.vectors.pending(HERE, number))
        store.vectors.put(PROJECT, number, [(first, b"1234"), (second, b"5678")])
        store.vectors.put(PROJECT, few, [(first, b"12")])
        store.drop_collection(KEY)
        store.ensure_collection(KEY)
        store.put(KEY, [prepare("a.md", ["x", "y"])])
        again = store.vectors.ensure_space(KEY, SPACE)
        assert (again.id, again.storage, again.embedded) == (number, "int16", 2)
        other = store.vectors.ensure_space(KEY, replace(SPACE, model="big"), state="building")
        store.vectors.activate_space(KEY, other.id)
        assert store.vectors.ensure_space(KEY, SPACE, state="building").id == number

    def test_without_a_storage_an_empty_unused_space_is_ignored(
        self, store: DocumentStore
    ) -> None:
        store.vectors.ensure_space(KEY, SPACE, storage="int16")
        store.drop_collection(KEY)
        store.ensure_collection(KEY)
        assert store.vectors.ensure_space(KEY, SPACE).storage == DEFAULT_STORAGE

    def test_an_intact_store_passes_every_check(self, store: DocumentStore) -> None:
        store.put(
            KEY, [prepare("a.md", ["x", "y"], metadata={"k": ("v", 1)}), prepare("b.md", [])]
        )
        self.embed(store)
        store.remove(KEY, ["b.md"])
        findings = store.check()
        assert findings
        assert [finding for finding in findings if not finding.ok] == []

    def test_ids_are_never_reused(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", ["apple"])])
        info = self.embed(store)
        chunk, (row,) = (
            store.document_chunks(KEY, "a.md")[0],
            store.vectors.rows(PROJECT, info).after(0, 9),
        )
        store.remove(KEY, ["a.md"])
        store.compact()
        store.put(KEY, [prepare("a.md", ["banana"])])
        self.embed(store)
        later, (later_row,) = (
            store.document_chunks(KEY, "a.md")[0],
            store.vectors.rows(PROJECT, info).after(0, 9),
        )
        assert later.id > chunk.id
        assert later.text_id > chunk.text_id
        assert later_row.id > row.id

    def test_graphs_keep_every_character(self, store: DocumentStore) -> None:
        odd = "lone \ud800 \0 é"
        part = Graph(
            nodes=(Node(odd, odd, odd, odd, 1, 2, odd, odd, odd, odd, {odd: odd}),),
            links=(Link(odd, odd, odd + "2", odd, 1, attributes={odd: [odd]}),),
            aliases=(Alias(odd, odd, odd, odd),),
            unresolved=(Unresolved(odd, odd, odd, odd, odd, 1, odd),),
        )
        store.graph.put(KEY, {odd: part}, stamps={odd: odd})
        assert set(store.graph.put(KEY, {odd: part}, stamps={odd: odd}).values()) == {0}
        assert store.graph.owner_stamps(KEY) == {odd: odd}
        assert (
            store.graph.nodes(HERE, keys=[odd])
            == store.graph.nodes(HERE, uris=[odd])
            == list(part.nodes)
        )
        assert (
            store.graph.links(HERE, [odd])
            == store.graph.links(HERE, [odd + "2"], back=True)
            == list(part.links)
        )
        assert store.graph.find_aliases(HERE, [odd.upper()]) == list(part.aliases)
        assert (
            store.graph.unresolved(HERE, name=odd)
            == store.graph.unresolved(HERE, sources=[odd])
            == list(part.unresolved)
        )
        (path,) = store.graph.walk(HERE, [odd], [Step(())])
        assert [node.key for node in path.nodes] == [odd, odd + "2"]

    def test_two_nodes_with_one_key_in_a_graph_are_merged(self, store: DocumentStore) -> None:
        plain, located = (
            Node(SONG, "class", "Song", "s.php", 1),
            Node(SONG, "model", "Song", framework="f"),
        )
        store.graph.put(KEY, {"a": Graph(nodes=(plain, located))})
        assert store.graph.nodes(HERE) == [
            Node(SONG, "model", "Song", "s.php", 1, framework="f")
        ]

    def test_a_step_ends_only_at_the_kinds_it_names(self, store: DocumentStore) -> None:
        put_example_graph(store)
        assert store.graph.walk(HERE, [SAVE], [Step(("CALLS",), to=("class",))]) == []
        assert (
            len(store.graph.walk(HERE, [SAVE], [Step(("CALLS",), to=("model", "class"))])) == 1
        )

    def test_a_walk_without_steps_returns_the_anchor(self, store: DocumentStore) -> None:
        put_example_graph(store)
        (path,) = store.graph.walk(HERE, [TABLE, "no"], [])
        assert (path.nodes, path.links) == ((FRAMEWORK.nodes[2],), ())
