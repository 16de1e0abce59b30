"""MiniLM's forward pass in plain NumPy: the reference that the graph is calibrated with and tested against.

It reads the same named arrays as the graph. If the input of a layer has a fixed range, it is rounded to the 256 steps
of that range, exactly as in the int8 graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Floats: TypeAlias = NDArray[np.float32]
Parameters: TypeAlias = Mapping[str, Array]
Observer: TypeAlias = Callable[[str, Floats], None]

LAYERS = 6
HEADS = 12
WIDTH = 384
EPSILON = 1e-12


def forward(
    parameters: Parameters,
    ids: NDArray[np.int64],
    *,
    pad: int = 0,
    observe: Observer | None = None,
) -> Floats:
    """Return one unit vector per row of ids; `observe` is called with the input of every dense layer."""
    observe = observe or _ignore
    keep = (ids != pad).astype(np.float32)
    hidden = _norm(parameters, "embeddings.norm", _embed(parameters, ids))
    for layer in range(LAYERS):
        hidden = _layer(parameters, f"layer.{layer}", hidden, keep, observe)
    pooled = np.einsum("bt,bth->bh", keep, hidden)
    return np.asarray(pooled / np.linalg.norm(pooled, axis=1, keepdims=True), dtype=np.float32)


def _ignore(name: str, values: Floats) -> None:
    """Do nothing."""


def _embed(parameters: Parameters, ids: NDArray[np.int64]) -> Floats:
    words = parameters["embeddings.words"][ids].astype(np.float32)
    scale = parameters.get("embeddings.words.scale")
    if scale is not None:
        words *= scale[ids]
    return np.asarray(words + parameters["embeddings.positions"][: ids.shape[1]])


def _layer(
    parameters: Parameters, name: str, hidden: Floats, keep: Floats, observe: Observer
) -> Floats:
    mixed = _attention(_dense(parameters, f"{name}.qkv", hidden, observe), keep)
    hidden = _norm(
        parameters, f"{name}.norm1", _dense(parameters, f"{name}.out", mixed, observe) + hidden
    )
    wide = _gelu(_dense(parameters, f"{name}.up", hidden, observe))
    return _norm(
        parameters, f"{name}.norm2", _dense(parameters, f"{name}.down", wide, observe) + hidden
    )


def _dense(parameters: Parameters, name: str, values: Floats, observe: Observer) -> Floats:
    observe(name, values)
    weight = parameters[f"{name}.weight"]
    bias = parameters[f"{name}.bias"]
    if f"{name}.input_scale" not in parameters:
        return np.asarray(values @ weight + bias)
    exact = None
    if f"{name}.columns" in parameters:
        exact = values[..., parameters[f"{name}.columns"]] @ parameters[f"{name}.exact"]
    if f"{name}.smooth" in parameters:
        values = values * parameters[f"{name}.smooth"]
    scale, zero = parameters[f"{name}.input_scale"], float(parameters[f"{name}.input_zero"])
    steps = np.clip(np.rint(values / scale) + zero, 0, 255) - zero
    product = (steps @ weight.astype(np.float32, copy=False)) * (
        scale * parameters[f"{name}.scale"]
    ) + bias
    return np.asarray(product if exact is None else product + exact, dtype=np.float32)


def _attention(qkv: Floats, keep: Floats) -> Floats:
    batch, length, _ = qkv.shape
    parts = qkv.reshape(batch, length, 3, HEADS, WIDTH // HEADS).transpose(2, 0, 3, 1, 4)
    scores = parts[0] @ parts[1].swapaxes(2, 3)
    scores += ((keep - 1) * np.float32(10_000))[:, None, None, :]
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    return np.asarray((scores @ parts[2]).transpose(0, 2, 1, 3).reshape(batch, length, WIDTH))


def _norm(parameters: Parameters, name: str, values: Floats) -> Floats:
    centred = values - values.mean(axis=-1, keepdims=True)
    spread = np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + np.float32(EPSILON))
    return np.asarray(
        centred / spread * parameters[f"{name}.weight"] + parameters[f"{name}.bias"]
    )


def _gelu(values: Floats) -> Floats:
    """Return the exact (error function) form, by a rational approximation good to 2e-7."""
    size = np.abs(values) * np.float32(0.5**0.5)
    step = 1 / (1 + np.float32(0.3275911) * size)
    series: Floats = np.full_like(step, 1.061405429)
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series *= step
        series += np.float32(factor)
    tail = series * step * np.exp(-size * size)
    return np.asarray(
        np.where(values >= 0, values * (1 - tail / 2), values * (tail / 2)), dtype=np.float32
    )
