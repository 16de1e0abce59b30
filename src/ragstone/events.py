"""What happened, and who listens: in this process, on disk, or as a stream."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

CHUNK_INDEXED: Final = "rag_chunk_indexed"
SEARCH_STARTED: Final = "rag_search_started"
SEARCH_COMPLETED: Final = "rag_search_completed"
CONTEXT_LOADED: Final = "ai_context_loaded"
NAMES: Final = (CHUNK_INDEXED, SEARCH_STARTED, SEARCH_COMPLETED, CONTEXT_LOADED)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened: its name, what is known about it, and when (seconds since 1970)."""

    name: str
    data: Mapping[str, object]
    time: float = field(default_factory=time.time)


Subscriber: TypeAlias = Callable[[Event], object]
Unsubscribe: TypeAlias = Callable[[], None]


class Stream:
    """Events that wait to be read by another thread; a slow reader loses the oldest, never the memory."""

    def __init__(self, most: int) -> None:
        self._waiting: deque[Event] = deque(maxlen=most)
        self._news = threading.Condition()
        self.lost = 0

    def take(self, event: Event) -> None:
        """Keep an event until it is read."""
        with self._news:
            self.lost += len(self._waiting) == self._waiting.maxlen
            self._waiting.append(event)
            self._news.notify()

    def next(self, timeout: float | None = None) -> Event | None:
        """Return the next event, None where none came in time."""
        with self._news:
            if not self._news.wait_for(lambda: bool(self._waiting), timeout):
                return None
            return self._waiting.popleft()


class Log:
    """Events as lines of JSON in a file only its owner can read; two files of bounded size, the older one last."""

    def __init__(self, path: Path, *, most_bytes: int = 1_000_000) -> None:
        self._path, self._most = path, most_bytes
        self._lock = threading.Lock()

    def take(self, event: Event) -> None:
        """Write an event behind the others; a disk that cannot take it costs the line, not the work."""
        line = json.dumps({"time": event.time, "name": event.name, **event.data}, default=str) + "\n"
        with self._lock, suppress(OSError):
            self._turn_over()
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
            descriptor = os.open(self._path, flags, 0o600)
            try:
                os.write(descriptor, line.encode())  # one call: lines of two processes do not mix
            finally:
                os.close(descriptor)

    def last(self, limit: int, names: Iterable[str] | None = None) -> list[dict[str, object]]:
        """Return the last events, oldest first; lines that are none are left out."""
        wanted = None if names is None else frozenset(names)
        found: deque[dict[str, object]] = deque(maxlen=limit)
        for path in (self._older, self._path):
            with suppress(OSError):
                for line in path.read_text("utf-8", "replace").splitlines():
                    event = _parsed(line)
                    if event is not None and (wanted is None or event.get("name") in wanted):
                        found.append(event)
        return list(found)

    @property
    def _older(self) -> Path:
        return self._path.with_suffix(f".1{self._path.suffix}")

    def _turn_over(self) -> None:
        if self._path.exists() and self._path.stat().st_size > self._most:
            os.replace(self._path, self._older)


def _parsed(line: str) -> dict[str, object] | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


class Bus:
    """Hands events to whoever subscribed, in the emitter's thread and in the order of subscription."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._subscribers: tuple[tuple[Subscriber, frozenset[str] | None], ...] = ()

    def subscribe(self, callback: Subscriber, names: Iterable[str] | None = None) -> Unsubscribe:
        """Call back for these names (None: for all) from now on; return what ends it."""
        wanted = None if names is None else frozenset([names] if isinstance(names, str) else names)
        entry = (callback, wanted)
        with self._lock:
            self._subscribers = (*self._subscribers, entry)

        def unsubscribe() -> None:
            with self._lock:
                self._subscribers = tuple(other for other in self._subscribers if other is not entry)

        return unsubscribe

    def wants(self, name: str) -> bool:
        """Return whether anybody listens for a name, so that costly data need not be gathered for nobody."""
        return any(names is None or name in names for _, names in self._subscribers)

    @contextmanager
    def stream(self, names: Iterable[str] | None = None, *, most: int = 1000) -> Iterator[Stream]:
        """Give what happens from now on as a stream; of more than `most` unread events the oldest are lost."""
        waiting = Stream(most)
        unsubscribe = self.subscribe(waiting.take, names)
        try:
            yield waiting
        finally:
            unsubscribe()

    def emit(self, name: str, **data: object) -> None:
        """Tell everybody who asked for this name; no subscriber can break the emitter."""
        subscribers = [callback for callback, names in self._subscribers if names is None or name in names]
        if not subscribers:
            return
        event = Event(name, MappingProxyType(data))
        for callback in subscribers:
            try:
                callback(event)
            except Exception as error:
                # A subscriber is foreign code and may raise anything; the traceback is there for whoever debugs it.
                traceback = logger.isEnabledFor(logging.DEBUG)
                logger.warning("A subscriber to %s failed: %r", name, error, exc_info=traceback)
