"""Fetching one page: redirects followed, every limit enforced. See `client` for the hosts that may be reached."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from typing import Final

from ragstone.errors import AccessError, ConfigError, InputError, ReadError
from ragstone.sources.web.client import NetworkPolicy, request_page
from ragstone.sources.web.decompression import Decompressor, too_large
from ragstone.sources.web.urls import Url, join_url, normalise_host, parse_url

USER_AGENT: Final = "ragstone"
MAX_REDIRECTS: Final = 5
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_PERMANENT_REDIRECTS: Final = frozenset({301, 308})
_OK: Final = 200
_SETTLED_SECONDS: Final = 2
_VALIDATOR: Final = re.compile(r"[\x21-\x7e][\x20-\x7e]{0,511}")
_ALLOWED_HOST: Final = re.compile(r"(\[[^\]]*\]|[^:\[\]]+)(?::(\d{1,5}))?")
_MEDIA_TYPE: Final = re.compile(r"^\s*([\w.+-]+/[\w.+-]+)\s*(?:;|$)")
_CHARSET: Final = re.compile(r";\s*charset\s*=\s*\"?([\w.:+-]{1,40})", re.IGNORECASE)

RefuseBody = Callable[[str, str], str | None]
"""Takes a media type and a path; returns why the body is not read, or None."""
CheckUrl = Callable[[Url], None]


def accept_every_type(media_type: str, path: str) -> str | None:
    """Return None: no media type is refused."""
    return None


@dataclass(frozen=True, slots=True)
class FetchRules:
    """The limits of a fetch."""

    network: NetworkPolicy = NetworkPolicy()
    max_bytes: int = 10_000_000
    seconds: float = 30.0
    refuse_body: RefuseBody = accept_every_type


@dataclass(frozen=True, slots=True)
class Validators:
    """The `ETag` and date of a stored page. They are sent only to the address they came from."""

    url: str
    etag: str = ""
    last_modified: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """Return the conditional request headers; a malformed value is left out."""
        headers = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in headers.items() if _VALIDATOR.fullmatch(value)}


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """The answer of a server. Only status 200 comes with a body."""

    url: Url
    status: int
    media_type: str = ""
    charset: str = ""
    etag: str = ""
    last_modified: str = ""
    body: bytes = field(default=b"", repr=False)
    redirects: tuple[int, ...] = ()

    @property
    def has_moved_permanently(self) -> bool:
        """Return whether every redirect on the way was permanent."""
        return all(status in _PERMANENT_REDIRECTS for status in self.redirects)


def parse_allowed_hosts(entries: Sequence[str]) -> frozenset[tuple[str, int]]:
    """Return the hosts of `web.allow` as (host, port) pairs, or raise `ConfigError`."""
    pairs = set()
    for entry in entries:
        match = _ALLOWED_HOST.fullmatch(entry)
        try:
            if match is None:
                raise InputError("it is no host")
            port = int(match[2] or 0)
            pairs.add((normalise_host(match[1]), port))
        except InputError as error:
            hint = "a host and perhaps a port, such as 127.0.0.1:8765 or wiki.example"
            raise ConfigError(
                f"web.allow names {entry!r}: {error.message}", hint=hint
            ) from error
    return frozenset(pairs)


def safe_fetch(
    address: str,
    rules: FetchRules,
    *,
    validators: Validators | None = None,
    check: CheckUrl | None = None,
) -> FetchedPage:
    """Return the page at an address; raise `InputError`, `AccessError` or `ReadError` if it cannot be fetched.

    `check` is called with every address on the way and raises if it may not be visited.
    """
    deadline = time.monotonic() + rules.seconds
    url = parse_url(address)
    redirects: list[int] = []
    while True:
        if check is not None:
            check(url)
        response = _request(url, rules, validators, deadline)
        if response.status not in _REDIRECTS:
            return response.to_page(tuple(redirects))
        redirects.append(response.status)
        if len(redirects) > MAX_REDIRECTS:
            raise ReadError(
                f"more than {MAX_REDIRECTS} redirects",
                hint="open it in a browser to see where it leads",
            )
        url = _redirect_target(url, response.location)


@dataclass(frozen=True, slots=True)
class _Response:
    """One answer of a server, its body decompressed."""

    url: Url
    status: int
    headers: dict[str, str]
    body: bytes = b""

    @property
    def media_type(self) -> str:
        return _first_group(_MEDIA_TYPE, self.headers)

    @property
    def charset(self) -> str:
        return _first_group(_CHARSET, self.headers)

    @property
    def settled_date(self) -> str:
        """Return `Last-Modified`, unless it is so recent that a later change in the same second would not show."""
        last_modified = self.headers.get("last-modified", "")
        try:
            changed = parsedate_to_datetime(last_modified)
            sent = parsedate_to_datetime(self.headers.get("date", ""))
            age = sent - changed
        except (ValueError, TypeError, OverflowError):
            return ""  # no date, or only one of them has a time zone
        if age.total_seconds() < _SETTLED_SECONDS:
            return ""
        return last_modified

    @property
    def location(self) -> str:
        location = self.headers.get("location", "")
        try:
            # Servers send UTF-8 although headers are Latin-1.
            return location.encode("latin-1").decode("utf-8")
        except UnicodeError:
            return location

    def to_page(self, redirects: tuple[int, ...]) -> FetchedPage:
        return FetchedPage(
            url=self.url,
            status=self.status,
            media_type=self.media_type,
            charset=self.charset,
            etag=self.headers.get("etag", ""),
            last_modified=self.settled_date,
            body=self.body,
            redirects=redirects,
        )


def _request(
    url: Url, rules: FetchRules, validators: Validators | None, deadline: float
) -> _Response:
    """Return the answer to one request."""
    headers = {
        "User-Agent": USER_AGENT,
        "Accept": "text/html, text/plain, text/markdown, application/pdf, */*;q=0.1",
        "Accept-Encoding": "gzip, deflate",
        "Connection": "close",
    }
    if validators is not None and validators.url == url.text:
        headers |= validators.headers
    with request_page(
        url, headers, policy=rules.network, max_bytes=rules.max_bytes, deadline=deadline
    ) as answer:
        response = _Response(url, answer.status, _decode_headers(answer.headers))
        if response.status != _OK:
            return response
        _check_body(response, rules)
        coding = response.headers.get("content-encoding", "")
        body = _read_body(answer.iter_stream(), coding, rules.max_bytes)
        return replace(response, body=body)


def _first_group(pattern: re.Pattern[str], headers: Mapping[str, str]) -> str:
    """Return the first group of a pattern in the content type, in lower case, or an empty text."""
    match = pattern.search(headers.get("content-type", ""))
    return match[1].lower() if match else ""


def _decode_headers(pairs: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return the headers with names in lower case and values on one line; the first of equal names counts."""
    headers: dict[str, str] = {}
    for name, value in pairs:
        lower_name = name.decode("latin-1").lower()
        words = value.decode("latin-1").split()
        headers.setdefault(lower_name, " ".join(words))
    return headers


