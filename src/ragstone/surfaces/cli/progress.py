"""How far long work is: a bar on a terminal, a line now and then elsewhere, always on stderr."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Final, Self

from ragstone.surfaces.cli.shell import note

STAGES: Final = {"scan": "looking", "index": "indexing", "graph": "code", "embed": "vectors"}
_UNITS: Final = {"scan": "files", "index": "files", "graph": "files", "embed": "texts"}
# Work that is over sooner needs no bar.
_PATIENCE_SECONDS: Final = 0.4
_REDRAWN_SECONDS: Final = 0.1
_BAR: Final = 30
_LINE_EVERY_SECONDS: Final = 5.0


class Bar:
    """Shows progress while it is open; call it with stage, done, total."""

    def __init__(self) -> None:
        self._begun = self._last_line = time.monotonic()
        self._stage = ""
        self._stage_begun = self._last_drawn = 0.0
        self._shown = ""
        self._terminal = sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._show("")

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show that so much of a stage is done; a total of 0 is not known."""
        now = time.monotonic()
        if now - self._begun < _PATIENCE_SECONDS:
            return
        if self._terminal:
            self._draw(stage, done, total, now)
        elif now - self._last_line >= _LINE_EVERY_SECONDS:
            self._last_line = now
            of = f" of {total:,}" if total else ""
            note(f"{STAGES.get(stage, stage)}: {done:,}{of} {_UNITS.get(stage, '')}".rstrip())

    def _draw(self, stage: str, done: int, total: int, now: float) -> None:
        if stage != self._stage:
            self._stage, self._stage_begun, self._last_drawn = stage, now, 0.0
        if now - self._last_drawn < _REDRAWN_SECONDS and done != total:
            return
        self._last_drawn = now
        told = f"{STAGES.get(stage, stage):>9} "
        unit = _UNITS.get(stage, "")
        if not total:
            self._show(f"{told}{done:,} {unit}")
            return
        filled = _BAR * min(done, total) // total
        left = (now - self._stage_begun) / done * (total - done) if done else 0.0
        clock = f"{int(left) // 60}:{int(left) % 60:02}"
        self._show(f"{told}{'#' * filled}{'.' * (_BAR - filled)} {done:,}/{total:,} {unit} {clock}")

    def _show(self, line: str) -> None:
        """Write over what stands there; nothing of it is left when the work is over."""
        import shutil  # only where somebody looks

        line = line[: shutil.get_terminal_size().columns - 1]
        if line or self._shown:
            erased = line.ljust(len(self._shown))
            sys.stderr.write(f"\r{erased}" if line else f"\r{erased}\r")
            sys.stderr.flush()
            self._shown = line
