"""When a failed request to a service is sent again, and when a service is left alone for a while."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Final

_FIRST_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 20.0
_LONGEST_REQUESTED_PAUSE: Final = 120.0
"""A service that asks for a longer pause is treated as down; the missing vectors wait in the store."""
_FAILURES_TO_OPEN: Final = 5
_SECONDS_OPEN: Final = 30.0
_REPLY_MARGIN: Final = 2.0
_FORGETTING: Final = 0.9
"""Requests differ in size: after one quick reply the next one may be slow again."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a caller waits for a service: for one reply, and for all attempts together."""

    reply_seconds: float
    total_seconds: float
    attempts: int = 6
    slow_reply_seconds: float = 0.0
    """The longest wait for one reply of a service that was slow before; at least `reply_seconds`."""


class ReplyTime:
    """Learns how long to wait for a reply. Safe to use from several threads.

    A request that is given up too early is computed, and perhaps paid for, once more. So each time-out doubles the
    next wait, and a service that was slow keeps the longer wait until its replies are quick again.
    """

    def __init__(self) -> None:
        """Start without experience: a caller's own `reply_seconds` count."""
        self._needed = 0.0
        self._lock = threading.Lock()

    def seconds(self, patience: Patience) -> float:
        """Return how long to wait for the next reply."""
        return max(patience.reply_seconds, min(self._needed, patience.slow_reply_seconds))

    def record_reply(self, seconds: float) -> None:
        """Learn from a reply that took this long."""
        with self._lock:
            self._needed = max(_REPLY_MARGIN * seconds, _FORGETTING * self._needed)

    def record_timeout(self, seconds: float) -> None:
        """Learn that a reply takes longer than this."""
        with self._lock:
            self._needed = max(self._needed, _REPLY_MARGIN * seconds)


def retry_pause(attempt: int, requested: float | None) -> float:
    """Return the seconds to wait before the next attempt: as the service asks, else doubling, with jitter.

    Jitter spreads the requests of many clients that failed at the same moment.
    """
    if requested is not None:
        # A little more than requested, because the clocks of both sides differ.
        return requested + random.uniform(0, 0.1)  # noqa: S311 - not a secret
    longest = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**attempt)
    return random.uniform(longest / 2, longest)  # noqa: S311 - not a secret


def requested_pause(headers: Mapping[str, str]) -> float | None:
    """Return the seconds in `Retry-After` (a number or a date) or `retry-after-ms`; None if there are none."""
    milliseconds = pause_seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = pause_seconds(value)
    if seconds is not None or not value:
        return seconds
    try:
        moment = parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
    return max(0.0, moment - time.time())


def is_too_long(pause: float) -> bool:
    """Return whether a requested pause is too long to wait for."""
    return pause > _LONGEST_REQUESTED_PAUSE


class CircuitBreaker:
    """Stops asking a service that failed several times in a row; after a while one request tries it again."""

    def __init__(
        self,
        failures: int = _FAILURES_TO_OPEN,
        seconds: float = _SECONDS_OPEN,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open after this many failures in a row, for this many seconds."""
        self._limit = failures
        self._seconds = seconds
        self._now = now
        self._failures = 0
        self._open_until = 0.0
        self._lock = threading.Lock()

    def seconds_until_retry(self) -> float:
        """Return for how many seconds no request may be sent; 0 if one may be sent now.

        When the time is over, one caller gets 0 and tries the service; the others wait for its result.
        """
        with self._lock:
            if self._failures < self._limit:
                return 0.0
            remaining = self._open_until - self._now()
            if remaining > 0:
                return remaining
            self._open_until = self._now() + self._seconds
            return 0.0

    def record_success(self) -> None:
        """Close the breaker: the service answers."""
        with self._lock:
            self._failures = 0

    def record_failure(self, *, gave_up: bool = False) -> None:
        """Count a failure. Too many in a row open the breaker, and so does a caller that gave up."""
        with self._lock:
            self._failures += 1
            if gave_up:
                self._failures = max(self._failures, self._limit)
            self._open_until = self._now() + self._seconds


def pause_seconds(text: str | None) -> float | None:
    """Return the pause in a text; None if it is no number, or a negative one."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if number >= 0 else None  # NaN is not >= 0
