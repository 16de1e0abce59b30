"""The tool `search_documents` over real ZeroMQ sockets."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from ragstone import Document, Engine, InputError

zmq = pytest.importorskip("zmq", reason="pyzmq is not installed (pip install 'ragstone[bus]')")

SRC = Path(__file__).resolve().parents[2] / "src"
FAKE = {"rag.embedding_provider": "fake"}
ANNOUNCE = b"tool.schema"
REQUEST, RESULT, ACTIVITY = (
    f"tool.{what}.search_documents".encode() for what in ("request", "result", "activity")
)


class Caller:
    """Another program on the bus: it sends requests and receives messages."""

    def __init__(self, requests: str, results: str, *topics: bytes) -> None:
        self._context = zmq.Context()
        self._out, self._inbox = self._context.socket(zmq.PUB), self._context.socket(zmq.SUB)
        for topic in topics:
            self._inbox.setsockopt(zmq.SUBSCRIBE, topic)
        self._inbox.connect(results)
        self._out.connect(requests)

    def send(self, *frames: bytes) -> None:
        self._out.send_multipart([REQUEST, *frames])

    def receive(self, seconds: float = 20) -> tuple[bytes, dict[str, Any]]:
        assert self._inbox.poll(seconds * 1000), "no message arrived"
        topic, body = self._inbox.recv_multipart()
        return topic, json.loads(body)

    def ready(self) -> dict[str, Any]:
        """Return the announcement; afterwards the server receives requests."""
        topic, announced = self.receive()
        assert topic == ANNOUNCE
        self._inbox.setsockopt(zmq.UNSUBSCRIBE, ANNOUNCE)
        end = time.monotonic() + 20
        while time.monotonic() < end:  # a publisher knows its subscribers only after a moment
            self.send(b'{"id": "hello", "arguments": {"query": "hello"}}')
            if self._inbox.poll(100):
                break
        while self._inbox.poll(300):
            self._inbox.recv_multipart()
        return announced

    def close(self) -> None:
        self._context.destroy(linger=0)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.add(Document("gondola.md", "The gondola is black."))
        yield engine


@contextmanager
def serving(engine: Engine, folder: Path) -> Iterator[Caller]:
    from ragstone.surfaces.message_bus import BusAddresses, BusServer

    addresses = BusAddresses(f"ipc://{folder}/in", f"ipc://{folder}/out")
    server, done = BusServer(engine, addresses), threading.Event()
    thread = threading.Thread(target=server.run, args=(done.is_set,))
    thread.start()
    caller = Caller(addresses.requests, addresses.results, ANNOUNCE, RESULT, ACTIVITY)
    try:
        yield caller
    finally:
        done.set()
        thread.join(timeout=20)
        server.close()
        caller.close()
        assert not thread.is_alive()


posix = pytest.mark.skipif(os.name != "posix", reason="ipc addresses need POSIX")


@posix
def test_the_tool_is_announced_and_answers_a_request(engine: Engine, tmp_path: Path) -> None:
    with serving(engine, tmp_path) as caller:
        announced = caller.ready()
        assert (
            announced["schema"]["function"]["name"] == announced["tool"] == "search_documents"
        )
        assert announced["topics"]["request"] == REQUEST.decode()
        caller.send(json.dumps({"id": "7", "arguments": {"query": "gondola"}}).encode())
        assert caller.receive() == (
            ACTIVITY,
            {"id": "7", "state": "started", "query": "gondola"},
        )
        topic, found = caller.receive()
        assert topic == RESULT
        assert (found["id"], found["success"]) == ("7", True)
        assert found["result"] == (
            '[Knowledge base results for "gondola"]\n1. gondola.md (chunk 0)\n   The gondola is black.'
        )
        assert found["data"]["results"][0]["citation"] == "gondola.md:1"
        topic, activity = caller.receive()
        assert (topic, activity["id"], activity["state"], activity["results"]) == (
            ACTIVITY,
            "7",
            "finished",
            1,
        )


@posix
def test_a_malformed_request_gets_a_failed_result_and_the_next_is_answered(
    engine: Engine, tmp_path: Path
) -> None:
    bad: list[tuple[list[bytes], object, str]] = [
        ([b"not json"], None, "one JSON object"),
        ([b"[1]"], None, "one JSON object"),
        ([b"[" * 100_000], None, "one JSON object"),
        ([b"\xff\xfe"], None, "one JSON object"),
        ([], None, "one JSON object"),
        ([b"{}", b"{}"], None, "one JSON object"),
        ([b'{"arguments": {"query": "x"}}'], None, "has an id"),
        ([b'{"id": {}, "arguments": {"query": "x"}}'], None, "has an id"),
        ([b'{"id": 1, "arguments": 5}'], 1, "has arguments"),
        ([b'{"id": 2, "arguments": {}}'], 2, "needs 'query'"),
        ([b'{"id": 3, "arguments": {"query": 5}}'], 3, "is a string"),
        (
            [b'{"id": 4, "arguments": {"query": "x", "colour": "red"}}'],
            4,
            "no argument 'colour'",
        ),
        ([b'{"id": 5, "arguments": "{"}'], 5, "has arguments"),
    ]
    with serving(engine, tmp_path) as caller:
        caller.ready()
        for frames, number, words in bad:
            caller.send(*frames)
            messages = [caller.receive() for _ in range(3)]
            assert [topic for topic, _ in messages] == [ACTIVITY, RESULT, ACTIVITY]
            assert {message["id"] for _, message in messages} == {number}
            assert messages[1][1]["success"] is False
            assert words in messages[1][1]["result"]
            assert messages[2][1]["state"] == "failed"
        caller.send(b'{"id": "as models do", "arguments": "{\\"query\\": \\"gondola\\"}"}')
        assert [caller.receive()[1].get("success") for _ in range(3)] == [None, True, None]


@posix
def test_a_message_that_is_too_long_is_ignored(engine: Engine, tmp_path: Path) -> None:
    with serving(engine, tmp_path) as caller:
        caller.ready()
        caller.send(json.dumps({"id": "big", "arguments": {"query": "x" * 2_000_000}}).encode())
        other = Caller(f"ipc://{tmp_path}/in", f"ipc://{tmp_path}/out", ANNOUNCE, RESULT)
        other.ready()
        other.send(b'{"id": "small", "arguments": {"query": "gondola"}}')
        assert other.receive()[1]["id"] == "small"
        other.close()


@pytest.mark.parametrize(
    "address", ["tcp://0.0.0.0:5570", "tcp://*:5570", "tcp://[::]:5570", "tcp://10.1.2.3:5570"]
)
def test_a_public_address_needs_the_option_public(address: str) -> None:
    from ragstone.surfaces.message_bus import BusAddresses

    with pytest.raises(InputError, match="other machines can reach"):
        BusAddresses(address).check()
    BusAddresses(address, public=True).check()
    BusAddresses(address, bind=False).check()


@pytest.mark.parametrize("address", ["", "http://127.0.0.1:1", "127.0.0.1:5570"])
def test_an_invalid_address_is_refused(address: str) -> None:
    from ragstone.surfaces.message_bus import BusAddresses

    with pytest.raises(InputError, match="is not an address of a bus"):
        BusAddresses(address).check()


def test_an_address_in_use_is_refused(engine: Engine) -> None:
    from ragstone.surfaces.message_bus import BusAddresses, BusServer

    with zmq.Context() as context, context.socket(zmq.PUB) as held:
        port = held.bind_to_random_port("tcp://127.0.0.1")
        with pytest.raises(InputError, match=f"tcp://127.0.0.1:{port} cannot be bound"):
            BusServer(engine, BusAddresses(f"tcp://127.0.0.1:{port}", "tcp://127.0.0.1:0"))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals")
def test_the_command_connects_to_a_broker_and_stops_on_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "gondola.md").write_text("The gondola is black.\n")
    context = zmq.Context()
    to_tools, from_tools = context.socket(zmq.XPUB), context.socket(zmq.XSUB)
    requests_socket, messages = context.socket(zmq.XSUB), context.socket(zmq.XPUB)
    at = {
        name: f"tcp://127.0.0.1:{socket.bind_to_random_port('tcp://127.0.0.1')}"
        for name, socket in (
            ("in", to_tools),
            ("out", from_tools),
            ("asked", requests_socket),
            ("heard", messages),
        )
    }

    def pass_on(front: object, back: object) -> None:
        with suppress(zmq.ZMQError):  # the context is gone
            zmq.proxy(front, back)

    for front, back in ((requests_socket, to_tools), (from_tools, messages)):
        threading.Thread(target=pass_on, args=(front, back), daemon=True).start()
    environment = {
        **os.environ,
        "PYTHONPATH": str(SRC),
        "RAGSTONE_RAG_EMBEDDING_PROVIDER": "fake",
    }
    command = [
        sys.executable,
        "-m",
        "ragstone",
        "bus",
        "--connect",
        at["in"],
        at["out"],
        "-C",
        str(tmp_path),
        "--yes",
    ]
    program = subprocess.Popen(
        command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )
    caller = Caller(at["asked"], at["heard"], ANNOUNCE, RESULT)
    try:
        caller.ready()
        caller.send(b'{"id": "far", "arguments": {"query": "gondola"}}')
        assert caller.receive()[1]["result"].startswith(
            '[Knowledge base results for "gondola"]\n1. gondola.md (chunk 0)\n'
        )
        program.send_signal(signal.SIGINT)
        assert program.wait(timeout=20) == 130
    finally:
        program.kill()
        program.communicate()
        caller.close()
        context.destroy(linger=0)
