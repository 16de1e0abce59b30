"""Walking the help of a program: every command once, within a depth, a time and a count."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from ragstone.errors import InputError, ReadError
from ragstone.sources.command_help.help import (
    OUT_OF_TIME,
    REPEATS,
    TOO_DEEP,
    CapturedHelp,
    HelpLimits,
    HelpPage,
    capture,
    to_markdown,
)

pytestmark = pytest.mark.skipif(
    os.name != "posix", reason="programs are asked on Linux and macOS only"
)
NOWHERE = Path("/nonexistent")

TREE = """
import sys
commands = {"": ["remote", "status", "slow", "poor"], "remote": ["add", "show"], "remote add": ["deep"]}
words = [word for word in sys.argv[1:] if not word.startswith("-")]
if "--help" not in sys.argv:
    sys.exit("it did its work: " + " ".join(sys.argv))
if words == ["slow"]:
    import time
    time.sleep(600)
if words == ["poor"]:
    sys.exit("no")
print("Usage: tree", *words, "[OPTIONS] COMMAND\\n\\n  What", *words, "is for.\\n")
for name in commands.get(" ".join(words), []):
    print("Commands:" if name == commands[" ".join(words)][0] else "", end="\\n" if "Commands" else "")
    print(f"  {name}   About {name}.")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bin").mkdir()
    return tmp_path / "bin"


