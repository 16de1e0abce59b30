"""`embed.fallback`: the vectors of a second model answer while the service of the first gives none."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone import Engine
from tests.support.model_services import ModelService
from tests.support.outages import documents, hurry, recover, settings


def test_the_fallback_answers_while_the_service_is_down(
    tmp_path: Path, service: ModelService
) -> None:
    service.is_down = True
    config = settings(service, **{"embed.fallback": "fake"})
    with Engine.open(tmp_path, config=config) as engine:
        hurry(engine)
        engine.add(documents(20))
        states = {info.space.embedder: info for info in engine.status().spaces}
        assert states["fake"].coverage == 1 and states["openai"].embedded == 0
        recover(engine, service)
        engine.sync()
        engine.admin.embed()
        service.is_down = True
        explanation = engine.explain("harbour keeper")
        assert "fake" in explanation.coverage and "openai" not in explanation.coverage
        recover(engine, service)
        explanation = engine.explain("harbour keeper rope")
        assert "openai" in explanation.coverage and "fake" not in explanation.coverage


def test_the_fallback_answers_if_the_service_never_did(
    tmp_path: Path, service: ModelService
) -> None:
    service.is_down = True
    config = settings(service, **{"embed.fallback": "fake"})
    with Engine.open(tmp_path, config=config) as engine:
        hurry(engine)
        report = engine.add(documents(20))
        assert "those of fake answer" in report.notes[0] and "words" not in report.notes[0]
        for mode in ("hybrid", "vectors"):
            explanation = engine.explain("harbour keeper", mode=mode)
            assert list(explanation.coverage) == ["fake"] and explanation.hits
            assert "hashed-words answer" in explanation.notes[0]
        assert not engine.explain("harbour keeper", mode="words").coverage
        states = {info.space.embedder: info.state for info in engine.status().spaces}
        assert states == {"fake": "fallback", "openai": "active"}
        recover(engine, service)
        engine.admin.embed()
        assert list(engine.explain("harbour keeper").coverage) == ["openai"]


def test_the_fallback_answers_while_the_key_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RAGSTONE_EMBED_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    config = {"embed.provider": "gemini", "embed.fallback": "fake"}
    with Engine.open(tmp_path, config=config) as engine:
        engine.add(documents(20))
        assert list(engine.explain("harbour keeper").coverage) == ["fake"]


def test_the_fallback_answers_if_the_key_is_lost(
    tmp_path: Path, service: ModelService, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = settings(service, **{"embed.fallback": "fake"})
    with Engine.open(tmp_path, config=config) as engine:
        engine.add(documents(20))
    monkeypatch.delenv("RAGSTONE_EMBED_API_KEY")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    del config["embed.url"]  # only the service itself needs a key
    with Engine.open(tmp_path, config=config) as engine:
        assert list(engine.explain("harbour keeper").coverage) == ["fake"]


def test_one_note_says_that_the_fallback_answers_and_why(
    tmp_path: Path, service: ModelService
) -> None:
    config = settings(service, **{"embed.fallback": "fake"})
    with Engine.open(tmp_path, config=config) as engine:
        hurry(engine)
        engine.add(documents(20))
        service.is_down = True
        (note,) = engine.explain("harbour keeper").notes
        assert note.startswith(
            "the vectors of hashed-words answer instead of those of the service: "
        )


def test_changed_files_get_vectors_of_the_fallback(
    tmp_path: Path, service: ModelService
) -> None:
    config = settings(service, **{"embed.fallback": "fake"})
    (tmp_path / "ferry.md").write_text("The ferry leaves at nine.")
    with Engine.open(tmp_path, config=config) as engine:
        hurry(engine)
        engine.sync()
        service.is_down = True
        (tmp_path / "gondola.md").write_text("The gondola leaves at ten.")
        assert "gondola.md" in [hit.path for hit in engine.search("gondola", mode="vectors")]
