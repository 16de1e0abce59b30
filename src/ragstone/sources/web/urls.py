"""Addresses of web pages: each has one spelling, and an address that two programs could read differently is refused."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from ragstone.errors import InputError
from ragstone.sources.web.addresses import Address, parse_address

DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_MAX_LENGTH: Final = 4096
_MAX_HOST_LENGTH: Final = 253
_FORBIDDEN: Final = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\\]")
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER: Final = re.compile(r"\d+|0x[0-9a-f]*")
_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_ENCODED_DOT: Final = re.compile("%2e", re.IGNORECASE)
_HINT: Final = "for example https://docs.example.org/guide"


@dataclass(frozen=True, slots=True)
class Url:
    """An address, split into the parts that a request needs."""

    scheme: str
    host: str
    """A name in ASCII, or a literal address without brackets."""
    port: int
    target: str
    """Path and query, as in the request line."""

    @property
    def path(self) -> str:
        """Return the target without its query."""
        return self.target.partition("?")[0]

    @property
    def authority(self) -> str:
        """Return host and port as in the `Host` header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        if self.port == DEFAULT_PORTS[self.scheme]:
            return host
        return f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Return scheme, host and port: the part that all pages of a server share."""
        return f"{self.scheme}://{self.authority}"

    @property
    def text(self) -> str:
        """Return the address in its one spelling."""
        return f"{self.origin}{self.target}"

    @property
    def literal(self) -> Address | None:
        """Return the host as a network address, or None if it is a name."""
        return parse_address(self.host)


def scheme_of(text: str) -> str:
    """Return the scheme of an address in lower case, or an empty text."""
    match = _SCHEME.match(text)
    if match is None:
        return ""
    return match[1].lower()


def parse_url(text: str) -> Url:
    """Return an address in its one spelling, without its fragment, or raise `InputError`."""
    if not isinstance(text, str) or not text or len(text) > _MAX_LENGTH:
        raise InputError(
            "a page is named by its address, a text of reasonable length", hint=_HINT
        )
    if _FORBIDDEN.search(text):
        raise InputError(
            "the address holds a space, a backslash or a control character",
            hint="write them as %20, %5C",
        )
    scheme = scheme_of(text)
    if scheme not in DEFAULT_PORTS:
        raise InputError(
            f"{_shorten(text)} is no address of a web page",
            hint=f"only http and https; {_HINT}",
        )
    parts, port = _split(text)
    if "@" in parts.netloc:
        raise InputError(
            "the address holds a user name or password", hint="leave out the part before @"
        )
    if port == 0:
        raise InputError("there is no port 0", hint=_HINT)
    host = parts.netloc if port is None else parts.netloc.rpartition(":")[0]
    return Url(
        scheme=scheme,
        host=normalise_host(host.removesuffix(":")),
        port=port or DEFAULT_PORTS[scheme],
        target=_normalise_target(parts.path, parts.query),
    )


def join_url(base: Url, location: str) -> Url:
    """Return the address that a redirect from `base` leads to, or raise `InputError`."""
    try:
        return parse_url(urljoin(base.text, location))
    except ValueError as error:
        raise InputError(
            f"the redirect leads to no address: {_shorten(location)}", hint=_HINT
        ) from error


def normalise_host(host: str) -> str:
    """Return a host in its one spelling (lower case, ASCII, no final dot), or raise `InputError`."""
    if host.startswith("[") or host.endswith("]"):
        return _normalise_ipv6(host)
    ascii_host = _encode_host(host).removesuffix(".")
    labels = ascii_host.split(".")
    if not all(_LABEL.fullmatch(label) for label in labels):
        raise InputError(f"{_shorten(host)} is no name of a host", hint=_HINT)
    if _NUMBER.fullmatch(labels[-1]):
        # Programs disagree about addresses in octal, hexadecimal or as one number.
        address = parse_address(ascii_host)
        if address is None or str(address) != ascii_host:
            raise InputError(
                f"{_shorten(host)} is an odd spelling of an address",
                hint="write four numbers up to 255",
            )
    return ascii_host


def _split(text: str) -> tuple[SplitResult, int | None]:
    try:
        parts = urlsplit(text)
        return parts, parts.port
    except ValueError as error:
        raise InputError(f"{_shorten(text)} is no address: {error}", hint=_HINT) from error


def _normalise_ipv6(host: str) -> str:
    address = None
    if host.startswith("[") and host.endswith("]") and "%" not in host:
        address = parse_address(host[1:-1])
    if address is None or address.version != 6:
        raise InputError(
            f"{_shorten(host)} is no IPv6 address", hint="for example [2606:2800:220:1::1]"
        )
    return str(address)


def _encode_host(host: str) -> str:
    """Return a host name in ASCII and lower case."""
    if not host or len(host) > _MAX_HOST_LENGTH:
        raise InputError("the address names no host, or one that is too long", hint=_HINT)
    if host.isascii():
        return host.lower()
    try:
        return host.encode("idna").decode("ascii").lower()
    except UnicodeError as error:
        raise InputError(f"{_shorten(host)} is no name of a host", hint=_HINT) from error


def _normalise_target(path: str, query: str) -> str:
    """Return path and query in ASCII, with `.` and `..` resolved, because rules of robots.txt are about real paths."""
    rooted = "/" + _ENCODED_DOT.sub(".", path).lstrip("/")
    resolved = urljoin("http://host/", rooted).removeprefix("http://host")
    # `urljoin` would read two slashes as a host.
    leading_slashes = len(path) - len(path.lstrip("/"))
    full_path = "/" * max(leading_slashes - 1, 0) + resolved
    target = quote(full_path, safe="/%:@!$&'()*+,;=~-._")
    if not query:
        return target
    return f"{target}?{quote(query, safe='/?%:@!$&()*+,;=~-._[]|')}"


def _shorten(text: str) -> str:
    if len(text) > 80:
        text = text[:77] + "..."
    return repr(text)
