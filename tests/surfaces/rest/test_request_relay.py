"""Requests that one worker of a server passes on to another."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
from pathlib import Path
from typing import Any, cast

import pytest
from starlette.types import Message

from ragstone.surfaces.rest.state import SESSION_COOKIE, ServerState
from ragstone.surfaces.server.request_relay import Relay
from ragstone.surfaces.server.worker_group import WorkerPlace

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="several workers need sockets of Unix"
)
REFUSAL = b"HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\nconnection: close\r\n\r\nno"


def refuse_unread(listener: socket.socket, refused: threading.Event) -> None:
    """Answer the next connection and close it; nothing of the request is read."""
    connection, _ = listener.accept()
    connection.sendall(REFUSAL)
    connection.close()
    refused.set()


def test_a_refusal_arrives_although_the_other_worker_reads_nothing(tmp_path: Path) -> None:
    place = WorkerPlace(1, 2, tmp_path)
    refused = threading.Event()
    sent: list[Message] = []
    parts = [b"x" * 100_000, b"x" * 100_000, b""]

    async def receive() -> Message:
        refused.wait(20)  # a busy loop: the answer and the end of reading are seen at once
        part = parts.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(parts)}

    async def send(message: Message) -> None:
        sent.append(message)

    async def no_app(*call: object) -> None:
        raise AssertionError("the first worker has the sessions")

    scope: dict[str, Any] = {
        "type": "http",
        "method": "POST",
        "path": "/api/rag/search",
        "query_string": b"",
        "server": ("127.0.0.1", 8377),
        "headers": [
            (b"host", b"127.0.0.1:8377"),
            (b"cookie", f"{SESSION_COOKIE}=a".encode()),
            (b"content-length", b"200000"),
        ],
    }
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place.socket_of(0))
        listener.listen()
        thread = threading.Thread(target=refuse_unread, args=(listener, refused))
        thread.start()
        relay = Relay(no_app, place, cast(ServerState, None))
        asyncio.run(relay(scope, receive, send))
        thread.join()
    assert sent[0]["status"] == 403
    assert sent[1]["body"] == b"no"
