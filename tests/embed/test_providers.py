"""Embedders behind a service: the wire format of each provider, checks of replies, retries, and clear failures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from ragstone import config
from ragstone.embed.remote import RemoteEmbedder
from ragstone.errors import ConfigError, InputError
from ragstone.indexing.embedders import EmbedderName, EmbedderPool
from ragstone.testing.embedder import EmbedderContract
from tests.support.model_services import (
    KEY,
    ModelService,
    answer_gemini,
    answer_ollama,
    answer_openai,
    make_embedder,
    openai_at,
    serving,
    settings_for,
    vector_of,
)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as opened:
        yield opened


@pytest.fixture
def openai(stack: ExitStack) -> ModelService:
    return stack.enter_context(serving(ModelService(answer_openai), "/v1"))


@pytest.fixture
def gemini(stack: ExitStack) -> ModelService:
    return stack.enter_context(serving(ModelService(answer_gemini, 3072), "/v1beta"))


@pytest.fixture
def ollama(stack: ExitStack) -> ModelService:
    return stack.enter_context(serving(ModelService(answer_ollama, 768)))


# ── the contract ──────────────────────────────────────────────────────────────────────────────────


class TestOpenAI(EmbedderContract):
    @pytest.fixture(autouse=True)
    def service(self, tmp_path: Path) -> Iterator[None]:
        with serving(ModelService(answer_openai), "/v1") as service:
            self.embedder = openai_at(tmp_path, service)
            yield

    def make_embedder(self) -> RemoteEmbedder:
        return self.embedder


class TestGemini(EmbedderContract):
    @pytest.fixture(autouse=True)
    def service(self, tmp_path: Path) -> Iterator[None]:
        with serving(ModelService(answer_gemini, 3072), "/v1beta") as service:
            self.embedder = make_embedder(
                tmp_path, provider="gemini", dimension="32", url=service.url
            )
            yield

    def make_embedder(self) -> RemoteEmbedder:
        return self.embedder


class TestOllama(EmbedderContract):
    @pytest.fixture(autouse=True)
    def service(self, tmp_path: Path) -> Iterator[None]:
        with serving(ModelService(answer_ollama, 768)) as service:
            self.embedder = make_embedder(tmp_path, provider="ollama", url=service.url)
            yield

    def make_embedder(self) -> RemoteEmbedder:
        return self.embedder


# ── wire formats ──────────────────────────────────────────────────────────────────────────────────


def test_openai_gets_the_key_the_model_and_all_texts(
    tmp_path: Path, openai: ModelService
) -> None:
    rows = openai_at(tmp_path, openai).embed(["the harbour", "the lock"])
    path, headers, body = openai.requests[0]
    assert path == "/v1/embeddings" and headers["authorization"] == f"Bearer {KEY}"
    assert body == {
        "model": "small",
        "input": ["the harbour", "the lock"],
        "encoding_format": "float",
    }
    assert np.allclose(rows[1], vector_of("the lock", 8), atol=1e-6)


def test_a_shorter_dimension_is_asked_for_and_scaled_to_length_one(
    tmp_path: Path, openai: ModelService
) -> None:
    openai.dimension = 1536
    name = "openai:text-embedding-3-small@64"
    embedder = make_embedder(tmp_path, provider=name, url=openai.url)
    (row,) = embedder.embed(["the harbour"])
    assert openai.requests[0][2]["dimensions"] == 64
    assert embedder.space.dimension == 64 and np.linalg.norm(row) == pytest.approx(1, abs=1e-5)


def test_the_full_dimension_is_not_sent_because_older_models_refuse_it(
    tmp_path: Path, openai: ModelService
) -> None:
    openai.dimension = 1536
    make_embedder(tmp_path, provider="openai", url=openai.url).embed(["a"])
    assert "dimensions" not in openai.requests[0][2]


def test_gemini_gets_the_role_as_a_task_type(tmp_path: Path, gemini: ModelService) -> None:
    embedder = make_embedder(tmp_path, provider="gemini", dimension="768", url=gemini.url)
    (row,) = embedder.embed(["when does it open"], "query")
    embedder.embed(["It opens at nine."], "document")
    path, headers, body = gemini.requests[0]
    assert path == "/v1beta/models/gemini-embedding-001:batchEmbedContents"
    assert headers["x-goog-api-key"] == KEY
    assert body["requests"][0] == {
        "model": "models/gemini-embedding-001",
        "content": {"parts": [{"text": "when does it open"}]},
        "taskType": "RETRIEVAL_QUERY",
        "outputDimensionality": 768,
    }
    assert gemini.requests[1][2]["requests"][0]["taskType"] == "RETRIEVAL_DOCUMENT"
    assert np.linalg.norm(row) == pytest.approx(1, abs=1e-5)


def test_a_newer_model_of_gemini_gets_prefixes_instead_of_task_types(
    tmp_path: Path, gemini: ModelService
) -> None:
    embedder = make_embedder(tmp_path, provider="gemini:gemini-embedding-2@768", url=gemini.url)
    embedder.embed(["when does it open"], "query")
    embedder.embed(["It opens at nine."], "document")
    assert [body["requests"] for _, _, body in gemini.requests] == [
        [
            {
                "model": "models/gemini-embedding-2",
                "content": {"parts": [{"text": text}]},
                "outputDimensionality": 768,
            }
        ]
        for text in (
            "task: search result | query: when does it open",
            "title: none | text: It opens at nine.",
        )
    ]


def test_gemini_counts_the_tokens_of_a_batch(tmp_path: Path, gemini: ModelService) -> None:
    embedder = make_embedder(tmp_path, provider="gemini", dimension="8", url=gemini.url)
    embedder.embed(["one two three", "four five"])
    assert embedder.usage.tokens == 5
    assert embedder.usage.cost == pytest.approx(5 * 0.15 / 1_000_000)


def test_gemini_gets_at_most_a_hundred_texts_in_a_request(
    tmp_path: Path, gemini: ModelService
) -> None:
    make_embedder(tmp_path, provider="gemini", dimension="8", url=gemini.url).embed(
        ["a word"] * 230
    )
    assert [len(body["requests"]) for _, _, body in gemini.requests] == [100, 100, 30]


def test_ollama_gets_the_prefixes_of_nomic(tmp_path: Path, ollama: ModelService) -> None:
    embedder = make_embedder(tmp_path, None, provider="ollama", url=ollama.url)
    embedder.embed(["opening hours"], "query")
    embedder.embed(["It opens at nine."], "document")
    assert embedder.space.model == "nomic-embed-text"
    path, headers, body = ollama.requests[0]
    assert path == "/api/embed" and "authorization" not in headers
    assert body["input"] == ["search_query: opening hours"]
    assert ollama.requests[1][2]["input"] == ["search_document: It opens at nine."]


def test_a_text_that_ollama_calls_too_long_is_sent_again_in_windows(
    tmp_path: Path, ollama: ModelService
) -> None:
    ollama.context_length = 500
    text = "".join(f"{{{{{number}}}}}" for number in range(300))
    embedder = make_embedder(
        tmp_path, provider="ollama", model="own", dimension="768", url=ollama.url
    )
    embedder.embed([text])
    assert all(body["truncate"] is False for _, _, body in ollama.requests)
    assert "".join(ollama.requests[-1][2]["input"]) == text
    assert ollama.paid_twice == 0 and set(ollama.embedded) == set(
        ollama.requests[-1][2]["input"]
    )


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        (
            "BAAI/bge-small-en-v1.5",
            "Represent this sentence for searching relevant passages: ",
            "",
        ),
        ("intfloat/multilingual-e5-small", "query: ", "passage: "),
        ("nomic-embed-text:latest", "search_query: ", "search_document: "),
    ],
)
def test_prefixes_follow_the_model_and_belong_to_the_space(
    tmp_path: Path, model: str, query: str, document: str
) -> None:
    space = make_embedder(
        tmp_path, provider="openai", model=model, url="http://x.invalid"
    ).space
    assert (space.query_prefix, space.document_prefix) == (query, document)
    other = make_embedder(
        tmp_path, provider="openai", model=model, url="http://x.invalid", query_prefix="ask: "
    ).space
    assert other.fingerprint != space.fingerprint


def test_requests_are_cut_by_tokens(tmp_path: Path, openai: ModelService) -> None:
    texts = ["word " * 5000] * 25
    embedder = openai_at(tmp_path, openai, model="text-embedding-3-small", dimension="8")
    openai.dimension = 8
    embedder.embed(texts)
    sizes = [len(body["input"]) for _, _, body in openai.requests]
    assert sum(sizes) == 25 and max(sizes) <= 10


def test_a_text_too_long_for_the_model_is_the_mean_of_its_windows(
    tmp_path: Path, openai: ModelService
) -> None:
    embedder = openai_at(tmp_path, openai)
    embedder.embed(["alpha " * 400 + "omega " * 400])
    sent = openai.requests[0][2]["input"]
    assert len(sent) > 1 and "alpha" in sent[0] and "omega" in sent[-1]
    assert "".join(sent) == "alpha " * 400 + "omega " * 400


# ── settings ──────────────────────────────────────────────────────────────────────────────────────


def test_a_missing_key_names_the_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigError, match="OpenAI needs a key") as caught:
        make_embedder(tmp_path, None, provider="openai")
    assert "OPENAI_API_KEY or RAGSTONE_EMBED_API_KEY" in caught.value.hint


def test_the_usual_variable_of_the_provider_has_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "from-variable")
    embedder = make_embedder(tmp_path, None, provider="gemini")
    assert embedder.client.headers == {"x-goog-api-key": "from-variable"}


@pytest.mark.parametrize("variable", ["GEMINI_API_KEY", "RAGSTONE_EMBED_API_KEY"])
def test_a_provider_that_a_project_file_chose_gets_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "of-the-user")
    (tmp_path / "ragstone.toml").write_text("embed.provider = 'gemini'\n")
    with pytest.raises(ConfigError, match="needs a key") as caught:
        EmbedderPool(config.load(tmp_path)).get()
    assert "RAGSTONE_EMBED_PROVIDER=gemini and GEMINI_API_KEY" in caught.value.hint
    monkeypatch.setenv("RAGSTONE_EMBED_PROVIDER", "gemini")
    embedder = EmbedderPool(config.load(tmp_path)).get()
    assert isinstance(embedder, RemoteEmbedder)
    assert embedder.client.headers == {"x-goog-api-key": "of-the-user"}


@pytest.mark.parametrize("variable", ["OPENAI_API_KEY", "RAGSTONE_EMBED_API_KEY"])
def test_a_key_is_stripped_and_one_that_no_header_can_carry_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv("RAGSTONE_EMBED_PROVIDER", "openai")
    monkeypatch.setenv(variable, " sk-good\n")
    embedder = EmbedderPool(config.load(tmp_path)).get()
    assert isinstance(embedder, RemoteEmbedder)
    assert embedder.client.headers == {"Authorization": "Bearer sk-good"}
    for wrong in ("sk-b\u00e4d", "sk\nbad"):
        monkeypatch.setenv(variable, wrong)
        with pytest.raises(ConfigError, match="has a character that no key has") as caught:
            EmbedderPool(config.load(tmp_path)).get()
        assert wrong not in str(caught.value)


def test_the_usual_key_is_not_sent_to_another_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "of-the-user")
    embedder = make_embedder(tmp_path, None, provider="openai", url="http://127.0.0.1:9/v1")
    assert embedder.client.headers == {}


def test_an_unknown_model_needs_its_dimension(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="dimension of the model 'own-model'") as caught:
        make_embedder(tmp_path, provider="openai:own-model")
    assert "embed.dimension" in caught.value.hint


def test_a_setting_that_an_embedder_does_not_obey_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'fake' has no model 'large'"):
        EmbedderPool(settings_for(tmp_path, provider="fake:large")).get()
    with pytest.raises(ConfigError, match="has 128 dimensions, not 64"):
        EmbedderPool(settings_for(tmp_path, provider="fake", dimension="64")).get()
    for provider in ("fake", "minilm"):
        for role in ("query", "document"):
            settings = settings_for(tmp_path, provider=provider, **{f"{role}_prefix": "doc: "})
            with pytest.raises(ConfigError, match=f"takes no prefix 'doc: ' before a {role}"):
                EmbedderPool(settings).get()


def test_a_name_has_a_provider_a_model_and_a_dimension() -> None:
    assert EmbedderName.parse("ollama:nomic-embed-text:latest") == EmbedderName(
        "ollama", "nomic-embed-text:latest"
    )
    assert EmbedderName.parse("openai:text-embedding-3-large@256").dimension == 256
    with pytest.raises(InputError, match="names no dimension"):
        EmbedderName.parse("openai:small@many")
