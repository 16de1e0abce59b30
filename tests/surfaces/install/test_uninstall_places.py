"""`ragstone uninstall` names the place that still has the server, and removes only what `install` made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
AGENT = ("claude-code", "--user", "--yes")


@pytest.mark.parametrize("had_folder", [True, False])
def test_a_folder_that_was_there_before_stays(
    quick: Command, project: Path, had_folder: bool
) -> None:
    folder = project.parent / ".claude"
    if had_folder:
        folder.mkdir()
    assert quick("install", *AGENT).code == 0
    assert quick("install", *AGENT, "--command", "uvx ragstone").code == 0
    assert folder.exists()
    assert quick("uninstall", *AGENT).code == 0
    assert folder.exists() == had_folder


@pytest.mark.parametrize(
    ("installed", "removed", "note"),
    [
        (
            ("--user",),
            (),
            "(`ragstone uninstall --user` removes it from the settings of the user)",
        ),
        ((), ("--user",), "(`ragstone uninstall` without --user removes it from "),
    ],
)
def test_an_uninstallation_in_the_wrong_place_names_the_other(
    quick: Command, installed: tuple[str, ...], removed: tuple[str, ...], note: str
) -> None:
    quick("install", "claude-code", "--yes", *installed)
    ran = quick("uninstall", "--yes", *removed)
    assert "Nothing to change." in ran.out
    assert note in ran.err
    quick("uninstall", "--yes", *installed)
    assert note not in quick("uninstall", "--yes", *removed).err
