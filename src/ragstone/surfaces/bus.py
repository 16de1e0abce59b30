"""The tool `search_documents` on a ZeroMQ bus: it is announced, asked and answered by messages with topics.

A message has two frames: its topic, and one JSON object in UTF-8. Requests are subscribed to on one socket, all else is
published on another; both are bound, or both connect to a broker (its XPUB and its XSUB).

    tool.announce.search_documents    who asks for it by subscribing is told what the tool is, and all again and again
    tool.request.search_documents     {"id": "7", "arguments": {"query": "…"}}
    tool.activity.search_documents    {"id": "7", "state": "started"}, then "finished" or "failed"
    tool.result.search_documents      {"id": "7", "success": true, "result": "…", "data": {…}}
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

import zmq

from ragstone.engine import Engine
from ragstone.errors import InputError, RagstoneError
from ragstone.surfaces import present
from ragstone.surfaces.tools import Answer, Tool, documents_tool

REQUESTS: Final = "tcp://127.0.0.1:5570"
RESULTS: Final = "tcp://127.0.0.1:5571"
ANNOUNCE_SECONDS: Final = 10.0
MOST_BYTES: Final = 1_000_000
"""A longer message is not taken: its sender is let go."""
_IDLE_MS: Final = 200
_EMBED_SECONDS: Final = 0.5
"""Of an idle bus: vectors that are still missing are made between two questions."""
_LONGEST_ID: Final = 200
_HERE: Final = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True)
class Line:
    """Where a bus is reached: requests on one address, everything else on the other; bound here, or connected to."""

    requests: str = REQUESTS
    results: str = RESULTS
    bind: bool = True
    public: bool = False
    """Whether an address that other machines reach may be bound."""

    def check(self) -> None:
        """Raise `InputError` for an address that is none, or that lets others in without being asked to."""
        for address in (self.requests, self.results):
            if not address.startswith(("tcp://", "ipc://", "inproc://")):
                raise InputError(f"{address!r} is no address of a bus", hint="for example tcp://127.0.0.1:5570")
            if self.bind and not self.public and address.startswith("tcp://") and _host(address) not in _HERE:
                raise InputError(
                    f"{address} can be reached from other machines, and whoever reaches it may search",
                    hint="--public binds it all the same",
                )


@dataclass(slots=True)
class Station:
    """One engine's tool on a bus; one thread, one question at a time."""

    engine: Engine
    line: Line
    context: zmq.Context[Any] = field(default_factory=lambda: zmq.Context.instance())
    _tool: Tool = field(init=False)
    _requests: Any = field(init=False)
    _results: Any = field(init=False)
    _announced: float = 0.0

    def __post_init__(self) -> None:
        """Open both sockets; `InputError` where an address cannot be had."""
        self.line.check()
        self._tool = documents_tool(self.engine)
        self._requests, self._results = self.context.socket(zmq.SUB), self.context.socket(zmq.XPUB)
        self._results.setsockopt(zmq.XPUB_VERBOSE, 1)
        self._requests.setsockopt(zmq.MAXMSGSIZE, MOST_BYTES)
        self._requests.setsockopt(zmq.SUBSCRIBE, self._topic("request"))
        for socket, address in ((self._requests, self.line.requests), (self._results, self.line.results)):
            socket.setsockopt(zmq.LINGER, 500)
            self._open(socket, address)

    def run(self, stopped: Callable[[], bool] = lambda: False) -> None:
        """Answer until it is stopped; vectors that are missing are made while nobody asks."""
        waiting = zmq.Poller()
        waiting.register(self._requests, zmq.POLLIN)
        waiting.register(self._results, zmq.POLLIN)
        pending = self.engine.enabled
        while not stopped():
            ready = dict(waiting.poll(0 if pending else _IDLE_MS))
            self._announce(again=time.monotonic() - self._announced > ANNOUNCE_SECONDS)
            if self._results in ready:
                self._announce(again=self._subscribed(self._results.recv()))
            if self._requests in ready:
                self._take(self._requests.recv_multipart())
            elif pending:
                pending = self._embed()

    def close(self) -> None:
        """Let go of the sockets; what was said still goes out."""
        self._requests.close()
        self._results.close()

    # ── what is said ──────────────────────────────────────────────────────────────────────────────

    def _announce(self, *, again: bool) -> None:
        if not again:
            return
        self._announced = time.monotonic()
        topics = {name: self._topic(name).decode() for name in ("request", "result", "activity")}
        self._publish("announce", {"tool": self._tool.name, "schema": self._tool.openai(), "topics": topics})

    def _take(self, frames: list[bytes]) -> None:
        """Answer one message; whatever it is, somebody is told."""
        begun = time.monotonic()
        number, arguments, amiss = _understood(frames)
        self._publish("activity", {"id": number, "state": "started", "query": _query(arguments)})
        found = Answer(str(amiss), {"error": present.failure(amiss)}, failed=True) if amiss else self._answer(arguments)
        said: dict[str, object] = {"id": number, "success": not found.failed, "result": found.text, "data": found.data}
        self._publish("result", said)
        results = found.data.get("results") or ()
        spent = round((time.monotonic() - begun) * 1000, 1)
        state = "failed" if found.failed else "finished"
        self._publish("activity", {"id": number, "state": state, "results": len(results), "milliseconds": spent})

    def _answer(self, arguments: Mapping[str, Any]) -> Answer:
        return self._tool(self.engine, arguments)

    def _publish(self, what: str, data: Mapping[str, object]) -> None:
        self._results.send_multipart([self._topic(what), json.dumps(data).encode()])

    def _subscribed(self, message: bytes) -> bool:
        """Return whether somebody new wants to hear what the tool is."""
        return message[:1] == b"\x01" and self._topic("announce").startswith(message[1:])

    def _topic(self, what: str) -> bytes:
        return f"tool.{what}.{self._tool.name}".encode()

    def _embed(self) -> bool:
        """Make some of the vectors that are missing; return whether there may be more to do."""
        try:
            return self.engine.embed(seconds=_EMBED_SECONDS) > 0
        except RagstoneError:
            return False  # words answer; `ragstone doctor` says what is wrong with the vectors

    def _open(self, socket: Any, address: str) -> None:  # noqa: ANN401 - typed only where pyzmq is installed
        try:
            (socket.bind if self.line.bind else socket.connect)(address)
        except zmq.ZMQError as error:
            self.close()
            what = "bound" if self.line.bind else "connected to"
            raise InputError(f"{address} cannot be {what}: {error.strerror}", hint="choose another address") from error


def _understood(frames: list[bytes]) -> tuple[str | int | None, dict[str, Any], InputError | None]:
    """Return a request's id, its arguments, and what is wrong with it."""
    hint = 'two frames: the topic, and {"id": "7", "arguments": {"query": "…"}}'
    try:
        said = json.loads(frames[1]) if len(frames) == 2 else None
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        return None, {}, InputError("a request is one JSON object", hint=hint)
    number = said.get("id")
    if not isinstance(number, str | int) or isinstance(number, bool) or len(str(number)) > _LONGEST_ID:
        return None, {}, InputError("a request has an id, a text or a number", hint=hint)
    arguments = said.get("arguments")
    if isinstance(arguments, str):  # as models hand them over
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            arguments = None
    if not isinstance(arguments, dict):
        return number, {}, InputError("a request has arguments", hint=hint)
    return number, arguments, None


def _query(arguments: Mapping[str, Any]) -> str:
    query = arguments.get("query")
    return query[:200] if isinstance(query, str) else ""


def _host(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""
