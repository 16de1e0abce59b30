from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragstone.embed import minilm as module
from ragstone.embed.minilm import GRAPH, MAX_TOKENS, MiniLM
from ragstone.embed.wordpiece import VOCABULARY, WordPiece
from ragstone.errors import ConfigError, InputError
from ragstone.protocols import Embedder

SHARED: Embedder = MiniLM(threads=2)


def test_vectors_are_close_to_those_of_the_fp32_model(
    minilm: MiniLM, golden_texts: list[str], golden_vectors: NDArray[np.float32]
) -> None:
    cosines = (minilm.embed(golden_texts) * golden_vectors).sum(axis=1)
    assert cosines.min() > 0.99
    assert cosines.mean() > 0.997


def test_meaning_counts_more_than_shared_words(minilm: MiniLM) -> None:
    asked, right, wrong = minilm.embed(
        [
            "how do I cancel my subscription",
            "Ending your membership: open the account page and choose to stop renewal.",
            "How do I make my own pasta? Flour, eggs and a little salt.",
        ]
    )
    assert asked @ right > asked @ wrong + 0.2


@settings(max_examples=15)
@given(st.lists(st.text(max_size=200), min_size=1, max_size=12))
def test_a_text_has_the_same_vector_alone_and_in_any_batch(texts: list[str]) -> None:
    together = SHARED.embed(texts)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, rtol=1e-5)
    for text, row in zip(texts, together, strict=True):
        assert np.array_equal(SHARED.embed([text])[0], row)


def test_length_slab_and_number_of_threads_do_not_change_a_bit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = [
        f"text {number} " + "and more of it " * (number * 7 % 31) for number in range(40)
    ] + ["long " * 700]
    expected = MiniLM(threads=1).embed(texts)
    monkeypatch.setattr(module, "SLAB_WINDOWS", 3)
    assert np.array_equal(MiniLM(threads=3).embed(texts), expected)
    assert np.array_equal(MiniLM(threads=2).embed(texts[::-1]), expected[::-1])


def test_a_text_longer_than_the_model_reads_is_the_mean_of_its_windows_by_length(
    minilm: MiniLM,
) -> None:
    text = " ".join(
        f"sentence number {number} is about the sea and its harbours." for number in range(60)
    )
    assert minilm.count_tokens(text) > 2 * MAX_TOKENS
    tokenizer = WordPiece.from_file(VOCABULARY)
    windows = list(tokenizer.windows(text, MAX_TOKENS))
    names = VOCABULARY.read_text(encoding="utf-8").splitlines()
    parts = [
        " ".join(names[number] for number in window).replace(" ##", "") for window in windows
    ]
    assert [tokenizer.encode(part) for part in parts] == windows
    mean = np.average(minilm.embed(parts), axis=0, weights=[len(window) for window in windows])
    assert minilm.embed([text])[0] @ (mean / np.linalg.norm(mean)) > 0.999999


def test_a_query_has_the_vector_of_the_same_text(
    minilm: MiniLM, golden_texts: list[str]
) -> None:
    for text in [
        "",
        "one",
        "word " * 254,
        "word " * 255,
        *golden_texts,
    ]:  # as long as is read at once, and longer
        assert (
            np.abs(minilm.embed([text], "query") - minilm.embed([text], "document")).max()
            < 1e-6
        )


def test_the_end_of_a_long_text_counts(minilm: MiniLM) -> None:
    start = "The harbour wall was built of grey stone. " * 60
    plain, changed = minilm.embed(
        [start + "The end. " * 30, start + "Quantum chromodynamics on a lattice. " * 30]
    )
    assert plain @ changed < 0.98


@pytest.mark.parametrize(
    "text", ["", "   \n", "\x00\ufffd", "\ud800", "😀" * 3000, "a" * 100_000]
)
def test_odd_texts_get_a_valid_vector(minilm: MiniLM, text: str) -> None:
    row = minilm.embed([text])[0]
    assert np.isfinite(row).all()
    assert abs(np.linalg.norm(row) - 1) < 1e-5


def test_progress_is_reported_up_to_the_last_text(minilm: MiniLM) -> None:
    steps: list[tuple[str, int, int]] = []
    minilm.embed(
        ["short", "long " * 600, "", *["word " * length for length in range(40)]],
        progress=lambda *s: steps.append(s),
    )
    counts = [done for _, done, _ in steps]
    assert counts == sorted(counts)
    assert steps[-1] == ("embed", 43, 43)
    assert len(steps) > 3


def test_an_error_in_the_progress_callback_stops_the_work(minilm: MiniLM) -> None:
    def stop(stage: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        minilm.embed(["some words " * number for number in range(50)], progress=stop)
    assert minilm.embed(["still works"]).shape == (1, 384)


def test_many_threads_may_use_one_embedder(golden_texts: list[str]) -> None:
    fresh = MiniLM(threads=2)
    expected = SHARED.embed(golden_texts)
    with ThreadPoolExecutor(4) as pool:
        for rows in pool.map(fresh.embed, [golden_texts] * 4):
            assert np.array_equal(rows, expected)


def test_nothing_heavy_is_loaded_before_the_first_text() -> None:
    program = """
import json, sys
from ragstone.embed.minilm import MiniLM
embedder = MiniLM()
before = "onnxruntime" in sys.modules, embedder.space.dimension, embedder.max_tokens
embedder.embed(["now"])
print(json.dumps([*before, "onnxruntime" in sys.modules]))
"""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert json.loads(run.stdout) == [False, 384, 254, True]
    assert run.stderr == ""


def test_tokens_are_counted_without_markers(minilm: MiniLM) -> None:
    assert minilm.count_tokens("") == 0
    assert minilm.count_tokens("two words") == 2


def test_no_texts_give_no_rows(minilm: MiniLM) -> None:
    assert minilm.embed([]).shape == (0, 384)


def test_arguments_that_make_no_sense_are_refused(minilm: MiniLM) -> None:
    with pytest.raises(InputError, match="list of texts"):
        minilm.embed("one text")
    with pytest.raises(InputError, match="not a role"):
        minilm.embed(["text"], "passage")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="threads is 0"):
        MiniLM(threads=0)


WHOLE = GRAPH.read_bytes()


def test_a_missing_onnxruntime_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ConfigError, match="onnxruntime cannot be loaded"):
        MiniLM().embed(["text"])


def test_a_missing_model_is_a_clear_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "GRAPH", tmp_path / "gone.onnx")
    with pytest.raises(ConfigError, match=r"gone\.onnx is missing") as caught:
        MiniLM().embed(["text"])
    assert caught.value.hint == "install ragstone again"


@pytest.mark.parametrize(
    "damage", [WHOLE[: len(WHOLE) // 2], b"not a model at all" * 100, b"\xff" * 64]
)
def test_a_damaged_model_is_a_clear_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, damage: bytes
) -> None:
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(damage)
    monkeypatch.setattr(module, "GRAPH", broken)
    with pytest.raises(ConfigError, match=r"broken\.onnx is damaged"):
        MiniLM().embed(["text"])
