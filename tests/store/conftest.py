from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import ragstone

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start() -> Start:
    """Return a function that starts a Python process with the same Ragstone as this one."""

    def run(source: str, *arguments: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", source, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(ragstone.__file__).parents[1])},
        )

    return run
