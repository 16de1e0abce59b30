"""Names that are left out: the quick look and the rules say the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.sources.folder.names import _GENERATED, _SECRET, _generated, _secret, _sieve, file_reason
from ragstone.sources.folder.patterns import Rules, Sieve

LINES = [line for line in (*_SECRET, *_GENERATED) if line]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (".env", "secret file"),
        (".ENV.local", "secret file"),
        (".env.example", None),
        ("prod.env", "secret file"),
        ("uv.lock", "generated file"),
        ("app.min.js", "generated file"),
        ("thing_pb2.py", "generated file"),
        ("main.py", None),
        ("é.md", None),
        ("", None),
    ],
)
def test_a_name_alone_says_why_a_file_is_left_out(name: str, reason: str | None) -> None:
    assert file_reason(name, secrets=False) == reason
    assert file_reason(name, secrets=True) == (None if reason == "secret file" else reason)


@given(st.one_of(st.text(max_size=12), st.sampled_from(LINES).flatmap(lambda line: st.just(line.strip("!").lower()))))
def test_the_sieve_holds_every_name_that_a_rule_speaks_of(name: str) -> None:
    name = name.replace("*", "x").replace("/", "").lower()
    if _secret().verdict(name) is not None or _generated().verdict(name) is not None:
        assert _sieve().holds(name)


@given(
    st.lists(st.text("ab.*?[]!-\\é", min_size=1, max_size=8), max_size=6),
    st.text("ab.-é", min_size=1, max_size=8),
)
def test_a_sieve_of_any_patterns_lets_through_only_what_they_do_not_speak_of(lines: list[str], name: str) -> None:
    if not Sieve(lines).holds(name):
        assert Rules.of(lines).verdict(name) is None
