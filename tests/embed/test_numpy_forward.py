from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragstone.embed import minilm as module
from ragstone.embed.minilm import GRAPH, MiniLM
from ragstone.embed.onnx_file import read_tensors
from ragstone.errors import ConfigError

WHOLE = GRAPH.read_bytes()


@pytest.fixture
def fallback(monkeypatch: pytest.MonkeyPatch) -> MiniLM:
    """Return an embedder on a machine where onnxruntime cannot be imported."""
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    embedder = MiniLM()
    assert embedder.backend == "numpy"
    return embedder


def test_without_onnxruntime_vectors_are_the_same_but_for_rounding(
    fallback: MiniLM, minilm: MiniLM, golden_texts: list[str], golden_vectors: NDArray[np.float32]
) -> None:
    texts = [*golden_texts, ""]
    rows = fallback.embed(texts)
    assert minilm.backend == "onnxruntime"
    cosines = (rows * minilm.embed(texts)).sum(axis=1)
    # Mostly 1 to the last digit; a value that falls on the other side of a step's border makes the rest.
    assert cosines.min() > 0.998
    assert cosines.mean() > 0.9995
    assert (rows[: len(golden_texts)] * golden_vectors).sum(axis=1).min() > 0.99


def test_without_onnxruntime_a_text_has_the_same_vector_alone_and_in_a_batch(
    fallback: MiniLM, golden_texts: list[str]
) -> None:
    texts = [golden_texts[0], golden_texts[0] + " Again.", golden_texts[0] + " Twice."]
    together = fallback.embed(texts)
    for text, row in zip(texts, together, strict=True):
        assert fallback.embed([text])[0] @ row > 0.999999


def test_a_runtime_without_the_operators_falls_back_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    strange = tmp_path / GRAPH.name
    strange.write_bytes(WHOLE.replace(b"MatMulIntegerToFloat", b"MatMulIntegerToWhale"))
    monkeypatch.setattr(module, "GRAPH", strange)
    embedder = MiniLM()
    assert embedder.backend == "numpy"
    assert embedder.embed(["works all the same"]).shape == (1, 384)


def test_a_missing_model_is_a_clear_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "GRAPH", tmp_path / "gone.onnx")
    with pytest.raises(ConfigError, match=r"gone\.onnx is missing") as caught:
        MiniLM().embed(["text"])
    assert caught.value.hint == "install ragstone again"


@pytest.mark.parametrize("damage", [WHOLE[: len(WHOLE) // 2], b"not a model at all" * 100, b"\xff" * 64])
def test_a_damaged_model_is_a_clear_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, damage: bytes) -> None:
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(damage)
    monkeypatch.setattr(module, "GRAPH", broken)
    with pytest.raises(ConfigError, match=r"broken\.onnx is damaged"):
        MiniLM().embed(["text"])


@settings(max_examples=60)
@given(st.binary(max_size=300), st.integers(0, 2000))
def test_reading_tensors_from_any_bytes_gives_tensors_or_a_clear_error(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, kept: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "noise.onnx"
    path.write_bytes(WHOLE[-kept:] + noise)
    try:
        read_tensors(path)
    except ConfigError as error:
        assert "damaged" in error.message
