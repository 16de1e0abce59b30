"""Fetching by address: public hosts only, whatever an address, a resolver or a redirect says (RELIABILITY A7)."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from ipaddress import ip_address
from itertools import product
from typing import Any

import pytest

from ragstone.errors import AccessError, ConfigError, InputError, RagstoneError, ReadError
from ragstone.sources.web.addresses import Address
from ragstone.sources.web.client import NetworkPolicy, Resolver, resolve_host
from ragstone.sources.web.fetch import (
    FetchedPage,
    FetchRules,
    Validators,
    parse_allowed_hosts,
    safe_fetch,
)
from tests.support.local_site import Request, Site, redirect, reply, serving

CONNECTED: list[tuple[str, int]] = []
WATCHING = [False]


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if WATCHING[0] and event == "socket.connect" and isinstance(arguments[1], tuple):
        CONNECTED.append((str(arguments[1][0]), int(arguments[1][1])))


sys.addaudithook(_watch)


@pytest.fixture
def connected() -> Iterator[list[tuple[str, int]]]:
    """Give every address that a socket is connected to meanwhile."""
    CONNECTED.clear()
    WATCHING[0] = True
    yield CONNECTED
    WATCHING[0] = False


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(Site()) as opened:
        yield opened


def get(site: Site, path: str = "/", resolve: Resolver = resolve_host) -> FetchedPage:
    return safe_fetch(
        site.origin + path, FetchRules(NetworkPolicy(site.allow, resolve), seconds=5.0)
    )


HIDDEN = """
127.0.0.1 127.0.0.2 127.1.2.3 127.255.255.254 10.0.0.1 10.1.2.3 10.255.255.255 172.16.0.1 172.20.10.2 172.31.255.255
192.168.0.1 192.168.1.254 192.168.255.255 169.254.0.1 169.254.169.254 169.254.170.2 168.63.129.16 100.64.0.1
100.100.100.200 100.127.255.255 0.0.0.0 0.0.0.1 192.0.0.1 192.0.0.192 192.0.2.1 192.88.99.1 198.18.0.1 198.19.255.255
198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255
::1 :: ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:8.8.8.8 ::127.0.0.1 ::ffff:0:127.0.0.1 fe80::1
fe80::a9fe:a9fe fec0::1 fc00::1 fd00::1 fd00:ec2::254 ff02::1 64:ff9b::7f00:1 64:ff9b::a00:1 64:ff9b::a9fe:a9fe
64:ff9b:1::7f00:1 2002:7f00:1:: 2002:a9fe:a9fe:: 2001:0:7f00:1:: 2001:db8::1 2001:10::1 3fff::1 5f00::1 100::1 4000::1
""".split()
ODD = """
127.1 127.0.1 2130706433 0x7f000001 0x7f.0.0.1 0x7f.1 0177.0.0.1 017700000001 0177.1 127.0.0.01 127.0.0.0x1 0 0x0
00.0.0.0 3232235521 0xc0a80001 0xa9fea9fe 2852039166 0251.0376.0251.0376 169.254.43518 127.0.0.1.1 127..0.1 1.1
127.0.0.1%00 127%2e0%2e0%2e1 %31%32%37.0.0.1 localhost%00.example.org user@127.0.0.1 example.org@127.0.0.1
a:b@localhost 127.0.0.1\\@example.org 127.0.0.1#@example.org@x [::1 [::1%25lo] [fe80::1%25eth0] [::1]x [127.0.0.1] ::1
""".split()
DISGUISED = [
    "１２７.0.0.1",
    "①②⑦.0.0.1",
    "127。0。0。1",
    "127.0.0.1.",
    "localhost.",
    "LOCALHOST",
    "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
]


def _urls() -> Iterator[str]:
    for address, (scheme, port) in product(
        HIDDEN, (("http", ""), ("https", ""), ("http", ":8080"))
    ):
        yield f"{scheme}://{f'[{address}]' if ':' in address else address}{port}/latest/meta-data"
    yield from (f"http://{host}/" for host in (*ODD, *DISGUISED))
    yield from (
        "file:///etc/passwd",
        "ftp://127.0.0.1/",
        "gopher://127.0.0.1:70/_x",
        "dict://127.0.0.1:11211/stat",
    )
    yield from (
        f"http://example.org:{port}/"
        for port in (0, 21, 22, 25, 53, 111, 3306, 5432, 6379, 9200, 11211, 65536)
    )


TRICKY = list(_urls())


def _to_this_machine(host: str, port: int) -> list[str]:
    return ["127.0.0.1"]


def test_there_are_two_hundred_tricky_addresses() -> None:
    assert len(set(TRICKY)) >= 200


def test_no_tricky_address_is_connected_to(connected: list[tuple[str, int]]) -> None:
    for url in TRICKY:
        with pytest.raises((AccessError, InputError)):
            safe_fetch(url, FetchRules(NetworkPolicy(resolve=_to_this_machine), seconds=5))
    assert connected == []


def test_no_name_leads_to_an_address_that_is_not_public(
    connected: list[tuple[str, int]],
) -> None:
    for hidden in [*HIDDEN, "fe80::1%eth0", "not an address"]:
        for answer in ([hidden], ["93.184.216.34", hidden], [hidden, "93.184.216.34"]):
            rules = FetchRules(NetworkPolicy(resolve=lambda host, port: answer), seconds=5)  # noqa: B023 - used before the next turn
            with pytest.raises(AccessError, match="not public"):
                safe_fetch("http://example.org/", rules)
    assert connected == []


def test_no_redirect_leads_to_a_tricky_address(
    connected: list[tuple[str, int]], site: Site
) -> None:
    hidden = [url for url in TRICKY if f":{site.port}" not in url]
    site.routes = {f"/{at}": redirect(url) for at, url in enumerate(hidden)}
    for at in range(len(hidden)):
        with pytest.raises((AccessError, InputError)):
            get(site, f"/{at}", resolve=_to_this_machine)
    assert set(connected) == {
        (site.host, site.port)
    }  # the one that is allowed, and nothing it led to
    assert site.asked == [f"/{at}" for at in range(len(hidden))]


def test_the_connection_goes_to_the_checked_address(site: Site) -> None:
    """A resolver that answers with a public address first and a private one ever after gains nothing."""
    site.routes["/"] = reply("the page")
    answers = iter([["93.184.216.34"], ["127.0.0.1"], ["127.0.0.1"]])
    dialled: list[Address] = []

    def dial(address: Address, port: int, seconds: float) -> socket.socket:
        dialled.append(address)
        return socket.create_connection((site.host, site.port))

    rules = FetchRules(
        NetworkPolicy(resolve=lambda host, port: next(answers), connect=dial), seconds=5
    )
    assert safe_fetch("http://rebinding.example/", rules).body == b"the page"
    assert dialled == [ip_address("93.184.216.34")]
    with pytest.raises(AccessError, match="not public"):
        safe_fetch("http://rebinding.example/", rules)
    assert len(dialled) == 1


def test_a_redirect_to_the_same_name_is_resolved_and_checked_again(site: Site) -> None:
    site.routes["/"] = redirect("/next")
    answers = iter([["93.184.216.34"], ["10.0.0.1"]])
    network = NetworkPolicy(
        resolve=lambda host, port: next(answers),
        connect=lambda address, port, seconds: socket.create_connection((site.host, site.port)),
    )
    rules = FetchRules(network, seconds=5)
    with pytest.raises(AccessError, match="10.0.0.1"):
        safe_fetch("http://rebinding.example/", rules)
    assert site.asked == ["/"]


def test_an_allowed_name_may_lie_in_an_intranet_but_not_at_a_metadata_service(
    site: Site,
) -> None:
    metadata = NetworkPolicy(
        frozenset({("wiki.example", 0)}), resolve=lambda host, port: ["169.254.169.254"]
    )
    rules = FetchRules(metadata, seconds=5)
    with pytest.raises(AccessError, match="metadata"):
        safe_fetch("http://wiki.example/", rules)
    inside = FetchRules(
        NetworkPolicy(frozenset({("wiki.example", site.port)}), _to_this_machine), seconds=5
    )
    site.routes["/"] = reply("inside")
    assert safe_fetch(f"http://wiki.example:{site.port}/", inside).body == b"inside"
    for other in (
        f"http://other.example:{site.port}/",
        f"http://127.0.0.1:{site.port}/",
        "http://wiki.example/",
    ):
        with pytest.raises(AccessError):
            safe_fetch(other, inside)


def test_allowed_hosts_are_read_from_the_settings() -> None:
    entries = ["127.0.0.1:8765", "Wiki.Example", "[::1]:80", "bücher.example:8080"]
    assert parse_allowed_hosts(entries) == {
        ("127.0.0.1", 8765),
        ("wiki.example", 0),
        ("::1", 80),
        ("xn--bcher-kva.example", 8080),
    }
    for wrong in ("", "http://x", "a b", "127.1:80", "x:y", "*", "user@x", "10.0.0.0/8"):
        with pytest.raises(ConfigError, match="web.allow"):
            parse_allowed_hosts([wrong])


def test_a_page_has_the_headers_of_its_server(site: Site) -> None:
    site.routes["/a?x=%C3%A4"] = reply("hello", type="Text/HTML; charset=UTF-8", etag='"v1"')
    page = get(site, "/a?x=ä#part")
    assert (page.status, page.body, page.media_type, page.charset) == (
        200,
        b"hello",
        "text/html",
        "utf-8",
    )
    assert (page.etag, page.last_modified, page.url.text) == (
        '"v1"',
        "",
        f"{site.origin}/a?x=%C3%A4",
    )
    assert site.requests[0].headers["host"] == f"127.0.0.1:{site.port}"
    assert site.requests[0].headers["user-agent"] == "ragstone"


@pytest.mark.parametrize(
    ("now", "changed", "is_settled"),
    [
        ("Mon, 01 Jan 2024 12:00:05 GMT", "Mon, 01 Jan 2024 12:00:00 GMT", True),
        (
            "Mon, 01 Jan 2024 12:00:00 GMT",
            "Mon, 01 Jan 2024 12:00:00 GMT",
            False,
        ),  # it may change again this second
        ("Mon, 01 Jan 2024 12:00:00 GMT", "Mon, 01 Jan 2025 12:00:00 GMT", False),
        ("Mon, 01 Jan 2024 12:00:05 -0000", "Mon, 01 Jan 2024 12:00:00 +0000", False),
        ("", "Mon, 01 Jan 2024 12:00:00 GMT", False),
        ("Mon, 01 Jan 2024 12:00:05 GMT", "yesterday", False),
        ("Mon, 01 Jan 2024 12:00:05 GMT", "Mon, 01 Jan 99999 12:00:00 GMT", False),
    ],
)
def test_a_date_counts_only_once_it_has_settled(
    site: Site, now: str, changed: str, is_settled: bool
) -> None:
    site.routes["/"] = reply("x", date=now, last_modified=changed)
    assert get(site).last_modified == (changed if is_settled else "")


def test_proxies_of_the_environment_are_not_used(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    site.routes["/"] = reply("direct")
    assert get(site).body == b"direct"


def test_redirects_are_followed_but_not_forever(site: Site) -> None:
    site.routes |= {
        f"/{at}": redirect(f"/{at + 1}", "301 Moved Permanently") for at in range(6)
    }
    site.routes["/5"] = reply("there")
    page = get(site, "/0")
    assert (page.body, page.url.text, page.redirects) == (
        b"there",
        f"{site.origin}/5",
        (301,) * 5,
    )
    assert page.has_moved_permanently
    site.routes["/5"] = redirect("/0")
    with pytest.raises(ReadError, match="more than 5 redirects"):
        get(site, "/0")
    site.routes["/nowhere"] = reply(status="302 Found")
    with pytest.raises(ReadError, match="nowhere"):
        get(site, "/nowhere")


def test_validators_are_sent_only_to_the_address_they_came_from(site: Site) -> None:
    def answer(connection: socket.socket, request: Request) -> None:
        same = request.headers.get("if-none-match") == '"v1"'
        connection.sendall(
            reply(status="304 Not Modified") if same else reply("new", etag='"v2"')
        )

    site.routes |= {"/page": answer, "/old": redirect("/page")}
    rules = FetchRules(NetworkPolicy(site.allow), seconds=5)
    stored = Validators(f"{site.origin}/page", '"v1"', "Mon, 01 Jan 2024 00:00:00 GMT")
    assert safe_fetch(f"{site.origin}/old", rules, validators=stored).status == 304
    assert "if-none-match" not in site.requests[0].headers
    assert site.requests[1].headers["if-modified-since"] == "Mon, 01 Jan 2024 00:00:00 GMT"
    other = Validators(f"{site.origin}/other", '"v1"')
    assert safe_fetch(f"{site.origin}/page", rules, validators=other).body == b"new"


def test_a_validator_cannot_inject_a_header() -> None:
    headers = Validators("http://x/", 'a"\r\nX-Evil: 1', "x" * 1000).headers
    assert headers == {}


def test_other_statuses_come_without_a_body(site: Site) -> None:
    for status in (
        "404 Not Found",
        "410 Gone",
        "500 Oops",
        "204 No Content",
        "304 Not Modified",
        "451 No",
    ):
        site.routes["/"] = reply("secret", status=status)
        page = get(site)
        assert (page.status, page.body) == (int(status[:3]), b"")


def test_a_host_that_does_not_exist_or_answer_is_reported() -> None:
    def unknown(host: str, port: int) -> list[str]:
        raise socket.gaierror(-2, "Name or service not known")

    with pytest.raises(ReadError, match="no host nowhere.example"):
        safe_fetch(
            "http://nowhere.example/", FetchRules(NetworkPolicy(resolve=unknown), seconds=5)
        )
    with pytest.raises(ReadError, match="no host"):
        safe_fetch(
            "http://nowhere.example/",
            FetchRules(NetworkPolicy(resolve=lambda host, port: []), seconds=5),
        )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(ReadError, match="cannot be reached"):
        safe_fetch(
            f"http://127.0.0.1:{port}/",
            FetchRules(NetworkPolicy(frozenset({("127.0.0.1", port)})), seconds=5),
        )


def test_every_address_of_a_host_is_tried_both_kinds_in_turn() -> None:
    tried: list[str] = []

    def dial(address: Address, port: int, seconds: float) -> socket.socket:
        tried.append(str(address))
        raise ConnectionRefusedError(111, "refused")

    many = [f"2606:4700::{at}" for at in range(1, 6)] + ["93.184.216.34"]
    with pytest.raises(ReadError, match="cannot be reached"):
        safe_fetch(
            "http://example.org/",
            FetchRules(NetworkPolicy(resolve=lambda host, port: many, connect=dial), seconds=5),
        )
    assert tried == ["2606:4700::1", "93.184.216.34", "2606:4700::2", "2606:4700::3"]


def test_a_resolver_that_hangs_is_not_waited_for() -> None:
    from threading import Event

    never = Event()

    def hang(host: str, port: int) -> list[str]:
        never.wait(20)
        return ["93.184.216.34"]

    with pytest.raises(ReadError, match="in time"):
        safe_fetch("http://example.org/", FetchRules(NetworkPolicy(resolve=hang), seconds=0.3))
    never.set()


def test_every_refusal_is_one_of_ours_and_has_a_sentence() -> None:
    for url in TRICKY:
        with pytest.raises(RagstoneError) as caught:
            safe_fetch(url, FetchRules(NetworkPolicy(resolve=_to_this_machine), seconds=5))
        assert len(caught.value.message) > 10
        assert "\n" not in caught.value.message
