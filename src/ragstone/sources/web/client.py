"""The only module that fetches pages: `request_page` sends one GET for a page that a user or a redirect named.

Services whose address the user configured are asked by `embed/http_client.py`.

A page's host name is resolved once, every address is checked by `addresses`, and the connection goes to a checked
address. Pages use no proxy from the environment, because a proxy would choose the address itself. Services do.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

import httpcore2

from ragstone.errors import AccessError, ReadError
from ragstone.sources.web.addresses import Address, parse_address, refusal
from ragstone.sources.web.urls import Url

SECONDS_TO_CONNECT: Final = 10.0
_MAX_ADDRESSES: Final = 4
"""How many addresses of a host are tried."""
_HEAD_BYTES: Final = 64_000
_CHUNK_OVERHEAD: Final = 2
"""A chunked body carries sizes between its pieces, so a connection may receive this many times the body's limit."""
_USUAL_PORTS: Final = frozenset({80, 443, 8080, 8443})

Resolver = Callable[[str, int], Sequence[str]]
Connector = Callable[[Address, int, float], socket.socket]


def resolve_host(host: str, port: int) -> list[str]:
    """Return every address that the system knows for a host name."""
    rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(row[4][0]) for row in rows))


def connect_address(address: Address, port: int, seconds: float) -> socket.socket:
    """Return a connection to a numeric address, so that no name is resolved a second time."""
    return socket.create_connection((str(address), port), timeout=seconds)


class HostNotReached(ReadError):
    """The host of an address does not exist, or does not answer."""


@dataclass(frozen=True, slots=True)
class NetworkPolicy:
    """Which hosts may be reached, and how. Tests replace `resolve` and `connect`."""

    allow: frozenset[tuple[str, int]] = frozenset()
    """Hosts that may be in a private network, each with a port (0: the usual ports)."""
    resolve: Resolver = resolve_host
    connect: Connector = connect_address

    def allows_private(self, url: Url) -> bool:
        """Return whether the host may be in a private network; raise `AccessError` for an unusual port."""
        port_is_allowed = (url.host, url.port) in self.allow
        if not port_is_allowed and url.port not in _USUAL_PORTS:
            usual = ", ".join(str(port) for port in sorted(_USUAL_PORTS))
            raise AccessError(
                f"port {url.port} of {url.host} is not a usual port for web pages ({usual})",
                hint=_allow_hint(url),
            )
        return port_is_allowed or (url.host, 0) in self.allow


@contextmanager
def request_page(
    url: Url,
    headers: Mapping[str, str],
    *,
    policy: NetworkPolicy,
    max_bytes: int,
    deadline: float,
) -> Iterator[httpcore2.Response]:
    """Yield the response to one GET request; its body is not read yet.

    Raises `AccessError` if the host may not be reached, and `ReadError` if it does not answer properly or in time,
    also while the body is read inside the `with` block.
    """
    network = _PageNetwork(url, policy, deadline, max_bytes * _CHUNK_OVERHEAD + _HEAD_BYTES)
    target = httpcore2.URL(scheme=url.scheme, host=url.host, port=url.port, target=url.target)
    tls = _tls_context() if url.scheme == "https" else None
    try:
        with (
            httpcore2.ConnectionPool(ssl_context=tls, network_backend=network) as pool,
            pool.stream(
                "GET", target, headers=[("Host", url.authority), *headers.items()]
            ) as response,
        ):
            yield response
    except (httpcore2.ProtocolError, ValueError) as error:
        raise ReadError(
            f"{url.origin} did not answer in proper HTTP: {first_line(error)}"
        ) from error


def first_line(error: BaseException | None) -> str:
    """Return the first line of an error's text, or the name of its type."""
    reason = getattr(error, "strerror", None) or str(error)
    return str(reason).partition("\n")[0][:200] or type(error).__name__


