"""A cache of a limited size that several threads may use."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Generic, TypeVar

from cachetools import LRUCache

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class BoundedCache(Generic[Key, Value]):
    """Keeps the values that were used last.

    `LRUCache` alone raises `KeyError` now and then if two threads use it, because even reading changes its order.
    """

    def __init__(self, size: int) -> None:
        """Take the number of values to keep."""
        self._values: LRUCache[Key, Value] = LRUCache(size)
        self._lock = threading.Lock()

    def get(self, key: Key) -> Value | None:
        """Return a value, or None if it is not kept."""
        with self._lock:
            return self._values.get(key)

    def __setitem__(self, key: Key, value: Value) -> None:
        """Keep a value; the one that was not used for the longest time may go."""
        with self._lock:
            self._values[key] = value

    def pop(self, key: Key) -> None:
        """Forget a value, if it is kept."""
        with self._lock:
            self._values.pop(key, None)

    def clear(self) -> None:
        """Forget all values."""
        with self._lock:
            self._values.clear()
