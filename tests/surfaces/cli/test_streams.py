"""Streams that are full or closed: one line, an exit code, no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="uses a POSIX shell")

Command = Callable[..., Any]
COMMANDS = (
    "search upload --no-sync --json",
    "search upload --no-such-option --json",
    "export -",
    "--help",
)
LOST, CLOSED_PIPE = 5, 141
USAGE = 2


def run_in_shell(
    project: Path, environment: dict[str, str], arguments: str, redirection: str
) -> tuple[int, list[str]]:
    """Run a command with redirected streams; return its exit code and the lines of stderr that are not notes."""
    line = f'"$PYTHON" -m ragstone {arguments} {redirection}'
    ran = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line}"],
        cwd=project,
        env={**environment, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    lines = [line for line in ran.stderr.splitlines() if not line.startswith("(")]
    return ran.returncode, lines


@pytest.mark.parametrize("arguments", COMMANDS)
def test_a_lost_answer_is_one_line_and_an_exit_code(
    quick: Command, project: Path, environment: dict[str, str], arguments: str
) -> None:
    quick("sync")
    expected = USAGE if "no-such" in arguments else LOST
    for redirection in ("> /dev/full", ">&-"):
        code, lines = run_in_shell(project, environment, arguments, redirection)
        assert (code, len(lines)) == (expected, 1), lines
        assert lines[0].startswith("error: ")
        assert "bug" not in lines[0]


def test_the_reason_of_a_lost_answer_is_named(
    quick: Command, project: Path, environment: dict[str, str]
) -> None:
    quick("sync")
    search = "search upload --no-sync"
    _, full = run_in_shell(project, environment, search, "> /dev/full")
    _, closed = run_in_shell(project, environment, search, ">&-")
    assert "No space left on device" in full[0]
    assert closed == ["error: the output is closed, so the answer is lost"]


@pytest.mark.parametrize("flag", ["--json", "--jsonl"])
def test_a_lost_answer_without_a_buffer_is_one_line_too(
    quick: Command, project: Path, environment: dict[str, str], flag: str
) -> None:
    quick("sync")
    unbuffered = {**environment, "PYTHONUNBUFFERED": "1"}
    for redirection in ("> /dev/full", ">&-"):
        arguments = f"search upload --no-sync {flag}"
        code, lines = run_in_shell(project, unbuffered, arguments, redirection)
        assert (code, len(lines)) == (LOST, 1), lines
        assert lines[0].startswith("error: ")


@pytest.mark.parametrize("arguments", COMMANDS)
def test_a_command_without_stderr_still_answers(
    quick: Command, project: Path, environment: dict[str, str], arguments: str
) -> None:
    quick("sync")
    expected = USAGE if "no-such" in arguments else 0
    for redirection in ("2>&-", "2> /dev/full"):
        assert run_in_shell(project, environment, arguments, redirection) == (expected, [])


@pytest.mark.parametrize("arguments", ["search upload", "search upload --json", "export -"])
def test_a_reader_that_has_stopped_is_no_failure(
    quick: Command, project: Path, environment: dict[str, str], arguments: str
) -> None:
    quick("sync")
    reader, writer = os.pipe()
    os.close(reader)
    ran = subprocess.run(
        [sys.executable, "-m", "ragstone", *arguments.split()],
        cwd=project,
        env=environment,
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(writer)
    notes = [line for line in ran.stderr.splitlines() if line.startswith("(")]
    assert (ran.returncode, ran.stderr.splitlines()) == (CLOSED_PIPE, notes)


def test_a_closed_stdout_never_receives_the_database(
    project: Path, environment: dict[str, str]
) -> None:
    code, lines = run_in_shell(project, environment, "sync", "<&- >&- 2>&-")
    assert (code, lines) == (LOST, [])
    assert run_in_shell(project, environment, "doctor", "") == (0, [])
