"""The large index that is made up: chunks that can be stored, true neighbours that are true, parts that add up."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pytest

from bench import grown, growth
from ragstone import Engine
from ragstone.config.sections import EmbedSettings
from ragstone.types import CollectionKey, Scope


def test_made_up_texts_are_distinct_and_of_the_size_of_our_chunks() -> None:
    first = next(grown.texts(400))
    assert len(set(first)) == 400
    assert 550 < sum(map(len, first)) / 400 < 1_000
    assert next(grown.texts(400)) == first


def test_made_up_documents_are_stored_as_they_were_cut(tmp_path: Path) -> None:
    batch = [f"text number {number} über alles" for number in range(40)]
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        store = engine.workspace.components.store
        store.ensure_collection(CollectionKey("default", "default"))
        results = store.put(CollectionKey("default", "default"), grown.documents(batch, 0))
        assert [result.added for result in results] == [16, 16, 8]
        assert len(store.search_words(Scope(), ["number"], limit=99)) == 40
        assert all(finding.ok for finding in store.check())
        parts = growth.parts(tmp_path)
    assert {"texts", "documents", "words", "vectors"} <= set(parts) or "database" in parts
    assert sum(parts.values()) <= sum(
        path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()
    )


def test_the_nearest_over_batches_are_the_nearest_of_all() -> None:
    scores = np.random.default_rng(3).random((4, 90), dtype=np.float32)
    best, truth = (
        np.full((4, grown.NEAR), -2.0, np.float32),
        np.zeros((4, grown.NEAR), np.int64),
    )
    for start in range(0, 90, 30):
        best, truth = grown.nearer(best, truth, scores[:, start : start + 30], start + 1)
    assert np.array_equal(truth, np.argsort(-scores, axis=1)[:, : grown.NEAR] + 1)


def test_questions_are_words_that_stand_together() -> None:
    asked = growth.questions()
    assert len(asked) == growth.QUERIES
    assert all(len(question.split()) == 4 for question in asked)


def test_every_way_to_store_vectors_is_measured_at_one_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        growth, "one", lambda size, storage: {"chunks": size, "storage": storage}
    )
    first, *others = growth.storages()
    assert first == EmbedSettings().storage
    assert {"compact"} <= {first, *others}
    for sizes, several in (([1_000, 50_000, 200_000], 50_000), ([10_000], 10_000)):
        ours = growth.measured(argparse.Namespace(sizes=sizes))["ours"]
        assert {name: found["storage"] for name, found in ours.items()} == {
            **{str(size): first for size in sizes},
            **{f"{several} {other}": other for other in others},
        }
    assert list(growth.measured(argparse.Namespace(sizes=[200_000]))["ours"]) == ["200000"]


def test_what_appears_later_is_weighed_too(tmp_path: Path) -> None:
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        engine.workspace.components.store.ensure_collection(CollectionKey("default", "default"))
    before = growth.weighed(tmp_path, 10, 100.0)
    late = tmp_path / ".ragstone" / "vectors" / "late.planes2"
    late.parent.mkdir(exist_ok=True)
    late.write_bytes(bytes(50_000))
    after = growth.weighed(tmp_path, 10, 100.0)
    assert after["disk_bytes_per_chunk"] - before["disk_bytes_per_chunk"] == 5_000
    assert after["disk_per_text"] == pytest.approx(before["disk_per_text"] + 50, abs=0.02)
    assert after["bytes_per_chunk"]["planes2"] == 5_000
