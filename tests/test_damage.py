"""One damaged document stops no sync, no search and no watcher, and a full sync mends it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ragstone import Document, Engine, registry
from ragstone.errors import StoreDamaged
from ragstone.indexing.graph.passes import GraphPasses
from ragstone.store.sqlite import SqliteStore
from ragstone.types import CollectionKey, Mode

FAKE = {"rag.embedding_provider": "fake"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.md").write_text("The quagga sleeps beside the lock. " * 30, encoding="utf-8")
    (tmp_path / "b.md").write_text("A zebra is awake in the lock room. " * 30, encoding="utf-8")
    (tmp_path / "c.py").write_text(
        "def unlock():\n    return 'the lock of an okapi'\n", encoding="utf-8"
    )
    return tmp_path


@pytest.fixture
def engine(folder: Path) -> Iterator[Engine]:
    with Engine.open(folder, config=FAKE) as opened:
        opened.sync()
        yield opened


def store_of(engine: Engine) -> SqliteStore:
    store = engine.workspace.components.store
    assert isinstance(store, SqliteStore)
    return store


def damage(engine: Engine, uri: str, *, vectors: bool = True) -> None:
    """Let nobody be able to read the texts of a document, and take their vectors if they are to have none."""
    store = store_of(engine)
    numbers = [
        chunk.text_id
        for chunk in store.document_chunks(CollectionKey("default", "default"), uri)
    ]
    assert numbers
    with store._database.writing() as db:
        for number in numbers:
            db.execute("UPDATE texts SET body = x'ff00' WHERE id = ?", (number,))
            if not vectors:
                db.execute("DELETE FROM vectors WHERE text_id = ?", (number,))
    engine.workspace.searcher._answers.clear()  # bit rot is no write, so it changes no generation


def wrong(engine: Engine) -> list[str]:
    return [finding.name for finding in store_of(engine).check() if not finding.ok]


def found(engine: Engine, query: str, mode: Mode) -> set[str]:
    return {hit.source_doc_id for hit in engine.search(query, mode=mode)}


@pytest.mark.parametrize("vectors", [True, False])
def test_a_full_sync_mends_a_damaged_document(
    engine: Engine, folder: Path, vectors: bool
) -> None:
    damage(engine, "a.md", vectors=vectors)
    (folder / "d.md").write_text("A gnu has come in.", encoding="utf-8")
    report = engine.sync()
    assert (report.indexed, report.failed, report.embedded) == (1, (), 1)
    assert found(engine, "gnu", "words") == {"d.md"}
    assert wrong(engine) == ["documents"]
    assert engine.sync(full=True).failed == ()
    assert wrong(engine) == []
    assert found(engine, "quagga", "words") == {"a.md"}
    assert "a.md" in found(engine, "quagga sleeps beside the lock", "vectors")
    assert engine.status().spaces[0].coverage == 1


def test_a_search_leaves_a_damaged_document_out(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Longest:
        def __init__(self, settings: object) -> None:
            """Need no settings."""

        def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
            return [float(len(text)) for text in texts]

    load = registry.load
    monkeypatch.setattr(
        registry, "load", lambda kind, name: Longest if kind == "reranker" else load(kind, name)
    )
    before = found(engine, "lock", "hybrid")
    damage(engine, "a.md")
    for about in ({}, {"rerank": "longest"}, {"mmr": True}, {"merge": False}):
        assert {hit.source_doc_id for hit in engine.search("lock", **about)} == before - {
            "a.md"
        }


def test_a_stamp_that_cannot_be_read_is_one_that_is_looked_at_again(engine: Engine) -> None:
    with store_of(engine)._database.writing() as db:
        db.execute("UPDATE documents SET stamp = 'nonsense' WHERE uri = 'a.md'")
    assert engine.sync().failed == ()
    assert {one.uri for one in engine.sources()} == {"a.md", "b.md", "c.py"}


def test_a_watcher_does_not_hurry_for_texts_that_cannot_be_read(
    engine: Engine, folder: Path
) -> None:
    damage(engine, "a.md", vectors=False)
    watcher = engine.admin.watcher()
    (folder / "d.md").write_text("A gnu has come in.", encoding="utf-8")
    watcher._index_changes()
    watcher._index_changes()
    assert watcher.status().problem == ""
    assert watcher.status().pending > 0
    assert not watcher._makes_vectors
    watcher.stop()


def test_a_damaged_file_is_told_of_by_the_passes_and_stops_none() -> None:
    def load(uri: str) -> str:
        if uri == "a.py":
            raise StoreDamaged(
                "the store is damaged: a text that cannot be unpacked",
                hint="run `ragstone sync --full`",
            )
        return "def here():\n    pass\n"

    passes = GraphPasses(["a.py", "b.py"], load, {})
    assert len(passes.read_symbols(["a.py", "b.py"], None)) == 1
    assert passes.text("a.py") is None
    assert [remark.partition(":")[0] for remark in passes.remarks] == ["a.py"]


def test_neighbours_that_cannot_be_put_together_are_shown_by_the_best_of_them(
    engine: Engine, folder: Path
) -> None:
    functions = [
        f"def tapir_keys_{n}():\n" + f"    tapir.keys.cold({n})\n" * 20 for n in range(4)
    ]
    (folder / "e.py").write_text("\n\n".join(functions), encoding="utf-8")
    engine.sync()
    (together, *_) = engine.search("tapir keys", filters={"path": "e.py"})
    assert together.trace.merged
    with store_of(engine)._database.writing() as db:
        db.execute("UPDATE documents SET gaps = x'00' WHERE uri = 'e.py'")
    engine.workspace.searcher._answers.clear()  # as in `damage`
    (alone, *_) = engine.search("tapir keys", filters={"path": "e.py"})
    assert alone.text in together.text
    assert len(alone.text) < len(together.text)


@pytest.mark.parametrize("mode", ["words", "vectors", "hybrid"])
def test_a_damaged_hit_gives_its_place_to_the_next(tmp_path: Path, mode: Mode) -> None:
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.add([Document(uri=f"n{n}", text=f"harbour report {n}") for n in range(9)])
        first = engine.search("harbour report", top_k=5, mode=mode)[0].source_doc_id
        damage(engine, first)
        shown = [
            hit.source_doc_id for hit in engine.search("harbour report", top_k=5, mode=mode)
        ]
        assert len(shown) == 5
        assert first not in shown
