"""The robots.txt of a site is respected for every address on the way."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.errors import AccessError, ReadError
from ragstone.sources.web.client import NetworkPolicy
from ragstone.sources.web.fetch import FetchRules
from ragstone.sources.web.pages import PageVisitor
from ragstone.sources.web.robots import is_allowed, parse_robots
from tests.support.local_site import Site, redirect, reply, serving

SAMPLE = """\ufeff
# a comment
User-agent: other
Disallow: /

User-Agent: *
Disallow: /private   # not for programs
Disallow: /*.pdf$
Disallow: /search?q=
Allow: /private/open
Disallow: /a*/secret
Disallow: /caf\u00e9
Disallow: /%7Ejoe
Disallow: /exact$
Crawl-delay: 10
Sitemap: https://example.org/sitemap.xml
nonsense
Disallow:
"""


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(
        Site(routes={"/page": reply("a page"), "/private": reply("not yours")})
    ) as opened:
        yield opened


def visitor(site: Site, seconds: float = 5.0) -> PageVisitor:
    return PageVisitor(FetchRules(NetworkPolicy(site.allow), seconds=seconds))


@pytest.mark.parametrize(
    ("path", "welcome"),
    [
        ("/", True), ("/public", True), ("/private", False), ("/private/x", False), ("/privately", False),
        ("/private/open/x", True), ("/x/y.pdf", False), ("/x/y.pdf?z", True), ("/search?q=1", False),
        ("/search?p=1", True), ("/a/b/secret", False), ("/abc/secrets", False), ("/a", True), ("/caf%C3%A9", False),
        ("/caf%c3%a9/x", False), ("/~joe", False), ("/%7ejoe", False), ("/exact", False), ("/exactly", True),
    ],
)  # fmt: skip
def test_the_longest_rule_decides(path: str, welcome: bool) -> None:
    assert is_allowed(parse_robots(SAMPLE), path) is welcome


def test_a_group_of_our_own_counts_instead_of_the_one_for_everyone() -> None:
    ours = "User-agent: x\nUser-agent: RagStone/2\nDisallow: /no\n\nUser-agent: ragstone\nAllow: /no/yes"
    rules = parse_robots(f"User-agent: *\nDisallow: /\n\n{ours}")
    assert [is_allowed(rules, path) for path in ("/", "/no", "/no/yes")] == [True, False, True]
    assert is_allowed(
        parse_robots("User-agent: ragstone\nAllow: /\nUser-agent: *\nDisallow: /"), "/"
    )
    assert is_allowed(parse_robots("Disallow: /"), "/")  # a rule without a group


@given(st.text(max_size=200), st.text(max_size=50))
def test_any_robots_file_gives_an_answer(text: str, path: str) -> None:
    assert is_allowed(parse_robots(f"User-agent: *\n{text}"), f"/{path}") in (True, False)


@given(
    st.lists(st.sampled_from(["a", "b", "*", "/", "$"]), max_size=12),
    st.text("ab/", max_size=12),
)
def test_a_pattern_matches_like_the_equal_expression(parts: list[str], path: str) -> None:
    import re

    pattern = "/" + "".join(parts)
    body = "".join(
        ".*" if sign == "*" else re.escape(sign) for sign in pattern.removesuffix("$")
    )
    expected = re.match(body + ("$" if pattern.endswith("$") else ""), f"/{path}") is None
    assert (
        is_allowed(parse_robots(f"User-agent: *\nDisallow: {pattern}"), f"/{path}") is expected
    )


def test_a_hostile_file_costs_little() -> None:
    text = (
        "User-agent: *\n"
        + "Disallow: /"
        + "*a" * 200
        + "b\n"
        + "Disallow: /*a*b*c*d*e\n" * 20_000
    )
    assert is_allowed(parse_robots(text), "/" + "a" * 3000)
    many = "".join(f"User-agent: a{at}\n" for at in range(20_000)) + "Disallow: /x\n" * 20_000
    assert parse_robots(many) == []


def test_an_unwelcome_visit_is_not_made(site: Site) -> None:
    site.routes["/robots.txt"] = reply("User-agent: *\nDisallow: /private")
    with pytest.raises(AccessError, match="asks programs not to"):
        visitor(site).visit(f"{site.origin}/private?x=1")
    assert site.asked == []


def test_a_redirect_to_a_disallowed_page_is_not_followed(site: Site) -> None:
    site.routes |= {
        "/robots.txt": reply("User-agent: *\nDisallow: /private"),
        "/page": redirect("/x/../private"),
    }
    with pytest.raises(AccessError, match="asks programs not to"):
        visitor(site).visit(f"{site.origin}/page")
    assert site.asked == ["/page"]


def test_robots_txt_is_fetched_once_in_a_run(site: Site) -> None:
    site.routes["/robots.txt"] = redirect("/robots")
    site.routes["/robots"] = reply(
        "User-agent: *\nDisallow: /private", type="application/octet-stream"
    )
    robot_visitor = visitor(site)
    for _ in range(3):
        assert robot_visitor.visit(f"{site.origin}/page").status == 200
    assert [request.target for request in site.requests] == [
        "/robots.txt",
        "/robots",
        "/page",
        "/page",
        "/page",
    ]
    with pytest.raises(AccessError):
        robot_visitor.visit(f"{site.origin}/private")


def test_a_site_without_wishes_is_visited_and_one_that_cannot_say_is_not(site: Site) -> None:
    for status in ("404 Not Found", "401 No", "403 Forbidden", "410 Gone"):
        site.routes["/robots.txt"] = reply(status=status)
        assert visitor(site).visit(f"{site.origin}/page").status == 200
    for trouble in (
        reply(status="503 Busy"),
        b"no HTTP\r\n\r\n",
        reply("x" * 600_000),
        redirect("/robots.txt"),
    ):
        site.routes["/robots.txt"] = trouble
        before = site.asked
        with pytest.raises(AccessError, match="not known"):
            visitor(site).visit(f"{site.origin}/page")
        assert site.asked == before


def test_a_host_that_does_not_answer_is_not_reached_and_not_forbidden() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    rules = FetchRules(NetworkPolicy(frozenset({("127.0.0.1", port)})), seconds=5.0)
    for _ in range(2):
        with pytest.raises(ReadError, match="^http://127.0.0.1:[0-9]+ cannot be reached"):
            PageVisitor(rules).visit(f"http://127.0.0.1:{port}/page")


def test_robots_files_are_not_fetched_from_refused_addresses(site: Site) -> None:
    site.routes["/robots.txt"] = redirect("http://169.254.169.254/latest")
    with pytest.raises((AccessError, ReadError), match="not public"):
        visitor(site).visit(f"{site.origin}/page")
    assert site.asked == []
