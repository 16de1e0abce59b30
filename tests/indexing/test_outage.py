"""An embedding service that fails: nothing is lost, nothing is paid for twice, and words answer."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragstone import Document, Engine, NotFound
from ragstone.embed.fake import FakeEmbedder
from ragstone.errors import ConfigError, ProviderError, StaleSpace
from ragstone.surfaces.cli.app import run
from tests.support.model_services import Faults, ModelService
from tests.support.outages import documents, hurry, recover, settings


def test_during_an_outage_texts_are_stored_and_words_answer(
    tmp_path: Path, service: ModelService
) -> None:
    service.is_down = True
    with Engine.open(tmp_path, config=settings(service)) as engine:
        hurry(engine)
        report = engine.add(documents(5))
        assert report.documents == 5 and report.embedded == 0 and report.pending == 5
        assert any("words answer" in note for note in report.notes)
        assert engine.search("note 3")[0].source_doc_id == "d3"
        recover(engine, service)
        assert engine.admin.embed() == 5
        assert engine.status().spaces[0].coverage == 1
    assert service.paid_twice == 0


def test_a_search_answers_by_words_with_a_note_and_is_not_cached(
    tmp_path: Path, service: ModelService
) -> None:
    with Engine.open(tmp_path, config=settings(service)) as engine:
        hurry(engine)
        engine.add(documents(20))
        service.is_down = True
        for call in (engine.explain("harbour keeper"), engine.context("harbour keeper", 500)):
            assert any("found by words" in note for note in call.notes)
        assert engine.search("harbour keeper")
        recover(engine, service)
        explanation = engine.explain("harbour keeper")
        assert not explanation.notes and "openai" in explanation.coverage


def test_turns_are_remembered_and_recalled_during_an_outage(
    tmp_path: Path, service: ModelService
) -> None:
    service.is_down = True
    with Engine.open(tmp_path, config=settings(service)) as engine:
        hurry(engine)
        assert engine.remember("chat", "user", "The ferry leaves at nine.") == 0
        assert engine.recall("chat", "when does the ferry leave")[0].turn.index == 0
        recover(engine, service)
        engine.remember("chat", "user", "The bell rings at ten.")
        assert len(service.embedded) == 2


def test_the_next_sync_continues_and_pays_for_no_text_twice(
    tmp_path: Path, service: ModelService
) -> None:
    for document in documents(30):
        (tmp_path / f"{document.uri}.md").write_text(document.text)
    with Engine.open(tmp_path, config=settings(service, **{"embed.concurrency": 1})) as engine:
        hurry(engine)
        service.faults.rate_limited = 0.0
        engine.workspace.components.embedder().request_size = (  # type: ignore[attr-defined]
            type(engine.workspace.components.embedder().request_size)(4, 1000, 1)  # type: ignore[attr-defined]
        )
        answer = service.answer

        def fail_after_three(*arguments: Any) -> Any:  # noqa: ANN401 - those of every answer
            service.is_down = service.is_down or len(service.embedded) >= 12
            return answer(*arguments)

        service.answer = fail_after_three
        report = engine.sync()
        assert report.indexed == 30 and 0 < report.embedded < 30 and not report.ok
        service.answer = answer
        recover(engine, service)
        report = engine.sync()
        assert report.ok and report.pending == 0
    assert service.paid_twice == 0 and len(service.embedded) == 30


def test_a_text_that_the_service_refuses_does_not_stop_the_others(
    tmp_path: Path, service: ModelService
) -> None:
    with Engine.open(tmp_path, config=settings(service)) as engine:
        hurry(engine)
        texts = [*documents(9), Document("bad", "a poison text")]
        report = engine.add(texts)
        assert report.pending == 1 and "refused" in report.notes[0]
        assert engine.search("poison", mode="words")[0].source_doc_id == "bad"
    assert len(service.embedded) == 9 and service.paid_twice == 0


def test_many_requests_are_sent_at_the_same_time_but_not_too_many(
    tmp_path: Path, service: ModelService
) -> None:
    service.seconds_per_request = 0.05
    with Engine.open(tmp_path, config=settings(service, **{"embed.concurrency": 3})) as engine:
        engine.add(documents(700), embed=False)
        engine.admin.embed()
    assert service.most_at_once == 3


# ── the fault list ────────────────────────────────────────────────────────────────────────────────


def test_no_fault_loses_or_doubles_a_vector(tmp_path: Path, service: ModelService) -> None:
    count = 1200
    service.faults = Faults(
        rate_limited=0.3,
        broken=0.05,
        hang=0.01,
        reset=0.01,
        short=0.01,
        not_finite=0.01,
        wrong_dimension=0.01,
        reordered=0.2,
        hang_seconds=1.2,
    )
    with Engine.open(tmp_path, config=settings(service)) as engine:
        hurry(engine)
        engine.add(documents(count), embed=False)
        embedder = engine.workspace.components.embedder()
        embedder.request_size = type(embedder.request_size)(16, 1000, 4)  # type: ignore[attr-defined]
        rounds = 0
        while engine.status().spaces == () or engine.status().spaces[0].coverage < 1:
            rounds += 1
            assert rounds < 20
            with suppress(ProviderError):  # many failures in a row open the circuit breaker
                engine.admin.embed()
            embedder.client.breaker.record_success()  # type: ignore[attr-defined]
        info = engine.status().spaces[0]
        assert info.embedded == info.texts == count
        assert all(finding.ok for finding in engine.admin.check())
        assert len(service.embedded) == count and service.paid_twice <= count * 0.01
        service.faults = Faults()
        assert engine.search("note 77 about the", mode="vectors")


# ── other spaces ──────────────────────────────────────────────────────────────────────────────────


def test_a_collection_can_have_its_own_embedder(tmp_path: Path, service: ModelService) -> None:
    with Engine.open(tmp_path, config={"embed.provider": "fake"}) as engine:
        engine.admin.create_collection("own", embedder="minilm")
        engine.add(documents(3))
        engine.add(Document("x", "the harbour keeper"), collection="own")
        spaces = {info.space.embedder: info for info in engine.status().spaces}
        assert {name: info.embedded for name, info in spaces.items()} == {
            "fake": 3,
            "minilm": 1,
        }
        assert {hit.collection for hit in engine.search("harbour")} == {"own", "default"}
        with pytest.raises(ConfigError, match="no embedder called"):
            engine.admin.create_collection("wrong", embedder="nonsense")
        assert "wrong" not in [collection.name for collection in engine.admin.collections()]


def test_a_query_can_choose_its_embedder(tmp_path: Path) -> None:
    with Engine.open(tmp_path, config={"embed.provider": "fake"}) as engine:
        engine.add(documents(5))
        with pytest.raises(NotFound, match="no vectors of 'minilm'"):
            engine.search("harbour", embedder="minilm")
        assert engine.admin.embed(embedder="minilm") == 5
        assert list(engine.explain("harbour", embedder="minilm").coverage) == ["minilm"]
        assert list(engine.explain("harbour").coverage) == ["fake"]


@pytest.mark.parametrize(
    "change",
    [
        {"embed.provider": "openai:small@8"},
        {"embed.provider": "openai:other@16"},
        {"embed.query_prefix": "ask: "},
        {"embed.document_prefix": "text: "},
    ],
    ids=["dimension", "same dimension", "query prefix", "document prefix"],
)
def test_another_space_is_refused_and_the_old_one_answers(
    tmp_path: Path, service: ModelService, change: dict[str, object]
) -> None:
    with Engine.open(tmp_path, config=settings(service)) as engine:
        engine.add(documents(6))
        before = engine.status().spaces
    with Engine.open(tmp_path, config={**settings(service), **change}) as engine:
        report = engine.add(Document("new", "a new note about the bell"))
        assert report.embedded == 0 and "`ragstone reembed`" in report.notes[0]
        explanation = engine.explain("harbour keeper")
        assert list(explanation.coverage) == ["openai"] and explanation.hits
        (info,) = engine.status().spaces
        assert (info.id, info.space, info.embedded) == (before[0].id, before[0].space, 6)
        service.dimension = engine.workspace.components.embedder().space.dimension
        assert engine.admin.reembed() == 7
        (info,) = [info for info in engine.status().spaces if info.state == "active"]
        assert info.id != before[0].id and info.coverage == 1
        assert engine.search("harbour keeper")


@pytest.mark.parametrize("index", ["turbo", "file"])
@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"model": "other-words"}, "say other-words"),
        ({"dimension": 64}, "with 64 numbers per vector, not 128"),
        ({"document_prefix": "passage: "}, "with other prefixes"),
        ({"query_prefix": "query: "}, "with other prefixes"),
        ({"normalised": False}, "made by"),
        ({"version": "2"}, "whose files or version changed"),
    ],
    ids=["model", "dimension", "document_prefix", "query_prefix", "normalised", "version"],
)
def test_no_vector_of_another_space_is_stored_among_the_old_ones(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: dict[str, Any],
    difference: str,
    index: str,
) -> None:
    config = {"embed.provider": "fake", "rag.vector_store.provider": index}
    old = FakeEmbedder.space
    with Engine.open(tmp_path, config=config) as engine:
        engine.add(documents(3))
        expected = [hit.source_doc_id for hit in engine.search("harbour", mode="vectors")]
    monkeypatch.setattr(FakeEmbedder, "space", replace(old, **change))
    with Engine.open(tmp_path, config=config) as engine:
        report = engine.add(Document("new", "a new note"))
        assert report.embedded == 0 and "`ragstone reembed`" in report.notes[0]
        with pytest.raises(StaleSpace, match="reembed") as caught:
            engine.admin.embed()
        assert difference in str(caught.value)
        assert engine.search("new note", mode="words")
        (info,) = engine.status().spaces
        assert info.space == old
        rows = engine.workspace.components.store.vectors.rows(engine.project, info.id)
        assert rows.count() == info.embedded == 3
    monkeypatch.setattr(FakeEmbedder, "space", old)
    with Engine.open(tmp_path, config=config) as engine:
        assert engine.admin.embed() == 1
        hits = engine.search("harbour", mode="vectors", top_k=9)
        assert [hit.source_doc_id for hit in hits if hit.source_doc_id != "new"] == expected


def test_a_service_that_made_no_vector_can_be_replaced_without_a_command(
    tmp_path: Path, service: ModelService
) -> None:
    service.is_down = True
    with Engine.open(tmp_path, config=settings(service)) as engine:
        hurry(engine)
        assert engine.add(documents(3)).pending == 3
    with Engine.open(tmp_path, config={"embed.provider": "fake"}) as engine:
        assert engine.admin.embed() == 3
        (info,) = engine.status().spaces
        assert info.space.embedder == "fake" and info.coverage == 1


def test_vectors_that_cannot_be_asked_are_a_note_with_the_reason(
    tmp_path: Path, service: ModelService, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Engine.open(tmp_path, config=settings(service)) as engine:
        engine.add(documents(3))
    monkeypatch.delenv("RAGSTONE_EMBED_API_KEY")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with Engine.open(tmp_path, config={"embed.provider": "fake"}) as engine:
        explanation = engine.explain("harbour")
        assert explanation.hits
        (note,) = (note for note in explanation.notes if "cannot be asked" in note)
        assert "OpenAI needs a key" in note


# ── the command line ──────────────────────────────────────────────────────────────────────────────


def test_ollama_that_does_not_run_is_a_note_and_the_search_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RAGSTONE_EMBED_PROVIDER", "ollama")
    monkeypatch.setenv("RAGSTONE_EMBED_URL", "http://127.0.0.1:9")
    (tmp_path / "a.md").write_text("The ferry leaves the quay at nine.")
    assert run(["search", "ferry", "-C", str(tmp_path)]) == 0
    shown = capsys.readouterr()
    assert "a.md" in shown.out and "ollama serve" in shown.err and "Traceback" not in shown.err
    assert run(["remember", "We retry three times.", "-C", str(tmp_path)]) == 0
    assert "found by words" in capsys.readouterr().err
    assert run(["remember", "Agreed.", "-C", str(tmp_path), "--json"]) == 0
    assert "ollama serve" in json.loads(capsys.readouterr().out)["notes"][0]
    assert run(["recall", "retry", "-C", str(tmp_path)]) == 0
    assert "We retry three times." in capsys.readouterr().out
    assert run(["sync", "-C", str(tmp_path), "--json"]) == 3
    assert "cannot be reached" in json.loads(capsys.readouterr().out)["notes"][0]


def test_a_search_after_an_outage_names_the_service_and_promises_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RAGSTONE_EMBED_PROVIDER", "ollama")
    monkeypatch.setenv("RAGSTONE_EMBED_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("RAGSTONE_EMBED_BACKGROUND", "on")
    (tmp_path / "zoo.md").write_text("The zebra lives in hall two.")
    assert run(["add", str(tmp_path / "zoo.md"), "-C", str(tmp_path)]) == 3
    capsys.readouterr()
    for query in ("zebra", "animals"):
        assert run(["search", query, "-C", str(tmp_path)]) == 0
        notes = capsys.readouterr().err
        assert "ollama serve" in notes and "ask again" not in notes


def test_a_missing_key_is_a_note_of_a_search_and_of_a_sync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("RAGSTONE_EMBED_PROVIDER", "openai")
    (tmp_path / "a.md").write_text("The ferry leaves the quay at nine.")
    assert run(["search", "ferry", "-C", str(tmp_path)]) == 0
    shown = capsys.readouterr()
    assert "a.md" in shown.out and "OPENAI_API_KEY" in shown.err
    assert run(["sync", "-C", str(tmp_path)]) == 3
    shown = capsys.readouterr()
    assert "1 found" in shown.out and "OPENAI_API_KEY" in shown.err
