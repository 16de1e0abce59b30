"""Addresses of pages: one spelling for each, and everything refused that could mean two things to two programs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

from ragstone.errors import InputError
from ragstone.sources.web.addresses import Address, parsed

PORTS: Final = {"http": 80, "https": 443}
_LONGEST: Final = 4096
_LONGEST_HOST: Final = 253
_NOT_SHOWN: Final = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\\]")
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER: Final = re.compile(r"\d+|0x[0-9a-f]*")
_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_DOT: Final = re.compile("%2e", re.IGNORECASE)
_HINT: Final = "for example https://docs.example.org/guide"


@dataclass(frozen=True, slots=True)
class Url:
    """An address taken apart: what is connected to, and what is asked for there."""

    scheme: str
    host: str
    """A name in ASCII, or a literal address without brackets."""
    port: int
    target: str
    """Path and query, as the request line says them."""

    @property
    def authority(self) -> str:
        """Return host and port as the `Host` header wants them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Return what all pages of one server share."""
        return f"{self.scheme}://{self.authority}"

    @property
    def text(self) -> str:
        """Return the one spelling of the address."""
        return f"{self.origin}{self.target}"

    @property
    def literal(self) -> Address | None:
        """Return the host as a network address, where it is written as one."""
        return parsed(self.host)


def scheme_of(text: str) -> str:
    """Return the scheme of what is written like an address, in lower case, or nothing."""
    found = _SCHEME.match(text)
    return found[1].lower() if found else ""


def parse(text: str) -> Url:
    """Return an address in its one spelling, its fragment dropped, or raise `InputError`."""
    if not isinstance(text, str) or not text or len(text) > _LONGEST:
        raise InputError("a page is named by its address, a text of reasonable length", hint=_HINT)
    if _NOT_SHOWN.search(text):
        raise InputError("the address holds a space, a backslash or a control character", hint="write them as %20, %5C")
    scheme = scheme_of(text)
    if scheme not in PORTS:
        raise InputError(f"{_short(text)} is no address of a web page", hint=f"only http and https; {_HINT}")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise InputError(f"{_short(text)} is no address: {error}", hint=_HINT) from error
    if "@" in parts.netloc:
        raise InputError("an address with a user name or password is not taken", hint="leave out what stands before @")
    if port == 0:
        raise InputError("there is no port 0", hint=_HINT)
    written = parts.netloc if port is None else parts.netloc.rpartition(":")[0]
    host = host_of(written.removesuffix(":"))
    return Url(scheme, host, port or PORTS[scheme], _target(parts.path, parts.query))


def joined(base: Url, location: str) -> Url:
    """Return where a redirect leads, or raise `InputError`."""
    try:
        return parse(urljoin(base.text, location))
    except ValueError as error:
        raise InputError(f"the redirect leads to no address: {_short(location)}", hint=_HINT) from error


def host_of(written: str) -> str:
    """Return a host in its one spelling: lower case, ASCII, no dot at the end, addresses only as usual."""
    if written.startswith("[") or written.endswith("]"):
        inner = parsed(written[1:-1]) if written.startswith("[") and written.endswith("]") else None
        if inner is None or inner.version != 6 or "%" in written:
            raise InputError(f"{_short(written)} is no IPv6 address", hint="for example [2606:2800:220:1::1]")
        return str(inner)
    host = _ascii(written).removesuffix(".")
    labels = host.split(".")
    if not all(_LABEL.fullmatch(label) for label in labels):
        raise InputError(f"{_short(written)} is no name of a host", hint=_HINT)
    if _NUMBER.fullmatch(labels[-1]):
        # What ends in a number is an address to some programs in spellings (octal, hexadecimal, one number) that are
        # another address, or a name, to others.
        address = parsed(host)
        if address is None or str(address) != host:
            raise InputError(f"{_short(written)} is an odd spelling of an address", hint="write four numbers up to 255")
    return host


def _ascii(written: str) -> str:
    """Return a host's name in ASCII and lower case; other scripts in the way that the network knows them."""
    if not written or len(written) > _LONGEST_HOST:
        raise InputError("the address names no host, or one that is too long", hint=_HINT)
    if written.isascii():
        return written.lower()
    try:
        return written.encode("idna").decode("ascii").lower()
    except UnicodeError as error:
        raise InputError(f"{_short(written)} is no name of a host", hint=_HINT) from error


def _target(path: str, query: str) -> str:
    """Return path and query in ASCII, without `.` and `..`: rules for robots are about where a path leads."""
    # Two slashes at its start would read as a host.
    plain = urljoin("http://host/", "/" + _DOT.sub(".", path).lstrip("/"))[len("http://host") :]
    slashes = len(path) - len(path.lstrip("/"))
    plain = "/" * max(slashes - 1, 0) + plain
    asked = quote(plain, safe="/%:@!$&'()*+,;=~-._")
    return f"{asked}?{quote(query, safe='/?%:@!$&()*+,;=~-._[]|')}" if query else asked


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "...")
