"""Events: a bus with subscribers in this process, and a log on disk."""

from __future__ import annotations

import json
import logging
import os
import re
import stat
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

from ragstone.errors import InputError

CHUNK_INDEXED: Final = "rag_chunk_indexed"
DOCUMENT_REMOVED: Final = "rag_document_removed"
SEARCH_STARTED: Final = "rag_search_started"
SEARCH_COMPLETED: Final = "rag_search_completed"
CONTEXT_LOADED: Final = "ai_context_loaded"
AUDIT: Final = "audit"
"""Something that an operator may be asked about: a key, a deletion, an export, a limit."""
NAMES: Final = (
    CHUNK_INDEXED,
    DOCUMENT_REMOVED,
    SEARCH_STARTED,
    SEARCH_COMPLETED,
    CONTEXT_LOADED,
    AUDIT,
)
ACTOR: Final[ContextVar[str]] = ContextVar("actor", default="")
"""The id of the key that the present call was made with; empty for the user of this machine."""

FREE_TEXTS: Final = frozenset({"query", "task"})
"""Data that a user typed, which may have a secret in it."""
_MAX_GROUP: Final = 500
_MAX_GROUP_SECONDS: Final = 2.0
_MAX_READ_BYTES: Final = 8_000_000
_MAX_CHARACTERS: Final = 1000
_MAX_ITEMS: Final = 100
SAFE_FLAGS: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""No link is followed, and a FIFO does not wait for its other end."""
logger = logging.getLogger(__name__)
_MAY_HAVE_SECRET: Final = re.compile(
    r"[=:]|\S{16}|(?=\S*\d)\S{8}|(?i:pass(?:word|phrase) (?:is|7) |snmp-server)"
)
"""A name with its value, a long word, a word of eight characters with a digit, or a phrase before a secret."""


@dataclass(frozen=True, slots=True)
class Event:
    """An event with its name, its data, and its time in seconds since 1970."""

    name: str
    data: Mapping[str, object]
    time: float = field(default_factory=time.time)


Subscriber: TypeAlias = Callable[[Event], object]
Unsubscribe: TypeAlias = Callable[[], None]
EventRecord: TypeAlias = dict[str, object]
"""An event as the log returns it: `time`, `name` and the event's data."""


def check_event_names(names: Iterable[str] | None) -> frozenset[str] | None:
    """Return the names as a set, None for all events; `InputError` for a name that no event has."""
    if names is None:
        return None
    chosen = frozenset([names] if isinstance(names, str) else names)
    unknown = sorted(map(repr, chosen.difference(NAMES)))
    if unknown:
        raise InputError(
            f"there is no event {unknown[0]}", hint=f"there are {', '.join(NAMES)}"
        )
    return chosen


class EventStream:
    """Events that wait for a reader in another thread; if the reader is slow, the oldest are dropped."""

    def __init__(self, max_events: int) -> None:
        self._events: deque[Event] = deque(maxlen=max_events)
        self._changed = threading.Condition()
        self.lost = 0
        """Number of dropped events."""

    def put(self, event: Event) -> None:
        """Add an event and wake the reader."""
        with self._changed:
            if len(self._events) == self._events.maxlen:
                self.lost += 1
            self._events.append(event)
            self._changed.notify()

    def next(self, timeout: float | None = None) -> Event | None:
        """Return the next event, or None if none arrives before the timeout."""
        with self._changed:
            if not self._changed.wait_for(lambda: bool(self._events), timeout):
                return None
            return self._events.popleft()


