"""Starts and stops the server."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

import anyio
import uvicorn

from ragstone.errors import AccessError, ConfigError
from ragstone.surfaces.rest.app import create_app, guarded
from ragstone.surfaces.rest.engines import Engines
from ragstone.surfaces.rest.guard import Guard
from ragstone.surfaces.rest.state import ServerState, create_state
from ragstone.surfaces.server.mcp_http import McpEndpoints
from ragstone.surfaces.server.record import ServerRecord
from ragstone.surfaces.server.tool_catalog import start_tool_catalog
from ragstone.surfaces.web.site import add_pages

STOP_SECONDS: Final = 10
"""How long running requests may take after a stop was requested."""

_OTHER_THREADS: Final = 32

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)

OnReady = Callable[[str], object]
"""Called with the address of the server once it accepts connections."""


class StoppableServer(uvicorn.Server):
    """Tells open streams when the server stops; uvicorn alone would wait for them."""

    def __init__(self, config: uvicorn.Config, server: ServerState) -> None:
        """Take the configuration and the state of the server."""
        super().__init__(config)
        self._state = server
        # Addresses hold names and queries. `access_log=False` alone still writes to handlers of the root logger.
        logging.getLogger("uvicorn.access").disabled = True

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
    try:
        asyncio.run(_run(engines, sync=background_sync, any_port=any_port, on_ready=on_ready))
    finally:
        engines.close()


async def _run(
    engines: Engines, *, sync: bool, any_port: bool, on_ready: OnReady | None
) -> None:
    server = create_state(engines)
    listener = _listen(server, any_port=any_port)
    uvicorn_config = uvicorn.Config(
        create_server_app(server),
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_graceful_shutdown=STOP_SECONDS,
    )
    if sync:
        server.sync.start()
        start_tool_catalog(engines.own)
    record = ServerRecord(engines.settings.home, address_of(listener), engines.own_project)
    writing = asyncio.create_task(record.write_when_possible())
    if on_ready is not None:
        on_ready(address_of(listener))
    try:
        await StoppableServer(uvicorn_config, server).serve(sockets=[listener])
    finally:
        writing.cancel()
        record.remove()
        await asyncio.to_thread(server.close)


def _listen(server: ServerState, *, any_port: bool) -> socket.socket:
    """Return the socket of the settings' address, after a check that others cannot reach it without a key."""
    settings = server.engines.settings.server
    check_bind(settings.host, server)
    try:
        return open_socket(settings.host, settings.port)
    except ConfigError:
        if not any_port:
            raise
        return open_socket(settings.host, 0)


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


def check_bind(host: str, server: ServerState) -> None:
    """Raise `AccessError` if other machines could reach a server that asks for no key."""
    settings = server.engines.settings.server
    if is_local_address(host) and not settings.hosts and not settings.origins:
        return
    server.needs_keys = True
    if not server.engines.workspace.keys.exists():
        raise AccessError(
            f"{_outside_name(host, server)} can be reached from other machines, and there is no key",
            hint="`ragstone keys create` makes one",
        )


def _outside_name(host: str, server: ServerState) -> str:
    """Return the address or the setting that lets other machines in."""
    if not is_local_address(host):
        return host
    return "a server with server.hosts or server.origins"


def is_local_address(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def open_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket; `ConfigError` if the address cannot be used."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(1024)
    except OSError as error:
        raise ConfigError(
            f"{host}:{port} cannot be used: {error.strerror or error}",
            hint="choose another one with --port",
        ) from error
    return listener


def address_of(listener: socket.socket) -> str:
    """Return the address of a listening socket for a browser."""
    host, port = listener.getsockname()[:2]
    if ipaddress.ip_address(host).is_unspecified:  # every address of this machine
        host = "127.0.0.1"
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"
