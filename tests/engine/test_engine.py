"""The engine as a caller meets it: put things in, keep them true, get them back cited."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone import Document, Engine
from ragstone.errors import ConfigError, InputError, StaleSpace

NAMES = ["aardvark", "badger", "camel", "dingo", "emu", "ferret", "gibbon", "heron", "zebra"]
FAKE = {"rag.embedding_provider": "fake"}


def test_a_synced_folder_answers_with_exact_places(engine: Engine, folder: Path) -> None:
    report = engine.sync()
    assert report.closes
    assert report.ok
    assert report.indexed == 2
    assert report.pending == 0
    hit = engine.search("acquire_lease", merge=False)[0]
    text = (folder / hit.source_doc_id).read_text(encoding="utf-8")
    assert hit.source_doc_id == "lease.py"
    assert text[hit.span.start : hit.span.end] == hit.text
    assert hit.text.startswith("def acquire_lease")
    assert hit.citation.startswith("lease.py:1")
    assert hit.doc_id == f"lease.py__chunk_{hit.chunk_index}"


def test_a_merged_hit_is_still_an_exact_slice(engine: Engine, folder: Path) -> None:
    engine.sync()
    for hit in engine.search("lease writers readers wait", top_k=10):
        text = (folder / hit.source_doc_id).read_text(encoding="utf-8")
        assert text[hit.span.start : hit.span.end] == hit.text
        assert text[: hit.span.start].count("\n") + 1 == hit.span.line_start


def test_a_compressed_hit_is_an_exact_slice_of_the_sentences_that_answer(
    engine: Engine, folder: Path
) -> None:
    engine.sync()
    hit = engine.search("one writer holds the lease", top_k=1, compress=True, mode="words")[0]
    text = (folder / hit.source_doc_id).read_text(encoding="utf-8")
    assert text[hit.span.start : hit.span.end] == hit.text
    assert "One writer holds the lease" in hit.text
    assert "Readers never wait" not in hit.text


def test_syncing_twice_changes_nothing(engine: Engine) -> None:
    engine.sync()
    before = engine.status().generation
    report = engine.sync()
    assert (report.indexed, report.chunks_added, report.embedded) == (0, 0, 0)
    assert report.unchanged == report.found == 2
    assert engine.status().chunks > 0
    assert engine.search("lease")
    assert before <= engine.status().generation


def test_an_edit_a_delete_and_a_rename_are_seen(engine: Engine, folder: Path) -> None:
    engine.sync()
    (folder / "docs" / "locks.md").rename(folder / "docs" / "leases.md")
    (folder / "lease.py").write_text("def borrow():\n    return 'zeppelin'\n", encoding="utf-8")
    report = engine.sync()
    assert report.removed == 1
    assert {document.uri for document in engine.sources()} == {"docs/leases.md", "lease.py"}
    assert engine.search("zeppelin", mode="words")[0].source_doc_id == "lease.py"
    assert engine.search("acquire", mode="words") == []


def test_a_rename_embeds_nothing(engine: Engine, folder: Path) -> None:
    engine.sync()
    (folder / "docs" / "locks.md").rename(folder / "docs" / "leases.md")
    assert engine.sync().embedded == 0


def test_a_file_that_shrank_leaves_no_tail(engine: Engine, folder: Path) -> None:
    (folder / "long.md").write_text(
        "\n\n".join(f"## Part {i}\n\nabout {NAMES[i]} " + "word " * 150 for i in range(9)),
        "utf-8",
    )
    engine.sync()
    assert engine.search("zebra", mode="words")
    (folder / "long.md").write_text("## Part 0\n\nabout aardvark\n", "utf-8")
    engine.sync()
    assert engine.search("zebra", mode="words") == []


def test_added_text_is_found_and_removed_by_its_uri(engine: Engine) -> None:
    report = engine.add(
        Document(uri="note:1", text="The zeppelin lands at noon.", metadata={"author": "ada"})
    )
    assert (report.documents, report.chunks_added, report.pending) == (1, 1, 0)
    assert (
        engine.add(
            Document(
                uri="note:1", text="The zeppelin lands at noon.", metadata={"author": "ada"}
            )
        ).chunks_added
        == 0
    )
    hit = engine.search("zeppelin")[0]
    assert (hit.source_doc_id, hit.metadata["author"], hit.distance) == (
        "note:1",
        "ada",
        1.0 - hit.score,
    )
    assert engine.remove("note:1") == 1
    assert engine.search("zeppelin", mode="words") == []
    assert engine.remove("note:1") == 0


def test_a_sync_does_not_change_added_text(engine: Engine) -> None:
    engine.add(Document(uri="note:1", text="The zeppelin lands at noon."))
    engine.sync()
    assert engine.search("zeppelin", mode="words")


def test_the_same_text_in_two_places_is_one_hit_that_lists_both(
    engine: Engine, folder: Path
) -> None:
    (folder / "copy.py").write_text(
        (folder / "lease.py").read_text(encoding="utf-8"), encoding="utf-8"
    )
    engine.sync()
    hits = [
        hit
        for hit in engine.search("acquire_lease", top_k=10, merge=False)
        if "def acquire_lease" in hit.text
    ]
    assert len(hits) == 1
    places = {
        hits[0].source_doc_id,
        *(place.rpartition(":")[0] for place in hits[0].duplicates),
    }
    assert places == {"copy.py", "lease.py"}
    (copy,) = hits[0].duplicates
    assert copy.partition(":")[2] == hits[0].citation.partition(":")[2]


def test_filters_narrow_by_path_kind_and_metadata(engine: Engine) -> None:
    engine.sync()
    engine.add(
        [
            Document(uri=f"note:{year}", text="lease renewal", metadata={"year": year})
            for year in (2019, 2024)
        ]
    )
    assert {h.source_doc_id for h in engine.search("lease", filters={"path": "docs/**"})} == {
        "docs/locks.md"
    }
    assert {h.kind for h in engine.search("lease", filters={"kind": "code"})} == {"code"}
    assert [
        h.source_doc_id for h in engine.search("lease", filters={"year": {"gte": 2020}})
    ] == ["note:2024"]


def test_a_document_that_changed_nothing_is_found_again_from_the_cache(engine: Engine) -> None:
    engine.sync()
    assert engine.search("lease") == engine.search("lease")
    engine.add(Document(uri="new", text="lease lease lease"))
    assert "new" in {hit.source_doc_id for hit in engine.search("lease")}


@pytest.mark.parametrize(
    "query",
    [
        "",
        "   ",
        "🦀🦀",
        '"unbalanced',
        "NEAR(a b) OR *",
        "col:x AND",
        "a" * 1_000_000,
        "\x00\ud800",
        "-- ; drop table",
        "的的的",
    ],
    ids=["empty", "blank", "emoji", "quote", "fts", "column", "1MB", "surrogate", "sql", "cjk"],
)
def test_any_text_is_a_legal_query(engine: Engine, query: str) -> None:
    engine.sync()
    assert isinstance(engine.search(query), list)


def test_an_empty_index_answers_with_an_empty_list(tmp_path: Path) -> None:
    with Engine.open(tmp_path, config=FAKE) as engine:
        assert engine.is_empty()
        assert engine.search("anything") == []


def test_top_k_may_be_nothing_or_a_million(engine: Engine) -> None:
    engine.sync()
    assert engine.search("lease", top_k=0) == []
    assert len(engine.search("lease", top_k=1_000_000)) >= 2
    with pytest.raises(InputError):
        engine.search("lease", top_k=-1)


def test_everything_under_the_threshold_is_an_empty_list(engine: Engine) -> None:
    engine.sync()
    assert engine.search("lease and thing", min_score=1.0) == []
    explained = engine.explain("lease and thing", min_score=1.0)
    assert any("min_score" in dropped.reason for dropped in explained.dropped)


def test_a_hit_explains_itself(engine: Engine) -> None:
    engine.sync()
    explained = engine.explain("acquire_lease")
    hit = explained.hits[0]
    assert explained.query_type == "symbol"
    assert {trace.name for trace in hit.trace.lists} == {"words", "fake"}
    assert hit.trace.lists[0].rank == 1
    assert "definition" in dict(hit.trace.boosts)
    assert explained.coverage == {"fake": 1.0}


def test_mmr_and_rrf_answer_from_the_same_candidates(engine: Engine) -> None:
    engine.sync()
    plain = {hit.doc_id for hit in engine.search("lease", top_k=10, merge=False)}
    assert {
        hit.doc_id for hit in engine.search("lease", top_k=10, merge=False, mmr=True)
    } == plain
    assert {
        hit.doc_id for hit in engine.search("lease", top_k=10, merge=False, fusion="rrf")
    } == plain


def test_an_unknown_reranker_is_a_clear_error(engine: Engine) -> None:
    engine.sync()
    with pytest.raises(ConfigError, match="reranker"):
        engine.search("lease", rerank="nonsense")


def test_collections_and_projects_keep_apart(folder: Path) -> None:
    with (
        Engine.open(folder, config=FAKE) as first,
        Engine.open(folder, config=FAKE, project="other") as two,
    ):
        first.add(Document(uri="a", text="zeppelin one"), collection="left")
        first.add(Document(uri="b", text="zeppelin two"), collection="right")
        two.add(Document(uri="c", text="zeppelin three"))
        assert {h.source_doc_id for h in first.search("zeppelin")} == {"a", "b"}
        assert {h.source_doc_id for h in first.search("zeppelin", collection="left")} == {"a"}
        assert {h.source_doc_id for h in two.search("zeppelin")} == {"c"}


def test_another_model_is_refused_with_the_command_that_fixes_it_and_the_old_one_still_answers(
    folder: Path,
) -> None:
    with Engine.open(folder, config=FAKE) as engine:
        engine.sync()
    (folder / "new.md").write_text("a zeppelin", encoding="utf-8")
    with Engine.open(folder, config={"rag.embedding_provider": "minilm"}) as engine:
        report = engine.sync()
        assert report.indexed == 1
        assert not report.ok
        assert "ragstone reembed" in report.notes[0]
        assert "hashed-words" in report.notes[0]
        assert "all-MiniLM-L6-v2-int8" in report.notes[0]
        assert engine.search("zeppelin", mode="words")
        assert "reembed" in engine.add(Document(uri="given", text="text")).notes[0]
        assert set(engine.explain("acquire_lease").coverage) == {"fake"}
        with pytest.raises(StaleSpace, match="reembed"):
            engine.admin.embed()


def test_reembed_builds_new_vectors_and_then_switches(folder: Path) -> None:
    with Engine.open(folder, config=FAKE) as engine:
        engine.sync()
    with Engine.open(folder, config={"rag.embedding_provider": "minilm"}) as engine:
        assert engine.admin.reembed() > 0
        assert {
            info.space.embedder for info in engine.status().spaces if info.state == "active"
        } == {"minilm"}
        assert set(engine.explain("acquire_lease").coverage) == {"minilm"}
        assert engine.sync().embedded == 0


def test_a_disabled_engine_does_nothing_and_writes_nothing(folder: Path) -> None:
    with Engine.open(folder, config={"rag.enabled": False}) as engine:
        assert engine.sync().found == 0
        report = engine.add(Document(uri="a", text="b"))
        assert (report.documents, len(report.notes)) == (0, 1)
        assert engine.search("lease") == []
        assert engine.is_empty()
        assert engine.admin.refresh() is None
        assert engine.admin.embed() == engine.remove("a") == 0
        assert engine.admin.load(["{}"]).documents == 0
        assert engine.status().documents == 0
        assert engine.admin.text("a") is None
        assert list(engine.sources()) == []
        for refused in (
            engine.admin.reembed,
            engine.admin.compact,
            engine.admin.export,
            lambda: engine.admin.create_collection("x"),
        ):
            with pytest.raises(ConfigError, match="switched off"):
                refused()
        with pytest.raises(ConfigError, match="switched off"):
            engine.admin.backup(folder / "copy.db")
    assert not (folder / ".ragstone").exists()


def test_a_disabled_engine_still_lists_and_exports_stored_documents(
    folder: Path, tmp_path: Path
) -> None:
    with Engine.open(folder, config=FAKE) as engine:
        engine.sync()
    with Engine.open(folder, config=FAKE | {"rag.enabled": False}) as engine:
        assert engine.status().documents == 2
        assert len(list(engine.admin.export())) > 2
        assert engine.admin.backup(tmp_path / "copy.db").stat().st_size > 0
        assert engine.search("lease") == []


def test_an_export_read_back_elsewhere_gives_the_same_answers_with_no_embedding(
    engine: Engine, tmp_path: Path
) -> None:
    engine.sync()
    lines = list(engine.admin.export())
    other = tmp_path / "other"
    other.mkdir()
    with Engine.open(other, config=FAKE) as second:
        report = second.admin.load(lines)
        assert report.documents == 2
        assert report.embedded > 0
        assert report.pending == 0
        assert [h.doc_id for h in second.search("lease")] == [
            h.doc_id for h in engine.search("lease")
        ]
        assert second.admin.text("lease.py") == engine.admin.text("lease.py")


@pytest.mark.parametrize("line", ["", "{", "[]", '{"ragstone_export": 99}'])
def test_a_file_that_is_no_export_is_refused(engine: Engine, line: str) -> None:
    with pytest.raises(InputError):
        engine.admin.load([line])


def test_a_sync_of_some_paths_does_not_change_the_others(engine: Engine, folder: Path) -> None:
    engine.sync()
    (folder / "lease.py").unlink()
    (folder / "docs" / "locks.md").write_text("# New\n\nzeppelin\n", encoding="utf-8")
    report = engine.sync(paths=["docs"])
    assert (report.indexed, report.removed) == (1, 0)
    assert engine.search("acquire_lease", mode="words", fresh=False)
    assert engine.sync(paths=["lease.py"]).removed == 1


def test_has_changes_reports_an_edit_at_once(engine: Engine, folder: Path) -> None:
    assert engine.admin.has_changes()
    engine.sync()
    assert not engine.admin.has_changes()
    (folder / "new.md").write_text("hello", encoding="utf-8")
    assert engine.admin.has_changes()


def test_a_missing_folder_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        Engine.open(tmp_path / "nowhere")


def test_a_bad_file_is_in_the_report_and_the_rest_is_indexed(
    engine: Engine, folder: Path
) -> None:
    (folder / "picture.txt").write_bytes(b"\x00\x01\x02" * 100)
    (folder / "huge.md").write_text("x" * 6_000_000, encoding="utf-8")
    report = engine.sync()
    assert report.closes
    assert report.indexed == 2
    reasons = {skip.uri: skip.reason for skip in report.skipped}
    assert "binary" in reasons["picture.txt"]
    assert "large" in reasons["huge.md"]
