"""When each key was last used: a small file in the home folder, written at most once a minute."""

from __future__ import annotations

import json
import os
import secrets
import threading
import time
from pathlib import Path
from typing import Final

FILE_NAME: Final = "key_uses.json"
_SECONDS: Final = 60.0
_NOFOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)


class KeyUses:
    """The last use of each key on this machine. Safe to use from several threads."""

    def __init__(self, home: Path | None) -> None:
        """Take the home folder; without one the times end with the process."""
        self._path = None if home is None else home / FILE_NAME
        self._times: dict[str, float] = {}
        self._lock = threading.Lock()
        self._written_at = time.monotonic()

    def note(self, key_id: str) -> None:
        """Remember that a valid key was used now."""
        with self._lock:
            self._times[key_id] = time.time()
            is_due = time.monotonic() - self._written_at >= _SECONDS
        if is_due:
            self.flush()

    def times(self) -> dict[str, float]:
        """Return the last use of each key, in seconds since 1970; other processes may be a minute behind."""
        with self._lock:
            times = dict(self._times)
        for key_id, moment in self._read().items():
            times[key_id] = max(moment, times.get(key_id, 0.0))
        return times

    def flush(self) -> None:
        """Write the times, together with those that other processes wrote."""
        with self._lock:
            self._written_at = time.monotonic()
            if self._path is None or not self._times:
                return
        try:
            _replace(self._path, json.dumps(self.times()).encode())
        except OSError:
            return  # a full or read-only disk: the next use tries again

    def _read(self) -> dict[str, float]:
        """Return the times in the file; none if it is missing or damaged."""
        if self._path is None:
            return {}
        try:
            stored = json.loads(self._path.read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(stored, dict):
            return {}
        return {key_id: at for key_id, at in stored.items() if isinstance(at, float)}


def _replace(path: Path, content: bytes) -> None:
    """Write a file that only this user can read, at once."""
    draft = path.with_name(f"{FILE_NAME}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
