"""The one way to fetch what lies at somebody's address: only public hosts, never more or longer than allowed.

A host's name is resolved once, every address it has is looked at, and the connection goes to the one that was looked
at. A redirect is an address like any other. Proxies that the environment names are not used: behind one, nobody could
say where a connection ends.
"""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from ragstone.errors import AccessError, ConfigError, InputError, ReadError
from ragstone.sources.web.addresses import Address, parsed, refusal
from ragstone.sources.web.reply import Reply, read_reply
from ragstone.sources.web.urls import Url, host_of, joined, parse

if TYPE_CHECKING:
    from ssl import SSLContext

AGENT: Final = "ragstone"
USUAL_PORTS: Final = frozenset({80, 443, 8080, 8443})
MOST_REDIRECTS: Final = 5
SECONDS_TO_CONNECT: Final = 10.0
_MOST_ADDRESSES: Final = 4
"""How many of a host's addresses are tried."""
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_PERMANENT: Final = frozenset({301, 308})
_VALIDATOR: Final = re.compile(r"[\x21-\x7e][\x20-\x7e]{0,511}")
_ALLOWED: Final = re.compile(r"(\[[^\]]*\]|[^:\[\]]+)(?::(\d{1,5}))?")

Resolve = Callable[[str, int], Sequence[str]]
Dial = Callable[[Address, int, float], socket.socket]
Wanted = Callable[[str, str], str | None]
Permit = Callable[[Url], None]


def addresses_of(host: str, port: int) -> list[str]:
    """Return every address the system knows for a name."""
    return list(dict.fromkeys(str(row[4][0]) for row in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)))


def dial(address: Address, port: int, seconds: float) -> socket.socket:
    """Return a connection to an address: a number, so that nothing is looked up a second time."""
    return socket.create_connection((str(address), port), timeout=seconds)


def anything(media_type: str, path: str) -> str | None:
    """Return None: every type is wanted."""
    return None


@dataclass(frozen=True, slots=True)
class Rules:
    """What a fetch may do."""

    allow: frozenset[tuple[str, int]] = frozenset()
    """Hosts as written in an address, with a port (0: the usual ones), that may lie in a private network."""
    max_bytes: int = 10_000_000
    seconds: float = 30.0
    wanted: Wanted = anything
    """Says by media type and path why a body is not wanted, or None."""
    resolve: Resolve = addresses_of
    dial: Dial = dial


