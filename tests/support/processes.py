"""Asking the system about processes."""

from __future__ import annotations

import os
import time


def is_gone(pid: int | None) -> bool:
    """Return whether a process ends within ten seconds, and is not waiting for its parent."""
    for _ in range(200):
        try:
            os.kill(pid or 0, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False
