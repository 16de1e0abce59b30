"""Starts and stops the server."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final

import anyio
import uvicorn
from starlette.types import ASGIApp

from ragstone.config.server_sections import ServerSettings
from ragstone.errors import AccessError, ConfigError
from ragstone.surfaces.rest.app import create_app, guarded
from ragstone.surfaces.rest.engines import Engines
from ragstone.surfaces.rest.guard import Guard
from ragstone.surfaces.rest.state import ServerState, create_state
from ragstone.surfaces.server.listeners import (
    address_of,
    is_local_address,
    open_socket,
    open_worker_sockets,
)
from ragstone.surfaces.server.mcp_http import McpEndpoints
from ragstone.surfaces.server.running_server import ServerRecord
from ragstone.surfaces.server.startup import start_preload, start_storing_tools
from ragstone.surfaces.server.worker_group import WorkerGroup, WorkerSetup, check_workers
from ragstone.surfaces.web.site import add_pages

STOP_SECONDS: Final = 10
"""How long running requests may take after a stop was requested."""

_OTHER_THREADS: Final = 32

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)

OnReady = Callable[[str], object]
"""Called with the address of the server once it accepts connections."""


class StoppableServer(uvicorn.Server):
    """Tells open streams when the server stops; uvicorn alone would wait for them."""

    def __init__(
        self,
        config: uvicorn.Config,
        server: ServerState,
        on_started: Callable[[], object] = lambda: None,
    ) -> None:
        """Take the configuration, the state of the server, and a function to call when it accepts connections."""
        super().__init__(config)
        self._state = server
        self._on_started = on_started
        # Addresses hold names and queries. `access_log=False` alone still writes to handlers of the root logger.
        logging.getLogger("uvicorn.access").disabled = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to accept connections."""
        await super().startup(sockets)
        self._on_started()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at signals. Uvicorn's own method raises them again at the end, before our engines are closed."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop gracefully; a second signal stops at once."""
        self._state.stopping.set()
        super().handle_exit(sig, frame)

    def stop(self) -> None:
        """Stop gracefully; any thread may call it."""
        self._state.stopping.set()
        self.should_exit = True


def serve(
    folder: str | Path,
    *,
    project: str,
    config: Mapping[str, object] | None = None,
    background_sync: bool = True,
    any_port: bool = False,
    on_ready: OnReady | None = None,
) -> None:
    """Serve a folder until a signal stops it; `config` overrides settings by dotted key.

    With `any_port` a free port is used if the one of the settings is taken.
    """
    engines = Engines(folder, project=project, config=config)
    settings = engines.settings.server
    try:
        needs_keys = check_bind(engines)
        listeners = _listen(settings, any_port=any_port)
        address = address_of(listeners[0])

        def tell_address() -> None:
            if on_ready is not None:
                on_ready(address)

        if settings.workers > 1:
            check_workers(engines)
            engines.close()  # the workers open the store
            request = WorkerSetup(
                str(folder), project, dict(config or {}), background_sync, address
            )
            WorkerGroup(request, listeners).run(tell_address)
            return
        server = create_state(engines, needs_keys=needs_keys)
        app = create_server_app(server)
        part = ServerPart(server, app, address, is_first=True, sync=background_sync)
        asyncio.run(run_part(part, listeners, tell_address))
    finally:
        engines.close()


@dataclass(frozen=True, slots=True)
class ServerPart:
    """A whole server, or one of its workers; the first one has the work that is done once."""

    server: ServerState
    app: ASGIApp
    address: str
    is_first: bool
    sync: bool
    """Whether the first worker keeps the index up to date."""


async def run_part(
    part: ServerPart, listeners: Sequence[socket.socket], on_started: Callable[[], object]
) -> None:
    """Answer requests until the server is stopped; call `on_started` when it accepts connections."""
    server, engines = part.server, part.server.engines
    uvicorn_config = uvicorn.Config(
        part.app,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_graceful_shutdown=STOP_SECONDS,
    )
    record = ServerRecord(engines.settings.home, part.address, engines.own_project)
    tasks: list[asyncio.Task[None]] = []
    preload = start_preload(engines.own)
    if part.is_first:
        if part.sync:
            server.sync.start()
            start_storing_tools(engines.own)
        tasks.append(asyncio.create_task(record.write_when_possible()))
    try:
        await StoppableServer(uvicorn_config, server, on_started).serve(sockets=[*listeners])
    finally:
        for task in tasks:
            task.cancel()
        record.remove()
        await asyncio.to_thread(preload.join, STOP_SECONDS)
        await asyncio.to_thread(server.close)


def _listen(settings: ServerSettings, *, any_port: bool) -> list[socket.socket]:
    """Return a socket of the settings' address for each worker."""
    try:
        return _open_sockets(settings, settings.port)
    except ConfigError:
        if not any_port:
            raise
        return _open_sockets(settings, 0)


def _open_sockets(settings: ServerSettings, port: int) -> list[socket.socket]:
    if settings.workers > 1:
        return open_worker_sockets(settings.host, port, settings.workers)
    return [open_socket(settings.host, port)]


def create_server_app(server: ServerState) -> Guard:
    """Return the whole app of a server, behind the checks of headers and bodies."""
    endpoints = McpEndpoints(server)

    @asynccontextmanager
    async def run(app: object) -> AsyncIterator[None]:
        # A request uses a thread; the others are for checks of keys and for streams.
        threads = server.engines.settings.server.active + _OTHER_THREADS
        anyio.to_thread.current_default_thread_limiter().total_tokens = threads
        server.jobs.open()
        async with endpoints.run(app):
            yield

    app = create_app(server, lifespan=run)
    app.router.routes += endpoints.routes()
    add_pages(app)
    return guarded(app, server)


def check_bind(engines: Engines) -> bool:
    """Return whether other machines could reach the server, so that every caller needs a key.

    Raise `AccessError` if they could, and there is no key.
    """
    settings = engines.settings.server
    if is_local_address(settings.host) and not settings.hosts and not settings.origins:
        return False
    if not engines.workspace.keys.exists():
        raise AccessError(
            f"{_outside_name(settings)} can be reached from other machines, and there is no key",
            hint="`ragstone keys create` makes one",
        )
    return True


def _outside_name(settings: ServerSettings) -> str:
    """Return the address or the setting that lets other machines in."""
    if not is_local_address(settings.host):
        return settings.host
    return "a server with server.hosts or server.origins"