class EventBus:
    """Calls subscribers in the emitter's thread, in the order of subscription."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._subscribers: tuple[tuple[Subscriber, frozenset[str] | None], ...] = ()

    def subscribe(
        self, callback: Subscriber, names: Iterable[str] | None = None
    ) -> Unsubscribe:
        """Call back for events with these names (None: all); return a function that unsubscribes."""
        entry = (callback, check_event_names(names))
        with self._lock:
            self._subscribers = (*self._subscribers, entry)

        def unsubscribe() -> None:
            with self._lock:
                self._subscribers = tuple(
                    other for other in self._subscribers if other is not entry
                )

        return unsubscribe

    def wants(self, name: str) -> bool:
        """Return whether an event with this name has a subscriber: without one its data need not be gathered."""
        return any(names is None or name in names for _, names in self._subscribers)

    @contextmanager
    def stream(
        self, names: Iterable[str] | None = None, *, max_events: int = 1000
    ) -> Iterator[EventStream]:
        """Give a stream of the events from now on."""
        stream = EventStream(max_events)
        unsubscribe = self.subscribe(stream.put, names)
        try:
            yield stream
        finally:
            unsubscribe()

    def audit(self, action: str, **data: object) -> None:
        """Emit the event of an action such as `key.create`, with the key that the caller used."""
        self.emit(AUDIT, action=action, actor=ACTOR.get(), **data)

    def emit(self, name: str, **data: object) -> None:
        """Call every subscriber to this name; an exception in a subscriber is logged, not raised."""
        if not self.wants(name):
            return
        event = Event(name, MappingProxyType(data))
        for callback, names in self._subscribers:
            if names is None or name in names:
                _call(callback, event)


def _call(callback: Subscriber, event: Event) -> None:
    try:
        callback(event)
    except Exception as error:  # a subscriber is foreign code and may raise anything
        show_traceback = logger.isEnabledFor(logging.DEBUG)
        logger.warning(
            "A subscriber to %s failed: %r", event.name, error, exc_info=show_traceback
        )


@dataclass(frozen=True, slots=True)
class LogPosition:
    """A position in a log: the inode of the file and the offset in it."""

    inode: int = 0
    offset: int = 0


class EventLog:
    """Writes events as JSON lines to a private file, and keeps one older file of the same size.

    Every line is one `write` in append mode, so lines of several processes do not mix. Consecutive indexing events
    share a line. An event that cannot be written is dropped: the log never stops the engine.
    """

    def __init__(
        self,
        path: Path,
        project: str = "",
        *,
        max_bytes: int = 1_000_000,
        redact: Callable[[str], str] = str,
    ) -> None:
        """Take the file; `redact` removes secrets from queries and tasks before they are written."""
        self._path = path
        self._older_path = path.with_suffix(f".1{path.suffix}")
        self._project = project
        self._max_bytes = max_bytes
        self._redact = redact
        self._lock = threading.Lock()
        self._group: list[Event] = []

    def write(self, event: Event) -> None:
        """Write an event; an indexing event waits for the next ones."""
        with self._lock:
            if event.name != CHUNK_INDEXED:
                self._write_group()
                self._append(event)
                return
            self._group.append(event)
            if (
                len(self._group) >= _MAX_GROUP
                or event.time - self._group[0].time > _MAX_GROUP_SECONDS
            ):
                self._write_group()

    def flush(self) -> None:
        """Write the indexing events that wait."""
        with self._lock:
            self._write_group()

    @property
    def files(self) -> tuple[Path, Path]:
        """Return the older file and the current one; either may be missing."""
        return self._older_path, self._path

    def last(self, limit: int, names: Iterable[str] | None = None) -> list[EventRecord]:
        """Return the project's last events, oldest first; invalid lines are skipped."""
        lines = [*_read_lines(self._older_path)[0], *_read_lines(self._path)[0]]
        newest = islice(self._parse(reversed(lines), names), max(0, limit))
        return list(newest)[::-1]

    def end(self) -> LogPosition:
        """Return the position after the last event."""
        return _read_lines(self._path)[1]

    def since(
        self, position: LogPosition, names: Iterable[str] | None = None
    ) -> tuple[list[EventRecord], LogPosition]:
        """Return the project's events after a position, and the new position."""
        lines, end = _read_lines(self._path, position)
        if (
            position.inode and end.inode != position.inode
        ):  # the log was rotated: read the rest of the older file first
            lines = [*_read_lines(self._older_path, position)[0], *lines]
        return list(self._parse(lines, names)), end

    def _parse(
        self, lines: Iterable[bytes], names: Iterable[str] | None
    ) -> Iterator[EventRecord]:
        wanted = check_event_names(names)
        for line in _lines_with(lines, self._project, wanted):
            record = _parse_record(line)
            if record is None or record.pop("project", "") != self._project:
                continue
            if wanted is None or record.get("name") in wanted:
                yield record

    def _write_group(self) -> None:
        """Write the waiting indexing events as one line: the first document, the sums, and the time of the last event."""
        group, self._group = self._group, []
        if len(group) == 1:
            self._append(group[0])
        elif group:
            sums = {
                key: sum(_as_int(event.data.get(key)) for event in group)
                for key in ("added", "kept", "removed")
            }
            collections = {event.data.get("collection") for event in group}
            place = {"collection": collections.pop()} if len(collections) == 1 else {}
            self._append(
                Event(
                    CHUNK_INDEXED,
                    {**place, "uri": group[0].data.get("uri"), "documents": len(group), **sums},
                    group[-1].time,
                )
            )

    def _append(self, event: Event) -> None:
        head: EventRecord = {"time": event.time, "name": event.name}
        if self._project:
            head["project"] = self._project
        data = {key: value for key, value in event.data.items() if key not in head}
        for key in FREE_TEXTS & data.keys():
            data[key] = self._redact(str(data[key]))
        data = {key: _shorten(value) for key, value in data.items()}
        line = json.dumps({**head, **data}, default=str) + "\n"
        try:
            self._rotate()
            append_line(self._path, line.encode())
        except OSError as error:
            logger.debug("An event was not logged: %r", error)

    def _rotate(self) -> None:
        """Start a new file if the current one is full."""
        try:
            size = os.lstat(self._path).st_size
        except FileNotFoundError:
            return
        if size > self._max_bytes:
            os.replace(self._path, self._older_path)


