"""The subjects of recent commits, each with the files that it changed."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ragstone.sources.folder.commits import LOG
from ragstone.sources.folder.git import run_git
from ragstone.sources.secrets.redaction import redact

_COMMITS: Final = "2000"


@dataclass(frozen=True, slots=True)
class ChangedFiles:
    """The subject of a commit, and the paths below the root that it changed."""

    subject: str
    paths: tuple[str, ...]


def recent_changes(root: Path) -> list[ChangedFiles]:
    """Return recent commits that are no merges, newest first; none without git or a repository."""
    separator = secrets.token_hex(16)
    format_ = f"--format={separator}%s%x00"
    arguments = (
        *LOG,
        "-n",
        _COMMITS,
        "--no-merges",
        "--relative",
        "--name-only",
        "-z",
        format_,
    )
    completed = run_git(root, arguments)
    if completed is None or completed.returncode != 0:
        return []
    changes = []
    for entry in completed.stdout.decode("utf-8", "replace").split(separator)[1:]:
        subject, _, names = entry.partition("\0")
        paths = [name.strip("\n") for name in names.split("\0")]
        clean_subject, _ = redact(subject)
        changes.append(ChangedFiles(clean_subject, tuple(path for path in paths if path)))
    return changes
