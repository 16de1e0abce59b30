"""A TCP proxy between a program and a server, which a test can cut."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress


class TcpProxy:
    """Passes connections on to another address. While it is cut, it drops all of them."""

    def __init__(self, host: str, target: tuple[str, int]) -> None:
        """Listen on a free port of an address."""
        self._target = target
        self._listener = socket.create_server((host, 0))
        self.address: tuple[str, int] = self._listener.getsockname()
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._is_cut = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Drop every connection, and all new ones."""
        self._is_cut.set()
        with self._lock:
            for connection in self._open:
                _end(connection)
            self._open.clear()

    def mend(self) -> None:
        """Accept connections again."""
        self._is_cut.clear()

    def close(self) -> None:
        """Stop for good."""
        self.cut()
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self._is_cut.is_set():
                _end(client)
                continue
            try:
                server = socket.create_connection(self._target, timeout=5)
                server.settimeout(None)
            except OSError:
                _end(client)
                continue
            with self._lock:
                self._open |= {client, server}
            for pair in ((client, server), (server, client)):
                threading.Thread(target=self._pass_on, args=pair, daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while piece := source.recv(65_536):
                target.sendall(piece)
        with self._lock:
            self._open -= {source, target}
        _end(source)
        _end(target)


def _end(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
