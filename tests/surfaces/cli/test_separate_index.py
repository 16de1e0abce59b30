"""A folder inside an indexed project: a new index there is announced, and hides no conversation of the project."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


@pytest.mark.parametrize(
    "words",
    [
        ("graph", "routes"),
        ("search", "durability", "--mode", "words"),
        ("sync", "--no-embed"),
        ("remember", "We retry twice."),
    ],
)
def test_a_new_index_inside_a_project_is_announced_with_its_undoing(
    quick: Command, project: Path, words: tuple[str, ...]
) -> None:
    quick("sync", "--no-embed")
    docs = project / "docs"
    first = quick(*words, "-C", str(docs)).err
    assert f"({docs} now has its own index and memory, apart from those of {project};" in first
    assert f"to undo this, remove {docs / '.ragstone'})" in first
    assert "its own index" not in quick(*words, "-C", str(docs)).err


def test_a_command_that_makes_no_index_announces_none(quick: Command, project: Path) -> None:
    quick("sync", "--no-embed")
    assert "its own index" not in quick("status", "-C", str(project / "docs")).err
    assert not (project / "docs" / ".ragstone").exists()


def test_an_index_of_a_project_or_a_repository_of_its_own_is_not_announced(
    quick: Command, project: Path
) -> None:
    assert "its own index" not in quick("sync", "--no-embed", "-C", str(project)).err
    (project / "src" / ".git").mkdir()
    assert "its own index" not in quick("sync", "--no-embed", "-C", str(project / "src")).err


@pytest.mark.parametrize("words", [("recall", "attempts"), ("recall",), ("sessions",)])
def test_a_nested_index_without_conversations_names_those_of_the_project(
    quick: Command, project: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    quick("remember", "We make three attempts.")
    quick("sync", "--no-embed", "-C", str(project / "docs"))
    monkeypatch.chdir(project / "docs")
    note = (
        f"(the project around it has 1 conversation: `ragstone recall -C {project}` shows them)"
    )
    assert note in quick(*words).err
    quick("remember", "We make four attempts.")
    assert "the project around it" not in quick(*words).err


def test_recall_without_a_query_shows_the_last_messages_of_all_conversations(
    quick: Command,
) -> None:
    quick("remember", "We make three attempts.")
    quick("remember", "The ferry leaves at nine.", "--session", "monday")
    shown = quick("recall")
    assert shown.out.index("default turn 0") < shown.out.index("monday turn 0")
    assert quick("recall", "-k", "1").out.startswith("monday turn 0")
    refused = quick("forget", "--session", "monday", "--turn", "7")
    assert "`ragstone recall --session monday` shows the numbers" in refused.err
