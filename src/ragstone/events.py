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

_RUN: Final = 500
_RUN_SECONDS: Final = 2.0
"""How many documents, or how long a time of indexing, one line of the log tells of."""
_MOST_READ: Final = 8_000_000
_MOST_CHARACTERS: Final = 1000
_MOST_ITEMS: Final = 100
_NOFOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
_encode: Final = json.JSONEncoder(default=str).encode
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


@dataclass(frozen=True, slots=True)
class Position:
    """How far a log was read: in which file, and up to which byte."""

    file: int = 0
    bytes: int = 0


class Log:
    """Events as lines of JSON in a file only its owner can read; two files of bounded size, the older one last.

    Documents that are indexed one after the other make one line: how many, and which was the first.
    """

    def __init__(self, path: Path, project: str = "", *, most_bytes: int = 1_000_000) -> None:
        self._path, self._project, self._most = path, project, most_bytes
        self._lock = threading.Lock()
        self._run: list[Event] = []
        self._descriptor: int | None = None
        self._opened_is = (0, 0)
        self._name = os.fspath(path)

    def take(self, event: Event) -> None:
        """Write an event behind the others; a disk that cannot take it costs the line, not the work."""
        with self._lock:
            if event.name == CHUNK_INDEXED:
                self._run.append(event)
                if len(self._run) >= _RUN or event.time - self._run[0].time > _RUN_SECONDS:
                    self._write_run()
                return
            self._write_run()
            self._write(event)

    def flush(self) -> None:
        """Write what waits to be told in one line with what comes next, and let go of the file until then."""
        with self._lock:
            self._write_run()
            self._close()

    def __del__(self) -> None:
        with suppress(OSError):
            self._close()

    def last(self, limit: int, names: Iterable[str] | None = None) -> list[dict[str, object]]:
        """Return the project's last events, oldest first; lines that are none are left out."""
        wanted = None if names is None else frozenset(names)
        found: deque[dict[str, object]] = deque(maxlen=max(0, limit))
        for path in (self._older, self._path):
            found.extend(self._events(_lines(path, Position())[0], wanted))
        return list(found)

    def since(
        self, position: Position | None, names: Iterable[str] | None = None
    ) -> tuple[list[dict[str, object]], Position]:
        """Return what was written behind a position, and the new one; None: the end, where nothing is new."""
        wanted = None if names is None else frozenset(names)
        lines, end = _lines(self._path, position or Position())
        if position is None:
            return [], end
        if end.file != position.file and position.file:  # turned over: the rest of the old file comes first
            rest, _ = _lines(self._older, position)
            lines = [*rest, *lines]
        return list(self._events(lines, wanted)), end

    @property
    def _older(self) -> Path:
        return self._path.with_suffix(f".1{self._path.suffix}")

    def _events(self, lines: Iterable[bytes], wanted: frozenset[str] | None) -> Iterator[dict[str, object]]:
        for line in lines:
            event = _parsed(line)
            if event is None or event.pop("project", "") != self._project:
                continue
            if wanted is None or event.get("name") in wanted:
                yield event

    def _write_run(self) -> None:
        """Write the documents indexed since the last line as one."""
        run, self._run = self._run, []
        if len(run) == 1:
            self._write(run[0])
        elif run:
            sums = {key: sum(_whole(one.data.get(key)) for one in run) for key in ("added", "kept", "removed")}
            self._write(Event(CHUNK_INDEXED, {"uri": run[0].data.get("uri"), "documents": len(run), **sums}))

    def _write(self, event: Event) -> None:
        told = {"time": event.time, "name": event.name, **({"project": self._project} if self._project else {})}
        about = {key: _clipped(value) for key, value in event.data.items()}
        line = _encode({**told, **about, **told}) + "\n"
        with suppress(OSError):
            # One call: lines of two processes do not mix.
            os.write(self._opened(), line.encode())

    def _opened(self) -> int:
        """Return the open file, another one where it has been turned over or taken away; `OSError` if there is none."""
        seen = None
        with suppress(FileNotFoundError):
            seen = os.lstat(self._name)
        if seen is not None and seen.st_size > self._most:
            os.replace(self._path, self._older)
            seen = None
        if self._descriptor is not None and seen is not None and self._opened_is == (seen.st_dev, seen.st_ino):
            return self._descriptor
        self._close()
        if self._path.parent.is_symlink():
            raise OSError("the folder may have come with a clone and lead anywhere")
        self._descriptor = os.open(self._name, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _NOFOLLOW, 0o600)
        about = os.fstat(self._descriptor)
        self._opened_is = (about.st_dev, about.st_ino)
        return self._descriptor

    def _close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _lines(path: Path, position: Position) -> tuple[list[bytes], Position]:
    """Return the whole lines behind a position in the file it is of, or all of another one, and where they end."""
    try:
        descriptor = os.open(path, os.O_RDONLY | _NOFOLLOW | getattr(os, "O_BINARY", 0))
    except OSError:
        return [], position if position.file else Position()
    with os.fdopen(descriptor, "rb") as file:
        inode = os.fstat(descriptor).st_ino
        start = position.bytes if position.file in (0, inode) else 0
        file.seek(start)
        held = file.read(_MOST_READ)
    whole = held.rfind(b"\n") + 1
    return held[:whole].splitlines(), Position(inode, start + whole)


def _clipped(value: object) -> object:
    """Return a value short enough for a line."""
    if isinstance(value, str):
        return value if len(value) <= _MOST_CHARACTERS else f"{value[:_MOST_CHARACTERS]}…"
    return [_clipped(one) for one in value[:_MOST_ITEMS]] if isinstance(value, list | tuple) else value


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0


def _parsed(line: bytes) -> dict[str, object] | None:
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
        self._held = threading.local()

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

    @contextmanager
    def holding(self, name: str) -> Iterator[list[dict[str, object]]]:
        """Keep back what this thread emits under a name until the end, so that more can be said with it."""
        held: list[dict[str, object]] = []
        outer = getattr(self._held, "events", {})
        self._held.events = {**outer, name: held}
        try:
            yield held
        finally:
            self._held.events = outer
            for data in held:
                self.emit(name, **data)

    def emit(self, name: str, **data: object) -> None:
        """Tell everybody who asked for this name; no subscriber can break the emitter."""
        held = getattr(self._held, "events", {}).get(name)
        if held is not None:
            held.append(data)
            return
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
