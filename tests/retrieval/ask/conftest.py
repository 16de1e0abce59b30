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
    """A model service for tests: its next answer, and the requests that it received."""

    url: str = ""
    says: str = "NOT FOUND"
    status: int = 200
    body: bytes = b""
    raw: bytes | None = None
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


@pytest.fixture
def service() -> Iterator[Service]:
    service = Service()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"

        def log_message(self, format: str, *args: object) -> None:
            return

        def do_POST(self) -> None:
            service.requests.append(
                json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            )
            service.headers.append(dict(self.headers))
            self.send_response(service.status)
            self.end_headers()
            if service.status != 200:
                self.wfile.write(service.body)
            elif service.raw is not None:
                self.wfile.write(service.raw)
            else:
                for start in range(0, len(service.says), 7):
                    event = {
                        "choices": [{"delta": {"content": service.says[start : start + 7]}}]
                    }
                    self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
                self.wfile.write(b"data: [DONE]\n\n")

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    service.url = f"http://127.0.0.1:{server.server_port}/v1"
    yield service
    server.shutdown()
    server.server_close()
