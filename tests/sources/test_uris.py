from __future__ import annotations

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.sources.files import from_uri, to_uri


@pytest.mark.parametrize(
    ("raw", "uri"),
    [
        (b"docs/a.md", "docs/a.md"),
        ("grüße.md".encode(), "grüße.md"),
        (b"100%.txt", "100%.txt"),
        (b"a%20b.md", "a%20b.md"),
        (b"bad\xff.txt", "bad%FF.txt"),
        (b"looks%FF.txt", "looks%25FF.txt"),
        (b"looks%25FF.txt", "looks%2525FF.txt"),
        (b"%\xff", "%%FF"),
    ],
)
def test_only_bytes_that_are_not_unicode_are_escaped(raw: bytes, uri: str) -> None:
    assert to_uri(os.fsdecode(raw)) == uri
    assert os.fsencode(from_uri(uri)) == raw


@given(st.binary(max_size=20) | st.text(alphabet="%25F8aé", max_size=12).map(str.encode))
@settings(max_examples=500, deadline=None)
def test_every_name_comes_back_and_its_uri_is_sound_text(raw: bytes) -> None:
    uri = to_uri(os.fsdecode(raw))
    assert uri.encode("utf-8").decode("utf-8") == uri
    assert os.fsencode(from_uri(uri)) == raw


@given(
    st.lists(
        st.binary(max_size=6) | st.sampled_from([b"%FF", b"\xff", b"%25FF"]),
        unique=True,
        max_size=10,
    )
)
@settings(max_examples=150, deadline=None)
def test_two_names_never_share_a_uri(names: list[bytes]) -> None:
    assert len({to_uri(os.fsdecode(name)) for name in names}) == len(names)
