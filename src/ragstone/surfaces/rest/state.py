"""The parts of a running server that its routes share."""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import dataclass, field
from typing import Final

from starlette.datastructures import Headers
from starlette.requests import cookie_parser

from ragstone.access.identity import Identity, local_identity
from ragstone.access.key_uses import KeyUses
from ragstone.access.sessions import BrowserSession, BrowserSessions
from ragstone.engine.arguments import is_system_name
from ragstone.errors import AccessError, ConfigError
from ragstone.indexing.components import has_shared_store
from ragstone.surfaces.rest.back_pressure import Admission
from ragstone.surfaces.rest.engines import Engines
from ragstone.surfaces.rest.folder_sync import BackgroundSync
from ragstone.surfaces.rest.jobs import Jobs
from ragstone.surfaces.rest.metrics import Counts, Metrics
from ragstone.surfaces.rest.shared_jobs import SharedJobs
from ragstone.surfaces.rest.streams import StreamLimit
from ragstone.surfaces.rest.upload_spool import UploadSpool

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

GAUGES: Final = {
    "ragstone_requests_present": "Requests running or waiting.",
    "ragstone_refused_total": "Requests refused with 429.",
    "ragstone_streams": "Open event streams.",
    "ragstone_memory_bytes": "Largest resident memory so far.",
}
"""Values of one process; those of all workers are added."""
SESSION_COOKIE: Final = "ragstone_session"
PROJECT_COOKIE: Final = "ragstone_project"
"""The project that the user of this machine opened in the dashboard, in hexadecimal digits."""
_SAFE_METHODS: Final = ("GET", "HEAD", "OPTIONS")


@dataclass(slots=True, weakref_slot=True)
class ServerState:
    """Engines, jobs, counters and limits of one server process."""

    engines: Engines
    sync: BackgroundSync
    admission: Admission
    streams: StreamLimit
    uploads: UploadSpool
    jobs: Jobs | SharedJobs
    worker: int | None = None
    """The number of this worker; None if the server is one process."""
    needs_keys: bool = False
    """Whether other machines can reach the server: then every caller needs a key."""
    key_uses: KeyUses = field(default_factory=lambda: KeyUses(None))
    sessions: BrowserSessions = field(default_factory=BrowserSessions)
    metrics: Metrics = field(default_factory=Metrics)
    started: float = field(default_factory=time.time)
    stopping: threading.Event = field(default_factory=threading.Event)
    """Set when the server stops: open streams end."""

    def identify(self, headers: Headers, method: str = "GET") -> Identity | None:
        """Return the identity of a caller, or None if it must show a valid key.

        Without keys a caller is the user of this machine. From the first key on, every caller needs one.
        """
        identity = self._find_identity(headers, method)
        if identity is not None and identity.key_id:
            self.key_uses.note(identity.key_id)
        return identity

    def _find_identity(self, headers: Headers, method: str) -> Identity | None:
        keys = self.engines.workspace.keys
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return keys.identify(token.strip())
        session = self.session_of(headers)
        if session is not None and not scheme:
            return self._identify_session(session, headers, method)
        if scheme or self.needs_keys or keys.exists():
            return None
        return local_identity(self._opened_project(headers))

    def _opened_project(self, headers: Headers) -> str:
        """Return the project of the cookie if the store has it; otherwise the one with the server's folder."""
        own_project = self.engines.own_project
        cookie = cookie_parser(headers.get("cookie", "")).get(PROJECT_COOKIE, "")
        try:
            name = bytes.fromhex(cookie).decode()
        except ValueError:
            name = ""
        if name in ("", own_project) or is_system_name(name):
            return own_project
        projects = self.engines.workspace.components.store.projects()
        if name not in projects:
            return own_project
        return name

    def session_of(self, headers: Headers) -> BrowserSession | None:
        """Return the session of the cookie, or None. A cookie of another port of this machine has none here."""
        cookie = cookie_parser(headers.get("cookie", "")).get(SESSION_COOKIE, "")
        return self.sessions.find(cookie)

    def _identify_session(
        self, session: BrowserSession, headers: Headers, method: str
    ) -> Identity | None:
        """Return the identity of a browser's session; a request that changes something must send its token."""
        check_page_token(session, headers, method)
        return self.engines.workspace.keys.identify_id(session.key_id)

    def gauges(self) -> dict[str, float]:
        """Return the values of this process for `/metrics`."""
        values = (
            self.admission.present,
            self.admission.refused,
            self.streams.open,
            _memory_bytes(),
        )
        return dict(zip(GAUGES, values, strict=True))

    def counts(self) -> Counts:
        """Return the counters of this process."""
        return self.metrics.own(self.gauges())

    def close(self) -> None:
        """Stop background work and close the engines."""
        self.sync.close()
        self.jobs.close()
        self.uploads.close()
        self.key_uses.flush()
        self.engines.close()


def check_page_token(session: BrowserSession, headers: Headers, method: str) -> None:
    """Raise `AccessError` if a request that changes something does not send the token of the session."""
    if method in _SAFE_METHODS or session.has_token(headers.get("x-csrf-token", "")):
        return
    raise AccessError(
        "the request does not come from a page of this server",
        hint="send the csrf_token of GET /api/rag/session as X-CSRF-Token",
    )


def create_state(engines: Engines, *, needs_keys: bool = False) -> ServerState:
    """Return the state of a server; nothing is started yet."""
    settings = engines.settings.server
    in_memory = engines.workspace.components.in_memory
    home = None if in_memory else engines.settings.home
    return ServerState(
        engines,
        BackgroundSync(engines),
        Admission(settings.active, settings.waiting),
        StreamLimit(settings.streams),
        UploadSpool(home, settings.upload_mb * 1_000_000),
        _create_jobs(engines),
        # A proxy in front of the server connects from this machine.
        needs_keys=needs_keys or bool(settings.hosts or settings.origins),
        key_uses=KeyUses(home),
    )


def _create_jobs(engines: Engines) -> Jobs | SharedJobs:
    """Return the jobs of a server; `ConfigError` if it may run none and there are no workers."""
    threads = engines.settings.server.jobs
    if has_shared_store(engines.workspace.components):
        return SharedJobs(engines)
    if not threads:
        raise ConfigError(
            "server.jobs is 0, and only workers of a shared database could do the work",
            hint="set store.url, or let server.jobs be 1 or more",
        )
    return Jobs(threads)


def _memory_bytes() -> float:
    """Return the largest resident memory of this process; 0 on systems that do not say."""
    if resource is None:
        return 0.0
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(largest if sys.platform == "darwin" else largest * 1024)
