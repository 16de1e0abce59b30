"""The stage that trains. It needs JAX and NumPy only, so that it runs on a bare machine with a GPU."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from model.graph_weights import read_weights
from model.tokens import read_tokens
from model.training import Recipe, fit_layouts, train
from model.work import TOKENS, StageFailed

TRAIN_LOG = "train.json"
LARGEST_PART = 14 << 20
"""Bytes of one file of the change: machines with a GPU may hand back small files only."""

Change = Mapping[str, NDArray[np.float16]]


def train_model(options: argparse.Namespace) -> None:
    """Train with each seed and write the mean change of the weights, as fp16."""
    if options.base is None:
        raise StageFailed("needs --base, the graph of the base weights")
    base = read_weights(options.base)
    pairs = read_tokens(options.tokens or options.work / TOKENS)
    options.work.mkdir(parents=True, exist_ok=True)
    total = {name: np.zeros_like(array) for name, array in base.items()}
    runs: list[dict[str, Any]] = []
    layouts = fit_layouts(pairs, _recipe(options, options.seeds[0]))
    sys.stderr.write(f"{len(pairs)} pairs, lengths {layouts}, {jax.devices()}\n")
    for seed in options.seeds:
        recipe = _recipe(options, seed)
        losses: list[float] = []
        started = time.monotonic()

        def tell(step: int, steps: int, loss: float, losses: list[float] = losses) -> None:
            losses.append(round(loss, 4))
            if step % 10 == 1 or step in (2, steps):
                sys.stderr.write(f"step {step}/{steps} loss {loss:.4f}\n")

        weights = train(base, pairs, recipe, layouts, tell)
        for name, array in weights.items():
            total[name] += (array - base[name]) / len(options.seeds)
        runs.append(
            {
                "recipe": asdict(recipe),
                "pairs": len(pairs),
                "device": str(jax.devices()[0].device_kind),
                "jax": jax.__version__,
                "seconds": round(time.monotonic() - started, 1),
                "losses": losses,
            }
        )
        sys.stderr.write(f"seed {seed}: {runs[-1]['seconds']} s\n")
        (options.work / TRAIN_LOG).write_text(json.dumps(runs) + "\n", encoding="utf-8")
    write_change(
        options.work, {name: array.astype(np.float16) for name, array in total.items()}
    )


def write_change(folder: Path, change: Change) -> None:
    """Write the change in files `change-1.npz` and so on, none larger than the limit."""
    for old in folder.glob("change-*.npz"):
        old.unlink()
    parts: list[dict[str, NDArray[np.float16]]] = [{}]
    size = 0
    for name, array in change.items():
        for start, rows in _slices(array):
            if size + rows.nbytes > LARGEST_PART:
                parts.append({})
                size = 0
            parts[-1][f"{name}@{start}"] = rows
            size += rows.nbytes
    for number, part in enumerate(parts, 1):
        np.savez_compressed(folder / f"change-{number}.npz", allow_pickle=False, **part)


def _slices(array: NDArray[np.float16]) -> list[tuple[int, NDArray[np.float16]]]:
    rows = max(1, LARGEST_PART // 2 // max(1, array[:1].nbytes))
    return [(start, array[start : start + rows]) for start in range(0, len(array), rows)]


def read_change(folder: Path) -> dict[str, NDArray[np.float16]]:
    """Return the change that `write_change` wrote."""
    slices: dict[str, dict[int, NDArray[np.float16]]] = {}
    for path in sorted(folder.glob("change-*.npz")):
        with np.load(path) as arrays:
            for key in arrays.files:
                name, _, start = key.rpartition("@")
                slices.setdefault(name, {})[int(start)] = arrays[key]
    return {
        name: np.concatenate([rows[start] for start in sorted(rows)])
        for name, rows in slices.items()
    }


def _recipe(options: argparse.Namespace, seed: int) -> Recipe:
    return Recipe(
        seed=seed,
        batch=options.batch,
        group=options.group,
        query_tokens=options.query_tokens,
        passage_tokens=options.passage_tokens,
        rate=options.rate,
    )


def read_runs(folder: Path) -> list[dict[str, Any]]:
    """Return what is known of each seed's run."""
    path = folder / TRAIN_LOG
    runs: list[dict[str, Any]] = json.loads(path.read_text()) if path.is_file() else []
    return runs
