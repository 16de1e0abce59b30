# ruff: noqa: D102 (a test's name is its sentence)
"""Tests of documents and chunks; see `ragstone.testing.store` for how to use them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragstone.errors import InputError, NotFound
from ragstone.protocols import DocumentStore
from ragstone.testing.store_case import (
    HERE,
    KEY,
    MISSING_KEY,
    NOTES,
    OTHER_KEY,
    PROJECT,
    SECOND_KEY,
    StoreCase,
    prepare,
    put_text,
)
from ragstone.types import (
    ChunkOutline,
    Condition,
    DocumentColumn,
    DocumentOrder,
    Filter,
    PreparedDocument,
    PutResult,
    Scope,
    Stamp,
    StoredChunk,
)

URI = "docs/ä.md"
STAMP = Stamp(3, 10**18, 10**18 + 1, 2**64 - 1)
OLD_STAMP = Stamp(1, 1, 1, 1)


def full_document() -> PreparedDocument:
    """Return a document of two chunks with a value in every field."""
    return prepare(
        URI,
        ["Über\nuns", "日本 text"],
        source="files",
        stamp=STAMP,
        header="docs > ä",
        symbol="f",
        kind="doc",
        language="markdown",
        title="T",
        metadata={"author": "x", "tags": ["a", "b"], "n": 1.5},
    )


def expected_outline(row: StoredChunk) -> ChunkOutline:
    """Return the outline that a stored chunk must have."""
    chunk = row.chunk
    return ChunkOutline(
        id=row.id,
        text_id=row.text_id,
        collection=row.collection,
        uri=row.uri,
        document_kind=row.document_kind,
        order=chunk.order,
        symbol=chunk.symbol,
        start=chunk.span.start,
        end=chunk.span.end,
        line_start=chunk.span.line_start,
        line_end=chunk.span.line_end,
        page=chunk.span.page,
        page_label=chunk.span.page_label,
        unit=chunk.span.unit,
    )


class StoreDocumentsContract(StoreCase):
    """Tests of `protocols.DocumentStore` about documents and chunks."""

    # ── reading ───────────────────────────────────────────────────────────────────────────────────

    def test_a_document_keeps_every_field(self, store: DocumentStore) -> None:
        prepared = full_document()
        store.put(KEY, [prepared])
        stored = store.document(KEY, URI)
        assert stored is not None
        assert (stored.collection, stored.uri) == (NOTES, URI)
        assert (stored.kind, stored.language, stored.title) == ("doc", "markdown", "T")
        assert stored.metadata == prepared.document.metadata
        assert (stored.source, stored.stamp) == ("files", STAMP)
        assert stored.hash == prepared.document.hash
        assert stored.chunks == 2
        assert stored.characters == len(prepared.document.text)

    def test_a_text_is_read_as_it_was_stored(self, store: DocumentStore) -> None:
        prepared = full_document()
        store.put(KEY, [prepared])
        text = prepared.document.text
        assert store.text(KEY, URI) == text
        assert store.slice(KEY, URI, (2, 12)) == text[2:12]

    def test_chunks_are_read_as_they_were_stored(self, store: DocumentStore) -> None:
        prepared = full_document()
        store.put(KEY, [prepared])
        rows = store.document_chunks(KEY, URI)
        chunks = tuple(row.chunk for row in rows)
        documents = {(row.uri, row.title, row.document_kind) for row in rows}
        by_id = store.chunks(PROJECT, [row.id for row in rows])
        assert chunks == prepared.chunks
        assert documents == {(URI, "T", "doc")}
        assert by_id == {row.id: row for row in rows}

    def test_outlines_match_the_chunks(self, store: DocumentStore) -> None:
        store.put(KEY, [full_document()])
        rows = store.document_chunks(KEY, URI)
        outlines = store.outlines(PROJECT, [row.id for row in rows])
        assert outlines == {row.id: expected_outline(row) for row in rows}

    def test_missing_documents_are_none_or_empty(self, store: DocumentStore) -> None:
        assert store.document(KEY, "x") is None
        assert store.text(MISSING_KEY, "x") is None
        assert store.slice(KEY, "x", (0, 5)) == ""
        assert store.document_chunks(KEY, "x") == []
        assert store.remove(KEY, ["x"]) == 0
        assert store.chunks(PROJECT, [1, 10**30, -5]) == {}

    def test_documents_are_listed_in_pages(self, store: DocumentStore) -> None:
        store.ensure_collection(SECOND_KEY)
        store.put(SECOND_KEY, [prepare(uri, ["text"]) for uri in ("2", "1")])
        store.put(KEY, [prepare(uri, ["text"]) for uri in ("z", "a", "é")])
        listed = []
        after = None
        while page := store.documents(HERE, after=after, limit=2):
            after = (page[-1].collection, page[-1].uri)
            listed += [(row.collection, row.uri) for row in page]
        notes = [(NOTES, "a"), (NOTES, "z"), (NOTES, "é")]
        assert listed == [*notes, ("second", "1"), ("second", "2")]

    def test_documents_are_listed_for_a_scope_and_a_limit(self, store: DocumentStore) -> None:
        store.ensure_collection(SECOND_KEY)
        put_text(store, "b", "text", key=SECOND_KEY)
        put_text(store, "a", "text")
        uris = [row.uri for row in store.documents(SECOND_KEY.scope)]
        assert uris == ["b"]
        assert store.documents(HERE, limit=0) == []

    def test_documents_are_sorted_by_a_column(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("b", ["long text", "two"], kind="doc")])
        store.put(KEY, [prepare("a", ["x"], kind="code"), prepare("c", ["y"], kind="Doc")])
        put_text(store, "z", "text", key=OTHER_KEY)

        def uris(column: DocumentColumn, *, descending: bool = False) -> str:
            order = DocumentOrder(column, descending)
            return "".join(row.uri for row in store.documents(KEY.scope, order=order))

        assert (uris("uri"), uris("uri", descending=True)) == ("abc", "cba")
        assert (uris("kind"), uris("kind", descending=True)) == ("cab", "bac")
        assert (uris("chunks"), uris("chunks", descending=True)) == ("acb", "bca")
        assert (uris("characters"), uris("characters", descending=True)) == ("acb", "bca")
        assert uris("added_at")[0] == "b" and uris("added_at", descending=True)[-1] == "b"

    def test_sorted_documents_are_filtered_and_listed_in_parts(
        self, store: DocumentStore
    ) -> None:
        kinds = {"a": "doc", "b": "code", "c": "doc", "d": "doc"}
        store.put(KEY, [prepare(uri, ["text"], kind=kind) for uri, kind in kinds.items()])
        store.ensure_collection(SECOND_KEY)
        store.put(SECOND_KEY, [prepare(uri, ["text"], kind="doc") for uri in ("x", "y", "z")])
        order = DocumentOrder("chunks", descending=True)
        docs = Filter((Condition("kind", "eq", "doc"),))
        listed = []
        for skip in (0, 2, 4, 6):
            page = store.documents(HERE, filter=docs, order=order, skip=skip, limit=2)
            listed.append("".join(row.uri for row in page))
        assert listed == ["dc", "az", "yx", ""]
        after = store.documents(HERE, after=(NOTES, "b"), order=order, skip=1)
        assert [row.uri for row in after] == ["c", "z", "y", "x"]

    # ── writing ───────────────────────────────────────────────────────────────────────────────────

    def test_storing_the_same_document_again_changes_nothing(
        self, store: DocumentStore
    ) -> None:
        prepared = prepare("a.md", ["one", "two"], metadata={"k": (1, 2)})
        (first,) = store.put(KEY, [prepared])
        generation = store.generation(HERE)
        document = store.document(KEY, "a.md")
        chunks = store.document_chunks(KEY, "a.md")
        (second,) = store.put(KEY, [prepared])
        assert first == PutResult("a.md", added=2, kept=0, removed=0)
        assert second == PutResult("a.md", added=0, kept=2, removed=0)
        assert store.generation(HERE) == generation
        assert store.document(KEY, "a.md") == document
        assert store.document_chunks(KEY, "a.md") == chunks

    def test_unchanged_chunks_keep_their_ids(self, store: DocumentStore) -> None:
        def ids_by_text() -> dict[str, int]:
            rows = store.document_chunks(KEY, "a.md")
            return {row.chunk.text: row.id for row in rows}

        put_text(store, "a.md", "alpha", "beta", "gamma")
        before = ids_by_text()
        (result,) = store.put(KEY, [prepare("a.md", ["delta", "gamma", "alpha"])])
        after = ids_by_text()
        assert result == PutResult("a.md", added=1, kept=2, removed=1)
        assert after["alpha"] == before["alpha"]
        assert after["gamma"] == before["gamma"]

    def test_a_changed_document_has_its_new_text_only(self, store: DocumentStore) -> None:
        put_text(store, "a.md", "alpha", "beta", "gamma")
        put_text(store, "a.md", "delta", "gamma", "alpha")
        assert store.text(KEY, "a.md") == "delta\n\ngamma\n\nalpha"
        assert self.search_texts(store, "beta") == []
        assert self.search_texts(store, "gamma") == ["gamma"]

    def test_a_chunk_that_is_no_slice_is_refused_with_its_batch(
        self, store: DocumentStore
    ) -> None:
        good = prepare("a.md", ["fine"])
        bad = prepare("b.md", ["right"])
        wrong_chunk = replace(bad.chunks[0], text="wrong")
        with pytest.raises(InputError):
            store.put(KEY, [good, replace(bad, chunks=(wrong_chunk,))])
        assert store.document(KEY, "a.md") is None

    def test_storing_into_a_missing_collection_is_refused(self, store: DocumentStore) -> None:
        with pytest.raises(NotFound):
            store.put(MISSING_KEY, [prepare("a.md", ["x"])])

    # ── files of a source ─────────────────────────────────────────────────────────────────────────

    def test_documents_are_counted_by_source(self, store: DocumentStore) -> None:
        pasted, *files = [
            prepare("a", ["x"]),
            prepare("b", ["x"], source="files"),
            prepare("c", ["x"], source="files"),
        ]
        store.put(KEY, [pasted, *files])
        put_text(store, "a", "text of another project", key=OTHER_KEY)
        assert store.count_sources(HERE) == {"": 1, "files": 2}
        assert store.count_sources(Scope(PROJECT, ("missing",))) == {}

    def test_known_files_are_those_of_one_source(self, store: DocumentStore) -> None:
        prepared = prepare("a.md", ["x"], source="files", stamp=STAMP)
        store.put(KEY, [prepared, prepare("b.md", ["x"], source="other")])
        files = store.known_files(KEY, "files")
        assert list(files) == ["a.md"]
        assert files["a.md"].content_hash == prepared.content_hash
        assert files["a.md"].stamp == STAMP
        assert files["a.md"].recipe == "pieces"

    def test_known_files_can_be_limited_to_files_and_folders(
        self, store: DocumentStore
    ) -> None:
        def known(*uris: str, below: bool = False) -> list[str]:
            return sorted(store.known_files(KEY, "files", uris=uris, below=below))

        uris = ["a", "a.md", "a/b", "a/b/c", "a0", "é/1", "é/2"]
        store.put(KEY, [prepare(uri, ["apple"], source="files") for uri in uris])
        put_text(store, "a/prepared", "apple")
        assert known("a", "a/b", "missing") == ["a", "a/b"]
        assert known("a", below=True) == ["a", "a/b", "a/b/c"]
        assert known("é", "missing", below=True) == ["é/1", "é/2"]
        assert known() == []

    def test_touch_changes_only_stamps_of_its_source(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a", ["text"], source="a", stamp=OLD_STAMP)])
        store.put(KEY, [prepare("b", ["text"], source="b", stamp=OLD_STAMP)])
        store.touch(KEY, "a", {"a": STAMP, "b": STAMP, "missing": STAMP})
        assert store.known_files(KEY, "a")["a"].stamp == STAMP
        assert store.known_files(KEY, "b")["b"].stamp == OLD_STAMP
