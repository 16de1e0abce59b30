"""A collection that was made with an earlier built-in model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.embed.minilm import MiniLM


def test_vectors_of_an_earlier_model_answer_by_words_until_reembed_makes_new_ones(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    minilm = {"rag.embedding_provider": "minilm"}
    earlier = replace(MiniLM.space, model="an-earlier-model", version="0")
    with monkeypatch.context() as patch:
        patch.setattr(MiniLM, "space", earlier)
        with Engine.open(folder, config=minilm) as engine:
            engine.sync()
            assert set(engine.explain("acquire_lease").coverage) == {"minilm"}
    (folder / "new.md").write_text("a zeppelin", encoding="utf-8")
    with Engine.open(folder, config=minilm) as engine:
        report = engine.sync()
        assert report.indexed == 1 and report.embedded == 0
        assert "an-earlier-model" in report.notes[0] and "`ragstone reembed`" in report.notes[0]
        explained = engine.explain("acquire_lease")
        assert explained.hits and not explained.coverage
        assert any("`ragstone reembed`" in note for note in explained.notes)
        spaces = engine.status().spaces
        assert [(info.state, info.space) for info in spaces] == [("active", earlier)]
        assert engine.admin.reembed() > 0
        assert set(engine.explain("zeppelin").coverage) == {"minilm"}
        assert engine.sync().embedded == 0
