"""The write path: what changes is stored, what fails is told, what is pending is embedded once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ragstone import Document, Engine
from ragstone.embed.fake import FakeEmbedder
from ragstone.indexing.events import Event
from ragstone.indexing.reconcile import BATCH_DOCUMENTS
from ragstone.protocols import Progress
from ragstone.types import Role

if TYPE_CHECKING:
    from ragstone.types import Matrix

FAKE = {"rag.embedding_provider": "fake"}


class Counting(FakeEmbedder):
    """A fake embedder that remembers what it was asked."""

    def __init__(self, fail_after: int | None = None) -> None:
        self.texts: list[str] = []
        self.fail_after = fail_after

    def embed(
        self, texts: Sequence[str], role: Role = "document", *, progress: Progress | None = None
    ) -> Matrix:
        if self.fail_after is not None and len(self.texts) >= self.fail_after:
            raise KeyboardInterrupt
        self.texts += texts
        return super().embed(texts, role, progress=progress)


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


def test_more_documents_than_one_transaction_holds_are_all_stored(tmp_path: Path) -> None:
    with Engine.open(tmp_path, config=FAKE) as engine:
        count = BATCH_DOCUMENTS + 7
        report = engine.add(
            Document(uri=f"d{n}", text=f"text number {n}") for n in range(count)
        )
        assert report.documents == count
        assert len(list(engine.sources())) == count


def test_a_same_size_edit_in_the_same_second_is_seen(tmp_path: Path) -> None:
    write(tmp_path, a="one apple")
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.sync()
        write(tmp_path, a="two plums")
        assert engine.sync().indexed == 1
        assert engine.search("plums", mode="words")


def test_an_edit_whose_time_was_set_back_is_seen(tmp_path: Path) -> None:
    write(tmp_path, a="one apple")
    os.utime(tmp_path / "a.md", (1_000_000, 1_000_000))
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.sync()
        write(tmp_path, a="two plums")
        os.utime(tmp_path / "a.md", (1_000_000, 1_000_000))
        assert engine.sync().indexed == 1


def test_a_touched_file_is_read_and_not_stored_again(tmp_path: Path) -> None:
    write(tmp_path, a="one apple")
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.sync()
        os.utime(tmp_path / "a.md", (1_000_000, 1_000_000))
        report = engine.sync()
        assert (report.indexed, report.unchanged, report.chunks_added) == (0, 1, 0)


def test_another_chunk_size_cuts_again_and_another_sync_does_not(tmp_path: Path) -> None:
    write(tmp_path, a="\n\n".join(f"Paragraph {n} " + "word " * 60 for n in range(8)))
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.sync()
        before = engine.status().chunks
    small = FAKE | {"rag.chunk_size": 60}
    with Engine.open(tmp_path, config=small) as engine:
        assert engine.sync().indexed == 1
        assert engine.status().chunks > before
        assert engine.sync().indexed == 0


def test_a_full_sync_reads_every_file_again(tmp_path: Path) -> None:
    write(tmp_path, a="one apple", b="two plums")
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.sync()
        report = engine.sync(full=True)
        assert (report.indexed, report.chunks_added, report.embedded) == (2, 0, 0)


def test_a_file_that_became_binary_leaves_the_index_with_a_reason(tmp_path: Path) -> None:
    write(tmp_path, a="one apple")
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.sync()
        (tmp_path / "a.md").write_bytes(bytes(range(256)) * 4)
        report = engine.sync()
        assert report.closes
        assert [skip.reason for skip in report.skipped] == ["binary file"]
        assert engine.is_empty()


def test_a_file_that_cannot_be_read_now_keeps_its_earlier_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, a="one apple", b="two plums")
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.sync()
        write(tmp_path, a="one pear")
        # A file that vanishes between the scan and the read: the name is listed, the content cannot be had.
        source = engine.admin.source()
        items = list(source.scan())
        (tmp_path / "a.md").unlink()
        monkeypatch.setattr(type(source), "scan", lambda self: iter(items))
        report = engine.sync()
        assert [skip.uri for skip in report.failed] == ["a.md"]
        assert report.closes
        assert not report.ok
        assert engine.search("apple", mode="words")


def test_subscribers_get_an_event_for_every_stored_document(tmp_path: Path) -> None:
    write(tmp_path, a="one apple", b="two plums")
    uris: list[object] = []

    def hear(event: Event) -> None:
        uris.append(event.data["uri"])

    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.events.subscribe(hear, names=["rag_chunk_indexed"])
        engine.sync()
    assert uris == ["a.md", "b.md"]


def store_texts(engine: Engine, count: int) -> None:
    engine.add(
        [Document(uri=f"d{n}", text=f"text number {n}") for n in range(count)], embed=False
    )


def use_embedder(engine: Engine, embedder: FakeEmbedder) -> None:
    """Let the engine embed with this embedder."""
    pool = engine.workspace.components.embedders
    pool._make = lambda name, values: embedder  # type: ignore[method-assign]
    pool._embedders = {}


def test_interrupted_embedding_continues_where_it_stopped(tmp_path: Path) -> None:
    first, second = Counting(fail_after=300), Counting()
    with Engine.open(tmp_path, config=FAKE) as engine:
        store_texts(engine, 600)
        use_embedder(engine, first)
        with pytest.raises(KeyboardInterrupt):
            engine.admin.embed()
        use_embedder(engine, second)
        engine.admin.embed()
        assert sorted(first.texts + second.texts) == sorted(
            f"text number {n}" for n in range(600)
        )
        assert engine.status().spaces[0].coverage == 1.0


def test_a_time_limit_leaves_the_rest_for_later(tmp_path: Path) -> None:
    embedder = Counting()
    with Engine.open(tmp_path, config=FAKE) as engine:
        store_texts(engine, 100)
        use_embedder(engine, embedder)
        assert engine.admin.embed(seconds=0.0) == 0
        assert embedder.texts == []


def test_identical_text_is_embedded_once(tmp_path: Path) -> None:
    with Engine.open(tmp_path, config=FAKE) as engine:
        report = engine.add([Document(uri=f"d{n}", text="the same words") for n in range(20)])
        assert report.chunks_added == 20
        assert report.embedded == 1


def test_progress_is_reported_for_every_stage(tmp_path: Path) -> None:
    write(tmp_path, a="one apple", b="two plums")
    stages: dict[str, tuple[int, int]] = {}
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.sync(progress=lambda stage, done, total: stages.update({stage: (done, total)}))
    assert stages["index"] == (2, 2)
    assert stages["embed"] == (2, 2)


def test_no_vector_index_is_opened_if_nothing_is_pending(tmp_path: Path) -> None:
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.add([Document(uri="a", text="some text")])
    with Engine.open(tmp_path, config=FAKE) as engine:
        assert engine.admin.embed() == 0
        assert not engine.workspace.components._indexes
        engine.search("text", mode="vectors")
        assert engine.workspace.components._indexes
