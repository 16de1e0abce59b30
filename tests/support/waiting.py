"""Waits until something becomes true."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(check: Callable[[], object], seconds: float = 20.0) -> bool:
    """Return whether a check became true in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if check():
            return True
        time.sleep(0.02)
    return False
