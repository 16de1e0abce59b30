"""`ragstone watch`: changes are indexed and printed until Ctrl-C."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Ran = Any
pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="Ctrl-C cannot be sent to one process there"
)


@pytest.fixture
def start(
    project: Path, environment: dict[str, str]
) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Return a function that starts the command and hands back the process, ended at the latest with the test."""
    started: list[subprocess.Popen[str]] = []

    def run(*arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "ragstone", "watch", *arguments],
            cwd=project,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


def line(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout is not None
    found = json.loads(process.stdout.readline())
    assert isinstance(found, dict)
    return found


def ended(
    process: subprocess.Popen[str], sign: signal.Signals = signal.SIGINT
) -> tuple[str, str]:
    process.send_signal(sign)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    return out, err


@pytest.mark.parametrize("how", [(), ("--interval", "1")])
def test_every_change_is_one_json_line(
    start: Callable[..., subprocess.Popen[str]], project: Path, how: tuple[str, ...]
) -> None:
    process = start("--json", *how)
    first = line(process)
    assert (first["event"], first["indexed"], first["success"]) == ("sync", 4, True)
    ready = line(process)
    assert (ready["event"], ready["running"]) == ("ready", True)
    assert ready["way"] == ("interval" if how else "events")
    (project / "new.md").write_text("a zeppelin", encoding="utf-8")
    event = line(process)
    assert (event["event"], event["changed"], event["gone"], event["pending"]) == (
        "sync",
        ["new.md"],
        [],
        0,
    )
    (project / "new.md").unlink()
    assert line(process)["gone"] == ["new.md"]
    assert ended(process)[0] == ""


def test_every_changed_file_is_printed(
    start: Callable[..., subprocess.Popen[str]], command: Callable[..., Ran], project: Path
) -> None:
    command("sync")
    process = start()
    assert process.stderr is not None and "watching" in process.stderr.readline()
    (project / "new.md").write_text("a zeppelin", encoding="utf-8")
    assert process.stdout is not None and process.stdout.readline().rstrip().endswith(
        "indexed new.md"
    )
    (project / "README.md").unlink()
    assert process.stdout.readline().rstrip().endswith("removed README.md")
    assert "stopped" in ended(process, signal.SIGTERM)[1]


def test_a_closed_pipe_ends_the_watcher(
    start: Callable[..., subprocess.Popen[str]], project: Path
) -> None:
    process = start("--json")
    line(process)
    line(process)
    assert process.stdout is not None
    process.stdout.close()
    (project / "new.md").write_text("a zeppelin", encoding="utf-8")
    assert process.wait(30) == 141


def test_an_interval_of_zero_is_refused(quick: Callable[..., Ran]) -> None:
    ran = quick("watch", "--interval", "0")
    assert ran.code == 2 and "--interval is 0" in ran.err


def test_status_counts_changed_files(quick: Callable[..., Ran], project: Path) -> None:
    quick("sync")
    assert json.loads(quick("status", "--changes", "--json").out)["waiting"] == 0
    (project / "new.md").write_text("a zeppelin", encoding="utf-8")
    assert json.loads(quick("status", "--changes", "--json").out)["waiting"] == 1
    assert "1 file changed since" in quick("status", "--changes").out


def test_an_edit_is_found_at_once_with_the_right_lines(
    command: Callable[..., Ran], project: Path
) -> None:
    command("sync")
    text = (project / "src/weigh.py").read_text(encoding="utf-8")
    (project / "src/weigh.py").write_text(
        text.replace("kilograms", "zeppelins"), encoding="utf-8"
    )
    [hit] = command("search", "zeppelins", "-k", "1", "--json").json["results"]
    assert (hit["path"], hit["freshness"]) == ("src/weigh.py", "refreshed")
    first, last = hit["lines"]
    assert "zeppelins" in "\n".join(
        (project / "src/weigh.py").read_text().splitlines()[first - 1 : last]
    )
    again = command("search", "zeppelins", "-k", "1")
    assert "src/weigh.py:" in again.out and "refreshed" not in again.out


def test_hits_without_sync_are_unverifiable(quick: Callable[..., Ran]) -> None:
    quick("sync")
    [hit] = json.loads(quick("search", "kilograms", "-k", "1", "--no-sync", "--json").out)[
        "results"
    ]
    assert hit["freshness"] == "unverifiable"
    assert "not checked" in quick("search", "kilograms", "-k", "1", "--no-sync").out


def test_a_command_that_writes_into_the_folder_does_not_index_its_own_output(
    project: Path, environment: dict[str, str]
) -> None:
    with (project / "out.json").open("w") as out, (project / "err.log").open("w") as err:
        subprocess.run(
            [sys.executable, "-m", "ragstone", "sync", "--json"],
            cwd=project,
            env=environment,
            stdout=out,
            stderr=err,
            check=True,
        )
    report = json.loads((project / "out.json").read_text())
    reasons = {skip["uri"]: skip["reason"] for skip in report["skipped"]}
    assert "output of this command" in reasons["out.json"]
    assert "output of this command" in reasons["err.log"]
