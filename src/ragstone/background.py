"""Work that is done beside the caller's, where there is a core for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Generic, TypeVar

from ragstone.config import cores

if TYPE_CHECKING:
    from concurrent.futures import Executor


Given = TypeVar("Given")


class Aside:
    """Hands work to another thread; threads are made when there is work for them."""

    def __init__(self) -> None:
        """Start without any."""
        self._pool: Executor | None = None

    def __call__(self, work: Callable[[], Given]) -> Once[Given]:
        """Return what gives the result of work; where there is a core for it another thread does it, if one is free."""
        once = Once(work)
        if cores() == 1:
            return once
        if self._pool is None:
            self._pool = import_module("concurrent.futures").ThreadPoolExecutor(thread_name_prefix="ragstone-aside")
        with suppress(RuntimeError):  # no more threads to be had: then this one does it when its turn comes
            self._pool.submit(once)
        return once


class Once(Generic[Given]):
    """Work that whoever comes first does, and nobody else: a pool may come to it late, or never."""

    def __init__(self, work: Callable[[], Given]) -> None:
        """Take the work."""
        self._work: Callable[[], Given] | None = work
        self._lock = threading.Lock()
        self._done: list[Given] = []
        self._failed: BaseException | None = None

    def __call__(self) -> Given:
        """Do it, or wait until it is done; return its result, or raise what it raised."""
        with self._lock:
            work, self._work = self._work, None
            try:
                if work is not None:
                    self._done.append(work())
            except BaseException as error:
                self._failed = error
                raise
            if self._failed is not None:
                raise self._failed
            return self._done[0]

    def forget(self) -> None:
        """Have it not done any more; where somebody is at it, wait until it is done."""
        with self._lock:
            self._work = None
