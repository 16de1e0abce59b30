# ruff: noqa: D102 (a test's name is its sentence)
"""Tests of the documents of a store. Subclass them in your tests, with a constructor:

    class TestMyStore(StoreContract, StoreWordsContract, StoreVectorsContract):
        def make_store(self, folder: Path) -> DocumentStore:
            return MyStore(folder / "mine.db")

The other contracts are in `store_words`, `store_vectors`, `store_graph` and `store_state` of this package.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ragstone.errors import InputError, NotFound
from ragstone.protocols import DocumentStore
from ragstone.text import query_terms
from ragstone.types import (
    Chunk,
    CollectionKey,
    Document,
    Filter,
    PreparedDocument,
    Scope,
    Space,
    Span,
    Stamp,
)

PROJECT, OTHER, NOTES = "one", "two", "notes"
SPACE = Space("fake", "tiny", 4)
HERE = Scope(PROJECT)
KEY, OTHER_KEY = CollectionKey(PROJECT, NOTES), CollectionKey(OTHER, NOTES)


def prepare(
    uri: str,
    pieces: Sequence[str],
    *,
    joint: str = "\n\n",
    source: str = "",
    stamp: Stamp | None = None,
    **about: object,
) -> PreparedDocument:
    """Return a document with one chunk for each piece, ready to be stored."""
    header, symbol = str(about.pop("header", "")), str(about.pop("symbol", ""))
    chunks, start, byte, line = [], 0, 0, 1
    for order, piece in enumerate(pieces):
        end, byte_end = start + len(piece), byte + len(piece.encode("utf-8", "surrogatepass"))
        line_end = line + piece.count("\n")
        span = Span(start, end, byte, byte_end, line, line_end)
        chunks.append(Chunk(piece, span, order, symbol=symbol, header=header))
        start, byte, line = (
            end + len(joint),
            byte_end + len(joint.encode()),
            line_end + joint.count("\n"),
        )
    document = replace(Document(uri, joint.join(pieces)), **about)  # type: ignore[arg-type]  # fields by name
    return PreparedDocument(
        document,
        tuple(chunks),
        source=source,
        stamp=stamp,
        recipe="pieces",
        content_hash=document.hash,
    )


class StoreCase:
    """Creates, fills and searches a store for the tests."""

    @abstractmethod
    def make_store(self, folder: Path) -> DocumentStore:
        """Return a new store; it may keep its files in the folder."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[DocumentStore]:
        """Return an empty store with one collection in each of two projects."""
        store = self.make_store(tmp_path)
        store.ensure_collection(KEY)
        store.ensure_collection(OTHER_KEY)
        yield store
        store.close()

    def search_texts(
        self, store: DocumentStore, query: str, scope: Scope = HERE, filter: Filter | None = None
    ) -> list[str]:
        """Return the texts that a search by words finds, best first."""
        ids = [
            row.id for row in store.search_words(scope, query_terms(query), limit=50, filter=filter)
        ]
        chunks = store.chunks(scope.project, ids)
        return [chunks[number].chunk.text for number in ids]

    def embed(self, store: DocumentStore, space: Space = SPACE, collection: str = NOTES) -> int:
        """Store a vector for every pending text of a collection, and return the id of the space."""
        info = store.vectors.ensure_space(CollectionKey(PROJECT, collection), space)
        rows = store.vectors.pending(Scope(PROJECT, (collection,)), info.id)
        store.vectors.put(
            PROJECT, info.id, [(row.text_id, row.text_id.to_bytes(4, "big")) for row in rows]
        )
        return info.id


