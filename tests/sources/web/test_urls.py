"""One spelling for each address, and none that two programs read in two ways."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.errors import InputError
from ragstone.sources.web.urls import join_url, parse_url, scheme_of

ALIKE = {
    "HTTP://Example.ORG": "http://example.org/",
    "http://example.org:80/": "http://example.org/",
    "https://example.org:443": "https://example.org/",
    "http://example.org:8080/x": "http://example.org:8080/x",
    "http://example.org./a": "http://example.org/a",
    "http://example.org/a/./b/../c": "http://example.org/a/c",
    "http://example.org/a/%2e%2E/c": "http://example.org/c",
    "http://example.org//a//b": "http://example.org//a//b",
    "http://example.org/a#part": "http://example.org/a",
    "http://example.org?q=1": "http://example.org/?q=1",
    "http://bücher.example/ü?q=ä": "http://xn--bcher-kva.example/%C3%BC?q=%C3%A4",
    "http://example。org/": "http://example.org/",
    "http://１２７.0.0.1/": "http://127.0.0.1/",
    "http://①②⑦.0.0.1/": "http://127.0.0.1/",
    "http://[0:0:0:0:0:0:0:1]/": "http://[::1]/",
    "http://[2606:2800:0220:0001::1]:8080/": "http://[2606:2800:220:1::1]:8080/",
    "http://example.org:/x": "http://example.org/x",
}
REFUSED = [
    "", "example.org", "//example.org", "ftp://example.org/", "file:///etc/passwd", "gopher://x/", "data:text/html,x",
    "javascript:alert(1)", "http:", "http://", "http:///x", "http:/example.org", "http://:80/", "http://.", "http://..",
    "http://user@example.org/", "http://user:pass@example.org/", "http://example.org@127.0.0.1/", "http://a@b@c/",
    "http://exa mple.org/", "http://example.org/a b", "http://example.org/\n", "http://example.org\\@evil.org/",
    "http://example.org/\x00", "http://example.org\t/", "http://ex\u200bample.org:99999/", "http://example.org:0/",
    "http://example.org:99999/", "http://example.org:-1/", "http://example.org:8x/", "http://a:80:80/",
    "http://127.1/", "http://127.0.1/", "http://2130706433/", "http://0x7f000001/", "http://0x7f.0.0.1/",
    "http://0177.0.0.1/", "http://017700000001/", "http://127.0.0.1.5/", "http://256.0.0.1/", "http://1.2.3.04/",
    "http://127.0.0.0x1/", "http://foo.0x1/", "http://٣.1.1.1/", "http://0/", "http://0x/", "http://127.0.0.1../",
    "http://[::1/", "http://::1/", "http://[::1%eth0]/", "http://[::1%25eth0]/", "http://[fe80::1%25lo]/",
    "http://[127.0.0.1]/", "http://[::1]x/", "http://[]/", "http://[v1.x]/", "http://exa%6dple.org/", "http://%31/",
    "http://127%2e0%2e0%2e1/", "http://-a.org/", "http://a-.org/", "http://a..org/", "http://a,b/", "http://a*b/",
    "http://" + "a" * 64 + ".org/", "http://" + "a." * 200 + "org/", "http://example.org/" + "a" * 5000,
]  # fmt: skip


@pytest.mark.parametrize(("written", "spelled"), ALIKE.items())
def test_an_address_has_one_spelling(written: str, spelled: str) -> None:
    assert parse_url(written).text == spelled
    assert parse_url(spelled).text == spelled


@pytest.mark.parametrize("written", REFUSED)
def test_ambiguous_addresses_are_refused(written: str) -> None:
    with pytest.raises(InputError):
        parse_url(written)


@given(st.text(string.printable + "äß。①٣\u200b\u3000%[]@\\", max_size=40))
def test_any_text_gives_an_address_or_an_error(written: str) -> None:
    for text in (written, f"http://{written}", f"http://example.org/{written}"):
        try:
            url = parse_url(text)
        except InputError:
            continue
        assert url.text.isascii()
        assert parse_url(url.text) == url
        assert "/../" not in url.target


def test_a_redirect_is_read_as_a_browser_reads_it() -> None:
    base = parse_url("https://example.org/a/b?q=1")
    assert join_url(base, "c").text == "https://example.org/a/c"
    assert join_url(base, "/c#x").text == "https://example.org/c"
    assert join_url(base, "//other.example/c").text == "https://other.example/c"
    assert join_url(base, "?p=2").text == "https://example.org/a/b?p=2"
    for bad in (
        "javascript:alert(1)",
        "file:///etc/passwd",
        "http://[",
        "https://user@x/",
        "http://a\nb/",
    ):
        with pytest.raises(InputError):
            join_url(base, bad)


def test_a_path_is_not_taken_for_an_address() -> None:
    assert [scheme_of(text) for text in ("HTTPS://x", "ftp://x", "docs/a.md", "C:\\a", "a:b", "-")] == [
        "https", "ftp", "", "", "", ""
    ]  # fmt: skip
