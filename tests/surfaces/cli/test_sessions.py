"""`ragstone sessions`, and conversations in searches."""

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
    (tmp_path / "gondola.md").write_text(
        "# Gondola\n\nThe gondola crosses the lagoon at nine.\n"
    )
    return tmp_path


def run_json(capsys: Captured, folder: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    code = run([*arguments, "-C", str(folder), "--json"])
    shown: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, shown


def test_a_conversation_is_listed_exported_and_imported(
    folder: Path, capsys: Captured, tmp_path: Path
) -> None:
    assert run_json(capsys, folder, "sessions")[1]["sessions"] == []
    run_json(capsys, folder, "remember", "My favourite editor is vim.", "--session", "s")
    run_json(capsys, folder, "remember", "My favourite editor is helix.", "--session", "s")
    listed = run_json(capsys, folder, "sessions", "list")[1]["sessions"]
    assert [(one["session_id"], one["turns"]) for one in listed] == [("s", 2)]
    file = str(tmp_path / "s.jsonl")
    assert run_json(capsys, folder, "sessions", "export", "s", file)[1]["lines"] == 3
    assert run_json(capsys, folder, "sessions", "export", "s", file)[0] == 2  # it is there
    assert (
        run_json(capsys, folder, "sessions", "import", file, "--session", "t")[1]["turns"] == 2
    )
    found = run_json(capsys, folder, "recall", "editor", "--session", "t")[1]["results"]
    assert [(one["turn_index"], one["superseded_by"]) for one in found] == [(1, None), (0, 1)]
    assert run_json(capsys, folder, "sessions", "restore", "t", "1")[0] == 0
    found = run_json(capsys, folder, "recall", "editor", "--session", "t")[1]["results"]
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
def test_wrong_input_is_refused_with_a_sentence(
    folder: Path,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: int,
) -> None:
    monkeypatch.chdir(folder)
    run(["remember", "x", "--session", "s", "-C", str(folder)])
    capsys.readouterr()
    assert run([*arguments, "-C", str(folder)]) == code
    shown = capsys.readouterr()
    assert shown.err.startswith("error: ")
    assert "Traceback" not in shown.err


def test_old_messages_are_deleted_in_all_sessions(folder: Path, capsys: Captured) -> None:
    for session in ("a", "b"):
        run_json(capsys, folder, "remember", "old", "--session", session, "--at", "2020-01-01")
    assert (
        run_json(capsys, folder, "forget", "--all-sessions", "--before", "2021-01-01")[1][
            "forgotten"
        ]
        == 2
    )


def test_search_and_context_include_conversations_with_an_option(
    folder: Path, capsys: Captured
) -> None:
    run_json(capsys, folder, "sync")
    run_json(capsys, folder, "remember", "The gondola was late.", "--session", "s")
    places = [
        hit["place"] for hit in run_json(capsys, folder, "search", "gondola")[1]["results"]
    ]
    assert places == ["gondola.md:1-3"]
    for flags in (["--memory"], ["--memory-of", "s"]):
        found = run_json(capsys, folder, "search", "gondola", *flags)[1]["results"]
        assert {(hit["place"], hit["kind"]) for hit in found} == {
            ("gondola.md:1-3", "doc"),
            ("memory:s turn 0", "turn"),
        }
    context = run_json(capsys, folder, "context", "gondola", "--memory")[1]
    assert "user: The gondola was late." in context["text"]
    assert (
        "nothing is remembered of 't'"
        in run_json(capsys, folder, "search", "gondola", "--memory-of", "t")[1]["notes"]
    )


def test_a_context_without_room_is_not_reported_as_nothing_found(
    folder: Path, capsys: Captured
) -> None:
    assert run(["context", "gondola", "--budget", "5", "-C", str(folder)]) == 0
    shown = capsys.readouterr()
    assert "Nothing was found" not in shown.out
    assert "a budget of 5 tokens is too small; " in shown.err


def test_context_without_sync_ignores_changed_files(folder: Path, capsys: Captured) -> None:
    run_json(capsys, folder, "sync")
    (folder / "gondola.md").write_text("# Gondola\n\nThe gondola is sold.\n")
    assert (
        "crosses the lagoon"
        in run_json(capsys, folder, "context", "gondola", "--no-sync")[1]["text"]
    )
    assert "is sold" in run_json(capsys, folder, "context", "gondola")[1]["text"]
