"""Back-pressure: a limited number of requests run, a limited number wait, all others are refused at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ragstone.errors import Overloaded

_HINT = "try again after the seconds in Retry-After"


class Admission:
    """Counts the requests of one kind; used by one event loop."""

    def __init__(self, active: int, waiting: int) -> None:
        """Take the number of requests that run at once, and the number that may wait."""
        self._slots = asyncio.Semaphore(active)
        self._limit = active + waiting
        self.present = 0
        """Requests that run or wait now."""
        self.refused = 0
        """Requests that were refused since the start."""

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait for a turn and hold it; raise `Overloaded` if too many wait already."""
        if self.present >= self._limit:
            self.refused += 1
            raise Overloaded("the server has too many requests", hint=_HINT)
        self.present += 1
        try:
            async with self._slots:
                yield
        finally:
            self.present -= 1
