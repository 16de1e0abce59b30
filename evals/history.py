"""The figures of a set: one file per set and release, and the figures of the last commit to compare with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.provenance import ROOT, about, git

RESULTS = ROOT / "evals" / "results"


def save_result(name: str, result: Mapping[str, Any], folder: Path = RESULTS) -> Path:
    """Write the figures of a set and return the file. A second run of the same release replaces the first."""
    origin = about()
    release = origin["versions"].get("ragstone", "0")
    measured = {
        "measured_at": origin["date"],
        "at_commit": origin["commit"],
        "load": origin["machine"]["load"],
        **result,
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{release}.json"
    content = json.dumps({**origin, "results": {name: measured}}, indent=1)
    path.write_text(content + "\n", encoding="utf-8")
    return path


def committed_results(folder: Path = RESULTS) -> dict[str, dict[str, Any]]:
    """Return the latest committed figures of each set."""
    inside = folder.relative_to(ROOT).as_posix()
    latest: dict[str, dict[str, Any]] = {}
    for path in git("ls-tree", "--name-only", "HEAD", f"{inside}/").splitlines():
        if not path.endswith(".json"):
            continue
        results = json.loads(git("show", f"HEAD:{path}")).get("results", {})
        for name, result in results.items():
            if name not in latest or result["measured_at"] > latest[name]["measured_at"]:
                latest[name] = result
    return latest
