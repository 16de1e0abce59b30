"""The program of one worker of a server: it answers requests until its parent ends it, or ends itself."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
import threading
from pathlib import Path
from typing import Final

from ragstone.config import Settings
from ragstone.errors import RagstoneError
from ragstone.indexing.components import has_shared_store
from ragstone.surfaces.rest.engines import Engines
from ragstone.surfaces.rest.state import create_state
from ragstone.surfaces.server.request_relay import Relay, read_counts_of_others
from ragstone.surfaces.server.serve import (
    ServerPart,
    check_bind,
    create_server_app,
    run_part,
)
from ragstone.surfaces.server.worker_group import WorkerPlace

_SHARED: Final = ("active", "waiting", "streams")
"""Limits of the whole server; each worker gets an equal part."""


def main() -> None:
    """Run the worker that the first line of the input describes."""
    request = json.loads(sys.stdin.readline())
    place = WorkerPlace(request["number"], request["count"], Path(request["sockets"]))
    engines = Engines(request["folder"], project=request["project"], config=request["config"])
    try:
        _run(request, place, engines)
    except RagstoneError as error:
        sys.stderr.write(f"worker {place.number}: {error}\n")
        sys.exit(1)
    finally:
        engines.close()


def _run(request: dict[str, object], place: WorkerPlace, engines: Engines) -> None:
    engines.settings = _own_settings(engines, place)
    server = create_state(engines, needs_keys=check_bind(engines))
    server.worker = place.number
    if place.is_first:
        server.metrics.read_others = lambda: read_counts_of_others(place)
    guard = create_server_app(server)
    guard.app = Relay(guard.app, place, server)
    listeners = [
        socket.socket(fileno=int(str(request["listener"]))),
        _open_private_socket(place.socket_of(place.number)),
    ]
    part = ServerPart(
        server, guard, str(request["address"]), place.is_first, bool(request["sync"])
    )

    def mark_ready() -> None:
        place.mark_of(os.getpid()).touch()

    _end_with_parent()
    asyncio.run(run_part(part, listeners, mark_ready))


def _own_settings(engines: Engines, place: WorkerPlace) -> Settings:
    """Return the settings with this worker's part of the limits; jobs run in the first worker."""
    server = engines.settings.server
    values: dict[str, tuple[object, str]] = {}
    for name in _SHARED:
        part = -(-getattr(server, name) // place.count)
        values[f"server.{name}"] = (part, "argument")
    if not place.is_first and has_shared_store(engines.workspace.components):
        values["server.jobs"] = (0, "argument")
    return engines.settings.with_values(values)


def _open_private_socket(path: str) -> socket.socket:
    """Return a listening socket for the other workers; the folder is readable by this user only."""
    Path(path).unlink(missing_ok=True)  # of a worker that died
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(128)
    return listener


def _end_with_parent() -> None:
    """End gracefully when the input ends: the parent has closed it, or was killed."""

    def wait() -> None:
        sys.stdin.read()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, name="ragstone-parent", daemon=True).start()


if __name__ == "__main__":
    main()
