"""Small projects for tests, and scripts that run inside of them to compare with the real frameworks."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

APPS = Path(__file__).parent / "apps"


def files(name: str) -> dict[str, str]:
    """Return the files of a project; `### path` comes before each file."""
    found: dict[str, str] = {}
    for part in (APPS / f"{name}.txt").read_text("utf-8").split("### ")[1:]:
        path, _, text = part.partition("\n")
        found[path.strip()] = text
    return found


def unpacked(name: str, folder: Path) -> Path:
    """Write a project into a folder."""
    for path, text in files(name).items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    return folder


def run_script(script: str, folder: Path, *needed: str) -> Any:  # noqa: ANN401 each script prints other JSON
    """Run a script in a project's folder and return its JSON output; skip the test if a framework is missing."""
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    ran = subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    return json.loads(ran.stdout)
