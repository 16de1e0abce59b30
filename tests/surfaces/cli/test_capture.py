"""`ragstone capture`: asks first, then indexes or writes the help of a program."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
pytestmark = pytest.mark.skipif(
    os.name != "posix", reason="programs are asked on Linux and macOS only"
)

SOURCE = """#!/bin/sh
case "$1" in
  --help) printf 'Usage: quarry COMMAND\\n\\nCommands:\\n  dig   Digs.\\n  up:hill   Climbs.\\n  mute   Mute.\\n';;
  mute) exit 1;;
  *) printf 'Usage: quarry %s\\n\\n  All about %s, which takes a shovel.\\n' "$1" "$1";;
esac
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "tools" / "quarry"
    path.parent.mkdir()
    path.write_text(SOURCE, encoding="utf-8")
    path.chmod(0o755)
    return path


def test_a_program_is_not_run_without_consent(quick: Command, program: Path) -> None:
    ran = quick("capture", str(program))
    assert ran.code == 2
    assert "--yes" in ran.err


def test_the_help_of_a_program_is_indexed(quick: Command, program: Path) -> None:
    ran = quick("capture", str(program), "--yes")
    assert (ran.code, "3 pages stored" in ran.out, "1 command without a page" in ran.err) == (
        0,
        True,
        True,
    ), ran.err
    again = quick("capture", str(program), "--yes", "--json")
    assert (again.json["unchanged"], again.json["skipped"]) == (
        3, [{"uri": "help:quarry/mute", "reason": "it gives no help"}]
    )  # fmt: skip
    found = quick("search", "shovel", "--json").json["results"][0]
    assert (found["collection"], found["kind"], found["metadata"]["program"]) == (
        "help",
        "help",
        "quarry",
    )
    assert (
        "skipped help:quarry/mute" in quick("capture", str(program), "--yes", "--verbose").out
    )


def test_the_help_of_a_program_is_written_to_files(
    quick: Command, program: Path, project: Path
) -> None:
    out = project / "out"
    ran = quick("capture", str(program), "--yes", "--output", str(out), "--json")
    names = sorted(path.relative_to(out).as_posix() for path in out.rglob("*.md"))
    assert (ran.code, names) == (0, ["quarry.md", "quarry/dig.md", "quarry/up-hill.md"])
    assert (out / "quarry" / "dig.md").read_text(encoding="utf-8").startswith("# quarry dig\n")
    assert not (project / ".ragstone").exists()


def test_an_existing_link_is_not_followed(quick: Command, program: Path, project: Path) -> None:
    (project / "out").mkdir()
    (project / "out" / "quarry.md").symlink_to(project / "README.md")
    before = (project / "README.md").read_bytes()
    assert (
        quick(
            "capture", str(program), "--yes", "--depth", "0", "--output", str(project / "out")
        ).code
        == 0
    )
    assert (project / "README.md").read_bytes() == before


def test_a_program_that_cannot_be_captured_has_its_exit_code(
    quick: Command, program: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mute = program.with_name("mute-without-a-manual")
    mute.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    mute.chmod(0o755)
    assert quick("capture", str(mute), "--yes").code == 7
    assert quick("capture", "no-such-program-here", "--yes").code == 2
    assert quick("capture", "git", "--yes", "--depth", "9").code == 2
    inside = project / "quarry"
    inside.write_text(SOURCE, encoding="utf-8")
    inside.chmod(0o755)
    monkeypatch.setenv("PATH", f"{project}{os.pathsep}{os.environ['PATH']}")
    ran = quick("capture", "quarry", "--yes")
    assert (ran.code, "lies in the project" in ran.err) == (10, True)
    assert quick("capture", "./quarry", "--yes").code == 0


def test_an_incomplete_capture_is_partial(quick: Command, program: Path) -> None:
    ran = quick("capture", str(program), "--yes", "--commands", "1")
    assert (ran.code, "were not asked" in ran.err) == (3, True)