def _check_body(response: _Response, rules: FetchRules) -> None:
    """Raise `ReadError` if the body is of a type that is not read, or too large."""
    reason = rules.refuse_body(response.media_type, response.url.path)
    if reason is not None:
        raise ReadError(
            reason, hint="pages of text are read: HTML, plain text, Markdown, JSON, XML, PDF"
        )
    length = response.headers.get("content-length", "")
    if length.isascii() and length.isdigit() and int(length[:20]) > rules.max_bytes:
        raise too_large(rules.max_bytes)


def _read_body(pieces: Iterable[bytes], coding: str, max_bytes: int) -> bytes:
    """Return the complete body, decompressed; raise `ReadError` if it is incomplete or too large."""
    decompressor = None
    if coding.lower() not in ("", "identity"):
        decompressor = Decompressor(coding.lower(), max_bytes)
    body = bytearray()
    for piece in pieces:
        if decompressor is not None:
            piece = decompressor.decompress(piece)
        body += piece
        if len(body) > max_bytes:
            raise too_large(max_bytes)
    if decompressor is not None and not decompressor.is_complete:
        raise ReadError("the page broke off before its end", hint="try again")
    return bytes(body)


def _redirect_target(url: Url, location: str) -> Url:
    """Return the address a redirect leads to; raise if it is none or gives up encryption."""
    if not location:
        raise ReadError(f"{url.text} redirects to nowhere")
    try:
        target = join_url(url, location)
    except InputError as error:
        raise AccessError(
            f"{url.text} redirects to an unusual address: {error.message}"
        ) from error
    if url.scheme == "https" and target.scheme == "http":
        raise AccessError(
            f"{url.text} redirects to an address without encryption",
            hint=f"if you trust it: {target.text}",
        )
    return target
