"""Conversations through the store: numbers, hot turns, recall, forgetting, superseding."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.errors import InputError, NotFound
from ragstone.memory.conversations import ConversationStore
from ragstone.types import Recalled, Request, Scope, Turn

NOW = datetime(2023, 6, 14, 12).timestamp()
DAY = 86400.0


def opened(folder: Path, project: str = "default") -> ConversationStore:
    engine = Engine.open(folder, config={"rag.embedding_provider": "fake"}, project=project)
    conversations = engine.memory.conversations
    return ConversationStore(conversations.sync, conversations.searcher, now=lambda: NOW)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[ConversationStore]:
    store = opened(tmp_path)
    yield store
    store.sync.components.close()


def make_turns(
    *contents: str, session: str = "s", role: str = "user", at: float = NOW
) -> list[Turn]:
    return [Turn(session, 0, role, content, at) for content in contents]


def ask(
    memory: ConversationStore, query: str, session: str = "s", top_k: int = 5, **times: float
) -> list[Recalled]:
    scope = Scope("default", (session,), "session")
    return memory.recall(session, Request(query, scope, top_k=top_k, mode="words"), **times)


def test_turns_are_numbered_in_order_and_come_back_verbatim(memory: ConversationStore) -> None:
    stored = memory.remember(make_turns("  Hello:\n there ", "user: hi"))
    assert [turn.index for turn in stored] == [0, 1]
    assert [turn.content for turn in memory.turns("s")] == ["  Hello:\n there ", "user: hi"]
    assert memory.remember(make_turns("again"))[0].index == 2


def test_numbers_go_on_after_forgetting_and_after_a_restart(tmp_path: Path) -> None:
    first = opened(tmp_path)
    first.remember(make_turns("one", "two", "three"))
    assert first.forget("s", turn=2) == 1
    first.sync.components.close()
    second = opened(tmp_path)
    assert second.remember(make_turns("four"))[0].index == 3
    assert [turn.content for turn in second.turns("s")] == ["one", "two", "four"]
    second.sync.components.close()


def test_two_processes_never_share_a_number(tmp_path: Path) -> None:
    first, second = opened(tmp_path), opened(tmp_path)
    numbers = [
        memory.remember(make_turns(f"turn {n}"))[0].index
        for n in range(10)
        for memory in (first, second)
    ]
    assert numbers == list(range(20))
    assert len(first.turns("s", 100)) == len(second.turns("s", 100)) == 20
    first.sync.components.close()
    second.sync.components.close()


def test_the_last_turns_include_turns_of_another_process(tmp_path: Path) -> None:
    first, second = opened(tmp_path), opened(tmp_path)
    first.remember(make_turns(*(f"turn {n}" for n in range(30))))
    assert [turn.index for turn in second.turns("s")] == list(range(10, 30))
    first.remember(make_turns("new"))
    assert second.turns("s", 1)[0].content == "new"
    assert [turn.index for turn in second.turns("s", 25)] == list(range(6, 31))
    first.sync.components.close()
    second.sync.components.close()


def test_a_turn_is_recalled_by_its_own_words_and_by_the_turns_before_it(
    memory: ConversationStore,
) -> None:
    memory.remember(
        make_turns("Shall we go sailing on Sunday?", "Gladly.", "Something else entirely.")
    )
    assert ask(memory, "sailing")[0].turn.index == 0
    assert [recalled.turn.index for recalled in ask(memory, "sailing")] == [0, 1, 2]
    assert ask(memory, "sailing")[1].turn.content == "Gladly."


def test_sessions_and_projects_do_not_see_each_other(tmp_path: Path) -> None:
    mine, yours = opened(tmp_path), opened(tmp_path, "other")
    mine.remember(make_turns("the password is swordfish"))
    assert yours.turns("s") == []
    assert ask(yours, "swordfish") == []
    assert ask(mine, "swordfish", session="t") == []
    assert yours.forget("s") == 0
    assert len(ask(mine, "swordfish")) == 1
    mine.sync.components.close()
    yours.sync.components.close()


def test_documents_and_turns_never_meet_in_a_search(tmp_path: Path) -> None:
    memory = opened(tmp_path)
    memory.remember(make_turns("the gondola is late"))
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        assert engine.search("gondola") == []
        assert engine.admin.collections() == []
    memory.sync.components.close()


def test_a_time_in_the_question_raises_turns_of_that_time(memory: ConversationStore) -> None:
    memory.remember(make_turns("we planted beans in the garden", at=NOW - 40 * DAY))
    memory.remember(make_turns("we planted corn in the garden", at=NOW - DAY))
    assert ask(memory, "what did we plant yesterday")[0].turn.index == 1
    assert ask(memory, "what did we plant last May")[0].turn.index == 0
    assert (
        ask(memory, "what did we plant last May")[0].boosts[0][0]
        == "said at that time: last May"
    )


def test_a_turn_of_the_speaker_that_a_question_names_goes_first(
    memory: ConversationStore,
) -> None:
    for name, content in (
        ("Ben Ito", "the kayak trip is on Friday"),
        ("Ana Ruiz", "hello"),
        ("Ana Ruiz", "a kayak trip is on Sunday"),
    ):
        memory.remember([Turn("s", 0, "user", content, NOW, name)])
    for question, first in (("which kayak trip has ana", 2), ("which kayak trip has BEN", 0)):
        recalled = ask(memory, question)
        assert recalled[0].turn.index == first
        name = recalled[0].turn.speaker
        assert f"said by {name}, whom the question names" in dict(recalled[0].boosts)
    reasons = [reason for entry in ask(memory, "kayak trip") for reason, _ in entry.boosts]
    assert not any(reason.startswith("said by") for reason in reasons)


def test_since_and_until_limit_the_turns(memory: ConversationStore) -> None:
    memory.remember(make_turns("tea", at=NOW - 3 * DAY))
    memory.remember(make_turns("more tea", at=NOW))
    assert [recalled.turn.index for recalled in ask(memory, "tea", since=NOW - DAY)] == [1]
    assert [recalled.turn.index for recalled in ask(memory, "tea", until=NOW - DAY)] == [0]


def test_restatements_become_one_turn_that_lists_them(memory: ConversationStore) -> None:
    memory.remember(make_turns("My dog is called Rex.", "We had rain.", "my dog is called rex"))
    answers = ask(memory, "what is the dog called")
    assert not {0, 2} <= {recalled.turn.index for recalled in answers}
    assert {answers[0].turn.index, *answers[0].said_again} == {0, 2}


def test_a_newer_fact_supersedes_an_older_one_and_says_why(memory: ConversationStore) -> None:
    memory.remember(make_turns("My favourite editor is vim.", "Lunch was fine."))
    newer = memory.remember(make_turns("My favourite editor is helix."))[0]
    assert newer.supersedes == (0,)
    assert newer.because == '"My favourite editor is vim" became "My favourite editor is helix"'
    by_turn = {recalled.turn.index: recalled for recalled in ask(memory, "favourite editor")}
    assert (by_turn[2].superseded_by, by_turn[0].superseded_by) == (None, 2)
    assert by_turn[2].score > by_turn[0].score
    assert by_turn[0].because == newer.because


def test_supersession_can_be_cancelled(memory: ConversationStore) -> None:
    memory.remember(make_turns("My favourite editor is vim.", "My favourite editor is helix."))
    assert memory.restore("s", 1).supersedes == ()
    assert [recalled.superseded_by for recalled in ask(memory, "favourite editor")] == [
        None,
        None,
    ]
    with pytest.raises(NotFound, match="turn 7"):
        memory.restore("s", 7)


def test_a_turn_of_another_speaker_supersedes_nothing(memory: ConversationStore) -> None:
    memory.remember(make_turns("My favourite editor is vim."))
    assert (
        memory.remember(make_turns("My favourite editor is helix.", role="assistant"))[
            0
        ].supersedes
        == ()
    )


def test_forgotten_turns_are_not_recalled(
    memory: ConversationStore,
) -> None:
    memory.remember(make_turns("old tea", at=NOW - 10 * DAY))
    memory.remember(make_turns("new tea", at=NOW))
    assert memory.forget("s", before=NOW - DAY) == 1
    assert [recalled.turn.content for recalled in ask(memory, "tea")] == ["new tea"]
    assert memory.forget("s") == 1
    assert memory.turns("s") == []
    assert ask(memory, "tea") == []


def test_a_session_that_was_forgotten_may_begin_again(memory: ConversationStore) -> None:
    memory.remember(make_turns("one"))
    memory.forget("s")
    assert memory.remember(make_turns("two"))[0].index == 0
    assert [turn.content for turn in memory.turns("s")] == ["two"]


def test_a_long_turn_is_recalled_in_full(memory: ConversationStore) -> None:
    content = "\n\n".join(
        f"Paragraph {n} speaks of matter {n} at some length, so that it is cut."
        for n in range(200)
    )
    memory.remember(make_turns(content))
    assert [recalled.turn.content for recalled in ask(memory, "matter 150")] == [content]


def test_a_secret_in_a_turn_is_neither_stored_nor_cached(
    memory: ConversationStore,
) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    memory.remember(make_turns(f"use {key} for the release"))
    assert key not in memory.turns("s")[0].content
    assert "[SECRET:" in memory.turns("s")[0].content
    assert "[SECRET:" in ask(memory, "release")[0].turn.content


def test_a_repeated_statement_is_found_with_its_last_time(
    memory: ConversationStore,
) -> None:
    memory.remember(
        make_turns("My favourite editor is vim.", "My favourite editor is helix.", at=NOW - DAY)
    )
    memory.remember(make_turns("My favourite editor is vim."))
    answers = ask(memory, "which is the favourite editor")
    assert [
        (recalled.turn.index, recalled.superseded_by, recalled.said_again)
        for recalled in answers
    ] == [
        (2, None, (0,)),
        (1, 2, ()),
    ]
    answers = ask(memory, "which is the favourite editor", until=NOW - DAY)
    assert [
        recalled.turn.index for recalled in answers if recalled.turn.content.endswith("vim.")
    ] == [0]
    answers = ask(memory, "which is the favourite editor", since=NOW - 2 * DAY)
    assert (answers[0].turn.index, answers[0].said_again) == (2, (0,))


def test_a_repeated_long_turn_is_recalled_once_and_in_full(memory: ConversationStore) -> None:
    long = "\n\n".join(
        f"Paragraph {n} speaks of matter {n} at some length, so that it is cut."
        for n in range(60)
    )
    memory.remember(make_turns(long, long))
    answers = ask(memory, "matter 50")
    assert [recalled.turn.content for recalled in answers] == [long]


def test_changes_by_another_process_are_seen_here(tmp_path: Path) -> None:
    first, second = opened(tmp_path), opened(tmp_path)
    first.remember(
        make_turns(
            "My favourite editor is vim.", "My favourite editor is helix.", "The bell rings."
        )
    )
    assert len(second.turns("s")) == 3
    assert {recalled.superseded_by for recalled in ask(second, "favourite editor")} == {None, 1}
    first.restore("s", 1)
    assert {recalled.superseded_by for recalled in ask(second, "favourite editor")} == {None}
    first.forget("s", turn=2)
    assert [turn.index for turn in second.turns("s")] == [0, 1]
    first.forget("s")
    first.remember(make_turns("a", "b", "c", "d"))
    assert [turn.content for turn in second.turns("s")] == ["a", "b", "c", "d"]
    assert second.remember(make_turns("My favourite editor is nano."))[0].supersedes == ()
    first.sync.components.close()
    second.sync.components.close()


def test_a_turn_that_could_not_be_stored_supersedes_nothing(memory: ConversationStore) -> None:
    memory.remember(make_turns("The bell rings."))
    bad = [Turn("s", 0, "user", "My favourite editor is vim.", NOW, metadata={"x": object()})]  # type: ignore[dict-item]
    with pytest.raises((TypeError, ValueError, InputError)):
        memory.remember(bad)
    assert memory.remember(make_turns("My favourite editor is helix."))[0].supersedes == ()
    assert [turn.content for turn in memory.turns("s")] == [
        "The bell rings.",
        "My favourite editor is helix.",
    ]


def test_speakers_of_any_script_and_texts_of_any_length_come_back(
    memory: ConversationStore,
) -> None:
    long = "wort " * 30_000
    memory.remember(
        [
            Turn("s", 0, "user", long, NOW, "Ζωή 👩‍🚀"),
            Turn("s", 0, "user", "über: 🎉", NOW, "李: 雷"),
        ]
    )
    assert [(turn.speaker, len(turn.content)) for turn in memory.turns("s")] == [
        ("Ζωή 👩‍🚀", 150_000),
        ("李: 雷", 7),
    ]
    assert ask(memory, "über")[0].turn.content == "über: 🎉"


def test_a_turn_beside_one_that_answers_is_raised(memory: ConversationStore) -> None:
    memory.remember(
        make_turns(
            "The harbour opens at six.",
            "Then we leave at seven.",
            "Bread is sold out.",
            "Rain all day.",
            "Nothing new here.",
            "The harbour is old.",
        )
    )
    recalled = {entry.turn.index: entry for entry in ask(memory, "when does the harbour open")}
    assert "the turn before or after answers too" in dict(recalled[1].boosts)
    assert recalled[0].score >= recalled[1].score