def append_line(path: Path, line: bytes) -> None:
    """Add a line to a private file of the home with one write; `OSError` if the file is a link."""
    if path.parent.is_symlink():
        raise OSError("the folder is a link: a cloned repository may point it anywhere")
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | SAFE_FLAGS, 0o600)
    try:
        require_regular(descriptor)
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


def require_regular(descriptor: int) -> None:
    """Raise `OSError` if an open file is a folder, a FIFO or a device."""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise OSError("the event log is not a regular file")


def _read_lines(
    path: Path, position: LogPosition | None = None
) -> tuple[list[bytes], LogPosition]:
    """Return the complete lines after a position, all lines if it belongs to another file, and their end."""
    start = position or LogPosition()
    try:
        descriptor = os.open(path, os.O_RDONLY | SAFE_FLAGS | getattr(os, "O_BINARY", 0))
    except OSError:
        return [], start
    with os.fdopen(descriptor, "rb") as file:
        try:
            require_regular(descriptor)
        except OSError:
            return [], start
        inode = os.fstat(descriptor).st_ino
        offset = start.offset if start.inode == inode else 0
        file.seek(offset)
        data = file.read(_MAX_READ_BYTES)
    complete = data.rfind(b"\n") + 1
    return data[:complete].splitlines(), LogPosition(inode, offset + complete)


def read_lines(path: Path) -> list[bytes]:
    """Return the complete lines of a file of the home; none if it is missing or a link."""
    return _read_lines(path)[0]


def _lines_with(
    lines: Iterable[bytes], project: str, names: Iterable[str] | None
) -> Iterator[bytes]:
    """Yield the lines that contain the project and one of the names: parsing all lines takes much longer."""
    project_text = json.dumps(project).encode() if project else b""
    name_texts = [b""] if names is None else [json.dumps(name).encode() for name in names]
    for line in lines:
        if project_text in line and any(text in line for text in name_texts):
            yield line


def _parse_record(line: bytes) -> EventRecord | None:
    """Return the event of a line, or None if the line is invalid."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _shorten(value: object) -> object:
    """Return a value with long texts and lists cut."""
    if isinstance(value, str) and len(value) > _MAX_CHARACTERS:
        return f"{value[:_MAX_CHARACTERS]}…"
    if isinstance(value, list | tuple):
        return [_shorten(item) for item in value[:_MAX_ITEMS]]
    return value


def _as_int(value: object) -> int:
    return value if isinstance(value, int) else 0


def redact_query(query: str) -> str:
    """Return a query without secrets. The rules load only if it may have one: that takes 40 ms."""
    if not _MAY_HAVE_SECRET.search(query):
        return query
    from ragstone.sources.secrets.redaction import redact

    clean, _ = redact(query)
    return clean
