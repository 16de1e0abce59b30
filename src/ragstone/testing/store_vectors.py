# ruff: noqa: D102 (a test's name is its sentence)
"""What every `Store` must do with vectors, notes and upkeep; see `ragstone.testing.store` for how to use it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ragstone.errors import InputError, NotFound, RagstoneError, StaleSpace
from ragstone.protocols import DocumentStore
from ragstone.testing.store import HERE, KEY, NOTES, OTHER, OTHER_KEY, PROJECT, SPACE, StoreCase, prepare
from ragstone.types import DEFAULT_STORAGE, CollectionKey, Condition, Filter, Scope


class StoreVectorsContract(StoreCase):
    """The promises of `protocols.Store` about vectors, spaces, notes and upkeep, one test each."""

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
        assert store.vectors.put(PROJECT, info.id, iter([(first.text_id, b"zzzz"), (second.text_id, b"efgh")])) == 1
        assert store.vectors.pending(HERE, info.id) == []
        assert [(one.id, one.embedded, one.coverage) for one in store.vectors.spaces(HERE)] == [(info.id, 2, 1.0)]
        assert [row.data for row in store.vectors.rows(PROJECT, info.id).after(0, 10)] == [b"abcd", b"efgh"]

    def test_vectors_of_another_length_are_refused(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", ["x", "y"])])
        info = store.vectors.ensure_space(KEY, SPACE)
        first, second = store.vectors.pending(HERE, info.id)
        with pytest.raises(InputError):
            store.vectors.put(PROJECT, info.id, [(first.text_id, b"abcd"), (second.text_id, b"abc")])
        with pytest.raises(InputError, match="at least a byte"):
            store.vectors.put(PROJECT, info.id, [(first.text_id, b"")])
        assert len(store.vectors.pending(HERE, info.id)) == 2

    def test_rows_are_read_in_order_by_number_and_by_text(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", [f"text {n}" for n in range(5)])])
        rows = store.vectors.rows(PROJECT, self.embed(store))
        every = rows.after(0, 100)
        assert [row.id for row in every] == sorted(row.id for row in every)
        assert len(every) == 5
        assert rows.after(every[1].id, 2) == every[2:4]
        assert sorted(rows.by_id([every[4].id, every[0].id, 10**9]), key=lambda row: row.id) == [every[0], every[4]]
        assert rows.by_text([every[2].text_id, 10**9]) == [every[2]]
        assert rows.by_text([row.text_id for row in every[:2]] * 2)[:2] == every[:2]
        assert (rows.by_id([]), rows.by_text([]), rows.by_chunk([])) == ([], [], {})

    def test_an_index_can_tell_which_rows_it_has_not_read(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", [f"text {n}" for n in range(5)])])
        rows = store.vectors.rows(PROJECT, store.vectors.ensure_space(KEY, SPACE).id)
        before = rows.version()
        assert (before[0], rows.count(), rows.ids_after(0)) == (rows.epoch, 0, [])
        self.embed(store)
        every = rows.after(0, 100)
        assert rows.version()[0] == before[0]
        assert rows.version()[1] != before[1]
        assert (rows.count(), rows.ids_after(0)) == (5, [row.id for row in every])
        assert rows.ids_after(every[1].id) == [row.id for row in every[2:]]
        assert rows.data([every[4].id, every[0].id, 10**9]) == {row.id: row.data for row in (every[0], every[4])}
        store.vectors.ensure_space(KEY, replace(SPACE, model="big"), state="building")
        other = store.vectors.rows(PROJECT, store.vectors.spaces(HERE)[1].id)
        assert (other.count(), other.ids_after(0), other.data([every[0].id])) == (0, [], {})

    def test_a_great_many_vectors_are_stored_in_one_go(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", [f"text {n}" for n in range(2300)])])
        store.put(OTHER_KEY, [prepare("b.md", ["theirs"])])
        info = store.vectors.ensure_space(KEY, SPACE).id
        texts = [text.text_id for text in store.vectors.pending(HERE, info, limit=3000)]
        assert store.vectors.put(PROJECT, info, [(text, b"odd.") for text in texts[::2]]) == 1150
        given = [(text, b"%04d" % place) for place, text in enumerate([*texts, *texts[:9], texts[-1] + 1, 2**70, -1])]
        assert store.vectors.put(PROJECT, info, given) == 1150
        held = {row.text_id: row.data for row in store.vectors.rows(PROJECT, info).after(0, 3000)}
        assert held == {text: b"%04d" % place if place % 2 else b"odd." for place, text in enumerate(texts)}

    def test_the_vector_of_a_chunk_is_that_of_its_text(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", ["same", "other"]), prepare("b.md", ["same"])])
        rows = store.vectors.rows(PROJECT, self.embed(store))
        store.put(KEY, [prepare("c.md", ["no vector yet"])])
        first, second, copy, bare = (row for uri in ("a.md", "b.md", "c.md") for row in store.document_chunks(KEY, uri))
        data = {row.text_id: row.data for row in rows.after(0, 9)}
        wanted = [first.id, second.id, copy.id, bare.id, 10**9]
        assert rows.by_chunk(wanted) == {row.id: data[row.text_id] for row in (first, second, copy)}
        assert data[first.text_id] == rows.by_chunk([copy.id])[copy.id]

    def test_the_vectors_of_one_space_are_not_those_of_another(self, store: DocumentStore) -> None:
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

    # ── forgetting ────────────────────────────────────────────────────────────────────────────────

    def test_forgotten_vectors_are_pending_again_and_the_others_stay(self, store: DocumentStore) -> None:
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
        assert [(row.text_id, row.data) for row in rows.after(third.id, 9)] == [(second.text_id, b"anew")]

    def test_forgetting_all_vectors_frees_their_length(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", ["x", "y"])])
        info = self.embed(store)
        assert store.vectors.remove(PROJECT, info) == 2
        first, second = store.vectors.pending(HERE, info)
        assert store.vectors.put(PROJECT, info, [(first.text_id, b"another length")]) == 1
        with pytest.raises(InputError):
            store.vectors.put(PROJECT, info, [(second.text_id, b"abcd")])
        assert all(finding.ok for finding in store.check())

    def test_a_length_is_decided_by_vectors_that_are_there(self, store: DocumentStore) -> None:
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

    def test_forgetting_nothing_changes_nothing(self, store: DocumentStore) -> None:
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

    def test_a_removed_text_is_found_by_nothing(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", ["gone soon"]), prepare("b.md", ["stays here"])])
        info = self.embed(store)
        every = store.vectors.ids_in(HERE, info)
        store.remove(KEY, ["a.md"])
        assert self.found(store, "gone") == []
        assert len(store.vectors.ids_in(HERE, info)) == 1
        assert set(store.vectors.locate(HERE, info, every)) == set(store.vectors.ids_in(HERE, info))
        assert [(one.texts, one.embedded) for one in store.vectors.spaces(HERE)] == [(1, 1)]

    def test_a_vector_is_located_at_the_first_chunk_that_holds_its_text(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", ["same"]), prepare("b.md", ["same"])])
        info = self.embed(store)
        (row_id,) = store.vectors.ids_in(HERE, info)
        first, second = (store.document_chunks(KEY, uri)[0] for uri in ("a.md", "b.md"))
        assert store.vectors.locate(HERE, info, [row_id, 10**9]) == {row_id: first.id}
        only_b = Filter((Condition("path", "eq", "b.md"),))
        assert store.vectors.locate(HERE, info, [row_id], filter=only_b) == {row_id: second.id}

    def test_a_vector_is_located_in_scope_also_right_after_its_row_was_read(self, store: DocumentStore) -> None:
        store.ensure_collection(CollectionKey(PROJECT, "b"))
        store.put(KEY, [prepare("a.md", ["apple"])])
        store.put(CollectionKey(PROJECT, "b"), [prepare("b.md", ["apple"])])
        info = self.embed(store)
        (row,) = store.vectors.ids_in(HERE, info)
        for name, uri in ((NOTES, "a.md"), ("b", "b.md")):
            (chunk,) = store.document_chunks(CollectionKey(PROJECT, name), uri)
            assert list(store.vectors.rows(PROJECT, info).data([row])) == [row]
            assert store.vectors.locate(Scope(PROJECT, (name,)), info, [row]) == {row: chunk.id}

    def test_a_project_that_cannot_be_there_has_nothing(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", ["apple"])])
        (chunk,) = store.document_chunks(KEY, "a.md")
        for name in ("", "\0", "\ud800", "unknown"):
            assert not store.chunks(name, [chunk.id])
            assert not store.outlines(name, [chunk.id])

    # ── spaces ────────────────────────────────────────────────────────────────────────────────────

    def test_another_space_is_refused_and_the_old_one_still_answers(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", ["x"])])
        number = self.embed(store)
        for other in (
            replace(SPACE, dimension=8), replace(SPACE, model="big"), replace(SPACE, query_prefix="q: "),
            replace(SPACE, normalised=False), replace(SPACE, version="2"),
        ):  # fmt: skip
            with pytest.raises(StaleSpace):
                store.vectors.ensure_space(KEY, other)
        assert [(one.id, one.space, one.embedded) for one in store.vectors.spaces(HERE)] == [(number, SPACE, 1)]
        assert store.vectors.ensure_space(KEY, SPACE).id == number

    def test_a_space_is_built_beside_the_old_one_then_takes_over(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", ["x"])])
        old = self.embed(store)
        new = store.vectors.ensure_space(KEY, replace(SPACE, model="big"), state="building")
        assert (new.state, new.embedded) == ("building", 0)
        assert {one.id: one.state for one in store.vectors.spaces(HERE)} == {old: "active", new.id: "building"}
        store.vectors.activate_space(KEY, new.id)
        assert {one.id: one.state for one in store.vectors.spaces(HERE)} == {new.id: "active"}
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
        assert [(one.texts, one.embedded) for one in store.vectors.spaces(HERE)] == [(2, 1)]
        assert [(one.texts, one.embedded) for one in store.vectors.spaces(Scope(PROJECT, (NOTES,)))] == [(1, 1)]

    def test_without_a_storage_a_new_space_has_the_default_and_a_named_one_wins(self, store: DocumentStore) -> None:
        assert store.vectors.ensure_space(KEY, SPACE).storage == DEFAULT_STORAGE
        named = store.vectors.ensure_space(KEY, SPACE, storage="int8", state="building")
        assert (named.storage, named.state) == ("int8", "building")
        assert store.vectors.ensure_space(KEY, SPACE).storage == DEFAULT_STORAGE
        with pytest.raises(StaleSpace):
            store.vectors.ensure_space(KEY, SPACE, storage="int8")

    def test_without_a_storage_a_space_that_others_use_is_taken(self, store: DocumentStore) -> None:
        store.ensure_collection(CollectionKey(PROJECT, "b"))
        number = store.vectors.ensure_space(KEY, SPACE, storage="int16").id
        assert store.vectors.ensure_space(CollectionKey(PROJECT, "b"), SPACE).id == number
        assert store.vectors.ensure_space(OTHER_KEY, SPACE).storage == DEFAULT_STORAGE
        store.ensure_collection(CollectionKey(PROJECT, "c"))
        own = store.vectors.ensure_space(CollectionKey(PROJECT, "c"), SPACE, storage="int8").id
        assert store.vectors.ensure_space(CollectionKey(PROJECT, "c"), SPACE).id == own

    def test_without_a_storage_vectors_that_nobody_uses_any_more_are_taken_up_again(self, store: DocumentStore) -> None:
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

    def test_without_a_storage_an_empty_space_that_nobody_uses_decides_nothing(self, store: DocumentStore) -> None:
        store.vectors.ensure_space(KEY, SPACE, storage="int16")
        store.drop_collection(KEY)
        store.ensure_collection(KEY)
        assert store.vectors.ensure_space(KEY, SPACE).storage == DEFAULT_STORAGE

    # ── upkeep ────────────────────────────────────────────────────────────────────────────────────

    def test_a_sound_store_passes_every_check(self, store: DocumentStore) -> None:
        store.put(KEY, [prepare("a.md", ["x", "y"], metadata={"k": ("v", 1)}), prepare("b.md", [])])
        self.embed(store)
        store.remove(KEY, ["b.md"])
        findings = store.check()
        assert findings
        assert [finding for finding in findings if not finding.ok] == []

    @pytest.mark.parametrize("secure", [False, True])
    def test_compacting_keeps_what_is_there_and_drops_what_is_not(self, store: DocumentStore, secure: bool) -> None:
        store.put(KEY, [prepare("a.md", ["apple"]), prepare("b.md", ["banana"])])
        info = self.embed(store)
        rows = store.vectors.rows(PROJECT, info)
        before = rows.epoch
        store.remove(KEY, ["b.md"])
        assert store.compact(secure=secure) >= 0
        assert self.found(store, "apple") == ["apple"]
        assert len(rows.after(0, 9)) == 1
        assert rows.epoch != before
        assert all(finding.ok for finding in store.check())
        store.put(KEY, [prepare("b.md", ["banana"])])
        assert [text.text for text in store.vectors.pending(HERE, info)] == ["banana"]

    def test_numbers_are_never_given_twice(self, store: DocumentStore) -> None:
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

    def test_a_backup_never_overwrites(self, store: DocumentStore, tmp_path: Path) -> None:
        store.put(KEY, [prepare("a.md", ["apple"])])
        target = store.backup(tmp_path / "copy")
        assert target.exists()
        with pytest.raises(RagstoneError):
            store.backup(tmp_path / "copy")
