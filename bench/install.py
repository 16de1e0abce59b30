"""Install: what a fresh environment weighs with us in it, and with peers where asked."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench import measure
from bench.measure import Failed, tell
from bench.provenance import ROOT

PUBLISHED = {"sentence-transformers": 1370, "chromadb": 506, "fastembed": 241}
"""Megabytes measured before; measured again with --peers."""


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Return our size in a fresh environment, and the peers' beside it."""
    extras = f"[{options.extras}]" if options.extras else ""
    result: dict[str, Any] = {"ours": weighed(f"{ROOT}{extras}")}
    for name in options.peers or ():
        try:
            result[name] = weighed(name)
        except Failed as failed:
            result[name] = {"failed": str(failed)}
    for name, size in PUBLISHED.items():
        result.setdefault(name, {"megabytes": size, "measured": "earlier, not in this run"})
    result["ratios"] = {
        name: measure.ratios(result["ours"], found, {"size": "megabytes"})
        for name, found in result.items()
        if name != "ours"
    }
    return result


def weighed(requirement: str) -> dict[str, Any]:
    """Return the megabytes that installing a requirement adds to a fresh environment, and its largest parts."""
    shown = "ragstone" if requirement.startswith(str(ROOT)) else requirement
    tell(f"install: {shown}")
    with tempfile.TemporaryDirectory(
        prefix="ragstone-bench-", ignore_cleanup_errors=True
    ) as temporary:
        home = Path(temporary) / "venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
        site = next(home.rglob("site-packages"))
        command = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "-q",
            "--target",
            str(site),
            requirement,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failed(f"{shown} could not be installed: {done.stderr.strip()[-300:]}")
        subprocess.run(
            [sys.executable, "-m", "compileall", "-q", str(site)],
            check=False,
            capture_output=True,
        )
        sizes = {
            path.name: measure.folder_bytes(path) for path in site.iterdir() if path.is_dir()
        }
        total = measure.folder_bytes(home)
    largest = sorted(sizes, key=lambda name: -sizes[name])[:8]
    return {
        "megabytes": round(total / 1e6, 1),
        "largest": {name: round(sizes[name] / 1e6, 1) for name in largest},
    }
