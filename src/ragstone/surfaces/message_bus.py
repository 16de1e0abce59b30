"""The tool `search_documents` on a ZeroMQ bus.

A message has two frames: its topic, and one JSON object in UTF-8. One socket subscribes to requests, the other
publishes everything else. Both are bound here, or both connect to a broker (its XPUB and its XSUB).

    tool.schema                       the tool's schema; sent to every new subscriber and every ten seconds
    tool.request.search_documents     {"id": "7", "arguments": {"query": "…"}}
    tool.activity.search_documents    {"id": "7", "state": "started"}, then "finished" or "failed"
    tool.result.search_documents      {"id": "7", "success": true, "result": "…", "data": {…}}
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import zmq

from ragstone.engine import Engine
from ragstone.errors import InputError, RagstoneError
from ragstone.surfaces.present import Json
from ragstone.surfaces.present.failures import failure_json
from ragstone.surfaces.tools import documents_tool
from ragstone.surfaces.tools.tool import ToolAnswer

REQUESTS: Final = "tcp://127.0.0.1:5570"
RESULTS: Final = "tcp://127.0.0.1:5571"
SCHEMA_TOPIC: Final = b"tool.schema"
ANNOUNCE_SECONDS: Final = 10.0
MAX_MESSAGE_BYTES: Final = 1_000_000
"""The sender of a longer message is disconnected."""
_IDLE_MILLISECONDS: Final = 200
_EMBED_SECONDS: Final = 0.5
"""Time for missing vectors between two requests."""
_MAX_ID_CHARACTERS: Final = 200
_LOCAL_HOSTS: Final = frozenset({"127.0.0.1", "localhost", "::1"})
_FORMAT_HINT: Final = 'two frames: the topic, and {"id": "7", "arguments": {"query": "…"}}'


@dataclass(frozen=True, slots=True)
class BusAddresses:
    """The two addresses of a bus, to bind or to connect to."""

    requests: str = REQUESTS
    results: str = RESULTS
    bind: bool = True
    public: bool = False
    """Whether to allow a bound address that other machines can reach."""

    def check(self) -> None:
        """Raise `InputError` for an invalid address, or for a public one without `public`."""
        for address in (self.requests, self.results):
            if not address.startswith(("tcp://", "ipc://", "inproc://")):
                raise InputError(
                    f"{address!r} is not an address of a bus",
                    hint="for example tcp://127.0.0.1:5570",
                )
            is_remote = address.startswith("tcp://") and _host(address) not in _LOCAL_HOSTS
            if is_remote and self.bind and not self.public:
                raise InputError(
                    f"other machines can reach {address}, and anyone who reaches it may search",
                    hint="--public binds it anyway",
                )


@dataclass(frozen=True, slots=True)
class BusRequest:
    """A request from the bus; `error` is set if it is malformed."""

    id: str | int | None
    arguments: Mapping[str, object]
    error: InputError | None = None

    @property
    def query(self) -> str:
        """Return the beginning of the query, for an activity message."""
        query = self.arguments.get("query")
        return query[:200] if isinstance(query, str) else ""


class BusServer:
    """Answers requests for one engine, one at a time in the calling thread."""

    def __init__(
        self,
        engine: Engine,
        addresses: BusAddresses,
        context: zmq.Context[zmq.Socket[bytes]] | None = None,
    ) -> None:
        """Open both sockets; raise `InputError` if an address cannot be used."""
        addresses.check()
        self._engine = engine
        self._tool = documents_tool(engine)
        self._announced_at = 0.0
        context = context or zmq.Context.instance()
        self._requests = context.socket(zmq.SUB)
        self._results = context.socket(zmq.XPUB)
        self._results.setsockopt(zmq.XPUB_VERBOSE, 1)
        self._requests.setsockopt(zmq.MAXMSGSIZE, MAX_MESSAGE_BYTES)
        self._requests.setsockopt(zmq.SUBSCRIBE, self._topic("request"))
        for socket, address in (
            (self._requests, addresses.requests),
            (self._results, addresses.results),
        ):
            socket.setsockopt(zmq.LINGER, 500)
            self._open(socket, address, bind=addresses.bind)

    def run(self, is_stopped: Callable[[], bool] = lambda: False) -> None:
        """Answer until stopped; between requests, embed texts without vectors."""
        poller = zmq.Poller()
        poller.register(self._requests, zmq.POLLIN)
        poller.register(self._results, zmq.POLLIN)
        needs_vectors = self._engine.enabled
        while not is_stopped():
            ready = dict(poller.poll(0 if needs_vectors else _IDLE_MILLISECONDS))
            if time.monotonic() - self._announced_at > ANNOUNCE_SECONDS:
                self._announce()
            if self._results in ready and self._is_new_subscriber(self._results.recv()):
                self._announce()
            if self._requests in ready:
                self._answer(parse_request(self._requests.recv_multipart()))
            elif needs_vectors:
                needs_vectors = self._embed()

    def close(self) -> None:
        """Close the sockets; messages that were sent still go out."""
        self._requests.close()
        self._results.close()

    def _announce(self) -> None:
        self._announced_at = time.monotonic()
        topics = {
            kind: self._topic(kind).decode() for kind in ("request", "result", "activity")
        }
        announcement = {
            "tool": self._tool.name,
            "schema": self._tool.openai(),
            "topics": topics,
        }
        self._results.send_multipart([SCHEMA_TOPIC, json.dumps(announcement).encode()])

    def _answer(self, request: BusRequest) -> None:
        """Publish the activity and the result of a request; a malformed request gets a result too."""
        started_at = time.monotonic()
        self._publish(
            "activity", {"id": request.id, "state": "started", "query": request.query}
        )
        if request.error is None:
            answer = self._tool(self._engine, request.arguments)
        else:
            answer = ToolAnswer(
                str(request.error), {"error": failure_json(request.error)}, failed=True
            )
        result = {
            "id": request.id,
            "success": not answer.failed,
            "result": answer.text,
            "data": answer.data,
        }
        self._publish("result", result)
        activity = {
            "id": request.id,
            "state": "failed" if answer.failed else "finished",
            "results": len(answer.data.get("results") or ()),
            "milliseconds": round((time.monotonic() - started_at) * 1000, 1),
        }
        self._publish("activity", activity)

    def _publish(self, kind: str, data: Mapping[str, object]) -> None:
        self._results.send_multipart([self._topic(kind), json.dumps(data).encode()])

    def _is_new_subscriber(self, message: bytes) -> bool:
        """Return whether a message subscribes to announcements."""
        return message[:1] == b"\x01" and SCHEMA_TOPIC.startswith(message[1:])

    def _topic(self, kind: str) -> bytes:
        return f"tool.{kind}.{self._tool.name}".encode()

    def _embed(self) -> bool:
        """Embed for a moment; return whether there may be more to do."""
        try:
            return self._engine.admin.embed(seconds=_EMBED_SECONDS) > 0
        except RagstoneError:
            return False  # words still answer; `ragstone doctor` explains the failure

    def _open(self, socket: zmq.Socket[bytes], address: str, *, bind: bool) -> None:
        try:
            if bind:
                socket.bind(address)
            else:
                socket.connect(address)
        except zmq.ZMQError as error:
            self.close()
            verb = "bound" if bind else "connected to"
            raise InputError(
                f"{address} cannot be {verb}: {error.strerror}", hint="choose another address"
            ) from error


def parse_request(frames: list[bytes]) -> BusRequest:
    """Return the request in a message's frames."""
    message = _parse_object(frames[1]) if len(frames) == 2 else None
    if message is None:
        return BusRequest(
            None, {}, InputError("a request is one JSON object", hint=_FORMAT_HINT)
        )
    request_id = message.get("id")
    if (
        not isinstance(request_id, str | int)
        or isinstance(request_id, bool)
        or len(str(request_id)) > _MAX_ID_CHARACTERS
    ):
        return BusRequest(
            None, {}, InputError("a request has an id, a text or a number", hint=_FORMAT_HINT)
        )
    arguments = message.get("arguments")
    if isinstance(arguments, str):  # models give arguments as JSON text
        arguments = _parse_object(arguments)
    if not isinstance(arguments, dict):
        return BusRequest(
            request_id, {}, InputError("a request has arguments", hint=_FORMAT_HINT)
        )
    return BusRequest(request_id, arguments)


def _parse_object(text: str | bytes) -> Json | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _host(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""
