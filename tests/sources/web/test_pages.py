"""Which pages are read, and the file names that choose their readers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.errors import ReadError
from ragstone.sources.web.client import NetworkPolicy
from ragstone.sources.web.fetch import FetchedPage, FetchRules
from ragstone.sources.web.pages import (
    PageVisitor,
    file_name,
    page_bytes,
    suffix_of,
    title_from_url,
)
from ragstone.sources.web.urls import parse_url
from tests.support.local_site import Site, reply, serving


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(Site()) as opened:
        yield opened


def page(
    url: str, media_type: str = "text/html", charset: str = "", body: bytes = b""
) -> FetchedPage:
    return FetchedPage(parse_url(url), 200, media_type, charset, body=body)


@pytest.mark.parametrize(
    ("media_type", "path", "suffix"),
    [
        ("text/html", "/", "html"), ("application/xhtml+xml", "/", "html"), ("text/html", "/a.md", "html"),
        ("text/plain", "/", "txt"), ("text/plain", "/README.md", "md"), ("text/plain", "/page.html", "txt"),
        ("text/plain", "/run.exe", "txt"), ("text/markdown", "/x", "md"), ("text/csv", "/x", "csv"),
        ("application/json", "/", "json"), ("application/ld+json", "/", "json"), ("application/rss+xml", "/", "xml"),
        ("application/pdf", "/x", "pdf"), ("application/octet-stream", "/paper.PDF", "pdf"), ("", "/notes.txt", "txt"),
        ("text/x-python", "/x.py", "txt"), ("image/svg+xml", "/x.svg", None), ("image/png", "/x.md", None),
        ("application/zip", "/x.md", None), ("application/octet-stream", "/x", None), ("", "/", None),
        ("video/mp4", "/x", None), ("application/octet-stream", "/x.exe", None),
    ],
)  # fmt: skip
def test_a_type_says_which_reader_is_meant(
    media_type: str, path: str, suffix: str | None
) -> None:
    assert suffix_of(media_type, path) == suffix


@pytest.mark.parametrize(
    ("url", "media_type", "name"),
    [
        ("http://x/", "text/html", "index.html"), ("http://x/a/b", "text/html", "b.html"),
        ("http://x/a/b.html?c=d", "text/html", "b.html"), ("http://x/a/", "text/html", "index.html"),
        ("http://x/README.MD", "text/plain", "README.MD"), ("http://x/a.php", "text/html", "a.php.html"),
        ("http://x/..%2F..%2Fetc", "text/plain", "2F..-2Fetc.txt"), ("http://x/%00", "text/plain", "00.txt"),
    ],
)  # fmt: skip
def test_a_page_is_named_as_its_file_would_be(url: str, media_type: str, name: str) -> None:
    assert file_name(page(url, media_type)) == name


@given(st.text(max_size=30))
def test_a_name_is_always_one_name(path: str) -> None:
    from urllib.parse import quote

    name = file_name(page(f"http://x/{quote(path)}", "text/plain"))
    assert name
    assert "/" not in name
    assert not name.startswith(".")


def test_an_encoding_of_the_server_is_used_unless_it_is_wrong() -> None:
    assert (
        page_bytes(page("http://x/", charset="iso-8859-1", body=b"caf\xe9")).decode("utf-8-sig")
        == "café"
    )
    assert (
        page_bytes(
            page("http://x/", charset="shift_jis", body="猫".encode("shift_jis"))
        ).decode("utf-8-sig")
        == "猫"
    )
    for charset in ("utf-8", "", "idna", "rot13", "unicode_escape", "zip", "no-such", "utf-16"):
        assert (
            page_bytes(page("http://x/", charset=charset, body=b"caf\xc3\xa9"))
            == b"caf\xc3\xa9"
        )
    assert (
        page_bytes(page("http://x/", charset="iso-8859-1", body=b"\xef\xbb\xbfx"))
        == b"\xef\xbb\xbfx"
    )


def test_a_title_is_the_address_without_scheme_and_query() -> None:
    assert title_from_url(parse_url("https://example.org/a/b/?c=d#e")) == "example.org/a/b"
    assert title_from_url(parse_url("https://example.org:8443/")) == "example.org:8443"


def test_a_type_without_a_reader_is_refused_before_the_body_is_read(site: Site) -> None:
    visitor = PageVisitor(FetchRules(NetworkPolicy(site.allow), seconds=5))
    for media_type in ("image/png", "application/zip", "video/mp4", ""):
        site.routes["/x"] = reply(b"\x89PNG", type=media_type)
        with pytest.raises(ReadError, match=r"no reader|does not say"):
            visitor.visit(f"{site.origin}/x")


def test_a_page_that_is_not_there_is_a_reason(site: Site) -> None:
    visitor = PageVisitor(FetchRules(NetworkPolicy(site.allow), seconds=5))
    for status, description in (
        ("404 Not Found", "404 Not Found"),
        ("500 X", "500 Internal"),
        ("599 X", "says 599"),
    ):
        site.routes["/x"] = reply(status=status)
        with pytest.raises(ReadError, match=description):
            visitor.visit_existing(f"{site.origin}/x")
