# ruff: noqa: D102 (a test's name is its sentence)
"""What every `Store` must do with vectors, notes and upkeep; see `ragstone.testing.store` for how to use it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from ragstone.errors import InputError, NotFound, RagstoneError, StaleSpace
from ragstone.protocols import Store
from ragstone.testing.store import HERE, NOTES, OTHER, PROJECT, SPACE, StoreCase, prepare
from ragstone.types import DEFAULT_STORAGE, Condition, Filter, Scope


class StoreVectorsContract(StoreCase):
    """The promises of `protocols.Store` about vectors, spaces, notes and upkeep, one test each."""

    # ── vectors ───────────────────────────────────────────────────────────────────────────────────

    def test_pending_texts_become_vectors_and_coverage_grows(self, store: Store) -> None:
        store.put(PROJECT, NOTES, [prepare("a.md", ["x", "y", "x"], header="H")])
        info = store.ensure_space(PROJECT, NOTES, SPACE)
        assert (info.space, info.state, info.texts, info.embedded) == (SPACE, "active", 2, 0)
        first, second = store.pending(HERE, info.id)
        assert [first.text, second.text] == ["H\nx", "H\ny"]
        assert store.pending(HERE, info.id, limit=1) == [first]
        assert store.pending(HERE, info.id, after=first.text_id) == [second]
        assert store.put_vectors(PROJECT, info.id, [(first.text_id, b"abcd")]) == 1
        assert store.put_vectors(PROJECT, info.id, iter([(first.text_id, b"zzzz"), (second.text_id, b"efgh")])) == 1
        assert store.pending(HERE, info.id) == []
        assert [(one.id, one.embedded, one.coverage) for one in store.spaces(HERE)] == [(info.id, 2, 1.0)]
        assert [row.data for row in store.vector_rows(PROJECT, info.id).after(0, 10)] == [b"abcd", b"efgh"]

    def test_vectors_of_another_length_are_refused(self, store: Store) -> None:
        store.put(PROJECT, NOTES, [prepare("a.md", ["x", "y"])])
        info = store.ensure_space(PROJECT, NOTES, SPACE)
        first, second = store.pending(HERE, info.id)
        with pytest.raises(InputError):
            store.put_vectors(PROJECT, info.id, [(first.text_id, b"abcd"), (second.text_id, b"abc")])
        with pytest.raises(InputError, match="at least a byte"):
            store.put_vectors(PROJECT, info.id, [(first.text_id, b"")])
        assert len(store.pending(HERE, info.id)) == 2

    def test_rows_are_read_in_order_by_number_and_by_text(self, store: Store) -> None:
        store.put(PROJECT, NOTES, [prepare("a.md", [f"text {n}" for n in range(5)])])
        rows = store.vector_rows(PROJECT, self.embed(store))
        every = rows.after(0, 100)
        assert [row.id for row in every] == sorted(row.id for row in every)
        assert len(every) == 5
        assert rows.after(every[1].id, 2) == every[2:4]
        assert sorted(rows.by_id([every[4].id, every[0].id, 10**9]), key=lambda row: row.id) == [every[0], every[4]]
        assert rows.by_text([every[2].text_id, 10**9]) == [every[2]]
        assert rows.by_text([row.text_id for row in every[:2]] * 2)[:2] == every[:2]
        assert (rows.by_id([]), rows.by_text([]), rows.by_chunk([])) == ([], [], {})

    def test_an_index_can_tell_which_rows_it_has_not_read(self, store: Store) -> None:
        store.put(PROJECT, NOTES, [prepare("a.md", [f"text {n}" for n in range(5)])])
        rows = store.vector_rows(PROJECT, store.ensure_space(PROJECT, NOTES, SPACE).id)
        before = rows.version()
        assert (before[0], rows.count(), rows.ids_after(0)) == (rows.epoch, 0, [])
        self.embed(store)
        every = rows.after(0, 100)
        assert rows.version()[0] == before[0]
        assert rows.version()[1] != before[1]
        assert (rows.count(), rows.ids_after(0)) == (5, [row.id for row in every])
        assert rows.ids_after(every[1].id) == [row.id for row in every[2:]]
        assert rows.data([every[4].id, every[0].id, 10**9]) == {row.id: row.data for row in (every[0], every[4])}
        store.ensure_space(PROJECT, NOTES, replace(SPACE, model="big"), state="building")
        other = store.vector_rows(PROJECT, store.spaces(HERE)[1].id)
        assert (other.count(), other.ids_after(0), other.data([every[0].id])) == (0, [], {})

    def test_a_great_many_vectors_are_stored_in_one_go(self, store: Store) -> None:
        store.put(PROJECT, NOTES, [prepare("a.md", [f"text {n}" for n in range(2300)])])
        store.put(OTHER, NOTES, [prepare("b.md", ["theirs"])])
        info = store.ensure_space(PROJECT, NOTES, SPACE).id
        texts = [text.text_id for text in store.pending(HERE, info, limit=3000)]
        assert store.put_vectors(PROJECT, info, [(text, b"odd.") for text in texts[::2]]) == 1150
        given = [(text, b"%04d" % place) for place, text in enumerate([*texts, *texts[:9], texts[-1] + 1, 2**70, -1])]
        assert store.put_vectors(PROJECT, info, given) == 1150
        held = {row.text_id: row.data for row in store.vector_rows(PROJECT, info).after(0, 3000)}
        assert held == {text: b"%04d" % place if place % 2 else b"odd." for place, text in enumerate(texts)}

    def test_the_vector_of_a_chunk_is_that_of_its_text(self, store: Store) -> None:
        store.put(PROJECT, NOTES, [prepare("a.md", ["same", "other"]), prepare("b.md", ["same"])])
        rows = store.vector_rows(PROJECT, self.embed(store))
        store.put(PROJECT, NOTES, [prepare("c.md", ["no vector yet"])])
        first, second, copy, bare = (
            row for uri in ("a.md", "b.md", "c.md") for row in store.document_chunks(PROJECT, NOTES, uri)
        )
        data = {row.text_id: row.data for row in rows.after(0, 9)}
        wanted = [first.id, second.id, copy.id, bare.id, 10**9]
        assert rows.by_chunk(wanted) == {row.id: data[row.text_id] for row in (first, second, copy)}
        assert data[first.text_id] == rows.by_chunk([copy.id])[copy.id]

    def test_the_vectors_of_one_space_are_not_those_of_another(self, store: Store) -> None:
        store.put(PROJECT, NOTES, [prepare("a.md", ["x"])])
        self.embed(store)
        other = store.ensure_space(PROJECT, NOTES, replace(SPACE, model="big"), state="building")
        (chunk,), rows = store.document_chunks(PROJECT, NOTES, "a.md"), store.vector_rows(PROJECT, other.id)
        assert (rows.by_chunk([chunk.id]), rows.by_text([chunk.text_id])) == ({}, [])
        assert store.put_vectors(PROJECT, other.id, [(chunk.text_id, b"longer by far")]) == 1
        assert rows.by_chunk([chunk.id]) == {chunk.id: b"longer by far"}

    # ── forgetting ────────────────────────────────────────────────────────────────────────────────

    def test_forgotten_vectors_are_pending_again_and_the_others_stay(self, store: Store) -> None:
        store.put(PROJECT, NOTES, [prepare("a.md", ["x", "y", "z"])])
        info = self.embed(store)
        rows = store.vector_rows(PROJECT, info)
        first, second, third = rows.after(0, 9)
        before = rows.epoch
        assert store.remove_vectors(PROJECT, info, [second.id, second.id, 10**9]) == 1
        assert rows.epoch != before
        assert rows.after(0, 9) == [first, third]
        assert [text.text_id for text in store.pending(HERE, info)] == [second.text_id]
        assert store.spaces(HERE)[0].embedded == 2
        store.put_vectors(PROJECT, info, [(second.text_id, b"anew")])
        assert [(row.text_id, row.data) for row in rows.after(third.id, 9)] == [(second.text_id, b"anew")]

    def test_forgetting_all_vectors_frees_their_length(self, store: Store) -> None:
        store.put(PROJECT, NOTES, [prepare("a.md", ["x", "y"])])
        info = self.embed(store)
        assert store.remove_vectors(PROJECT, info) == 2
        first, second = store.pending(HERE, info)
        assert store.put_vectors(PROJECT, info, [(first.text_id, b"another length")]) == 1
        with pytest.raises(InputError):
            store.put_vectors(PROJECT, info, [(second.text_id, b"abcd")])
        assert all(finding.ok for finding in store.check())

    def test_a_length_is_decided_by_vectors_that_are_there(self, store: Store) -> None:
        store.put(PROJECT, NOTES, [prepare("a.md", ["x"])])
        info = store.ensure_space(PROJECT, NOTES, SPACE).id
        assert store.put_vectors(PROJECT, info, [(10**9, b"the text of which is unknown")]) == 0
        (text,) = store.pending(HERE, info)
        assert store.put_vectors(PROJECT, info, [(text.text_id, b"abcd")]) == 1
        store.remove(PROJECT, NOTES, ["a.md"])
        store.compact()
        store.put(PROJECT, NOTES, [prepare("a.md", ["x"])])
        (text,) = store.pending(HERE, info)
        assert store.put_vectors(PROJECT, info, [(text.text_id, b"another length")]) == 1

    def test_forgetting_nothing_changes_nothing(self, store: Store) -> None:
        store.put(PROJECT, NOTES, [prepare("a.md", ["x"])])
        info = self.embed(store)
        other = store.ensure_space(PROJECT, NOTES, replace(SPACE, model="big"), state="building").id
        before = (store.generation(), store.vector_rows(PROJECT, info).epoch)
        assert store.remove_vectors(PROJECT, info, []) == 0
        assert store.remove_vectors(PROJECT, info, [10**9, -1]) == 0
        assert store.remove_vectors(PROJECT, other, store.vectors_in(HERE, info)) == 0
        assert store.remove_vectors(PROJECT, other) == 0
        assert (store.generation(), store.vector_rows(PROJECT, info).epoch) == before
        for project, space in ((OTHER, info), (PROJECT, 10**6)):
            with pytest.raises(NotFound):
                store.remove_vectors(project, space)
        assert len(store.vectors_in(HERE, info)) == 1

    def test_an_unchanged_text_is_never_pending_again(self, store: Store) -> None:
        store.put(PROJECT, NOTES, [prepare("a.md", ["same text"])])
        info = self.embed(store)
        store.put(PROJECT, NOTES, [prepare("copy.md", ["same text"])])
        store.remove(PROJECT, NOTES, ["a.md", "copy.md"])
        store.put(PROJECT, NOTES, [prepare("back.md", ["same text"])])
        assert store.pending(HERE, info) == []

    def test_a_removed_text_is_found_by_nothing(self, store: Store) -> None:
        store.put(PROJECT, NOTES, [prepare("a.md", ["gone soon"]), prepare("b.md", ["stays here"])])
        info = self.embed(store)
        every = store.vectors_in(HERE, info)
        store.remove(PROJECT, NOTES, ["a.md"])
        assert self.found(store, "gone") == []
        assert len(store.vectors_in(HERE, info)) == 1
        assert set(store.locate(HERE, info, every)) == set(store.vectors_in(HERE, info))
        assert [(one.texts, one.embedded) for one in store.spaces(HERE)] == [(1, 1)]

    def test_a_vector_is_located_at_the_first_chunk_that_holds_its_text(self, store: Store) -> None:
        store.put(PROJECT, NOTES, [prepare("a.md", ["same"]), prepare("b.md", ["same"])])
        info = self.embed(store)
        (row_id,) = store.vectors_in(HERE, info)
        first, second = (store.document_chunks(PROJECT, NOTES, uri)[0] for uri in ("a.md", "b.md"))
        assert store.locate(HERE, info, [row_id, 10**9]) == {row_id: first.id}
        only_b = Filter((Condition("path", "eq", "b.md"),))
        assert store.locate(HERE, info, [row_id], filter=only_b) == {row_id: second.id}

    def test_a_vector_is_located_in_scope_also_right_after_its_row_was_read(self, store: Store) -> None:
        store.ensure_collection(PROJECT, "b")
        store.put(PROJECT, NOTES, [prepare("a.md", ["apple"])])
        store.put(PROJECT, "b", [prepare("b.md", ["apple"])])
        info = self.embed(store)
        (row,) = store.vectors_in(HERE, info)
        for name, uri in ((NOTES, "a.md"), ("b", "b.md")):
            (chunk,) = store.document_chunks(PROJECT, name, uri)
            assert list(store.vector_rows(PROJECT, info).data([row])) == [row]
            assert store.locate(Scope(PROJECT, (name,)), info, [row]) == {row: chunk.id}

    def test_a_project_that_cannot_be_there_has_nothing(self, store: Store) -> None:
        store.put(PROJECT, NOTES, [prepare("a.md", ["apple"])])
        (chunk,) = store.document_chunks(PROJECT, NOTES, "a.md")
        for name in ("", "\0", "\ud800", "unknown"):
            assert not store.chunks(name, [chunk.id])
            assert not store.outlines(name, [chunk.id])

    # ── spaces ────────────────────────────────────────────────────────────────────────────────────

    def test_another_space_is_refused_and_the_old_one_still_answers(self, store: Store) -> None:
        store.put(PROJECT, NOTES, [prepare("a.md", ["x"])])
        number = self.embed(store)
        for other in (
            replace(SPACE, dimension=8), replace(SPACE, model="big"), replace(SPACE, query_prefix="q: "),
            replace(SPACE, normalised=False), replace(SPACE, version="2"),
        ):  # fmt: skip
            with pytest.raises(StaleSpace):
                store.ensure_space(PROJECT, NOTES, other)
        assert [(one.id, one.space, one.embedded) for one in store.spaces(HERE)] == [(number, SPACE, 1)]
        assert store.ensure_space(PROJECT, NOTES, SPACE).id == number

    def test_a_space_is_built_beside_the_old_one_then_takes_over(self, store: Store) -> None:
        store.put(PROJECT, NOTES, [prepare("a.md", ["x"])])
        old = self.embed(store)
        new = store.ensure_space(PROJECT, NOTES, replace(SPACE, model="big"), state="building")
        assert (new.state, new.embedded) == ("building", 0)
        assert {one.id: one.state for one in store.spaces(HERE)} == {old: "active", new.id: "building"}
        store.activate_space(PROJECT, NOTES, new.id)
        assert {one.id: one.state for one in store.spaces(HERE)} == {new.id: "active"}
        assert store.vector_rows(PROJECT, old).after(0, 9), "nothing is wiped by a change of space"
        with pytest.raises(NotFound):
            store.activate_space(PROJECT, NOTES, 10**6)

    def test_a_space_is_shared_by_the_collections_of_a_project(self, store: Store) -> None:
        store.ensure_collection(PROJECT, "b")
        store.put(PROJECT, NOTES, [prepare("a.md", ["same"])])
        store.put(PROJECT, "b", [prepare("b.md", ["same", "more"])])
        number = self.embed(store)
        beside = store.ensure_space(PROJECT, "b", SPACE)
        assert (beside.id, beside.texts, beside.embedded) == (number, 2, 1)
        assert [(one.texts, one.embedded) for one in store.spaces(HERE)] == [(2, 1)]
        assert [(one.texts, one.embedded) for one in store.spaces(Scope(PROJECT, (NOTES,)))] == [(1, 1)]

    def test_without_a_storage_a_new_space_has_the_default_and_a_named_one_wins(self, store: Store) -> None:
        assert store.ensure_space(PROJECT, NOTES, SPACE).storage == DEFAULT_STORAGE
        named = store.ensure_space(PROJECT, NOTES, SPACE, storage="int8", state="building")
        assert (named.storage, named.state) == ("int8", "building")
        assert store.ensure_space(PROJECT, NOTES, SPACE).storage == DEFAULT_STORAGE
        with pytest.raises(StaleSpace):
            store.ensure_space(PROJECT, NOTES, SPACE, storage="int8")

    def test_without_a_storage_a_space_that_others_use_is_taken(self, store: Store) -> None:
        store.ensure_collection(PROJECT, "b")
        number = store.ensure_space(PROJECT, NOTES, SPACE, storage="int16").id
        assert store.ensure_space(PROJECT, "b", SPACE).id == number
        assert store.ensure_space(OTHER, NOTES, SPACE).storage == DEFAULT_STORAGE
        store.ensure_collection(PROJECT, "c")
        own = store.ensure_space(PROJECT, "c", SPACE, storage="int8").id
        assert store.ensure_space(PROJECT, "c", SPACE).id == own

    def test_without_a_storage_vectors_that_nobody_uses_any_more_are_taken_up_again(self, store: Store) -> None:
        store.put(PROJECT, NOTES, [prepare("a.md", ["x", "y"])])
        few = store.ensure_space(PROJECT, NOTES, SPACE, storage="int8", state="building").id
        number = store.ensure_space(PROJECT, NOTES, SPACE, storage="int16").id
        first, second = (text.text_id for text in store.pending(HERE, number))
        store.put_vectors(PROJECT, number, [(first, b"1234"), (second, b"5678")])
        store.put_vectors(PROJECT, few, [(first, b"12")])
        store.drop_collection(PROJECT, NOTES)
        store.ensure_collection(PROJECT, NOTES)
        store.put(PROJECT, NOTES, [prepare("a.md", ["x", "y"])])
        again = store.ensure_space(PROJECT, NOTES, SPACE)
        assert (again.id, again.storage, again.embedded) == (number, "int16", 2)
        other = store.ensure_space(PROJECT, NOTES, replace(SPACE, model="big"), state="building")
        store.activate_space(PROJECT, NOTES, other.id)
        assert store.ensure_space(PROJECT, NOTES, SPACE, state="building").id == number

    def test_without_a_storage_an_empty_space_that_nobody_uses_decides_nothing(self, store: Store) -> None:
        store.ensure_space(PROJECT, NOTES, SPACE, storage="int16")
        store.drop_collection(PROJECT, NOTES)
        store.ensure_collection(PROJECT, NOTES)
        assert store.ensure_space(PROJECT, NOTES, SPACE).storage == DEFAULT_STORAGE

    # ── reading together ──────────────────────────────────────────────────────────────────────────

    def test_another_thread_can_read_a_part_of_what_one_reads(self, store: Store) -> None:
        store.put(PROJECT, NOTES, [prepare("a.md", ["one"])])

        def uris() -> list[str]:
            return [one.uri for one in store.documents(HERE)]

        with ThreadPoolExecutor(1) as pool, store.moment():
            assert uris() == pool.submit(store.shared(uris)).result() == ["a.md"]
        assert store.shared(uris)() == ["a.md"]

    # ── notes ─────────────────────────────────────────────────────────────────────────────────────

    def test_notes_belong_to_a_project(self, store: Store) -> None:
        assert store.note(PROJECT, "k") is None
        store.set_note(PROJECT, "k", "1")
        store.set_note(PROJECT, "k", "2")
        assert (store.note(PROJECT, "k"), store.note(OTHER, "k")) == ("2", None)

    # ── upkeep ────────────────────────────────────────────────────────────────────────────────────

    def test_a_sound_store_passes_every_check(self, store: Store) -> None:
        store.put(PROJECT, NOTES, [prepare("a.md", ["x", "y"], metadata={"k": ("v", 1)}), prepare("b.md", [])])
        self.embed(store)
        store.remove(PROJECT, NOTES, ["b.md"])
        findings = store.check()
        assert findings
        assert [finding for finding in findings if not finding.ok] == []

    @pytest.mark.parametrize("secure", [False, True])
    def test_compacting_keeps_what_is_there_and_drops_what_is_not(self, store: Store, secure: bool) -> None:
        store.put(PROJECT, NOTES, [prepare("a.md", ["apple"]), prepare("b.md", ["banana"])])
        info = self.embed(store)
        rows = store.vector_rows(PROJECT, info)
        before = rows.epoch
        store.remove(PROJECT, NOTES, ["b.md"])
        assert store.compact(secure=secure) >= 0
        assert self.found(store, "apple") == ["apple"]
        assert len(rows.after(0, 9)) == 1
        assert rows.epoch != before
        assert all(finding.ok for finding in store.check())
        store.put(PROJECT, NOTES, [prepare("b.md", ["banana"])])
        assert [text.text for text in store.pending(HERE, info)] == ["banana"]

    def test_numbers_are_never_given_twice(self, store: Store) -> None:
        store.put(PROJECT, NOTES, [prepare("a.md", ["apple"])])
        info = self.embed(store)
        chunk, (row,) = store.document_chunks(PROJECT, NOTES, "a.md")[0], store.vector_rows(PROJECT, info).after(0, 9)
        store.remove(PROJECT, NOTES, ["a.md"])
        store.compact()
        store.put(PROJECT, NOTES, [prepare("a.md", ["banana"])])
        self.embed(store)
        later, (later_row,) = (
            store.document_chunks(PROJECT, NOTES, "a.md")[0],
            store.vector_rows(PROJECT, info).after(0, 9),
        )
        assert later.id > chunk.id
        assert later.text_id > chunk.text_id
        assert later_row.id > row.id

    def test_a_backup_never_overwrites(self, store: Store, tmp_path: Path) -> None:
        store.put(PROJECT, NOTES, [prepare("a.md", ["apple"])])
        target = store.backup(tmp_path / "copy")
        assert target.exists()
        with pytest.raises(RagstoneError):
            store.backup(tmp_path / "copy")
