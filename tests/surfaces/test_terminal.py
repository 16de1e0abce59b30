"""What a person at a terminal sees."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragstone.surfaces.cli.hits import matching_lines
from ragstone.surfaces.cli.progress import Bar
from ragstone.surfaces.cli.shell import number, safe, size
from ragstone.text import query_terms
from ragstone.types import Hit, Span

COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-7]")


def at_a_terminal(arguments: list[str], cwd: Path, env: dict[str, str], typed: bytes = b"") -> tuple[int, str]:
    """Run the command with a terminal for all three streams and return its exit code and all that it showed."""
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "ragstone", *arguments],
        cwd=cwd, env=env | {"TERM": "xterm-256color"}, stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    if typed:
        os.write(ours, typed)
    shown = b""
    try:
        while block := os.read(ours, 65536):
            shown += block
    except OSError:
        pass  # the other end is closed
    os.close(ours)
    return process.wait(60), shown.decode("utf-8", "replace")


def test_hits_are_in_colour_at_a_terminal_and_plain_where_nobody_wants_it(
    command: Callable[..., Any], project: Path, environment: dict[str, str]
) -> None:
    plain = command("search", "durability").out
    assert "\x1b" not in plain
    coloured = {name: value for name, value in environment.items() if name != "NO_COLOR"}
    code, shown = at_a_terminal(["search", "durability"], project, coloured)
    assert code == 0
    assert COLOUR.search(shown)
    code, shown = at_a_terminal(["search", "durability"], project, environment)
    assert not COLOUR.search(shown)
    assert plain.splitlines()[0] in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)


def test_a_person_is_asked_about_the_home_folder(project: Path, environment: dict[str, str]) -> None:
    home = project.parent
    code, shown = at_a_terminal(["search", "upload"], home, environment, b"n\n")
    assert (code, "home folder" in shown) == (130, True)
    assert not (home / ".ragstone").exists()
    code, shown = at_a_terminal(["search", "upload"], home, environment, b"y\n")
    assert (code, "quarry/README.md:" in shown) == (0, True), shown


def test_control_characters_become_visible() -> None:
    assert safe("a\x1b[2Jb\r\n\x7f\x9b\u202e\t|") == "a␛[2Jb␍␊␡\\u009b\\u202e    |"
    assert safe("Größe 🪨 日本") == "Größe 🪨 日本"


def test_the_lines_that_share_most_with_the_query_are_shown() -> None:
    lines = ["import granite", "", *(f"granite {n}" for n in range(8)), "granite and marble"]
    hit = Hit("a__chunk_0", "\n".join(lines), 1.0, {}, "a", 0, "default", Span(0, 1, 0, 1, 10, 20))
    chosen = matching_lines(hit, frozenset(query_terms("granite marble")), most=3)
    assert chosen == [(10, "import granite"), (12, "granite 0"), (20, "granite and marble")]
    assert matching_lines(hit, frozenset(query_terms("basalt")), most=3) == [
        (10, "import granite"),
        (12, "granite 0"),
        (13, "granite 1"),
    ]


def test_a_bar_at_a_terminal_tells_how_far_it_is_and_leaves_nothing_behind(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with Bar() as progress:
        progress("index", 1, 1000)
        assert capsys.readouterr().err == ""  # work that is over at once needs none
        progress._begun -= 10
        progress("index", 500, 1000)
        halfway = capsys.readouterr().err
        progress("embed", 3000, 3000)
        progress("scan", 12, 0)
        after = capsys.readouterr().err
    assert halfway.startswith("\r indexing ###############............... 500/1,000 files")
    assert "  vectors ############################## 3,000/3,000 texts 0:00" in after
    assert "  looking 12 files" in after
    left = capsys.readouterr().err
    assert left.strip() == ""
    assert left.endswith("\r")


def test_progress_outside_a_terminal_is_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    with Bar() as progress:
        for done in range(1000):
            progress("index", done, 1000)
    assert capsys.readouterr().err == ""
    with Bar() as progress:
        progress._begun -= 10
        progress._last_line -= 10
        for done in range(1000):
            progress("embed", done, 1000)
    assert capsys.readouterr().err == "vectors: 0 of 1,000 texts\n"


def test_counts_and_sizes_read_well() -> None:
    assert (number(1, "file"), number(2000, "file"), number(0, "match", "matches")) == (
        "1 file",
        "2,000 files",
        "0 matches",
    )
    assert (size(999), size(1_500_000), size(2_000_000_000_000)) == ("999 bytes", "1.5 MB", "2000.0 GB")
