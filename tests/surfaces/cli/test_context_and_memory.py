"""`ragstone context`, `remember`, `recall` and `forget`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragstone.surfaces.cli.app import run

Captured = pytest.CaptureFixture[str]
Command = Callable[..., Any]


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


def test_context_prints_a_block_that_can_be_piped(folder: Path, capsys: Captured) -> None:
    assert run(["context", "when does the gondola cross", "-C", str(folder)]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("[RETRIEVED CONTEXT]\n")
    assert "File: gondola.md (chunk 0)" in shown.out
    assert "of 1,500 tokens" in shown.err


def test_context_in_json_has_citations_and_token_count(folder: Path, capsys: Captured) -> None:
    code, context = run_json(
        capsys, folder, "context", "gondola", "--budget", "200", "--format", "tool"
    )
    assert code == 0
    assert context["text"].startswith("--- Result 1 (score: ")
    assert context["cited"][0]["place"] == "gondola.md:1-3"
    assert context["tokens"] <= 200


@pytest.mark.parametrize(
    "arguments", [["--budget", "0"], ["--budget", "x"], ["--format", "xml"], ["--window", "-1"]]
)
def test_invalid_context_options_are_usage_errors(
    folder: Path, capsys: Captured, arguments: list[str]
) -> None:
    code, shown = run_json(capsys, folder, "context", "gondola", *arguments)
    assert code == 2
    assert shown["success"] is False


def test_messages_are_remembered_recalled_and_forgotten(folder: Path, capsys: Captured) -> None:
    assert (
        run_json(
            capsys, folder, "remember", "My", "favourite editor is vim.", "--at", "2026-05-08"
        )[1]["turn_index"]
        == 0
    )
    newer = run_json(
        capsys,
        folder,
        "remember",
        "My favourite editor is helix.",
        "--speaker",
        "Ada",
        "--role",
        "user",
    )[1]
    assert newer["supersedes"] == []  # another speaker
    found = run_json(capsys, folder, "recall", "favourite editor")[1]["results"]
    assert {one["turn_index"] for one in found} == {0, 1}
    assert [
        result["turn_index"] for result in run_json(capsys, folder, "recall")[1]["results"]
    ] == [0, 1]
    assert (
        run_json(capsys, folder, "recall", "editor", "--since", "2026-05-09")[1]["results"][0][
            "turn_index"
        ]
        == 1
    )
    assert (
        run_json(capsys, folder, "forget", "--session", "default", "--turn", "0")[1][
            "forgotten"
        ]
        == 1
    )
    assert run_json(capsys, folder, "forget", "--session", "default")[1]["forgotten"] == 1


def test_recall_without_a_query_prints_speaker_and_time(folder: Path, capsys: Captured) -> None:
    run(
        ["remember", "The ferry leaves at nine.", "--at", "2026-05-08T14:00", "-C", str(folder)]
    )
    assert capsys.readouterr().out == "stored as turn 0 of the session default\n"
    assert run(["recall", "-C", str(folder)]) == 0
    assert (
        capsys.readouterr().out
        == "turn 0  2026-05-08 14:00  user\n  The ferry leaves at nine.\n"
    )


def test_the_last_messages_name_the_own_change_of_each(folder: Path, capsys: Captured) -> None:
    for price in (20, 25, 30):
        run(["remember", f"Our price is {price} dollars.", "-C", str(folder)])
    capsys.readouterr()
    assert run(["recall", "-C", str(folder)]) == 0
    reasons = [line for line in capsys.readouterr().out.splitlines() if "became" in line]
    assert [line.count("became") for line in reasons] == [1, 1]
    assert "20 dollars" in reasons[0]
    assert "25 dollars" in reasons[1]


def test_recall_shows_scores_and_marks_messages_that_fit_little(
    folder: Path, capsys: Captured
) -> None:
    for content in (
        "The ferry leaves at nine.",
        "Rex sleeps.",
        "Snow fell.",
        "Leave Rex at home.",
    ):
        run(["remember", content, "-C", str(folder)])
    capsys.readouterr()
    _, answer = run_json(capsys, folder, "recall", "when does the ferry leave")
    scores = {row["turn_index"]: row["score"] for row in answer["results"]}
    assert run(["recall", "when does the ferry leave", "-C", str(folder)]) == 0
    headers = [line for line in capsys.readouterr().out.splitlines() if line.startswith("turn")]
    assert headers[0].endswith(f"  {scores[0]:.2f}")
    assert len(headers) > 1
    assert headers[-1].endswith("  fits little")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["forget", "--session", "nobody"], 4, "nothing is remembered of 'nobody'"),
        (["remember", "x", "--at", "soon"], 2, "'soon' is not a valid time"),
        (["remember", " "], 2, "the message is empty"),
        (["forget"], 2, "--session"),
    ],
)
def test_wrong_input_is_refused_with_a_sentence(
    folder: Path, capsys: Captured, arguments: list[str], code: int, words: str
) -> None:
    run(["remember", "hello", "-C", str(folder)])
    capsys.readouterr()
    assert run([*arguments, "-C", str(folder)]) == code
    assert words in capsys.readouterr().err


def test_a_message_that_no_longer_holds_is_marked_in_the_list(
    quick: Callable[..., Any],
) -> None:
    quick("remember", "We ship on Fridays.")
    quick("remember", "We ship on Mondays now, not on Fridays.")
    assert "superseded by turn 1" in quick("recall").out


def test_a_time_without_a_query_is_refused(quick: Callable[..., Any]) -> None:
    quick("remember", "We ship on Fridays.")
    ran = quick("recall", "--since", "2026-01-01")
    assert (ran.code, "need a query" in ran.err) == (2, True)
    assert quick("recall", "--since", "nonsense").code == 2


def test_a_turn_of_the_default_conversation_is_forgotten_by_its_number(
    quick: Callable[..., Any],
) -> None:
    quick("remember", "We ship on Fridays.")
    assert quick("forget", "--turn", "9").code == 4
    assert quick("forget", "--turn", "0").out.startswith("1 turn forgotten. `ragstone compact")


def test_recall_searches_all_conversations_unless_one_is_named(quick: Command) -> None:
    quick("remember", "My favourite editor is vim.", "--session", "me")
    quick("remember", "The editor of the paper is Ada.", "--session", "s1")
    ran = quick("recall", "editor", "--json")
    assert {row["session_id"] for row in ran.json["results"]} == {"me", "s1"}
    assert "s1 turn 0" in quick("recall", "editor").out
    assert "s1" not in quick("recall", "editor", "--session", "me").out
    ran = quick("recall")
    assert (ran.code, "me turn 0" in ran.out, "s1 turn 0" in ran.out) == (0, True, True)
    assert quick("recall", "--session", "me").code == 0


def test_recall_says_how_many_messages_it_does_not_show(quick: Command) -> None:
    for number in range(8):
        quick("remember", f"Stone {number} is heavy.", "--session", "me")
    assert "(5 of 8 messages: -k 8 shows all)" in quick("recall", "--session", "me").err
    assert "messages" not in quick("recall", "--session", "me", "-k", "8").err


def test_a_turn_that_cannot_be_restored_names_a_command_that_exists(quick: Command) -> None:
    quick("remember", "Stones are heavy.", "--session", "me")
    assert "`ragstone recall --session NAME`" in quick("sessions", "restore", "me", "7").err


def test_remember_says_that_it_removed_a_secret(quick: Command) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    ran = quick("remember", f"use {key} for the release")
    assert "(1 secret was removed from the message before it was stored)" in ran.err
    assert "secret" not in quick("remember", "We retry three times.").err
