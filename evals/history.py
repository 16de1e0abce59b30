"""The figures of the last commit, to compare new ones with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bench.provenance import ROOT, git

RESULTS = ROOT / "evals" / "results"


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