class StoreContract(StoreCase):
    """Tests of `protocols.DocumentStore` about collections and documents."""

    # ── collections ───────────────────────────────────────────────────────────────────────────────

    def test_a_collection_is_created_once(self, store: DocumentStore) -> None:
        first = store.ensure_collection(
            CollectionKey(PROJECT, "a"),
            description="d",
            settings={"size": 3, "on": True, "x": None},
        )
        assert (first.name, first.project, first.description) == ("a", PROJECT, "d")
        assert first.settings == {"size": 3, "on": True, "x": None}
        assert (
            store.ensure_collection(
                CollectionKey(PROJECT, "a"), description="other", settings={"size": 4}
            )
            == first
        )
        assert store.collections(PROJECT)[0] == first
        assert store.ensure_collection(KEY, settings={"size": 4}).settings == {}
        assert [c.name for c in store.collections(PROJECT)] == ["a", NOTES]

    def test_projects_do_not_share_collections(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", ["apple"])])
        assert store.collections(PROJECT)[0].uuid != store.collections(OTHER)[0].uuid
        assert store.collections(OTHER)[0].documents == 0
        assert store.collections("nobody") == []

    def test_counts_follow_every_change(self, store: DocumentStore) -> None:
        def counts() -> tuple[int, int]:
            collection = store.collections(PROJECT)[0]
            return collection.documents, collection.chunks

        store.put(KEY, [prepare("a.md", ["x", "y", "z"]), prepare("b.md", ["x"])])
        assert counts() == (2, 4)
        store.put(KEY, [prepare("a.md", ["x"])])
        assert counts() == (2, 2)
        store.remove(KEY, ["b.md"])
        assert counts() == (1, 1)
        assert store.collections(PROJECT)[0].updated_at is not None

    def test_dropping_a_collection_removes_only_its_documents(self, store: DocumentStore) -> None:
        store.ensure_collection(CollectionKey(PROJECT, "b"))
        store.put(KEY, [prepare("a.md", ["apple pie"]), prepare("b.md", ["apple tart"])])
        store.put(CollectionKey(PROJECT, "b"), [prepare("a.md", ["apple juice"])])
        assert store.drop_collection(KEY) == 2
        assert self.search_texts(store, "apple") == ["apple juice"]
        assert [c.name for c in store.collections(PROJECT)] == ["b"]
        with pytest.raises(NotFound):
            store.drop_collection(KEY)
        assert store.drop_collection(CollectionKey(PROJECT, "b")) == 1
        assert self.search_texts(store, "apple") == []

    # ── documents ─────────────────────────────────────────────────────────────────────────────────

    def test_a_document_is_read_as_it_was_stored(self, store: DocumentStore) -> None:
        stamp = Stamp(3, 10**18, 10**18 + 1, 2**64 - 1)
        prepared = prepare(
            "docs/ä.md", ["Über\nuns", "日本 text"], source="files", stamp=stamp, header="docs > ä", symbol="f",
            kind="doc", language="markdown", title="T", metadata={"author": "x", "tags": ["a", "b"], "n": 1.5},
        )  # fmt: skip
        (result,) = store.put(KEY, [prepared])
        assert (result.uri, result.added, result.kept, result.removed) == ("docs/ä.md", 2, 0, 0)
        stored = store.document(KEY, "docs/ä.md")
        assert stored is not None
        assert (stored.collection, stored.kind, stored.language, stored.title) == (
            NOTES,
            "doc",
            "markdown",
            "T",
        )
        assert (stored.metadata, stored.source, stored.stamp) == (
            prepared.document.metadata,
            "files",
            stamp,
        )
        assert (stored.hash, stored.chunks, stored.characters) == (
            prepared.document.hash,
            2,
            len(prepared.document.text),
        )
        assert store.text(KEY, "docs/ä.md") == prepared.document.text
        assert store.slice(KEY, "docs/ä.md", (2, 12)) == prepared.document.text[2:12]
        rows = store.document_chunks(KEY, "docs/ä.md")
        assert tuple(row.chunk for row in rows) == prepared.chunks
        assert all(
            (row.uri, row.title, row.document_kind) == ("docs/ä.md", "T", "doc") for row in rows
        )
        assert store.chunks(PROJECT, [row.id for row in rows]) == {row.id: row for row in rows}
        outlines = store.outlines(PROJECT, [row.id for row in rows])
        expected = [
            (chunk.order, chunk.symbol, chunk.span.start, chunk.span.end)
            for chunk in prepared.chunks
        ]
        assert [outlines[row.id][5:] for row in rows] == expected
        assert all(
            outline[:5] == (outline.id, outline.text_id, NOTES, "docs/ä.md", "doc")
            for outline in outlines.values()
        )
        assert [outlines[row.id].text_id for row in rows] == [row.text_id for row in rows]

    def test_storing_the_same_document_again_changes_nothing(self, store: DocumentStore) -> None:
        prepared = prepare("a.md", ["one", "two"], metadata={"k": (1, 2)})
        store.put(KEY, [prepared])
        before = (
            store.generation(HERE),
            store.document(KEY, "a.md"),
            store.document_chunks(KEY, "a.md"),
        )
        (result,) = store.put(KEY, [prepared])
        assert (result.added, result.kept, result.removed) == (0, 2, 0)
        assert before == (
            store.generation(HERE), store.document(KEY, "a.md"), store.document_chunks(KEY, "a.md")
        )  # fmt: skip

    def test_unchanged_chunks_keep_their_ids(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", ["alpha", "beta", "gamma"])])
        before = {row.chunk.text: row.id for row in store.document_chunks(KEY, "a.md")}
        (result,) = store.put(KEY, [prepare("a.md", ["delta", "gamma", "alpha"])])
        after = {row.chunk.text: row.id for row in store.document_chunks(KEY, "a.md")}
        assert (result.added, result.kept, result.removed) == (1, 2, 1)
        assert (after["alpha"], after["gamma"]) == (before["alpha"], before["gamma"])
        assert store.text(KEY, "a.md") == "delta\n\ngamma\n\nalpha"
        assert (self.search_texts(store, "beta"), self.search_texts(store, "gamma")) == (
            [],
            ["gamma"],
        )

    def test_a_chunk_that_is_no_slice_is_refused_with_the_whole_batch(
        self, store: DocumentStore
    ) -> None:
        good, bad = prepare("a.md", ["fine"]), prepare("b.md", ["right"])
        bad = replace(bad, chunks=(replace(bad.chunks[0], text="wrong"),))
        with pytest.raises(InputError):
            store.put(KEY, [good, bad])
        assert store.document(KEY, "a.md") is None

    def test_storing_into_a_missing_collection_is_refused(self, store: DocumentStore) -> None:
        with pytest.raises(NotFound):
            store.put(CollectionKey(PROJECT, "nowhere"), [prepare("a.md", ["x"])])

    def test_missing_documents_are_none_or_empty(self, store: DocumentStore) -> None:
        assert store.document(KEY, "x") is None
        assert store.text(CollectionKey(PROJECT, "nowhere"), "x") is None
        assert store.slice(KEY, "x", (0, 5)) == ""
        assert store.document_chunks(KEY, "x") == []
        assert store.remove(KEY, ["x"]) == 0
        assert store.chunks(PROJECT, [1, 10**30, -5]) == {}

    def test_documents_are_listed_in_pages(self, store: DocumentStore) -> None:
        store.ensure_collection(CollectionKey(PROJECT, "b"))
        for collection, uris in (("b", ["2", "1"]), (NOTES, ["z", "a", "é"])):
            store.put(CollectionKey(PROJECT, collection), [prepare(uri, ["text"]) for uri in uris])
        seen, after = [], None
        while page := store.documents(HERE, after=after, limit=2):
            after = (page[-1].collection, page[-1].uri)
            seen += [(row.collection, row.uri) for row in page]
        assert seen == [("b", "1"), ("b", "2"), (NOTES, "a"), (NOTES, "z"), (NOTES, "é")]
        assert [row.uri for row in store.documents(Scope(PROJECT, ("b",)))] == ["1", "2"]
        assert store.documents(HERE, limit=0) == []

    def test_known_files_can_be_limited_to_files_and_folders(self, store: DocumentStore) -> None:
        uris = ["a", "a.md", "a/b", "a/b/c", "a0", "é/1", "é/2"]
        store.put(KEY, [prepare(uri, ["apple"], source="files") for uri in uris])
        store.put(KEY, [prepare("a/prepared", ["apple"])])
        assert sorted(store.known_files(KEY, "files", uris=["a", "a/b", "no"])) == [
            "a",
            "a/b",
        ]
        assert sorted(store.known_files(KEY, "files", uris=["a"], below=True)) == [
            "a",
            "a/b",
            "a/b/c",
        ]
        assert sorted(store.known_files(KEY, "files", uris=["é", "no"], below=True)) == [
            "é/1",
            "é/2",
        ]
        assert store.known_files(KEY, "files", uris=[]) == {}

    def test_known_files_are_those_of_one_source(self, store: DocumentStore) -> None:
        stamp = Stamp(1, 2, 3, 4)
        prepared = prepare("a.md", ["x"], source="files", stamp=stamp)
        store.put(KEY, [prepared, prepare("b.md", ["x"], source="other")])
        files = store.known_files(KEY, "files")
        assert list(files) == ["a.md"]
        assert (files["a.md"].content_hash, files["a.md"].stamp, files["a.md"].recipe) == (
            prepared.content_hash,
            stamp,
            "pieces",
        )

    def test_touch_changes_only_stamps_of_its_source(self, store: DocumentStore) -> None:
        store.put(
            KEY,
            [prepare(uri, [uri], source=uri, stamp=Stamp(1, 1, 1, 1)) for uri in ("a", "b")],
        )
        new = Stamp(2, 2, 2, 2)
        store.touch(KEY, "a", {"a": new, "b": new, "missing": new})
        assert store.known_files(KEY, "a")["a"].stamp == new
        assert store.known_files(KEY, "b")["b"].stamp == Stamp(1, 1, 1, 1)

    def test_the_generation_changes_with_every_write_and_only_then(
        self, store: DocumentStore
    ) -> None:
        seen = [store.generation(HERE)]
        for write in (
            lambda: store.put(KEY, [prepare("a.md", ["x"])]),
            lambda: store.put(KEY, [prepare("a.md", ["y"])]),
            lambda: store.state.update_collection_state(KEY, synced_at=1.0),
            lambda: store.remove(KEY, ["a.md"]),
        ):
            write()
            seen.append(store.generation(HERE))
        assert len(set(seen)) == len(seen)
        self.search_texts(store, "x")
        store.state.update_collection_state(KEY, synced_at=1.0)
        assert store.generation(HERE) == seen[-1]
