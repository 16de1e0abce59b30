"""Output on a terminal: colours, questions, progress and tables."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragstone.surfaces.cli.hits import matching_lines
from ragstone.surfaces.cli.output import format_bytes, printable
from ragstone.surfaces.cli.progress import ProgressDisplay
from ragstone.text import query_terms
from ragstone.text.counts import plural
from ragstone.types import Hit, Span

COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-7]")


def run_in_terminal(
    arguments: list[str], cwd: Path, env: dict[str, str], typed: bytes = b""
) -> tuple[int, str]:
    """Run Python with a terminal for all three streams; return the exit code and the output."""
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, *arguments],
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


def test_hits_are_coloured_on_a_terminal_unless_no_color_is_set(
    command: Callable[..., Any], project: Path, environment: dict[str, str]
) -> None:
    plain = command("search", "durability").out
    assert "\x1b" not in plain
    coloured = {name: value for name, value in environment.items() if name != "NO_COLOR"}
    code, shown = run_in_terminal(["-m", "ragstone", "search", "durability"], project, coloured)
    assert code == 0
    assert COLOUR.search(shown)
    code, shown = run_in_terminal(
        ["-m", "ragstone", "search", "durability"], project, environment
    )
    assert not COLOUR.search(shown)
    assert plain.splitlines()[0] in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)


def test_indexing_the_home_folder_needs_a_confirmation(
    project: Path, environment: dict[str, str]
) -> None:
    home = project.parent
    code, shown = run_in_terminal(
        ["-m", "ragstone", "search", "upload"], home, environment, b"n\n"
    )
    assert (code, "home folder" in shown) == (130, True)
    assert not (home / ".ragstone").exists()
    code, shown = run_in_terminal(
        ["-m", "ragstone", "search", "upload"], home, environment, b"y\n"
    )
    assert (code, "quarry/README.md:" in shown) == (0, True), shown


def test_control_characters_are_made_visible() -> None:
    assert printable("a\x1b[2Jb\r\n\x7f\x9b\u202e\t|") == "a␛[2Jb␍␊␡\\u009b\\u202e    |"
    assert printable("Größe 🪨 日本") == "Größe 🪨 日本"


def test_the_lines_that_share_most_with_the_query_are_shown() -> None:
    lines = ["import granite", "", *(f"granite {n}" for n in range(8)), "granite and marble"]
    hit = Hit(
        "a__chunk_0", "\n".join(lines), 1.0, {}, "a", 0, "default", Span(0, 1, 0, 1, 10, 20)
    )
    chosen = matching_lines(hit, frozenset(query_terms("granite marble")), max_lines=3)
    assert chosen == [(10, "import granite"), (12, "granite 0"), (20, "granite and marble")]
    assert matching_lines(hit, frozenset(query_terms("basalt")), max_lines=3) == [
        (10, "import granite"),
        (12, "granite 0"),
        (13, "granite 1"),
    ]


def test_a_bar_shows_the_progress_and_disappears(
    project: Path, environment: dict[str, str]
) -> None:
    program = (
        "import time\n"
        "from ragstone.surfaces.cli.progress import ProgressDisplay\n"
        "with ProgressDisplay() as progress:\n"
        "    progress('scan', 1, 0)\n"
        "    time.sleep(0.5)\n"
        "    progress('index', 500, 1000)\n"
        "    time.sleep(0.3)\n"
        "    progress('embed', 3000, 3000)\n"
    )
    code, shown = run_in_terminal(["-c", program], project, environment)
    assert code == 0
    assert "looking" not in shown  # short work shows no progress
    assert "indexing" in shown and "500/1,000 files" in shown
    assert "vectors" in shown and "3,000/3,000 texts" in shown
    assert shown.endswith("\x1b[2K")  # the line of the bar is erased


def test_without_a_terminal_progress_is_a_line_every_few_seconds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with ProgressDisplay() as progress:
        for done in range(1000):
            progress("index", done, 1000)
        assert capsys.readouterr().err == ""
        now[0] += 10
        for done in range(1000):
            progress("embed", done, 1000)
    assert capsys.readouterr().err == "vectors: 0 of 1,000 texts\n"


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_a_table_is_not_wider_than_the_terminal(
    project: Path, environment: dict[str, str], columns: int
) -> None:
    place = "app/Http/Controllers/" + "Deeply/" * 20 + "StoneController.php:27"
    program = (
        "from ragstone.surfaces.cli.output import print_table\n"
        f"print_table([('GET', 'api/stones/' + 'x' * 90, {place!r}), ('PUT', 'api', 'a.php:8')], ('bold', 'cyan'))\n"
    )
    code, shown = run_in_terminal(
        ["-c", program], project, environment | {"COLUMNS": str(columns)}
    )
    lines = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown).splitlines()
    assert code == 0
    assert all(len(line) <= columns for line in lines)
    assert "".join(lines).count("D") == 20  # nothing is cut off


def test_chinese_text_in_a_table_takes_two_places_a_character(
    project: Path, environment: dict[str, str]
) -> None:
    program = (
        "from ragstone.surfaces.cli.output import print_table\n"
        "print_table([('花岗岩' * 12, 'slate and marble ' * 3), ('a', 'b')], ('bold',))\n"
    )
    code, shown = run_in_terminal(["-c", program], project, environment | {"COLUMNS": "40"})
    lines = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown).splitlines()
    assert code == 0 and "".join(lines).count("岗") == 12
    assert all(len(line) + sum(map(line.count, "花岗岩")) <= 40 for line in lines)


def test_counts_and_sizes_read_well() -> None:
    assert (plural(1, "file"), plural(2000, "file"), plural(0, "match", "matches")) == (
        "1 file",
        "2,000 files",
        "0 matches",
    )
    assert (format_bytes(999), format_bytes(1_500_000), format_bytes(2_000_000_000_000)) == (
        "999 bytes",
        "1.5 MB",
        "2000.0 GB",
    )
