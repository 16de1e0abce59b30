"""A server of several worker processes, and a connection to each of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from tests.support.waiting import wait_until

_MAX_CONNECTIONS = 60


@dataclass
class WorkerServer:
    """The process that watches over the workers, and the address of the server."""

    process: subprocess.Popen[str]
    url: str
    clients: dict[int, httpx2.Client] = field(default_factory=dict)

    def connect(self, worker: int) -> httpx2.Client:
        """Return a client with one connection, which the system gave to a certain worker."""
        for _ in range(_MAX_CONNECTIONS):
            if worker in self.clients:
                break
            limits = httpx2.Limits(max_connections=1, keepalive_expiry=None)
            client = httpx2.Client(base_url=self.url, limits=limits, timeout=60)
            number = client.get("/health").json()["worker"]
            if self.clients.setdefault(number, client) is not client:
                client.close()
        return self.clients[worker]

    def workers(self) -> list[int]:
        """Return the process ids of the workers."""
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [int(child) for child in children]

    def forget_connections(self) -> None:
        """Close all connections: the next ones go to the workers that run then."""
        for client in self.clients.values():
            client.close()
        self.clients.clear()


@contextmanager
def worker_server(
    folder: Path,
    environment: Mapping[str, str],
    settings: Mapping[str, object] | None = None,
    *,
    count: int = 2,
) -> Iterator[WorkerServer]:
    """Serve a folder with some workers while the block runs."""
    variables = {
        f"RAGSTONE_{name.replace('.', '_').upper()}": str(value)
        for name, value in {"search.watch": "off", **(settings or {})}.items()
    }
    command = [sys.executable, "-m", "ragstone", "serve", "--port", "0", "--json"]
    with subprocess.Popen(
        [*command, "--workers", str(count), "-C", str(folder)],
        env={**os.environ, **environment, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.stderr and process.stderr.read()
        server = WorkerServer(process, json.loads(line)["url"])
        try:
            yield server
        finally:
            server.forget_connections()
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def wait_for_index(client: httpx2.Client) -> dict[str, Any]:
    """Return the status of a server when its first sync is over."""

    def is_synced() -> bool:
        status = client.get("/api/rag/status").json()
        return bool(status["documents"]) and not status["note"]

    assert wait_until(is_synced, 60)
    data: dict[str, Any] = client.get("/api/rag/status").json()
    return data
