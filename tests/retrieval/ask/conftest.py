"""A local service that speaks OpenAI's chat completions, and fails on request."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


@dataclass
class Service:
    """What the service says next, and what it was asked."""

    url: str = ""
    says: str = "NOT FOUND"
    status: int = 200
    body: bytes = b""
    raw: bytes | None = None
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


@pytest.fixture
def service() -> Iterator[Service]:
    told = Service()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"

        def log_message(self, format: str, *args: object) -> None:
            return

        def do_POST(self) -> None:
            told.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            told.headers.append(dict(self.headers))
            self.send_response(told.status)
            self.end_headers()
            if told.status != 200:
                self.wfile.write(told.body)
            elif told.raw is not None:
                self.wfile.write(told.raw)
            else:
                for start in range(0, len(told.says), 7):
                    event = {"choices": [{"delta": {"content": told.says[start : start + 7]}}]}
                    self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
                self.wfile.write(b"data: [DONE]\n\n")

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    told.url = f"http://127.0.0.1:{server.server_port}/v1"
    yield told
    server.shutdown()
    server.server_close()
