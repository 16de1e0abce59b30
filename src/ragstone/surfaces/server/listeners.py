"""The sockets that a server listens on."""

from __future__ import annotations

import ipaddress
import socket
import sys
from typing import Final

from ragstone.errors import ConfigError

_BACKLOG: Final = 1024
_CAN_BALANCE: Final = sys.platform == "linux"
"""Whether the system shares connections among several sockets of one port. Elsewhere the last one gets all of them."""


def is_local_address(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def open_socket(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """Return a listening socket; `ConfigError` if the address cannot be used.

    If it is shared, more sockets of this user may be opened on the same port.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as error:
        raise ConfigError(
            f"{host}:{port} cannot be used: {error.strerror or error}",
            hint="choose another one with --port",
        ) from error
    return listener


def open_worker_sockets(host: str, port: int, count: int) -> list[socket.socket]:
    """Return a listening socket of one port for each worker; the system shares the connections among them."""
    alone = open_socket(
        host, port
    )  # fails if another server has the port, also one that would share it
    if not _CAN_BALANCE:
        return [alone] * count
    port = alone.getsockname()[1]
    alone.close()
    return [open_socket(host, port, shared=True) for _ in range(count)]


def address_of(listener: socket.socket) -> str:
    """Return the address of a listening socket for a browser."""
    host, port = listener.getsockname()[:2]
    if ipaddress.ip_address(host).is_unspecified:  # every address of this machine
        host = "127.0.0.1"
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}"
