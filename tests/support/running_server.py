"""A real server in a thread of the test, and a plain client for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import uvicorn

from ragstone.surfaces.rest.engines import Engines
from ragstone.surfaces.rest.state import ServerState, create_state
from ragstone.surfaces.server.listeners import address_of, open_socket
from ragstone.surfaces.server.serve import StoppableServer, create_server_app

CONFIG = {"rag.embedding_provider": "fake", "search.watch": "off"}


@dataclass
class RunningServer:
    """A server, its address, and a client that keeps its connections."""

    url: str
    state: ServerState
    app: Any
    rest_app: Any
    server: StoppableServer
    key: str = ""
    http: httpx2.Client = field(default_factory=lambda: httpx2.Client(timeout=30))

    def request(
        self, method: str, path: str, *, key: str | None = None, **options: Any
    ) -> httpx2.Response:
        """Send a request with the key, if there is one."""
        headers = dict(options.pop("headers", {}))
        used = self.key if key is None else key
        if used:
            headers["authorization"] = f"Bearer {used}"
        return self.http.request(method, self.url + path, headers=headers, **options)

    def get(self, path: str, **options: Any) -> httpx2.Response:
        """Send a GET request."""
        return self.request("GET", path, **options)

    def post(self, path: str, body: object = None, **options: Any) -> httpx2.Response:
        """Send a POST request with a JSON body."""
        if body is not None:
            options["json"] = body
        return self.request("POST", path, **options)

    def delete(self, path: str, **options: Any) -> httpx2.Response:
        """Send a DELETE request."""
        return self.request("DELETE", path, **options)


@contextmanager
def running_server(
    folder: Path,
    *,
    project: str = "default",
    config: Mapping[str, object] | None = None,
    sync: bool = False,
) -> Iterator[RunningServer]:
    """Serve a folder on a free port while the block runs."""
    engines = Engines(folder, project=project, config={**CONFIG, **(config or {})})
    ready = threading.Event()
    started: list[RunningServer] = []

    async def run() -> None:
        state = create_state(engines)
        listener = open_socket("127.0.0.1", 0)
        app = create_server_app(state)
        server = StoppableServer(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                lifespan="on",
                timeout_graceful_shutdown=2,
            ),
            state,
        )
        if sync:
            state.sync.start()
        started.append(RunningServer(address_of(listener), state, app, app.app, server))
        ready.set()
        await server.serve(sockets=[listener])

    thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
    thread.start()
    assert ready.wait(30)
    running = started[0]
    try:
        yield running
    finally:
        running.http.close()
        running.server.stop()
        thread.join(20)
        running.state.close()
