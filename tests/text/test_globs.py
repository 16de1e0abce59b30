from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.text.globs import matches_path


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.md", "a.md", True),
        ("*.md", "docs/deep/a.md", True),
        ("*.md", "a.mdx", False),
        ("README", "docs/README", True),
        ("docs/*.md", "docs/a.md", True),
        ("docs/*.md", "docs/deep/a.md", False),
        ("docs/**", "docs/a.md", True),
        ("docs/**", "docs/deep/a.md", True),
        ("docs/**", "docs", False),
        ("docs/", "docs/deep/a.md", True),
        ("docs", "docs/a.md", True),
        ("docs", "docs/deep/a.md", True),
        ("docs", "site/docs/a.md", True),
        ("docs", "docs.md", False),
        ("docs", "mydocs/a.md", False),
        ("site/docs", "site/docs/deep/a.md", True),
        ("site/docs", "other/site/docs/a.md", False),
        ("./docs", "docs/a.md", True),
        ("./docs", "site/docs/a.md", False),
        ("/README", "README", True),
        ("/README", "docs/README", False),
        ("docs*", "docs1/a.md", False),
        ("docs/**/*.md", "docs/a.md", True),
        ("docs/**/*.md", "docs/x/y/a.md", True),
        ("docs/**/*.md", "src/docs/a.md", False),
        ("**/docs/*.md", "docs/a.md", True),
        ("**/docs/*.md", "x/docs/a.md", True),
        ("**/tests/**", "a/tests/b/c", True),
        ("**/tests/**", "a/test/b/c", False),
        ("**", "anything/at/all", True),
        ("./src/a.py", "src/a.py", True),
        ("/src/a.py", "src/a.py", True),
        ("src/?.py", "src/a.py", True),
        ("src/?.py", "src/ab.py", False),
        ("src/[ab].py", "src/b.py", True),
        ("src/[!ab].py", "src/b.py", False),
        ("src/[a-c]x[0-9]", "src/bx7", True),
        ("src/[a", "src/[a", True),
        ("a*b*c", "x/a--b--c", True),
        ("a*b*c", "acb", False),
        ("*a", "aaba", True),
        ("", "", True),
        ("a.b", "axb", False),
        ("*.py", "línea nueva\n.py", True),
    ],
)
def test_patterns_mean_what_they_say(pattern: str, path: str, fits: bool) -> None:
    assert matches_path(pattern, path) is fits


def _segment_fits(pattern: str, name: str) -> bool:
    if not pattern:
        return not name
    if pattern[0] == "*":
        return any(_segment_fits(pattern[1:], name[i:]) for i in range(len(name) + 1))
    return bool(name) and pattern[0] in ("?", name[0]) and _segment_fits(pattern[1:], name[1:])


def _fits(pattern: list[str], path: list[str]) -> bool:
    """Return the answer in the plainest way, trying everything."""
    if not pattern:
        return not path
    if pattern == ["**"]:
        return bool(path)
    if pattern[0] == "**":
        return any(_fits(pattern[1:], path[i:]) for i in range(len(path) + 1))
    return bool(path) and _segment_fits(pattern[0], path[0]) and _fits(pattern[1:], path[1:])


names = st.text("ab", min_size=1, max_size=4)
pieces = st.one_of(
    st.just("**"), st.text("ab*?", min_size=1, max_size=5).filter(lambda text: "**" not in text)
)


@settings(max_examples=600, deadline=None)
@given(st.lists(pieces, min_size=2, max_size=5), st.lists(names, min_size=1, max_size=5))
def test_patterns_agree_with_the_plainest_reading(pattern: list[str], path: list[str]) -> None:
    joined = "/".join(pattern)
    below = not set("*?") & set(joined) and _fits(
        [*pattern, "**"], path
    )  # a plain name is a folder too
    assert matches_path(joined, "/".join(path)) is (below or _fits(pattern, path))


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_text_is_a_pattern(pattern: str, path: str) -> None:
    assert matches_path(pattern, path) in (True, False)


def test_a_hostile_pattern_ends() -> None:
    assert not matches_path("*a" * 60 + "b", "a" * 2000)
    assert not matches_path("**/a/" * 60 + "b", "a/" * 1000 + "c")
    assert not matches_path("**/*a*/" * 30 + "b", "aa/" * 500 + "c")
