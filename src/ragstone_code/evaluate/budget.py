"""Bounds of an evaluation. A file may ask for endless work with a few characters, so work is paid for before it is done.

The price is one step per expression, item and statement, and one step per 20 characters of a new text. Since every new
value is paid for, what a budget buys bounds the memory too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

MAX_TEXT: Final = 50_000
"""Longer texts are unknown."""
MAX_ITEMS: Final = 5_000
"""Longer lists are unknown."""
MAX_NUMBER: Final = 2**63
"""Larger numbers are unknown: they would grow with every operation."""
TOTAL: Final = 10_000_000
"""Steps of all evaluations of one project: about half a minute."""
_CHARACTERS_PER_STEP: Final = 20
_MAX_DEPTH: Final = 50
"""A value may contain itself."""

Parts = Callable[[Any], Iterable[Any] | None]
"""Returns the values inside a value, or None if it has none."""


class Budget:
    """The steps that one run may still take, and those that all runs of a project may still take."""

    def __init__(self, steps: int, total: int = TOTAL) -> None:
        """Take the steps of one run and of all runs."""
        self._steps = steps
        self.left = steps
        self.total = total

    def renew(self) -> None:
        """Start another run: its steps come from the total."""
        self.left = self._steps

    @property
    def is_spent(self) -> bool:
        """Return whether no step is left."""
        return self.left <= 0 or self.total <= 0

    def spend(self, steps: int = 1) -> bool:
        """Take steps from the budget; return False, and leave nothing, if there are not enough."""
        self.left -= steps
        self.total -= steps
        if self.left > 0 and self.total > 0:
            return True
        self.left = 0
        return False

    def spend_on(self, value: object, parts: Parts) -> bool:
        """Pay for a new value with everything inside it; a part that is in it twice counts twice."""
        pending: list[tuple[object, int]] = [(value, 0)]
        while pending:
            current, depth = pending.pop()
            steps = 1
            if isinstance(current, str):
                steps += len(current) // _CHARACTERS_PER_STEP
            if not self.spend(steps):
                return False
            inner = parts(current)
            if inner is not None and depth < _MAX_DEPTH:
                pending.extend((part, depth + 1) for part in inner)
        return True