@dataclass(frozen=True, slots=True)
class Validators:
    """What a server said about a page, to be asked whether it still holds; for that address and no other."""

    url: str
    etag: str = ""
    last_modified: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers that ask; one that could not have come from a sound server is left out."""
        said = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in said.items() if _VALIDATOR.fullmatch(value)}


@dataclass(frozen=True, slots=True)
class Fetched:
    """What was found: only a status of 200 comes with a body."""

    url: Url
    status: int
    media_type: str = ""
    charset: str = ""
    etag: str = ""
    last_modified: str = ""
    body: bytes = field(default=b"", repr=False)
    redirects: tuple[int, ...] = ()

    @property
    def moved_for_good(self) -> bool:
        """Return whether every redirect on the way was a permanent one."""
        return all(status in _PERMANENT for status in self.redirects)


def allowed(entries: Sequence[str]) -> frozenset[tuple[str, int]]:
    """Return what `web.allow` lists as (host, port) pairs, or raise `ConfigError`."""
    pairs = set()
    for entry in entries:
        found = _ALLOWED.fullmatch(entry)
        try:
            if found is None:
                raise InputError("it is no host")
            pairs.add((host_of(found[1]), int(found[2] or 0)))
        except InputError as error:
            hint = "a host and perhaps a port, such as 127.0.0.1:8765 or wiki.example"
            raise ConfigError(f"web.allow names {entry!r}: {error.message}", hint=hint) from error
    return frozenset(pairs)


def safe_fetch(
    url: str, rules: Rules, *, validators: Validators | None = None, permit: Permit | None = None
) -> Fetched:
    """Return what lies at an address, redirects followed; `InputError`, `AccessError` or `ReadError` if it cannot be.

    `permit` is asked about every address on the way and raises where a visit is not welcome.
    """
    end = time.monotonic() + rules.seconds
    at = parse(url)
    redirects: list[int] = []
    while True:
        if permit is not None:
            permit(at)
        headers = validators.headers if validators is not None and validators.url == at.text else {}
        reply = _asked(at, rules, headers, end)
        if reply.status not in _REDIRECTS:
            return _fetched(at, reply, tuple(redirects))
        redirects.append(reply.status)
        if len(redirects) > MOST_REDIRECTS:
            raise ReadError(f"more than {MOST_REDIRECTS} redirects", hint="open it in a browser to see where it leads")
        at = _next(at, reply.location)


def _fetched(at: Url, reply: Reply, redirects: tuple[int, ...]) -> Fetched:
    return Fetched(
        url=at,
        status=reply.status,
        media_type=reply.media_type,
        charset=reply.charset,
        etag=reply.header("etag"),
        last_modified=reply.settled_date,
        body=reply.body,
        redirects=redirects,
    )


def _next(at: Url, location: str) -> Url:
    if not location:
        raise ReadError(f"{at.text} redirects to nowhere")
    try:
        there = joined(at, location)
    except InputError as error:
        raise AccessError(f"{at.text} redirects to what is no usual address: {error.message}") from error
    if (at.scheme, there.scheme) == ("https", "http"):
        raise AccessError(
            f"{at.text} redirects to an address without encryption", hint=f"if you trust it: {there.text}"
        )
    return there


def _asked(at: Url, rules: Rules, headers: Mapping[str, str], end: float) -> Reply:
    """Return the answer to one request, to an address that was looked at."""
    private = _checked_port(at, rules)
    connection = _connected(at, _addresses(at, rules, private=private, end=end), rules, end)
    try:
        if at.scheme == "https":
            connection = _encrypted(connection, at, end)
        connection.settimeout(_left(end))
        connection.sendall(_request(at, headers))
        return read_reply(connection, at, rules, end=end)
    except OSError as error:
        raise ReadError(f"{at.origin} broke off: {_why(error)}", hint="try again later") from error
    finally:
        connection.close()


def _checked_port(at: Url, rules: Rules) -> bool:
    """Return whether the host may lie in a private network, or raise `AccessError` for a port that is not usual."""
    by_port, by_host = (at.host, at.port) in rules.allow, (at.host, 0) in rules.allow
    if not by_port and at.port not in USUAL_PORTS:
        usual = ", ".join(str(port) for port in sorted(USUAL_PORTS))
        raise AccessError(f"port {at.port} of {at.host} is none that web pages are on ({usual})", hint=_trusting(at))
    return by_port or by_host


def _trusting(at: Url) -> str:
    host = f"[{at.host}]" if ":" in at.host else at.host
    return f"if you trust it, set web.allow to {host}:{at.port} in your user file or the environment"


def _addresses(at: Url, rules: Rules, *, private: bool, end: float) -> list[Address]:
    """Return where a host is, or raise `AccessError` if any of its addresses is not for us."""
    literal = at.literal
    found = [str(literal)] if literal is not None else _resolved(at, rules, end)
    addresses = []
    for text in found:
        address = parsed(text)
        why = refusal(address, private=private) if address is not None else "no address"
        if address is None or why is not None:
            where = text if literal is not None else f"{at.host} ({text})"
            could = address is not None and refusal(address, private=True) is None
            raise AccessError(f"{where} is not public: {why}", hint=_trusting(at) if could else "")
        addresses.append(address)
    if not addresses:
        raise ReadError(f"there is no host {at.host}", hint="check the address")
    # One of each kind in turn: where only one kind gets through, it is not the last that is tried.
    old, new = ([one for one in addresses if one.version == version] for version in (4, 6))
    return [one for pair in zip_longest(new, old) for one in pair if one is not None]


def _resolved(at: Url, rules: Rules, end: float) -> list[str]:
    """Return a name's addresses; the system may take its time over that, so it is asked from a thread."""
    from concurrent.futures import Future
    from threading import Thread

    answer: Future[list[str]] = Future()

    def ask() -> None:
        try:
            answer.set_result(list(rules.resolve(at.host, at.port)))
        except (OSError, ValueError) as error:  # UnicodeError is a ValueError
            answer.set_exception(error)

    Thread(target=ask, name="ragstone-resolve", daemon=True).start()
    try:
        return answer.result(timeout=min(SECONDS_TO_CONNECT, _left(end)))
    except TimeoutError as error:
        raise ReadError(f"{at.host} was not found in time", hint="try again later") from error
    except (OSError, ValueError) as error:
        raise ReadError(
            f"there is no host {at.host}: {_why(error)}", hint="check the address and the network"
        ) from error


def _connected(at: Url, addresses: Sequence[Address], rules: Rules, end: float) -> socket.socket:
    """Return a connection to the first address that answers."""
    last: OSError | None = None
    for address in addresses[:_MOST_ADDRESSES]:
        try:
            return rules.dial(address, at.port, min(SECONDS_TO_CONNECT, _left(end)))
        except OSError as error:
            last = error
    raise ReadError(f"{at.origin} cannot be reached: {_why(last)}", hint="check the address and the network") from last


def _encrypted(connection: socket.socket, at: Url, end: float) -> socket.socket:
    """Return the connection with TLS on it, the host proved by a certificate that the system trusts."""
    import ssl  # loads OpenSSL: only when something is fetched

    try:
        connection.settimeout(min(SECONDS_TO_CONNECT, _left(end)))
        return _context().wrap_socket(connection, server_hostname=at.host, suppress_ragged_eofs=False)
    except ssl.SSLCertVerificationError as error:
        raise AccessError(
            f"{at.host} does not prove that it is {at.host}: {error.verify_message}",
            hint="its certificate must name it and be signed by somebody whom this system trusts",
        ) from error


def _context() -> SSLContext:
    import ssl

    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context


def _request(at: Url, headers: Mapping[str, str]) -> bytes:
    lines = {
        "Host": at.authority,
        "User-Agent": AGENT,
        "Accept": "text/html, text/plain, text/markdown, application/pdf, */*;q=0.1",
        "Accept-Encoding": "gzip, deflate",
        "Connection": "close",
        **headers,
    }
    told = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"GET {at.target} HTTP/1.1\r\n{told}\r\n".encode("ascii")


def _left(end: float) -> float:
    """Return the seconds that are left, or raise `ReadError` when there are none."""
    left = end - time.monotonic()
    if left <= 0:
        raise ReadError("it took too long", hint="web.seconds sets the limit")
    return left


def _why(error: BaseException | None) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return str(getattr(error, "strerror", None) or error or "no address answered")
