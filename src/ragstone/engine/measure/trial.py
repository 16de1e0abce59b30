"""A folder indexed in a temporary home. The user's index is not opened."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Final

from ragstone.engine.engine import Engine
from ragstone.errors import InputError
from ragstone.protocols import Progress, RemoteModel

_SETTINGS: Final = {
    "search.watch": "off",
    "embed.background": "off",
    "events.log": False,
    "code.graph": "off",
    "sources.max_files": 1_000_000_000,
}


class OutOfTime(Exception):
    """The time for a step is over."""


@dataclass(frozen=True, slots=True)
class Timer:
    """The time that a measurement may take."""

    seconds: float
    started: float = field(default_factory=monotonic)

    @property
    def spent(self) -> float:
        """Return the seconds since the start."""
        return monotonic() - self.started

    @property
    def left(self) -> float:
        """Return the seconds until the end; 0 if it is over."""
        return max(0.0, self.seconds - self.spent)

    def stop_after(self, share: float, progress: Progress | None) -> Progress:
        """Return a progress callback that raises `OutOfTime` after a share of the time."""

        def report(stage: str, done: int, total: int) -> None:
            if progress:
                progress(stage, done, total)
            if self.spent > share * self.seconds:
                raise OutOfTime

        return report


@contextmanager
def open_trial(folder: Path) -> Iterator[Engine]:
    """Yield an engine on a folder with an empty, temporary home."""
    with tempfile.TemporaryDirectory(prefix="ragstone-") as home:
        config = {**_SETTINGS, "store.path": str(Path(home) / "home")}
        with Engine.open(folder, config=config) as engine:
            yield engine


def require_free(engine: Engine, *, may_pay: bool) -> None:
    """Raise `InputError` if the model is a service, which may cost money, unless the user agreed."""
    embedder = engine.workspace.components.embedder()
    if isinstance(embedder, RemoteModel) and not may_pay:
        raise InputError(
            f"the model {embedder.space.model} is a service, and every text would be sent to it again",
            hint="use --yes if you agree, or set RAGSTONE_EMBED_PROVIDER=local",
        )


def read_folder(engine: Engine, timer: Timer, share: float, progress: Progress | None) -> bool:
    """Index the words of the folder; return False if the time was over before the last file."""
    try:
        engine.sync(embed=False, progress=timer.stop_after(share, progress))
    except OutOfTime:
        return False
    return True
