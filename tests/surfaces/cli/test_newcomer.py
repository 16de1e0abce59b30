"""Messages that a first-time user reads: the right reason, one message, and numbers with the right nouns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


@pytest.mark.parametrize("word", ["session", "source", "collection", "event"])
def test_a_command_in_the_singular_is_the_command(quick: Command, word: str) -> None:
    quick("sync")
    assert quick(word).code == 0
    assert quick(word, "--json").json.keys() == quick(f"{word}s", "--json").json.keys()


def test_a_question_that_begins_like_a_command_in_the_singular_gets_an_advice(
    quick: Command,
) -> None:
    ran = quick("session", "export", "monday")
    assert ran.code == 2
    assert "did you mean `ragstone sessions`?" in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ("context", "how is a retry delayed"),
        ("context", "fix"),
        ("search", "how is a retry delayed"),
        ("retrieve", "what calls upload"),
    ],
)
def test_a_folder_with_memories_alone_says_that_nothing_is_indexed(
    quick: Command, tmp_path: Path, words: tuple[str, ...]
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    folder = ("-C", str(empty))
    assert quick("remember", "We retry three times.", *folder).code == 0
    ran = quick(*words, *folder)
    assert "(nothing is indexed here yet, so there is nothing to search)" in ran.err
    assert "ask:" not in ran.err
    assert quick(*words, *folder, "--json").json["notes"] == [
        "nothing is indexed here yet, so there is nothing to search"
    ]


def test_a_tiny_budget_gives_one_message(quick: Command) -> None:
    quick("sync")
    ran = quick("context", "how often is a failed upload tried again", "--budget", "1")
    assert ran.out == ""
    (line,) = ran.err.splitlines()
    assert line.startswith("(a budget of 1 token is too small; ")
    enough = line.removesuffix(" are enough)").rpartition(" ")[2]
    fitted = quick("context", "how often is a failed upload tried again", "--budget", enough)
    assert "A failed upload is tried again three times" in fitted.out


def test_the_status_counts_conversations(quick: Command) -> None:
    quick("sync")
    assert "memory" not in quick("status").out
    quick("remember", "We retry three times.")
    quick("remember", "Agreed.", "--session", "monday")
    quick("remember", "Twice is enough.", "--session", "monday")
    assert "    memory  2 conversations, 3 turns\n" in quick("status").out
    state = quick("status", "--json").json
    assert (state["sessions"], state["turns"]) == (2, 3)


def test_forgetting_nothing_gives_no_advice_about_the_file(quick: Command) -> None:
    quick("remember", "We retry three times.")
    ran = quick("forget", "--session", "default", "--before", "2001-01-01")
    assert (ran.code, ran.out) == (0, "No message is that old: nothing was forgotten.\n")


def test_a_guide_is_listed_by_the_words_that_show_it(quick: Command) -> None:
    topics = quick("help", "topics", "--json").json["topics"]
    for words, title in topics.items():
        shown = quick("help", words).out
        assert f"# {title}\n" in shown, words


def test_a_missing_language_model_has_no_brackets_inside_brackets(quick: Command) -> None:
    err = quick("ask", "how often is a failed upload tried again").err
    assert "no language model is set up (" in err
    assert err.count("(") == 1
