# ruff: noqa: D102 (a test's name is its sentence)
"""Tests of vectors, spaces and maintenance of a store; see `ragstone.testing.store` for how to use them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ragstone.errors import InputError, NotFound, RagstoneError, StaleSpace
from ragstone.protocols import DocumentStore
from ragstone.testing.store import HERE, KEY, NOTES, OTHER, PROJECT, SPACE, StoreCase, prepare
from ragstone.types import DEFAULT_STORAGE, CollectionKey, Condition, Filter, Scope


class StoreVectorsContract(StoreCase):
    """Tests of `protocols.VectorStore`, and of check, compact and backup."""

    # ── vectors ───────────────────────────────────────────────────────────────────────────────────

    def test_pending_texts_become_vectors_and_coverage_grows(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", ["x", "y", "x"], header="H")])
        info = store.vectors.ensure_space(KEY, SPACE)
        assert (info.space, info.state, info.texts, info.embedded) == (SPACE, "active", 2, 0)
        first, second = store.vectors.pending(HERE, info.id)
        assert [first.text, second.text] == ["H\nx", "H\ny"]
        assert store.vectors.pending(HERE, info.id, limit=1) == [first]
        assert store.vectors.pending(HERE, info.id, after=first.text_id) == [second]
        assert store.vectors.put(PROJECT, info.id, [(first.text_id, b"abcd")]) == 1
        assert (
            store.vectors.put(
                PROJECT, info.id, iter([(first.text_id, b"zzzz"), (second.text_id, b"efgh")])
            )
            == 1
        )
        assert store.vectors.pending(HERE, info.id) == []
        assert [
            (space.id, space.embedded, space.coverage) for space in store.vectors.spaces(HERE)
        ] == [(info.id, 2, 1.0)]
        assert [row.data for row in store.vectors.rows(PROJECT, info.id).after(0, 10)] == [
            b"abcd",
            b"efgh",
        ]

    def test_vectors_of_another_length_are_refused(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", ["x", "y"])])
        info = store.vectors.ensure_space(KEY, SPACE)
        first, second = store.vectors.pending(HERE, info.id)
        with pytest.raises(InputError):
            store.vectors.put(
                PROJECT, info.id, [(first.text_id, b"abcd"), (second.text_id, b"abc")]
            )
        with pytest.raises(InputError, match="at least a byte"):
            store.vectors.put(PROJECT, info.id, [(first.text_id, b"")])
        assert len(store.vectors.pending(HERE, info.id)) == 2

    def test_vector_rows_are_read_in_order_by_id_and_by_text(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", [f"text {n}" for n in range(5)])])
        rows = store.vectors.rows(PROJECT, self.embed(store))
        stored = rows.after(0, 100)
        assert [row.id for row in stored] == sorted(row.id for row in stored)
        assert len(stored) == 5
        assert rows.after(stored[1].id, 2) == stored[2:4]
        assert sorted(rows.by_id([stored[4].id, stored[0].id, 10**9]), key=lambda row: row.id) == [
            stored[0],
            stored[4],
        ]
        assert rows.by_text([stored[2].text_id, 10**9]) == [stored[2]]
        assert rows.by_text([row.text_id for row in stored[:2]] * 2)[:2] == stored[:2]
        assert (rows.by_id([]), rows.by_text([]), rows.by_chunk([])) == ([], [], {})

    def test_an_index_can_tell_which_rows_it_has_not_read(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", [f"text {n}" for n in range(5)])])
        rows = store.vectors.rows(PROJECT, store.vectors.ensure_space(KEY, SPACE).id)
        before = rows.version()
        assert (before[0], rows.count(), rows.ids_after(0)) == (rows.epoch, 0, [])
        self.embed(store)
        stored = rows.after(0, 100)
        assert rows.version()[0] == before[0]
        assert rows.version()[1] != before[1]
        assert (rows.count(), rows.ids_after(0)) == (5, [row.id for row in stored])
        assert rows.ids_after(stored[1].id) == [row.id for row in stored[2:]]
        assert rows.data([stored[4].id, stored[0].id, 10**9]) == {
            row.id: row.data for row in (stored[0], stored[4])
        }
        store.vectors.ensure_space(KEY, replace(SPACE, model="big"), state="building")
        other = store.vectors.rows(PROJECT, store.vectors.spaces(HERE)[1].id)
        assert (other.count(), other.ids_after(0), other.data([stored[0].id])) == (0, [], {})

    def test_the_vector_of_a_chunk_is_the_vector_of_its_text(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", ["same", "other"]), prepare("b.md", ["same"])])
        rows = store.vectors.rows(PROJECT, self.embed(store))
        store.put(KEY, [prepare("c.md", ["no vector yet"])])
        first, second, copy, bare = (
            row for uri in ("a.md", "b.md", "c.md") for row in store.document_chunks(KEY, uri)
        )
        data = {row.text_id: row.data for row in rows.after(0, 9)}
        chunk_ids = [first.id, second.id, copy.id, bare.id, 10**9]
        assert rows.by_chunk(chunk_ids) == {
            row.id: data[row.text_id] for row in (first, second, copy)
        }
        assert data[first.text_id] == rows.by_chunk([copy.id])[copy.id]

    # ── removing ────────────────────────────────────────────────────────────────────────────────

    def test_texts_of_removed_vectors_are_pending_again(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", ["x", "y", "z"])])
        info = self.embed(store)
        rows = store.vectors.rows(PROJECT, info)
        first, second, third = rows.after(0, 9)
        before = rows.epoch
        assert store.vectors.remove(PROJECT, info, [second.id, second.id, 10**9]) == 1
        assert rows.epoch != before
        assert rows.after(0, 9) == [first, third]
        assert [text.text_id for text in store.vectors.pending(HERE, info)] == [second.text_id]
        assert store.vectors.spaces(HERE)[0].embedded == 2
        store.vectors.put(PROJECT, info, [(second.text_id, b"anew")])
        assert [(row.text_id, row.data) for row in rows.after(third.id, 9)] == [
            (second.text_id, b"anew")
        ]

    def test_removing_no_vectors_changes_nothing(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", ["x"])])
        info = self.embed(store)
        other = store.vectors.ensure_space(KEY, replace(SPACE, model="big"), state="building").id
        before = (store.generation(HERE), store.vectors.rows(PROJECT, info).epoch)
        assert store.vectors.remove(PROJECT, info, []) == 0
        assert store.vectors.remove(PROJECT, info, [10**9, -1]) == 0
        assert store.vectors.remove(PROJECT, other, store.vectors.ids_in(HERE, info)) == 0
        assert store.vectors.remove(PROJECT, other) == 0
        assert (store.generation(HERE), store.vectors.rows(PROJECT, info).epoch) == before
        for project, space in ((OTHER, info), (PROJECT, 10**6)):
            with pytest.raises(NotFound):
                store.vectors.remove(project, space)
        assert len(store.vectors.ids_in(HERE, info)) == 1

    def test_an_unchanged_text_is_never_pending_again(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", ["same text"])])
        info = self.embed(store)
        store.put(KEY, [prepare("copy.md", ["same text"])])
        store.remove(KEY, ["a.md", "copy.md"])
        store.put(KEY, [prepare("back.md", ["same text"])])
        assert store.vectors.pending(HERE, info) == []

    def test_a_removed_text_is_not_found(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", ["gone soon"]), prepare("b.md", ["stays here"])])
        info = self.embed(store)
        row_ids = store.vectors.ids_in(HERE, info)
        store.remove(KEY, ["a.md"])
        assert self.search_texts(store, "gone") == []
        assert len(store.vectors.ids_in(HERE, info)) == 1
        assert set(store.vectors.locate(HERE, info, row_ids)) == set(
            store.vectors.ids_in(HERE, info)
        )
        assert [(space.texts, space.embedded) for space in store.vectors.spaces(HERE)] == [(1, 1)]

    def test_a_vector_is_located_at_the_first_chunk_with_its_text(
        self, store: DocumentStore
    ) -> None:
        store.put(KEY, [prepare("a.md", ["same"]), prepare("b.md", ["same"])])
        info = self.embed(store)
        (row_id,) = store.vectors.ids_in(HERE, info)
        first, second = (store.document_chunks(KEY, uri)[0] for uri in ("a.md", "b.md"))
        assert store.vectors.locate(HERE, info, [row_id, 10**9]) == {row_id: first.id}
        only_b = Filter((Condition("path", "eq", "b.md"),))
        assert store.vectors.locate(HERE, info, [row_id], filter=only_b) == {row_id: second.id}

    # ── spaces ────────────────────────────────────────────────────────────────────────────────────

    def test_another_space_is_refused_and_the_old_one_stays_active(
        self, store: DocumentStore
    ) -> None:
        store.put(KEY, [prepare("a.md", ["x"])])
        number = self.embed(store)
        for other in (
            replace(SPACE, dimension=8), replace(SPACE, model="big"), replace(SPACE, query_prefix="q: "),
            replace(SPACE, normalised=False), replace(SPACE, version="2"),
        ):  # fmt: skip
            with pytest.raises(StaleSpace):
                store.vectors.ensure_space(KEY, other)
        assert [
            (space.id, space.space, space.embedded) for space in store.vectors.spaces(HERE)
        ] == [(number, SPACE, 1)]
        assert store.vectors.ensure_space(KEY, SPACE).id == number

    def test_a_new_space_is_built_first_and_then_activated(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", ["x"])])
        old = self.embed(store)
        new = store.vectors.ensure_space(KEY, replace(SPACE, model="big"), state="building")
        assert (new.state, new.embedded) == ("building", 0)
        assert {space.id: space.state for space in store.vectors.spaces(HERE)} == {
            old: "active",
            new.id: "building",
        }
        store.vectors.activate_space(KEY, new.id)
        assert {space.id: space.state for space in store.vectors.spaces(HERE)} == {new.id: "active"}
        assert store.vectors.rows(PROJECT, old).after(0, 9), "nothing is wiped by a change of space"
        with pytest.raises(NotFound):
            store.vectors.activate_space(KEY, 10**6)

    def test_a_space_is_shared_by_the_collections_of_a_project(self, store: DocumentStore) -> None:
        store.ensure_collection(CollectionKey(PROJECT, "b"))
        store.put(KEY, [prepare("a.md", ["same"])])
        store.put(CollectionKey(PROJECT, "b"), [prepare("b.md", ["same", "more"])])
        number = self.embed(store)
        beside = store.vectors.ensure_space(CollectionKey(PROJECT, "b"), SPACE)
        assert (beside.id, beside.texts, beside.embedded) == (number, 2, 1)
        assert [(space.texts, space.embedded) for space in store.vectors.spaces(HERE)] == [(2, 1)]
        assert [
            (space.texts, space.embedded)
            for space in store.vectors.spaces(Scope(PROJECT, (NOTES,)))
        ] == [(1, 1)]

    def test_a_space_has_the_storage_that_is_named_or_the_default(
        self, store: DocumentStore
    ) -> None:
        assert store.vectors.ensure_space(KEY, SPACE).storage == DEFAULT_STORAGE
        named = store.vectors.ensure_space(KEY, SPACE, storage="int8", state="building")
        assert (named.storage, named.state) == ("int8", "building")
        assert store.vectors.ensure_space(KEY, SPACE).storage == DEFAULT_STORAGE
        with pytest.raises(StaleSpace):
            store.vectors.ensure_space(KEY, SPACE, storage="int8")

    # ── maintenance ────────────────────────────────────────────────────────────────────────────────────

    @pytest.mark.parametrize("secure", [False, True])
    def test_compact_removes_only_unused_rows(self, store: DocumentStore, secure: bool) -> None:
        store.put(KEY, [prepare("a.md", ["apple"]), prepare("b.md", ["banana"])])
        info = self.embed(store)
        rows = store.vectors.rows(PROJECT, info)
        before = rows.epoch
        store.remove(KEY, ["b.md"])
        assert store.compact(secure=secure) >= 0
        assert self.search_texts(store, "apple") == ["apple"]
        assert len(rows.after(0, 9)) == 1
        assert rows.epoch != before
        assert all(finding.ok for finding in store.check())
        store.put(KEY, [prepare("b.md", ["banana"])])
        assert [text.text for text in store.vectors.pending(HERE, info)] == ["banana"]

    def test_a_backup_never_overwrites(self, store: DocumentStore, tmp_path: Path) -> None:
        store.put(KEY, [prepare("a.md", ["apple"])])
        target = store.backup(tmp_path / "copy")
        assert target.exists()
        with pytest.raises(RagstoneError):
            store.backup(tmp_path / "copy")