def program(folder: Path, name: str, source: str, *, shell: bool = False) -> str:
    path = folder / name
    path.write_text(f"#!{'/bin/sh' if shell else sys.executable}\n{source}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def walk(path: str, **limits: float | bool) -> CapturedHelp:
    return capture(path, limits=HelpLimits(**{"seconds": 30.0} | limits), project=NOWHERE)  # type: ignore[arg-type]


def commands(captured: CapturedHelp) -> list[str]:
    return [" ".join(page.words) for page in captured.pages]


def test_a_tree_is_walked_level_by_level(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragstone.sources.command_help.help._SECONDS_PER_RUN", 2.0)
    captured = walk(program(folder, "tree", TREE))
    assert commands(captured) == [
        "tree",
        "tree remote",
        "tree status",
        "tree remote add",
        "tree remote show",
    ]
    reasons = {
        " ".join(command.words): (command.reason, command.was_run)
        for command in captured.skipped
    }
    assert reasons == {
        "tree slow": ("it did not end in time", False),
        "tree poor": ("it gives no help", True),
        "tree remote add deep": (TOO_DEEP, False),
    }
    assert captured.notes == ()


def test_depth_and_count_and_time_are_limits(folder: Path) -> None:
    tree = program(folder, "tree", TREE.replace("600", "0"))
    assert commands(walk(tree, depth=0)) == ["tree"]
    few = walk(tree, commands=2)
    assert commands(few) == ["tree", "tree remote"]
    assert "not asked" in few.notes[0]
    hasty = program(
        folder, "hasty", TREE.replace('if words == ["slow"]', 'if words == ["remote"]')
    )
    captured = walk(hasty, seconds=2.0)
    assert {command.reason for command in captured.skipped} >= {OUT_OF_TIME}
    assert "not asked" in captured.notes[0]


def test_siblings_of_commands_that_repeat_help_are_not_run(folder: Path) -> None:
    listing = "\\n".join(f"  c{at}   Command {at}." for at in range(20))
    text = f"Usage: flat COMMAND\\n\\nCommands:\\n{listing}\\n"
    source = f"printf x >> {folder}/calls\nprintf '{text}'"
    captured = walk(program(folder, "flat", source, shell=True))
    assert commands(captured) == ["flat"]
    assert (folder / "calls").read_text() == "xxxx"
    assert {command.reason for command in captured.skipped} == {REPEATS}


def test_help_that_goes_to_errors_with_an_exit_code_is_help(folder: Path) -> None:
    source = "echo 'tool: unrecognised option --help' >&2; echo 'usage: tool [-v] file ...' >&2; exit 64"
    page = walk(program(folder, "tool", source, shell=True)).pages[0]
    assert page.texts[0][0] == "tool --help"
    assert "usage: tool [-v]" in page.texts[0][1]


def test_other_options_are_tried_if_help_is_refused(folder: Path) -> None:
    only = 'case "$*" in {0}) echo "This is the help of a tool that is hard to ask.";; *) echo bad; exit 2;; esac'
    for way in ("-h", "help"):
        page = walk(program(folder, "tool", only.format(way), shell=True)).pages[0]
        assert page.texts[0][0] == f"tool {way}"


def test_programs_that_stop_the_machine_are_run_with_help_only(folder: Path) -> None:
    halting = program(
        folder, "shutdown", f'echo "$*" >> {folder}/calls; echo bad; exit 2', shell=True
    )
    try:
        walk(halting)
    except ReadError:
        pass  # where the manual has no page on it either
    assert (folder / "calls").read_text() == "--help\n"


def test_a_program_that_does_its_work_instead_is_run_once(folder: Path) -> None:
    for name, source in {"silent": "exit 0", "busy": "echo done"}.items():
        with pytest.raises(ReadError, match="no help"):
            walk(program(folder, name, f"echo >> {folder}/{name}.log\n{source}", shell=True))
        assert (folder / f"{name}.log").read_text().count("\n") == 1


@pytest.mark.parametrize(
    "source",
    [
        "exec sleep 600", "while :; do echo flood flood flood flood flood flood; done", "cat", "exit 1", "kill -11 $$",
        "sleep 600 & sleep 601", "printf '\\033[31m'", "head -c 3000000 /dev/zero", "exec >&-; exec 2>&-; sleep 600",
    ],
)  # fmt: skip
def test_no_program_is_too_weird(folder: Path, source: str) -> None:
    with pytest.raises(ReadError) as caught:
        walk(program(folder, "weird-one-without-a-manual", source, shell=True), seconds=1.0)
    assert caught.value.message.startswith("weird-one-without-a-manual: ")


def test_odd_names_of_commands_are_arguments_and_never_options(folder: Path) -> None:
    source = "printf 'Usage: x [OPTIONS] COMMAND\\n\\nCommands:\\n  --all   Rm.\\n  $(id)   Sly.\\n  ../up   Up.\\n'"
    assert commands(walk(program(folder, "x", source, shell=True))) == ["x"]


def test_a_name_that_is_none_is_refused() -> None:
    for name in ("", " ", "no-such-program-here", "./nothing"):
        with pytest.raises(InputError):
            capture(name, limits=HelpLimits(), project=NOWHERE)


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
def test_the_help_of_git_is_captured() -> None:
    captured = capture("git", limits=HelpLimits(depth=1, commands=8), project=NOWHERE)
    assert commands(captured)[:3] == ["git", "git clone", "git init"]
    assert len(captured.skipped) > 20  # the longer list that `git help -a` gives
    clone = to_markdown(captured.pages[1])
    assert clone.startswith("# git clone\n\nWhat `git clone -")
    assert "--depth" in clone


def test_the_help_of_python_is_captured() -> None:
    captured = walk(sys.executable)
    assert len(captured.pages) == 1
    assert "usage:" in captured.pages[0].texts[0][1]


def test_the_manual_is_read_on_request_or_if_there_is_no_help(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        "TOOL(1)\\n\\nNAME\\n       t\\bto\\boo\\bol\\bl - a tool with a manual, and no help\\n"
    )
    program(
        folder, "man", f'case "$2" in tool) printf "{text}";; *) exit 16;; esac', shell=True
    )
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    silent = program(folder, "tool", "exit 1", shell=True)
    page = walk(silent).pages[0]
    assert page.texts[0][0] == "man tool"
    assert "tool - a tool with a manual" in page.texts[0][1]
    talking = program(
        folder, "tool", "echo 'usage: tool, which talks about itself at length'", shell=True
    )
    assert [how for how, _ in walk(talking).pages[0].texts] == ["tool --help"]
    assert [how for how, _ in walk(talking, manual=True).pages[0].texts] == [
        "tool --help",
        "man tool",
    ]


def test_a_page_becomes_markdown_whose_fences_hold() -> None:
    text = "Usage: x\n\nOptions:\n  -a   All, as in ```` four.\n\nEXAMPLES\n       $ x -a\nNot a heading:\nsame margin"
    lines = to_markdown(HelpPage(("x", "y"), (("x y --help", text),))).split("\n")
    assert lines[:5] == ["# x y", "", "What `x y --help` says.", "", "```text"]
    assert [line for line in lines if line.startswith("#")] == [
        "# x y",
        "## Options",
        "## EXAMPLES",
    ]
    fences = [line for line in lines if re.fullmatch("`{3,}(text)?", line)]
    assert fences == ["```text", "```", "`````text", "`````", "```text", "```"]


@pytest.mark.parametrize(
    "limits",
    [7, {"depth": 1}, HelpLimits(depth=-1), HelpLimits(seconds=0), HelpLimits(commands=0)],
)
def test_limits_that_are_none_are_refused_before_anything_runs(limits: HelpLimits) -> None:
    with pytest.raises(InputError, match="how deep"):
        capture("git", limits=limits, project=NOWHERE)
