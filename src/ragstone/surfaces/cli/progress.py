"""The progress of long work, on stderr: a bar on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Final, Self

from ragstone.surfaces.cli.output import load_terminal, print_note

if TYPE_CHECKING:
    from ragstone.surfaces.cli.terminal import ProgressBar

_LABELS: Final = {"scan": "looking", "index": "indexing", "graph": "code", "embed": "vectors"}
_UNITS: Final = {"scan": "files", "index": "files", "graph": "files", "embed": "texts"}
_QUIET_SECONDS: Final = 0.4
"""Work that ends sooner shows no progress."""
_LINE_INTERVAL_SECONDS: Final = 5.0


class ProgressDisplay:
    """Shows progress while it is open; call it with stage, done and total (0 if unknown)."""

    def __init__(self) -> None:
        self._started = self._last_line = time.monotonic()
        self._is_terminal = sys.stderr.isatty()
        self._bar: ProgressBar | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show how much of a stage is done."""
        now = time.monotonic()
        if now - self._started < _QUIET_SECONDS:
            return
        if self._is_terminal:
            self._update_bar(stage, done, total)
        elif now - self._last_line >= _LINE_INTERVAL_SECONDS:
            self._last_line = now
            total_text = f" of {total:,}" if total else ""
            print_note(
                f"{_LABELS.get(stage, stage)}: {done:,}{total_text} {_UNITS.get(stage, '')}".rstrip()
            )

    def _update_bar(self, stage: str, done: int, total: int) -> None:
        if self._bar is None:
            self._bar = load_terminal().ProgressBar()
        count = f"{done:,}/{total:,}" if total else f"{done:,}"
        amount = f"{count} {_UNITS.get(stage, '')}".rstrip()
        self._bar.update(_LABELS.get(stage, stage), done, total, amount)