class _PageNetwork(httpcore2.NetworkBackend):
    """Connects only to addresses that the policy allows."""

    def __init__(
        self, url: Url, policy: NetworkPolicy, deadline: float, max_bytes: int
    ) -> None:
        self._url = url
        self._policy = policy
        self._deadline = deadline
        self._max_bytes = max_bytes

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[object] | None = None,
    ) -> httpcore2.NetworkStream:
        """Return a connection to the first address of the host that answers."""
        last_error: OSError | None = None
        for address in self._checked_addresses()[:_MAX_ADDRESSES]:
            seconds = min(SECONDS_TO_CONNECT, _seconds_left(self._deadline))
            try:
                connection = self._policy.connect(address, self._url.port, seconds)
            except OSError as error:
                last_error = error
            else:
                return _BoundedStream(connection, self._url, self._deadline, self._max_bytes)
        raise HostNotReached(
            f"{self._url.origin} cannot be reached: {first_line(last_error)}",
            hint="check the address and the network",
        ) from last_error

    def _checked_addresses(self) -> list[Address]:
        """Return the host's addresses, IPv6 and IPv4 in turn; raise `AccessError` if any of them is not allowed."""
        private = self._policy.allows_private(self._url)
        literal = self._url.literal
        texts = self._resolve() if literal is None else [str(literal)]
        addresses = [self._check(text, private=private) for text in texts]
        if not addresses:
            raise HostNotReached(f"there is no host {self._url.host}", hint="check the address")
        return _alternate_versions(addresses)

    def _check(self, text: str, *, private: bool) -> Address:
        """Return an address that may be reached, or raise `AccessError`."""
        name = f"{self._url.host} ({text})"
        if self._url.literal is not None:
            name = text
        address = parse_address(text)
        if address is None:
            raise AccessError(f"{name} is not public: not an address")
        reason = refusal(address, private=private)
        if reason is None:
            return address
        hint = ""
        if refusal(address, private=True) is None:
            hint = _allow_hint(self._url)
        raise AccessError(f"{name} is not public: {reason}", hint=hint)

    def _resolve(self) -> list[str]:
        """Return the addresses of the host name. A thread asks the system, because a resolver has no time limit."""
        host, port = self._url.host, self._url.port
        answer: Future[list[str]] = Future()

        def ask_system() -> None:
            try:
                answer.set_result(list(self._policy.resolve(host, port)))
            except (OSError, ValueError) as error:
                answer.set_exception(error)

        threading.Thread(target=ask_system, name="ragstone-resolve", daemon=True).start()
        try:
            return answer.result(timeout=min(SECONDS_TO_CONNECT, _seconds_left(self._deadline)))
        except TimeoutError as error:
            raise HostNotReached(
                f"{host} was not found in time", hint="try again later"
            ) from error
        except (OSError, ValueError) as error:
            raise HostNotReached(
                f"there is no host {host}: {first_line(error)}",
                hint="check the address and the network",
            ) from error


class _BoundedStream(httpcore2.NetworkStream):
    """A connection that stops at the deadline and after `max_bytes` received bytes."""

    def __init__(
        self, connection: socket.socket, url: Url, deadline: float, max_bytes: int
    ) -> None:
        self._connection = connection
        self._url = url
        self._deadline = deadline
        self._bytes_left = max_bytes

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return received bytes; nothing at the end."""
        with self._within_deadline():
            data = self._connection.recv(max_bytes)
        self._bytes_left -= len(data)
        if self._bytes_left < 0:
            raise ReadError(
                "too large: it sends more than the largest page allowed",
                hint="web.max_bytes sets the limit",
            )
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send the bytes."""
        with self._within_deadline():
            self._connection.sendall(buffer)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        """Return the stream, encrypted; raise `AccessError` if the certificate does not prove the host."""
        host = self._url.host
        try:
            with self._within_deadline():
                # A connection cut off without TLS's closing message must not look like the end of the page.
                encrypted = ssl_context.wrap_socket(
                    self._connection, server_hostname=host, suppress_ragged_eofs=False
                )
        except BaseException:
            self.close()
            raise
        return _BoundedStream(encrypted, self._url, self._deadline, self._bytes_left)

    @contextmanager
    def _within_deadline(self) -> Iterator[None]:
        self._connection.settimeout(_seconds_left(self._deadline))
        try:
            yield
        except ssl.SSLCertVerificationError as error:
            raise AccessError(
                f"{self._url.host} does not prove that it is {self._url.host}: {error.verify_message}",
                hint="its certificate must name the host and be signed by an authority that this system trusts",
            ) from error
        except TimeoutError as error:
            raise _too_slow() from error
        except OSError as error:
            raise ReadError(
                f"{self._url.origin} broke off: {first_line(error)}", hint="try again later"
            ) from error


def _alternate_versions(addresses: Sequence[Address]) -> list[Address]:
    """Return IPv6 and IPv4 addresses in turn, so that a network without one version costs little time."""
    version_6 = [address for address in addresses if address.version == 6]
    version_4 = [address for address in addresses if address.version == 4]
    ordered: list[Address] = []
    for pair in zip_longest(version_6, version_4):
        ordered += [address for address in pair if address is not None]
    return ordered


def _tls_context() -> ssl.SSLContext:
    """Return the rules of encrypted connections. This reads all root certificates, which takes 15 ms."""
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def _allow_hint(url: Url) -> str:
    host = f"[{url.host}]" if ":" in url.host else url.host
    return f"if you trust it, set web.allow to {host}:{url.port} in your user file or the environment"


def _seconds_left(deadline: float) -> float:
    """Return the seconds until the deadline; raise `ReadError` if it has passed."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise _too_slow()
    return seconds


def _too_slow() -> ReadError:
    return ReadError("it took too long", hint="web.seconds sets the limit")
