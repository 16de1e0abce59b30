"""Fixtures: a small project, and the command line as a process or inside the test."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

SRC = Path(__file__).resolve().parents[2] / "src"

FILES = {
    "README.md": "# Quarry\n\nA sample project that uploads stones.\n\n## Retries\n\n"
    "A failed upload is tried again three times, waiting longer each time.\n",
    "docs/storage.md": "# Storage\n\nEverything is kept in one file.\n\n## Durability\n\n"
    "A write is on disk when the call returns.\n",
    "src/upload.py": "RETRIES = 3\n\n\ndef upload_with_backoff(data: bytes) -> int:\n"
    '    """Send data, waiting longer after each failure."""\n    return len(data) * RETRIES\n',
    "src/weigh.py": "def weigh(stone: str) -> float:\n"
    '    """Return the weight of a stone in kilograms."""\n    return float(len(stone))\n',
}


@dataclass(frozen=True, slots=True)
class Ran:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """Return the one JSON object on stdout."""
        loaded = json.loads(self.out)
        assert isinstance(loaded, dict)
        return loaded


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a small project; its parent folder is the user's home."""
    folder = tmp_path / "quarry"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return the environment for commands: the fake embedder and no user settings."""
    overrides = {
        "PYTHONPATH": str(SRC),
        "RAGSTONE_RAG_EMBEDDING_PROVIDER": "fake",
        "HOME": str(tmp_path),
        "USERPROFILE": str(tmp_path),
        "NO_COLOR": "1",
    }
    # Unbuffered, Python does not notice that a pipe took only half of the output.
    return {
        name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"
    } | overrides


@pytest.fixture
def command(project: Path, environment: dict[str, str]) -> Callable[..., Ran]:
    """Return a function that runs the command in the project."""

    def run(
        *arguments: str,
        stdin: bytes = b"",
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
        before: Sequence[str] = (),
    ) -> Ran:
        ran = subprocess.run(
            [*before, sys.executable, "-m", "ragstone", *arguments],
            input=stdin,
            cwd=cwd or project,
            env=environment | (env or {}),
            capture_output=True,
            timeout=60,
            check=False,
        )
        return Ran(ran.returncode, ran.stdout.decode("utf-8"), ran.stderr.decode("utf-8"))

    return run


@pytest.fixture
def powerless(command: Callable[..., Ran]) -> Callable[..., Ran]:
    """Return a function that runs the command without root's right to ignore permissions."""
    if sys.platform == "win32":
        pytest.skip("needs POSIX permissions")
    if os.geteuid() != 0:
        return command
    if shutil.which("setpriv") is None:
        pytest.skip("runs as root, and setpriv is missing")
    return partial(command, before=("setpriv", "--bounding-set=-dac_override,-dac_read_search"))


@pytest.fixture
def quick(
    project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., Ran]:
    """Return a function that runs the command line in this process, which is faster."""
    from ragstone.surfaces.cli.app import run

    monkeypatch.setenv("RAGSTONE_RAG_EMBEDDING_PROVIDER", "fake")
    monkeypatch.setenv("HOME", str(project.parent))
    monkeypatch.setenv("USERPROFILE", str(project.parent))
    monkeypatch.chdir(project)

    def inside(*arguments: str) -> Ran:
        capfd.readouterr()
        code = run(arguments)
        sys.stdout.flush()
        out, err = capfd.readouterr()
        return Ran(code, out, err)

    return inside
