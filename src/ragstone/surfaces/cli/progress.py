"""How far long work is: a bar on a terminal, a line now and then elsewhere, always on stderr."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from ragstone.surfaces.cli.shell import note

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

STAGES: Final = {"scan": "looking", "index": "indexing", "graph": "code", "embed": "vectors"}
_UNITS: Final = {"scan": "files", "index": "files", "graph": "files", "embed": "texts"}
# Work that is over sooner needs no bar, and then nothing is imported for one.
_PATIENCE_SECONDS: Final = 0.4
_LINE_EVERY_SECONDS: Final = 5.0


class Bar:
    """Shows progress while it is open; call it with stage, done, total."""

    def __init__(self) -> None:
        self._begun = self._last_line = time.monotonic()
        self._bars: Bars | None = None
        self._tasks: dict[str, TaskID] = {}
        self._terminal = sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if self._bars is not None:
            self._bars.stop()

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show that so much of a stage is done; a total of 0 is not known."""
        now = time.monotonic()
        if now - self._begun < _PATIENCE_SECONDS:
            return
        if self._terminal:
            self._draw(stage, done, total)
        elif now - self._last_line >= _LINE_EVERY_SECONDS:
            self._last_line = now
            of = f" of {total:,}" if total else ""
            note(f"{STAGES.get(stage, stage)}: {done:,}{of} {_UNITS.get(stage, '')}".rstrip())

    def _draw(self, stage: str, done: int, total: int) -> None:
        if self._bars is None:
            self._bars = _bars()
            self._bars.start()
        if stage not in self._tasks:
            unit = _UNITS.get(stage, "")
            self._tasks[stage] = self._bars.add_task(STAGES.get(stage, stage), total=total or None, unit=unit)
        self._bars.update(self._tasks[stage], completed=done, total=total or None)


def _bars() -> Bars:
    from rich.console import Console  # only where a bar is drawn
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description:>9}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[unit]}"),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)
