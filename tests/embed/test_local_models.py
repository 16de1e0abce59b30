"""Models of other packages on this machine. The packages are stand-ins: the real ones download their models."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ragstone import config
from ragstone.embed.fake import FakeEmbedder
from ragstone.embed.minilm import MiniLM
from ragstone.errors import ConfigError, MissingExtra, ProviderError
from ragstone.indexing.embedders import EmbedderPool
from ragstone.protocols import Embedder
from ragstone.testing.embedder import EmbedderContract
from tests.support.model_services import vector_of


class TestFake(EmbedderContract):
    def make_embedder(self) -> Embedder:
        return FakeEmbedder()


class TestMiniLM(EmbedderContract):
    def make_embedder(self) -> Embedder:
        return MiniLM()


def module(name: str, **content: object) -> ModuleType:
    made = ModuleType(name)
    made.__dict__.update(content)
    return made


def pool(folder: Path, **values: str) -> EmbedderPool:
    variables = {f"RAGSTONE_EMBED_{name.upper()}": value for name, value in values.items()}
    return EmbedderPool(config.load(folder, environ=variables))


@pytest.fixture
def texts_seen(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Install a stand-in for fastembed with its interface, and return the texts that it gets."""
    seen: list[str] = []

    class TextEmbedding:
        def __init__(
            self, model_name: str, threads: int | None = None, local_files_only: bool = False
        ) -> None:
            if model_name == "Unknown":
                raise ValueError("Model Unknown is not supported in TextEmbedding.")
            if model_name == "BAAI/bge-base-en-v1.5":
                raise ValueError("Could not load model from any source.")

        @classmethod
        def list_supported_models(cls) -> list[dict[str, Any]]:
            return [{"model": "BAAI/bge-small-en-v1.5", "dim": 384, "sources": {"hf": None}}]

        def embed(self, documents: Sequence[str]) -> Iterator[Any]:
            seen.extend(documents)
            return (np.array(vector_of(text, 384), np.float32) * 3 for text in documents)

    logger = SimpleNamespace(disable=lambda package: None)
    for stand_in in (
        module("fastembed", TextEmbedding=TextEmbedding),
        module("fastembed.common"),
        module("fastembed.common.model_description", ModelSource=None, PoolingType=None),
        module("loguru", logger=logger),
        module("huggingface_hub", HfApi=None),
    ):
        monkeypatch.setitem(sys.modules, stand_in.__name__, stand_in)
    monkeypatch.delitem(sys.modules, "ragstone.embed.fastembed", raising=False)
    return seen


def test_fastembed_gets_the_prefix_of_bge_for_queries_only(
    tmp_path: Path, texts_seen: list[str]
) -> None:
    embedder = pool(tmp_path, provider="fastembed").get()
    rows = embedder.embed(["opening hours"], "query")
    embedder.embed(["It opens at nine."])
    assert embedder.space.model == "BAAI/bge-small-en-v1.5" and rows.shape == (1, 384)
    assert np.linalg.norm(rows[0]) == pytest.approx(1, abs=1e-5)
    prefix = "Represent this sentence for searching relevant passages: "
    assert texts_seen == [f"{prefix}opening hours", "It opens at nine."]


def test_a_model_that_cannot_be_had_is_a_clear_sentence(
    tmp_path: Path, texts_seen: list[str]
) -> None:
    with pytest.raises(ConfigError, match="not supported"):
        pool(tmp_path, provider="fastembed:Unknown@8").get().embed(["a"])
    with pytest.raises(ProviderError, match="cannot be loaded") as caught:
        pool(tmp_path, provider="fastembed:BAAI/bge-base-en-v1.5").get().embed(["a"])
    assert "the network" in caught.value.hint


@pytest.mark.parametrize("name", ["fastembed", "sentence-transformers"])
def test_a_missing_package_says_the_pip_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    package = name.replace("-", "_")
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"ragstone.embed.{package}", raising=False)
    with pytest.raises(MissingExtra) as caught:
        pool(tmp_path, provider=name).get()
    assert caught.value.hint == f"pip install 'ragstone[{name}]'"


@pytest.mark.parametrize(
    ("cuda", "mps", "setting", "expected"),
    [
        (True, True, "auto", "cuda"),
        (False, True, "auto", "mps"),
        (False, False, "auto", "cpu"),
        (True, True, "cpu", "cpu"),
    ],
)
def test_sentence_transformers_runs_on_the_chosen_device(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cuda: bool,
    mps: bool,
    setting: str,
    expected: str,
) -> None:
    devices: list[str] = []

    class SentenceTransformer:
        def __init__(self, model: str, device: str, local_files_only: bool) -> None:
            devices.append(device)

        def encode(self, texts: Sequence[str], show_progress_bar: bool) -> Any:  # noqa: ANN401 - rows
            return np.array([vector_of(text, 384) for text in texts])

    torch = module(
        "torch",
        cuda=SimpleNamespace(is_available=lambda: cuda),
        backends=SimpleNamespace(mps=SimpleNamespace(is_available=lambda: mps)),
    )
    package = module("sentence_transformers", SentenceTransformer=SentenceTransformer)
    quiet = module("transformers.utils.logging", disable_progress_bar=lambda: None)
    monkeypatch.setitem(sys.modules, "transformers.utils.logging", quiet)
    monkeypatch.setitem(sys.modules, "huggingface_hub", module("huggingface_hub", HfApi=None))
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    monkeypatch.delitem(sys.modules, "ragstone.embed.sentence_transformers", raising=False)
    embedder = pool(tmp_path, provider="sentence-transformers", device=setting).get()
    assert embedder.embed(["a", "b"]).shape == (2, 384) and devices == [expected]
    if not cuda:
        wrong = pool(tmp_path, provider="sentence-transformers", device="cuda").get()
        with pytest.raises(ConfigError, match="does not have"):
            wrong.embed(["a"])
