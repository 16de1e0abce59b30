"""Conversations on the command line: listed, carried elsewhere, found beside documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.surfaces.cli.app import run

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RAGSTONE_RAG_EMBEDDING_PROVIDER", "fake")
    (tmp_path / "gondola.md").write_text("# Gondola\n\nThe gondola crosses the lagoon at nine.\n")
    return tmp_path


def said(capsys: Captured, folder: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    code = run([*arguments, "-C", str(folder), "--json"])
    shown: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, shown


def test_a_conversation_is_listed_written_and_taken_in(folder: Path, capsys: Captured, tmp_path: Path) -> None:
    assert said(capsys, folder, "sessions")[1]["sessions"] == []
    said(capsys, folder, "remember", "My favourite editor is vim.", "--session", "s")
    said(capsys, folder, "remember", "My favourite editor is helix.", "--session", "s")
    listed = said(capsys, folder, "sessions", "list")[1]["sessions"]
    assert [(one["session_id"], one["turns"]) for one in listed] == [("s", 2)]
    file = str(tmp_path / "s.jsonl")
    assert said(capsys, folder, "sessions", "export", "s", file)[1]["lines"] == 3
    assert said(capsys, folder, "sessions", "export", "s", file)[0] == 2  # it is there
    assert said(capsys, folder, "sessions", "import", file, "--session", "t")[1]["turns"] == 2
    found = said(capsys, folder, "recall", "editor", "--session", "t")[1]["results"]
    assert [(one["turn_index"], one["superseded_by"]) for one in found] == [(1, None), (0, 1)]
    assert said(capsys, folder, "sessions", "restore", "t", "1")[0] == 0
    found = said(capsys, folder, "recall", "editor", "--session", "t")[1]["results"]
    assert {one["superseded_by"] for one in found} == {None}
    assert run(["sessions", "-C", str(folder)]) == 0
    assert "2 turns" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["sessions", "export", "nobody"], 4),
        (["sessions", "restore", "nobody", "0"], 4),
        (["sessions", "restore", "s", "x"], 2),
        (["sessions", "import", "gondola.md"], 2),
        (["sessions", "import", "nothing.jsonl"], 2),
        (["forget", "--all-sessions"], 2),
        (["forget"], 2),
        (["forget", "--session", "s", "--all-sessions"], 2),
        (["remember", "x", "--at", "99999-01-01"], 2),
    ],
)
def test_wrong_input_is_told_in_a_sentence(
    folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int
) -> None:
    monkeypatch.chdir(folder)
    run(["remember", "x", "--session", "s", "-C", str(folder)])
    capsys.readouterr()
    assert run([*arguments, "-C", str(folder)]) == code
    shown = capsys.readouterr()
    assert shown.err.startswith("error: ")
    assert "Traceback" not in shown.err


def test_what_is_old_is_forgotten_everywhere(folder: Path, capsys: Captured) -> None:
    for session in ("a", "b"):
        said(capsys, folder, "remember", "old", "--session", session, "--at", "2020-01-01")
    assert said(capsys, folder, "forget", "--all-sessions", "--before", "2021-01-01")[1]["forgotten"] == 2


def test_search_and_context_look_into_conversations_when_asked_to(folder: Path, capsys: Captured) -> None:
    said(capsys, folder, "sync")
    said(capsys, folder, "remember", "The gondola was late.", "--session", "s")
    places = [hit["place"] for hit in said(capsys, folder, "search", "gondola")[1]["results"]]
    assert places == ["gondola.md:1-3"]
    for flags in (["--memory"], ["--memory-of", "s"]):
        found = said(capsys, folder, "search", "gondola", *flags)[1]["results"]
        assert {(hit["place"], hit["kind"]) for hit in found} == {
            ("gondola.md:1-3", "doc"),
            ("memory:s turn 0", "turn"),
        }
    made = said(capsys, folder, "context", "gondola", "--memory")[1]
    assert "user: The gondola was late." in made["text"]
    assert "nothing is remembered of 't'" in said(capsys, folder, "search", "gondola", "--memory-of", "t")[1]["notes"]


def test_a_context_that_has_no_room_says_so_and_not_that_nothing_was_found(folder: Path, capsys: Captured) -> None:
    assert run(["context", "gondola", "--budget", "5", "-C", str(folder)]) == 0
    shown = capsys.readouterr()
    assert "Nothing was found" not in shown.out
    assert "too small for a context" in shown.err


def test_no_sync_leaves_the_folder_alone(folder: Path, capsys: Captured) -> None:
    said(capsys, folder, "sync")
    (folder / "gondola.md").write_text("# Gondola\n\nThe gondola is sold.\n")
    assert "crosses the lagoon" in said(capsys, folder, "context", "gondola", "--no-sync")[1]["text"]
    assert "is sold" in said(capsys, folder, "context", "gondola")[1]["text"]
