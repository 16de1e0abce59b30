"""A web server on this machine that says exactly what a test tells it to, byte by byte."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Request:
    """What a visitor asked."""

    target: str
    headers: dict[str, str]


Answer = Callable[[socket.socket, Request], None]
Route = bytes | Answer


def reply(
    body: bytes | str = b"", *, status: str = "200 OK", type: str = "text/plain", **headers: str
) -> bytes:
    """Return a whole answer; headers are given with `_` for `-`, and an empty one is left out."""
    data = body.encode() if isinstance(body, str) else body
    told = {"Content-Type": type, "Content-Length": str(len(data))}
    told |= {name.replace("_", "-").title(): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in told.items() if value)
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + data


def redirect(where: str, status: str = "302 Found") -> bytes:
    """Return an answer that leads elsewhere."""
    return reply(status=status, location=where)


@dataclass(slots=True)
class Site:
    """A server in a thread: `routes` says what lies where, `requests` what was asked."""

    routes: dict[str, Route] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    host: str = "127.0.0.1"
    port: int = 0
    wrap: Callable[[socket.socket], socket.socket] | None = None

    @property
    def origin(self) -> str:
        return f"http://{self.host}:{self.port}"

    @property
    def allow(self) -> frozenset[tuple[str, int]]:
        return frozenset({(self.host, self.port)})

    @property
    def asked(self) -> list[str]:
        """Return what was asked for, robots.txt left out."""
        return [request.target for request in self.requests if request.target != "/robots.txt"]

    def serve(self, listening: socket.socket) -> None:
        """Answer until the listening socket is closed."""
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            stack.callback(connection.close)
            if self.wrap is not None:
                connection = self.wrap(connection)
                stack.callback(connection.close)
            head = b""
            while b"\r\n\r\n" not in head and (piece := connection.recv(65_536)):
                head += piece
            first, *lines = head.decode("latin-1").split("\r\n\r\n")[0].split("\r\n")
            headers = {
                name.lower(): value.strip()
                for name, _, value in (line.partition(":") for line in lines)
            }
            request = Request(first.split(" ")[1] if " " in first else "", headers)
            self.requests.append(request)
            self._send(connection, request)

    def _send(self, connection: socket.socket, request: Request) -> None:
        missing = reply("nothing here", status="404 Not Found")
        route = self.routes.get(request.target, missing)
        if isinstance(route, bytes):
            connection.sendall(route)
        else:
            route(connection, request)


@contextlib.contextmanager
def serving(site: Site) -> Iterator[Site]:
    """Run a site for as long as it is entered."""
    with socket.create_server((site.host, 0)) as listening:
        site.port = listening.getsockname()[1]
        thread = threading.Thread(target=site.serve, args=(listening,), daemon=True)
        thread.start()
        try:
            yield site
        finally:
            listening.shutdown(socket.SHUT_RDWR)
