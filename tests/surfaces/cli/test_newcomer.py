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


def test_a_missing_folder_is_named_before_a_missing_command(quick: Command) -> None:
    for word in ("query", "stauts", "granite"):
        ran = quick("-C", "/no/such/folder", word)
        assert (ran.code, "no such folder: /no/such/folder" in ran.err) == (2, True)


def test_the_help_of_a_mistyped_command_names_the_command(quick: Command) -> None:
    ran = quick("help", "searchin")
    assert (ran.code, "did you mean `ragstone search`?" in ran.err) == (2, True)


def test_unreadable_files_are_noted_where_they_are_asked_for(
    quick: Command, project: Path
) -> None:
    (project / "docs" / "broken.pdf").write_bytes(b"no pdf")
    search = ("search", "durability", "--mode", "words")
    everywhere = "(1 file could not be read: `ragstone sync` lists them)"
    assert everywhere in quick(*search).err
    assert "could not be read" not in quick(*search, "src").err
    for path in ("docs/broken.pdf", "docs"):
        err = quick("search", "how durable", path, "--mode", "words").err
        assert "(docs/broken.pdf could not be read: " in err
        assert everywhere not in err


def test_a_file_that_does_not_exist_is_not_counted_as_found(quick: Command) -> None:
    ran = quick("sync", "nosuchfile")
    assert ran.out.startswith("0 found = 0 indexed + 0 unchanged + 0 skipped + 0 failed")
    assert (ran.code, "nosuchfile: no such file or folder" in ran.err) == (3, True)


def test_a_sync_of_a_part_of_the_folder_is_not_a_sync_that_never_ran(quick: Command) -> None:
    quick("sync", "README.md", "--no-embed")
    assert " last sync  not complete yet (`ragstone sync` goes on)" in quick("status").out
    quick("sync", "--no-embed")
    assert "not complete yet" not in quick("status").out
