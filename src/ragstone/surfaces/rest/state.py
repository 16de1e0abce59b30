"""The parts of a running server that its routes share."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

from starlette.datastructures import Headers

from ragstone.access.identity import Identity, local_identity
from ragstone.surfaces.rest.admission import Admission
from ragstone.surfaces.rest.background import BackgroundSync
from ragstone.surfaces.rest.engines import Engines
from ragstone.surfaces.rest.jobs import Jobs
from ragstone.surfaces.rest.metrics import Metrics
from ragstone.surfaces.rest.streams import StreamLimit


@dataclass(slots=True, weakref_slot=True)
class ServerState:
    """Engines, jobs, counters and limits of one server process."""

    engines: Engines
    sync: BackgroundSync
    admission: Admission
    streams: StreamLimit
    needs_keys: bool = False
    """Whether other machines can reach the server: then every caller needs a key."""
    jobs: Jobs = field(default_factory=Jobs)
    metrics: Metrics = field(default_factory=Metrics)
    started: float = field(default_factory=time.time)
    stopping: threading.Event = field(default_factory=threading.Event)
    """Set when the server stops: open streams end."""

    def identify(self, headers: Headers) -> Identity | None:
        """Return the identity of a caller, or None if it must show a valid key.

        Without keys a caller is the user of this machine. From the first key on, every caller needs one.
        """
        keys = self.engines.workspace.keys
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return keys.identify(token.strip())
        if scheme or self.needs_keys or keys.exists():
            return None
        return local_identity(self.engines.own_project)

    def close(self) -> None:
        """Stop background work and close the engines."""
        self.sync.close()
        self.jobs.close()
        self.engines.close()


def create_state(engines: Engines) -> ServerState:
    """Return the state of a server; nothing is started yet."""
    settings = engines.settings.server
    return ServerState(
        engines,
        BackgroundSync(engines),
        Admission(settings.active, settings.waiting),
        StreamLimit(settings.streams),
    )
