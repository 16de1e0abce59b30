"""Keeping in step: which collections are looked at, and what several ledgers say together."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.embed.fake import FakeEmbedder
from ragstone.errors import ReadError, StoreBusy
from ragstone.indexing import collection_writer
from ragstone.indexing.reconcile import Reconciler
from ragstone.indexing.sync import Scan
from ragstone.read import worker_process
from ragstone.read.choose_reader import FormatReader
from ragstone.read.confined_reader import CONFINED_READER
from ragstone.sources import files
from ragstone.store.lock import FileLock
from ragstone.types import (
    CollectionKey,
    Document,
    Item,
    Matrix,
    Role,
    Skip,
    SyncReport,
    UnreadFile,
)
from tests.support.internals import index_of, store_of

FAKE = {"rag.embedding_provider": "fake"}
ONE = SyncReport(
    3, 1, 1, (Skip("b", "binary file"),), (), 0, 4, 2, 4, 1, 0.5, notes=("look again",)
)


def test_an_empty_report_changes_nothing() -> None:
    assert ONE + SyncReport() == SyncReport() + ONE == ONE


def test_reports_add_up_and_count_a_repeated_file_once() -> None:
    both = ONE + replace(ONE, failed=(Skip("c", "vanished"),), found=4)
    assert (both.found, both.indexed, both.pending, len(both.skipped), len(both.failed)) == (
        6,
        2,
        2,
        1,
        1,
    )
    assert both.closes
    assert both.notes == ("look again",)


def test_a_file_left_out_before_is_not_read_again_until_its_stamp_changes(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.md").write_text("text", encoding="utf-8")
    with Engine.open(tmp_path, config=FAKE) as engine:
        index = index_of(engine)
        unread = {
            item.uri: UnreadFile(item.stamp, "binary file")
            for item in engine.admin.source().scan()
            if isinstance(item, Item) and item.stamp
        }
        result = Reconciler(
            index.collection("default").writer(), engine.admin.source(), unread
        ).run()
        assert result.report.skipped == (Skip("a.md", "binary file"),)
        assert result.report.closes
        assert result.unread == unread
        (tmp_path / "a.md").write_text("other text", encoding="utf-8")
        result = Reconciler(
            index.collection("default").writer(), engine.admin.source(), unread
        ).run()
        assert result.report.indexed == 1
        assert result.unread == {}


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a stamp be trusted at once, and not only when it is some time old."""
    monkeypatch.setattr(files, "RACY_NS", 0)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return where the uris of all files that a reader is given are written down."""
    read_uris: list[str] = []
    real = FormatReader.read

    def read(self: FormatReader, data: bytes, uri: str) -> Document:
        read_uris.append(uri)
        return real(self, data, uri)

    monkeypatch.setattr(FormatReader, "read", read)
    return read_uris


DAMAGED = Skip("a.pdf", "it is damaged")


@pytest.mark.usefixtures("settled")
def test_an_unreadable_file_is_reported_each_time_and_read_once(
    tmp_path: Path, reads: list[str]
) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7 no more than that")
    (tmp_path / "b.md").write_text("a lease expires", encoding="utf-8")
    with Engine.open(tmp_path, config=FAKE) as engine:
        for _ in range(2):
            report = engine.sync()
            assert report.failed == (DAMAGED,)
            assert report.closes and not report.ok
        assert reads == ["a.pdf"]
        assert (engine.admin.count_waiting(), engine.admin.has_changes()) == (0, False)
    with Engine.open(tmp_path, config=FAKE) as engine:
        again = engine.admin.refresh()
        assert again is not None and again.failed == (DAMAGED,)
        assert [hit.source_doc_id for hit in engine.search("lease")] == ["b.md"]
        assert reads == ["a.pdf"]
        assert engine.sync(full=True).failed == (DAMAGED,)
        assert reads == ["a.pdf"] * 2
        (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7 another text")
        assert engine.admin.count_waiting() == 1
        assert engine.sync().failed == (DAMAGED,)
        assert reads == ["a.pdf"] * 3
        (tmp_path / "a.pdf").unlink()
        assert engine.sync().ok
        assert (
            "a.pdf"
            not in store_of(engine)
            .state.unread_files(CollectionKey("default", "default"))
            .files
        )


@pytest.mark.usefixtures("settled")
def test_a_file_that_became_unreadable_keeps_its_text_and_is_read_once(
    tmp_path: Path, reads: list[str]
) -> None:
    (tmp_path / "a.ipynb").write_text(
        '{"cells": [{"cell_type": "markdown", "source": "a lease"}]}', encoding="utf-8"
    )
    with Engine.open(tmp_path, config=FAKE | {"search.watch": "off"}) as engine:
        engine.sync()
        (tmp_path / "a.ipynb").write_text("{", encoding="utf-8")
        for _ in range(3):
            assert [hit.freshness for hit in engine.search("lease", mode="words")] == [
                "unverifiable"
            ]
        assert len(reads) == 2
        assert [skip.uri for skip in engine.sync().failed] == ["a.ipynb"]
        assert len(reads) == 2


@pytest.mark.usefixtures("settled")
def test_a_sync_of_one_path_forgets_nothing_of_the_others(
    tmp_path: Path, reads: list[str]
) -> None:
    for name in ("a.pdf", "b.pdf"):
        (tmp_path / name).write_bytes(b"%PDF-1.7 no more than that")
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.sync()
        assert [skip.uri for skip in engine.sync(["a.pdf"]).failed] == ["a.pdf"]
        assert [skip.uri for skip in engine.sync().failed] == ["a.pdf", "b.pdf"]
        assert reads == ["a.pdf", "b.pdf"]


@pytest.mark.usefixtures("settled")
def test_new_readers_read_failed_files_again(
    tmp_path: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7 no more than that")
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.sync()
        monkeypatch.setattr(collection_writer, "READERS_VERSION", "read/next")
        assert engine.sync().failed == (DAMAGED,)
        assert reads == ["a.pdf"] * 2


@pytest.mark.usefixtures("settled")
def test_a_reason_that_quotes_a_secret_is_remembered_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = "ghp_" + "aB3dE5fG7h" * 3 + "K9mN2p"

    def read(self: FormatReader, data: bytes, uri: str) -> Document:
        raise ReadError(f"no number: {token!r}", reason="damaged")

    monkeypatch.setattr(FormatReader, "read", read)
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7")
    with Engine.open(tmp_path, config=FAKE) as engine:
        assert engine.sync().failed == (Skip("a.pdf", "no number: '[SECRET:github-token]'"),)
        files = [path for path in engine.home.rglob("*") if path.is_file()]
        assert files and not any(token.encode() in path.read_bytes() for path in files)


@pytest.mark.usefixtures("settled")
def test_a_missing_package_is_not_stored_as_a_failure_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7 no more than that")
    with Engine.open(tmp_path, config=FAKE) as engine:
        monkeypatch.setattr(worker_process, "find_python", lambda: None)
        CONFINED_READER.close()
        assert engine.sync().failed == (
            Skip("a.pdf", "no process could be started to read it"),
        )
        assert engine.admin.has_changes()
        monkeypatch.undo()
        assert engine.sync().failed == (DAMAGED,)


def test_vectors_wait_if_the_time_is_enough_for_few_of_them(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"{number}.md").write_text(f"text number {number}", encoding="utf-8")
    with Engine.open(tmp_path, config=FAKE) as engine:
        assert engine.sync(embed=0.1).embedded == 0
        assert engine.search("number", mode="words")
        assert engine.sync(embed=5.0).embedded == 30


def test_the_next_embedding_refresh_makes_the_missing_vectors(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.md").write_text("the gondola crosses", encoding="utf-8")
    with Engine.open(tmp_path, config=FAKE) as engine:
        assert engine.admin.refresh(embed=False) is not None
        assert engine.status().spaces == ()
        report = engine.admin.refresh(embed=5.0)
        assert report is not None
        assert (report.indexed, report.embedded) == (0, 1)
        assert engine.admin.refresh(embed=5.0) is None
        assert [info.coverage for info in engine.status().spaces] == [1.0]
        (tmp_path / "b.md").write_text("the lagoon lies still", encoding="utf-8")
        engine.admin.refresh(embed=False)
        assert [info.embedded for info in engine.status().spaces] == [1]
        for number in range(300):
            (tmp_path / f"{number}.md").write_text(f"text number {number}", encoding="utf-8")
        engine.admin.refresh(embed=False)
        engine.admin.refresh(embed=0.1)
        assert [info.embedded for info in engine.status().spaces] == [1], (
            "too many for so little time"
        )
        engine.admin.refresh(embed=60.0)
        assert [info.coverage for info in engine.status().spaces] == [1.0]


def test_all_collections_of_a_scan_share_the_time_for_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("one", "two", "three", "four")
    with Engine.open(tmp_path, config=FAKE) as engine:
        for size, name in enumerate(names, start=1):
            engine.admin.create_collection(
                name, chunker="chars", chunk_size=20 + 2 * size, chunk_overlap=0
            )
            engine.sync(collection=name, embed=False)
        for number in range(20):
            text = f"stone {number}: river of number {number} is wide"
            (tmp_path / f"{number}.md").write_text(text, encoding="utf-8")
        quick_embed = FakeEmbedder.embed

        def embed_slowly(
            self: FakeEmbedder, texts: Sequence[str], role: Role = "document"
        ) -> Matrix:
            time.sleep(0.02 * len(texts))
            return quick_embed(self, texts, role)

        monkeypatch.setattr(FakeEmbedder, "embed", embed_slowly)
        explanation = engine.explain("stone", policy=Scan(0.4))
        assert explanation.sync is not None
        assert explanation.sync.indexed == 20 * len(names)
        assert explanation.sync.embedded <= 32, "0.4 seconds are less than one batch"
        assert explanation.coverage["fake"] < 1


def test_a_query_with_a_scan_indexes_the_folder_first(tmp_path: Path) -> None:
    (tmp_path / "river.md").write_text("The river crosses the valley.\n", encoding="utf-8")
    with Engine.open(tmp_path, config=FAKE) as engine:
        first = engine.explain("river", policy=Scan())
        assert first.sync is not None
        assert first.sync.indexed == 1
        assert [hit.freshness for hit in first.hits] == ["fresh"]
        (tmp_path / "river.md").write_text("The river is wide now.\n", encoding="utf-8")
        again = engine.explain("river", policy=Scan())
        assert [hit.freshness for hit in again.hits] == ["refreshed"]
        assert engine.explain("river", policy=Scan()).sync is None
        (tmp_path / "bridge.md").write_text(
            "The bridge is made of granite.\n", encoding="utf-8"
        )
        assert "granite" in engine.context("bridge", policy=Scan()).text
        assert engine.retrieve("bridge", policy=Scan()).chunks


def test_a_scan_that_must_wait_answers_from_the_index_with_a_note(tmp_path: Path) -> None:
    (tmp_path / "river.md").write_text("The river crosses the valley.\n", encoding="utf-8")
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.sync()
        (tmp_path / "bridge.md").write_text(
            "The bridge is made of granite.\n", encoding="utf-8"
        )
        with FileLock(tmp_path / ".ragstone" / "ragstone.db.lock"):
            explanation = engine.explain("river", mode="words", policy=Scan(wait=0.1))
            retrieval = engine.retrieve("river", policy=Scan(wait=0.1))
            with pytest.raises(StoreBusy):
                engine.admin.ensure_current(Scan(wait=0.1, required=True))
    note = "not brought up to date: another process is writing; answering from what is stored"
    assert explanation.hits
    assert explanation.notes == (note,)
    assert retrieval.notes == (note,)
