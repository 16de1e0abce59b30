"""Servers that flood, drip, lie about lengths and send bombs: a whole page or a reason, within bounds."""

from __future__ import annotations

import gzip
import socket
import time
import tracemalloc
import zlib
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.errors import ReadError
from ragstone.sources.web.client import NetworkPolicy
from ragstone.sources.web.fetch import FetchRules, safe_fetch
from tests.support.local_site import Answer, Request, Site, reply, serving

MOST = 100_000
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with serving(Site()) as opened:
        yield opened


def get(site: Site, seconds: float = 10.0) -> bytes:
    return safe_fetch(
        f"{site.origin}/",
        FetchRules(NetworkPolicy(site.allow), max_bytes=MOST, seconds=seconds),
    ).body


def again(piece: bytes, count: int = 10**9, pause: float = 0.0) -> Answer:
    """Return a route that sends a piece again and again, until the client closes."""

    def send(connection: socket.socket, request: Request) -> None:
        for _ in range(count):
            connection.sendall(piece)
            time.sleep(pause)

    return send


def after(head: bytes, send: Answer) -> Answer:
    def both(connection: socket.socket, request: Request) -> None:
        connection.sendall(head)
        send(connection, request)

    return both


FLOODS = {
    "a body without end": after(HEAD + b"\r\n", again(b"x" * 65_536)),
    "chunks without end": after(
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n", again(b"1000\r\n" + b"x" * 4096 + b"\r\n")
    ),
    "tiny chunks in long wrappings": after(
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n", again(b"1;" + b"e" * 4000 + b"\r\nx\r\n")
    ),
    "a size of chunk without end": after(
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n", again(b"0" * 4096)
    ),
    "trailers without end": after(
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", again(b"A: b\r\n" * 500)
    ),
    "headers without end": after(HEAD, again(b"X-More: " + b"y" * 500 + b"\r\n")),
    "one header without end": after(HEAD + b"X-More: ", again(b"y" * 4096)),
    "a status line without end": again(b"HTTP/1.1 200 " + b"O" * 4096),
    "promises without end": again(b"HTTP/1.1 100 Continue\r\n\r\n"),
    "a length that is too much": HEAD + b"Content-Length: 100001\r\n\r\n",
    "a length beyond all numbers": HEAD + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n",
}


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
def test_a_flood_is_stopped(site: Site, flood: bytes | Answer) -> None:
    site.routes["/"] = flood
    tracemalloc.start()
    with pytest.raises(ReadError):
        get(site)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * MOST


DRIPS = {
    "a body": after(HEAD + b"\r\n", again(b"x", pause=0.05)),
    "headers": after(HEAD, again(b"x", pause=0.05)),
    "chunks": after(
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n", again(b"1\r\nx\r\n", pause=0.05)
    ),
    "nothing": lambda connection, request: time.sleep(3),
}


@pytest.mark.parametrize("drip", DRIPS.values(), ids=DRIPS)
def test_a_server_that_drips_is_left_when_the_time_is_over(site: Site, drip: Answer) -> None:
    site.routes["/"] = drip
    with pytest.raises(ReadError, match=r"too long|in time"):
        get(site, seconds=0.4)


BROKEN = {
    "a body shorter than its length": HEAD + b"Content-Length: 10\r\n\r\nshort",
    "chunks that break off": HEAD + b"Transfer-Encoding: chunked\r\n\r\na\r\nhalf",
    "chunks without their end": HEAD + b"Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
    "a chunk of no number": HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nhalf\r\n",
    "no HTTP at all": b"SSH-2.0-OpenSSH_9.9\r\n",
    "nothing": b"",
    "a status that is none": b"HTTP/1.1 abc OK\r\n\r\n",
    "gzip that breaks off": reply(gzip.compress(b"a" * 1000)[:-9], content_encoding="gzip"),
    "gzip that is none": reply(b"not compressed", content_encoding="gzip"),
    "gzip with something behind it": reply(
        gzip.compress(b"a") + b"more", content_encoding="gzip"
    ),
    "deflate that is none": reply(b"\xff\xff\xff\xff", content_encoding="deflate"),
    "a coding that nobody asked for": reply(b"x", content_encoding="br"),
    "two codings": reply(gzip.compress(gzip.compress(b"x")), content_encoding="gzip, gzip"),
    "thousands of tiny streams": reply(gzip.compress(b"") * 3000, content_encoding="gzip"),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_a_broken_answer_is_never_half_a_page(site: Site, broken: bytes) -> None:
    site.routes["/"] = broken
    with pytest.raises(ReadError):
        get(site)


BOMB = gzip.compress(b"\0" * 50_000_000)
BOMBS = {
    "gzip": reply(BOMB, content_encoding="gzip"),
    "deflate": reply(zlib.compress(b"\0" * 50_000_000), content_encoding="deflate"),
    "many streams": reply(gzip.compress(b"\0" * 40_000) * 90, content_encoding="gzip"),
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_a_bomb_does_not_go_off(site: Site, bomb: bytes) -> None:
    site.routes["/"] = bomb
    tracemalloc.start()
    with pytest.raises(ReadError, match="too large"):
        get(site)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * MOST


def _raw(data: bytes) -> bytes:
    stream = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return stream.compress(data) + stream.flush()


@settings(max_examples=40)
@given(
    st.binary(max_size=3000),
    st.sampled_from(["", "gzip", "two", "deflate", "raw", "chunked", "until closed"]),
)
def test_a_body_arrives_unchanged_in_every_encoding(site: Site, body: bytes, way: str) -> None:
    pieces = [body[at : at + 700] for at in range(0, len(body), 700)]
    chunks = (
        b"".join(b"%x;q=1\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
        + b"0\r\nA: b\r\n\r\n"
    )
    site.routes["/"] = {
        "": reply(body),
        "gzip": reply(gzip.compress(body), content_encoding="gzip"),
        "two": reply(
            gzip.compress(body[:9]) + gzip.compress(body[9:]), content_encoding="x-gzip"
        ),
        "deflate": reply(zlib.compress(body), content_encoding="deflate"),
        "raw": reply(_raw(body), content_encoding="deflate"),
        "chunked": HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunks,
        "until closed": HEAD + b"\r\n" + body,
    }[way]
    assert get(site) == body


def test_a_body_of_exactly_the_limit_is_taken(site: Site) -> None:
    for answer in (
        reply(b"x" * MOST),
        reply(gzip.compress(b"x" * MOST), content_encoding="gzip"),
    ):
        site.routes["/"] = answer
        assert len(get(site)) == MOST
    for answer in (reply(b"x" * (MOST + 1)), HEAD + b"\r\n" + b"x" * (MOST + 1)):
        site.routes["/"] = answer
        with pytest.raises(ReadError, match="too large"):
            get(site)
