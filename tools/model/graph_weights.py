"""Reads the weights back from the int8 graph that Ragstone ships: they stand in for the base where it cannot be had."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from minilm_tensors import read_tensors
from numpy.typing import NDArray

_KEPT = ("words", "positions", "weight", "bias")


def read_weights(path: Path) -> dict[str, NDArray[np.float32]]:
    """Return the fp32 parameters under Ragstone's names; the rounding to int8 stays in them."""
    tensors = read_tensors(path)
    weights = {}
    for name, tensor in tensors.items():
        if name.rpartition(".")[2] in _KEPT:
            weights[name] = _full(name, tensor, tensors)
    return weights


def _full(
    name: str, tensor: NDArray[Any], tensors: dict[str, NDArray[Any]]
) -> NDArray[np.float32]:
    if tensor.dtype != np.int8:
        return tensor.astype(np.float32)
    if name == "embeddings.words":
        return np.asarray(tensor * tensors[f"{name}.scale"], np.float32)
    layer = name.removesuffix(".weight")
    weight = np.asarray(tensor * tensors[f"{layer}.scale"], np.float32)
    if f"{layer}.columns" in tensors:
        weight[tensors[f"{layer}.columns"]] = tensors[f"{layer}.exact"]
    if f"{layer}.smooth" in tensors:
        weight *= tensors[f"{layer}.smooth"][:, None]
    return weight
