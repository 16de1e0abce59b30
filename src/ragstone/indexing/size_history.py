"""The size of an index over time: a small file with a line for each minute in which something was written."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Final

from ragstone.indexing.events import Event, append_line, read_lines
from ragstone.types import SizePoint

_SECONDS: Final = 60.0
_MAX_BYTES: Final = 400_000
"""About 4,000 lines; then the older half is thinned."""


class SizeHistory:
    """Records the counts of a project after writes, at most once a minute and when the engine is closed."""

    def __init__(self, path: Path, project: str, measure: Callable[[], SizePoint]) -> None:
        """Take the file, and a function that returns the present size."""
        self._path = path
        self._project = project
        self._measure = measure
        self._recorded_at = 0.0
        self._has_changes = False

    def take_event(self, event: Event) -> None:
        """Record the size after a write, unless that was done a moment ago."""
        self._has_changes = True
        if time.monotonic() - self._recorded_at >= _SECONDS:
            self.flush()

    def flush(self) -> None:
        """Record the size if something was written since the last record."""
        if not self._has_changes:
            return
        self._has_changes = False
        self._recorded_at = time.monotonic()
        line = json.dumps({"project": self._project, **asdict(self._measure())}) + "\n"
        try:
            append_line(self._path, line.encode())
            if self._path.stat().st_size > _MAX_BYTES:
                self._thin_out()
        except OSError:
            return  # a full or read-only disk: the next write tries again

    def points(self) -> list[SizePoint]:
        """Return the recorded sizes, oldest first, and the present size."""
        points = [point for line in read_lines(self._path) if (point := self._parse(line))]
        return [*points, self._measure()]

    def _parse(self, line: bytes) -> SizePoint | None:
        """Return the size in a line; None if it is of another project or cannot be read."""
        try:
            data = json.loads(line)
            if data.pop("project") != self._project:
                return None
            return SizePoint(**data)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None

    def _thin_out(self) -> None:
        """Keep every second line of the older half; a new file replaces the old one."""
        lines = read_lines(self._path)
        middle = len(lines) // 2
        draft = self._path.with_suffix(".new")
        draft.unlink(missing_ok=True)
        kept = [*lines[:middle:2], *lines[middle:]]
        append_line(draft, b"".join(line + b"\n" for line in kept))
        draft.replace(self._path)
