"""What happened, and who listens."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
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
