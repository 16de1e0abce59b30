"""Helpers: a second user of the machine, a second machine, and a clone."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

FAKE = {"rag.embedding_provider": "fake", "search.watch": "off"}
STRANGER = 54_321


def on_another_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Give the process another folder of user settings, as another machine or user has."""
    settings = tmp_path / "other-machine"
    settings.mkdir(exist_ok=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(settings))
    monkeypatch.setenv("APPDATA", str(settings))


def as_another_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the files of this process belong to somebody else."""
    monkeypatch.setattr(os, "geteuid", lambda: STRANGER)


def git(folder: Path, *arguments: str) -> None:
    options = ("-c", "user.name=a", "-c", "user.email=a@example.invalid")
    subprocess.run(
        ["git", *options, "-C", str(folder), *arguments], check=True, capture_output=True
    )
