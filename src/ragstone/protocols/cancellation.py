"""Cancels the work of one call: long loops ask here whether their caller still waits."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Cancelled(BaseException):
    """Ends cancelled work. No `except Exception` on the way stops it, as with Ctrl-C."""


class Cancellation:
    """The switch of one call: `cancel` in one thread ends the work in another at its next step."""

    def __init__(self) -> None:
        """Start without a request to cancel."""
        self._requested = threading.Event()

    @property
    def is_requested(self) -> bool:
        """Return whether the work must end."""
        return self._requested.is_set()

    def cancel(self) -> None:
        """End the work at its next step."""
        self._requested.set()

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Make `check_cancelled` in this thread listen to this switch while the `with` block runs."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)


_current: ContextVar[Cancellation | None] = ContextVar("ragstone_cancellation", default=None)


def check_cancelled() -> None:
    """Raise `Cancelled` if the call that this thread works for was cancelled."""
    cancellation = _current.get()
    if cancellation is not None and cancellation.is_requested:
        raise Cancelled
