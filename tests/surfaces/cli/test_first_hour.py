"""Answers and refusals that a new user meets in the first hour: each shows the answer, or an advice that works."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


def test_a_hit_whose_heading_alone_matches_shows_the_text_below_it(
    quick: Command, project: Path
) -> None:
    (project / "hours.md").write_text(
        "# Helpdesk\n\nSupport answers on workdays from 8:00 to 18:00.\n", encoding="utf-8"
    )
    answer = quick("search", "when does the helpdesk open", "hours.md", "-k", "1").out
    assert "on workdays from 8:00" in answer


def test_a_long_hit_whose_heading_alone_matches_shows_the_lines_after_it(
    quick: Command, project: Path
) -> None:
    lines = "\n\n".join(f"Sentence number {number} of this page." for number in range(9))
    (project / "hours.md").write_text(f"# Helpdesk\n\n{lines}\n", encoding="utf-8")
    answer = quick("search", "helpdesk", "hours.md", "-k", "1").out
    assert "Sentence number 0" in answer
    assert "Sentence number 2" in answer
    assert "Sentence number 3" not in answer


def test_hits_that_min_score_drops_are_counted(quick: Command) -> None:
    ran = quick("search", "upload", "--min-score", "1")
    assert ran.out.startswith("No hits")
    assert "left out by min_score:" in ran.err


@pytest.mark.parametrize("content", [(), ("",), (" ",)])
def test_an_empty_message_is_refused_with_both_ways_to_give_one(
    quick: Command, content: tuple[str, ...]
) -> None:
    ran = quick("remember", *content)
    assert ran.code == 2
    assert "the message is empty (give its text, or `-` to read a pipe)" in ran.err


def test_an_empty_question_to_a_conversation_has_an_empty_answer(quick: Command) -> None:
    quick("remember", "We retry three times.")
    ran = quick("recall", "")
    assert (ran.code, ran.out) == (0, "No message answers that.\n")
    assert "the query is empty" in ran.err


@pytest.mark.parametrize("query", [(), ("retries",)])
def test_recall_of_an_unknown_conversation_is_empty_and_names_the_known_ones(
    quick: Command, query: tuple[str, ...]
) -> None:
    nothing = quick("recall", "--session", "tuesday", *query)
    assert (nothing.code, nothing.out) == (0, "No message answers that.\n")
    assert "(nothing is remembered yet)" in nothing.err
    quick("remember", "We retry three times.", "--session", "monday")
    ran = quick("recall", "--session", "tuesday", *query)
    assert (ran.code, ran.out) == (0, "No message answers that.\n")
    assert "nothing is remembered of 'tuesday': the conversations are monday" in ran.err


def test_forget_without_a_conversation_asks_which_messages(quick: Command) -> None:
    ran = quick("forget")
    assert ran.code == 2
    assert "which messages? Give --session NAME" in ran.err


def test_the_advice_for_a_file_outside_of_the_folder_names_its_folder(
    quick: Command, tmp_path: Path
) -> None:
    outside = tmp_path / "other" / "note.md"
    outside.parent.mkdir()
    outside.write_text("An upload.\n", encoding="utf-8")
    ran = quick("search", "upload", str(outside))
    assert f"-C {outside.parent} QUERY" in ran.err


def test_a_vague_task_is_asked_about_without_a_count_of_hidden_passages(
    quick: Command, project: Path
) -> None:
    for number in range(8):
        note = f"# Repair {number}\n\nFix the belt of press {number}, then test it.\n"
        (project / f"repair{number}.md").write_text(note, encoding="utf-8")
    ran = quick("context", "fix it")
    assert "ask: " in ran.err
    assert "left out" not in ran.err


def test_an_unknown_kind_of_sources_is_refused_like_one_of_search(quick: Command) -> None:
    quick("sync")
    ran = quick("sources", "--kind", "python")
    assert ran.code == 4
    assert "there is no document of kind 'python' (there are " in ran.err


def test_a_sync_without_changes_says_so(quick: Command) -> None:
    quick("sync")
    assert "nothing changed, " in quick("sync").out


def test_help_of_config_says_how_a_setting_is_changed(quick: Command) -> None:
    assert "ragstone.toml" in quick("config", "--help").out


def test_a_message_that_hardly_answers_is_marked(quick: Command) -> None:
    quick("remember", "We agreed on three attempts.")
    weak, strong = quick("recall", "password"), quick("recall", "how many attempts")
    if weak.out.startswith("turn"):
        assert "nothing fits well" in weak.err
    assert "nothing fits well" not in strong.err


def test_a_hit_of_a_changed_file_was_just_indexed(quick: Command, project: Path) -> None:
    quick("sync")
    (project / "README.md").write_text("# Quarry\n\nGranite is uploaded.\n", encoding="utf-8")
    assert "refreshed" not in quick("search", "granite").out


def test_a_sentence_before_its_advice_has_no_full_stop(quick: Command) -> None:
    quick("sync")
    ran = quick("search", "upload", "--rerank", "foo")
    assert "There is no reranker called 'foo' (known: " in ran.err
