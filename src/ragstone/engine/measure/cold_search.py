"""A search in a new process, as the first one of a day: `main` runs inside that process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Final

from ragstone.engine.engine import Engine
from ragstone.read.python_command import build_command, find_python

_TIMEOUT_SECONDS: Final = 60.0


def time_cold_search(folder: Path, home: Path, query: str) -> float | None:
    """Return the seconds of a search in a new process, with its start; None if it fails."""
    if find_python() is None:
        return None
    request = {"folder": str(folder), "home": str(home), "query": query}
    started = perf_counter()
    try:
        subprocess.run(  # noqa: S603 - our own program, without a shell
            build_command("ragstone.engine.measure.cold_search"),
            input=json.dumps(request).encode(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
            timeout=_TIMEOUT_SECONDS,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return perf_counter() - started


def main() -> None:
    """Open the index and search it once."""
    request = json.load(sys.stdin)
    config = {"store.path": request["home"], "search.watch": "off", "embed.background": "off"}
    with Engine.open(request["folder"], config=config) as engine:
        engine.search(request["query"])
