"""The pause of a watcher whose own output changes a file that it watches."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Final

_FIRST_SECONDS: Final = 1.0
_MAX_SECONDS: Final = 30.0


@dataclass(slots=True)
class RepeatPause:
    """How long a watcher waits before its next round: longer each time the same files change again at once.

    Without it, a program that writes a line into the folder for each indexed change would never let the watcher rest.
    """

    clock: Callable[[], float] = time.monotonic
    seconds: float = 0.0
    _files: frozenset[str] = field(default=frozenset(), init=False)
    _ended: float = field(default=-math.inf, init=False)
    """When the last round with changes ended."""

    def note_round(self, files: Collection[str]) -> None:
        """Set the pause after a round that indexed or removed these files."""
        if not files:
            self.seconds = 0.0
            return
        now = self.clock()
        is_prompt = now - self._ended <= self.seconds + _FIRST_SECONDS
        if is_prompt and self._files.issuperset(files):
            self.seconds = min(_MAX_SECONDS, max(_FIRST_SECONDS, 2 * self.seconds))
        else:
            self.seconds = 0.0
        self._files = frozenset(files)
        self._ended = now
