from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ragstone.sources.folder.ignore_rules import IgnoreRules, parse_line
from ragstone.sources.folder.selection import FileLimits
from ragstone.sources.folder.source import FolderSource
from ragstone.types import Item

PATHS = """
a b ab a.x b.x a.x.y [a] a!b #a !a a-b é.x z
d/a d/b d/a.x d/e/a d/e/b.x d/e/f/a d/e/f/a.x
e/a e/d/a e/d/e/b e/f.x x.d/a x.d/b.x x.d/d/a.x
""".split()


@pytest.mark.parametrize(
    ("lines", "path", "folder", "verdict"),
    [
        (["*.log"], "deep/down/x.log", False, True),
        (["*.log", "!keep.log"], "keep.log", False, False),
        (["/top"], "below/top", False, None),
        (["build/"], "build", False, None),
        (["build/"], "src/build", True, True),
        (["docs/*.md"], "docs/deep/a.md", False, None),
        (["docs/**/*.md"], "docs/deep/er/a.md", False, True),
        (["docs/**/*.md"], "docs/a.md", False, True),
        (["**/cache"], "a/b/cache", True, True),
        (["a/**"], "a", True, None),
        (["a/**"], "a/b/c", False, True),
        (["a/*"], "a", True, None),
        (["a", "!a/*"], "a", True, True),
        (["[[:digit:]]*"], "7up", False, True),
        (["[!a]"], "b", False, True),
        (["[!a]"], "a", False, None),
        (["[]-]"], "]", False, True),
        (["[z-a]"], "b", False, None),
        (["[oops"], "[oops", False, None),
        (["[[:nosuch:]]"], "a", False, None),
        (["\\#not-a-comment"], "#not-a-comment", False, True),
        (["# a comment"], "# a comment", False, None),
        (["\\!bang"], "!bang", False, True),
        (["space\\ "], "space ", False, True),
        (["space  "], "space", False, True),
        (["ends\\"], "ends\\", False, None),
        (["crlf\r"], "crlf", False, True),
        (["/"], "a", False, None),
        (["a\nb?c"], "x/a\nbxc", False, True),
    ],
)
def test_patterns_mean_the_same_as_in_git(
    lines: list[str], path: str, folder: bool, verdict: bool | None
) -> None:
    assert IgnoreRules(lines).verdict(path, is_folder=folder) is verdict


@pytest.mark.parametrize(
    "pattern",
    [
        "*a" * 60 + "b",
        "**/" + "*a*/**/" * 40 + "b",
        "[a-z]*" * 60 + "!",
        "?*" * 60 + "!",
        "a/" + "**/" * 60 + "b",
    ],
)
def test_a_hostile_pattern_ends_at_once(pattern: str) -> None:
    path = "/".join(["a" * 100] * 20)
    assert IgnoreRules([pattern]).verdict(path) is None
    assert IgnoreRules([pattern]).verdict("a" * 4000) is None


@given(
    st.text(alphabet="ab*?[]!-\\/^:.", max_size=20),
    st.text(alphabet="ab/.", min_size=1, max_size=20),
)
@settings(max_examples=500, deadline=None)
def test_no_pattern_raises(pattern: str, path: str) -> None:
    parse_line(pattern)
    assert IgnoreRules([pattern]).verdict(path) in (True, False, None)


PIECE = st.sampled_from(
    [
        "a",
        "b",
        "d",
        "e",
        "f",
        "x",
        "*",
        "**",
        "?",
        ".",
        ".x",
        "[ab]",
        "[!a]",
        "/",
        "**/",
        "/**",
        "é",
    ]
)
LINE = st.builds(
    lambda bang, slash, pieces, end: bang + slash + "".join(pieces) + end,
    st.sampled_from(["", "", "", "!"]),
    st.sampled_from(["", "", "/"]),
    st.lists(PIECE, min_size=1, max_size=5),
    st.sampled_from(["", "", "/", " ", "\r"]),
)
FILE = st.lists(LINE, max_size=5)


@given(FILE, FILE, FILE)
@example(["a", "?.x"], [], [])  # to git é is two
@example(["e**", "/d/f**"], ["e**/"], [])
@example(["[!a].x", "[é].x", "é?"], ["??.x"], ["*é*"])
@example([], [], ["f", "!f/*"])  # a line about its files does not take back a folder
@settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_our_walk_and_git_ignore_the_same_files(
    folder: Path, git: Callable[..., bytes], top: list[str], inner: list[str], deep: list[str]
) -> None:
    if not (folder / ".git").exists():
        git("init", "-q")
        for path in PATHS:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text("x")
    for place, lines in ((folder, top), (folder / "d", inner), (folder / "d/e", deep)):
        (place / ".gitignore").write_bytes("\n".join(lines).encode())
    listed = git("ls-files", "-o", "--exclude-standard", "-z").decode().split("\0")
    entries = FolderSource(folder, limits=FileLimits(1000, 1000), git=False).scan()
    left = [
        entry.uri
        for entry in entries
        if isinstance(entry, Item) or entry.reason == "ignore file"
    ]
    assert left == sorted(filter(None, listed))
