"""Rerankers: the wire format of each service, negative scores, and failures that leave the order alone."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from ragstone import Document, Engine, config, registry
from ragstone.config import Settings
from ragstone.embed.rerank.hosted import ServiceReranker, cohere, jina, voyage
from ragstone.errors import ConfigError, MissingExtra, ProviderError
from ragstone.retrieval.ranking.rerank import rerank_scores
from ragstone.surfaces.cli.app import run
from tests.support.model_services import (
    KEY,
    ModelService,
    Reply,
    answer_cohere,
    answer_jina,
    answer_voyage,
    serving,
)

TEXTS = {
    "a.md": "The ferry leaves the quay at nine.",
    "b.md": "The ferry timetable for winter: the ferry leaves at ten from the quay.",
    "c.md": "Tickets for the ferry are sold on the quay.",
}
Answer = Callable[[ModelService, str, dict[str, str], Any], Reply]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(tmp_path, config={"embed.provider": "fake"}) as opened:
        opened.add([Document(uri, text) for uri, text in TEXTS.items()])
        yield opened


class Scripted:
    """A reranker with given scores by the first word of a text that is in them."""

    name = "scripted"
    scores: dict[str, float] = {}

    def __init__(self, settings: object) -> None:
        """Need no settings."""

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        by_text = {TEXTS[uri]: score for uri, score in self.scores.items()}
        return [by_text[text] for text in texts]


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> type[Scripted]:
    load = registry.load
    monkeypatch.setattr(
        registry,
        "load",
        lambda kind, name: Scripted if kind == "reranker" else load(kind, name),
    )
    return Scripted


@pytest.mark.parametrize(
    "scores",
    [
        {"a.md": -2.0, "b.md": -11.2, "c.md": -11.25},
        {"a.md": -900.0, "b.md": -800.0, "c.md": -700.0},
        {"a.md": 900.0, "b.md": 30.0, "c.md": 800.0},
        {"a.md": 0.1, "b.md": 0.9, "c.md": 0.2},
        {"a.md": -0.001, "b.md": -0.002, "c.md": -0.003},
    ],
    ids=["logits", "very negative", "very large", "shares", "near zero"],
)
def test_the_order_of_the_reranker_is_kept_and_scores_are_from_0_to_1(
    engine: Engine, scripted: type[Scripted], scores: dict[str, float]
) -> None:
    scripted.scores = scores
    hits = engine.search("ferry quay", rerank="scripted")
    expected = sorted(scores, key=lambda uri: -scores[uri])
    assert [hit.source_doc_id for hit in hits] == expected
    assert all(0 <= hit.score <= 1 for hit in hits) and hits[0].score > 0
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_equal_scores_stay_equal_and_wrong_ones_are_refused() -> None:
    first, second, third = rerank_scores([-5.0, -5.0, -6.0], 3)
    assert first == second > third > 0
    assert rerank_scores([], 0) == []
    for wrong in ([1.0], [float("nan"), 0.0]):
        with pytest.raises(ProviderError):
            rerank_scores(wrong, 2)


@pytest.mark.parametrize(
    ("name", "answer", "path", "fields"),
    [
        ("cohere", answer_cohere, "", {"model": "rerank-v3.5", "top_n": 3}),
        (
            "voyage",
            answer_voyage,
            "/v1",
            {"model": "rerank-2.5", "top_k": 3, "truncation": True},
        ),
        (
            "jina",
            answer_jina,
            "/v1",
            {"model": "jina-reranker-v3", "top_n": 3, "return_documents": False},
        ),
    ],
)
def test_a_service_reranks_with_its_wire_format(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    answer: Answer,
    path: str,
    fields: dict[str, object],
) -> None:
    with serving(ModelService(answer), path) as service:
        monkeypatch.setenv(f"{name.upper()}_API_KEY", KEY)
        config = {"embed.provider": "fake", "rerank.url": service.url}
        with Engine.open(tmp_path, config=config) as engine:
            engine.add([Document(uri, text) for uri, text in TEXTS.items()])
            explanation = engine.explain("ferry timetable winter:", rerank=name)
            assert explanation.hits[0].source_doc_id == "b.md" and not explanation.notes
            _, headers, body = service.requests[0]
            assert headers["authorization"] == f"Bearer {KEY}"
            assert {key: body[key] for key in fields} == fields
            assert sorted(body["documents"]) == sorted(TEXTS.values())
            # An outage of the reranker leaves the order of the search.
            service.is_down = True
            plain = [hit.source_doc_id for hit in engine.search("ferry leaves")]
            explanation = engine.explain("ferry leaves", rerank=name)
            assert [hit.source_doc_id for hit in explanation.hits] == plain
            assert any(f"not reranked by {name}" in note for note in explanation.notes)


@pytest.mark.parametrize(
    ("make", "answer", "path"),
    [(cohere, answer_cohere, ""), (voyage, answer_voyage, "/v1"), (jina, answer_jina, "/v1")],
)
def test_a_busy_reranker_is_asked_again_and_a_wrong_key_is_not(
    tmp_path: Path, make: Callable[[Settings], ServiceReranker], answer: Answer, path: str
) -> None:
    with serving(ModelService(answer), path) as service:
        variables = {"RAGSTONE_RERANK_API_KEY": KEY, "RAGSTONE_RERANK_URL": service.url}
        reranker = make(config.load(tmp_path, environ=variables))
        pauses: list[float] = []

        def pause(seconds: float) -> None:
            pauses.append(seconds)
            service.faults.rate_limited = 0.0

        reranker.client.sleep = pause
        service.faults.rate_limited, service.faults.retry_after = 1.0, "2"
        assert reranker.rerank("ferry quay", ["quay", "tea", "the ferry quay"]) == [0.5, 0.0, 1]
        assert len(pauses) == 1 and 2 <= pauses[0] < 2.2
        variables["RAGSTONE_RERANK_API_KEY"] = "wrong"
        with pytest.raises(ProviderError, match=r"refused the key \(401\): invalid api token"):
            make(config.load(tmp_path, environ=variables)).rerank("ferry", ["quay"])
        assert service.statuses == {200: 1, 429: 1, 401: 1}


def test_a_wrong_key_of_a_reranker_is_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(ModelService(answer_cohere)) as service:
        monkeypatch.setenv("RAGSTONE_RERANK_API_KEY", "wrong")
        monkeypatch.setenv("RAGSTONE_RERANK_URL", service.url)
        monkeypatch.setenv("RAGSTONE_EMBED_PROVIDER", "fake")
        (tmp_path / "a.md").write_text(TEXTS["a.md"])
        for command in ("search", "context", "explain"):
            words = [command, "ferry", "--rerank", "cohere", "-C", str(tmp_path), "--json"]
            assert run(words) == 0
            notes = json.loads(capsys.readouterr().out)["notes"]
            assert any("refused the key" in note and "COHERE_API_KEY" in note for note in notes)


def test_a_missing_key_of_a_reranker_names_the_variable(engine: Engine) -> None:
    with pytest.raises(ConfigError, match="'cohere' needs a key") as caught:
        engine.search("ferry", rerank="cohere")
    assert "COHERE_API_KEY" in caught.value.hint


def test_a_local_cross_encoder_says_what_to_install(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fastembed.rerank.cross_encoder", None)
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra) as caught:
        engine.search("ferry", rerank="cross-encoder")
    assert caught.value.hint == "pip install 'ragstone[fastembed]'"


def test_a_local_cross_encoder_is_loaded_once_and_gives_logits(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []

    class TextCrossEncoder:
        """As fastembed has it: scores as an iterable of logits."""

        def __init__(self, model_name: str, local_files_only: bool) -> None:
            loaded.append(model_name)

        @classmethod
        def list_supported_models(cls) -> list[dict[str, object]]:
            return [{"model": "Xenova/ms-marco-MiniLM-L-6-v2", "sources": {"hf": None}}]

        def rerank(self, query: str, documents: Sequence[str]) -> Iterator[float]:
            yield from (-11.0 + 3 * text.count("winter") for text in documents)

    logger = SimpleNamespace(disable=lambda package: None)
    for name, content in (
        ("fastembed.common.model_description", {"ModelSource": None}),
        ("fastembed.rerank.cross_encoder", {"TextCrossEncoder": TextCrossEncoder}),
        ("huggingface_hub", {"HfApi": None}),
        ("loguru", {"logger": logger}),
    ):
        module = ModuleType(name)
        module.__dict__.update(content)
        monkeypatch.setitem(sys.modules, name, module)
    for _ in range(2):
        hits = engine.search("ferry quay", rerank="cross-encoder", fresh=False)
        assert hits[0].source_doc_id == "b.md" and 0 < hits[0].score <= 1
        engine.workspace.searcher._answers.clear()
    assert loaded == ["Xenova/ms-marco-MiniLM-L-6-v2"]
