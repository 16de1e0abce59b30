"""Back-pressure: a limited number of requests run, a limited number wait, all others are refused at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final, TypeVar

from ragstone.errors import Overloaded, TimedOut

_HINT: Final = "try again after the seconds in Retry-After"
Result = TypeVar("Result")


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

    async def run_in_time(
        self, work: Callable[[], Awaitable[Result]], seconds: float
    ) -> Result:
        """Return the result of some work in its turn.

        After the time limit raise `Overloaded` if the work has not begun, `TimedOut` if it has. A thread cannot be
        ended: it finishes its work and holds its turn until then, also if the caller is gone.
        """
        has_begun = False

        async def run() -> Result:
            nonlocal has_begun
            async with self.slot():
                has_begun = True
                return await work()

        task = asyncio.ensure_future(run())
        try:
            await asyncio.wait({task}, timeout=seconds)
        finally:
            if not task.done():
                task.add_done_callback(_ignore_result)
                if not has_begun:
                    task.cancel()
        if task.done():
            return task.result()
        if has_begun:
            raise TimedOut(
                "the request takes too long, and its work goes on",
                hint="see what is stored before you send it again, or run it as a job",
            )
        raise Overloaded("the request waited too long for its turn", hint="try again")


def _ignore_result(task: asyncio.Future[Result]) -> None:
    """Read the result of a task that nothing waits for."""
    if not task.cancelled():
        task.exception()
