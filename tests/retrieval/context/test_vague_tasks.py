"""A task that names nothing gets a question and no passages."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone import Document, Engine
from ragstone.retrieval.context.vague_tasks import is_vague

VAGUE = [
    "fix it",
    "Fix the bug!",
    "it does not work, please fix this",
    "improve this",
    "make it faster",
    "continue",
    "go on",
    "solve the problem",
    "clean up the code",
    "please look at the issue and solve it",
    "why does it not work",
    "refactor",
    "fixing the issue",
]
CLEAR = [
    "fix the login bug",
    "fix OrderPolicy",
    "improve the error page of the shop",
    "help",
    "what is this project",
    "add tests",
    "bug",
    "error E-207",
    "upload_with_backoff",
    "make demo",
    "update the README",
    "fix src/shop.py",
    "behebe den Fehler",
    "ask me about tides",
    "",
]


@pytest.mark.parametrize("task", VAGUE)
def test_a_task_of_general_words_is_vague(task: str) -> None:
    assert is_vague(task)


@pytest.mark.parametrize("task", CLEAR)
def test_a_task_with_a_subject_is_not_vague(task: str) -> None:
    assert not is_vague(task)


def test_the_context_of_a_vague_task_asks_back_and_lists_what_it_left_out(
    tmp_path: Path,
) -> None:
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        engine.add(Document("notes.md", "We fix it on Mondays. Then we fix the bug."))
        context = engine.context("fix the bug")
        assert not context.cited
        assert context.text == ""
        assert context.needs_clarification
        assert context.question == (
            '"fix the bug" names nothing to look for. Which file, component or term is it about?'
        )
        assert [entry.reason for entry in context.left_out] == [
            "the task names nothing to look for"
        ]
        assert engine.context("fix the bug", filters={"path": "notes.md"}).cited
        assert engine.context("fix the bug", collection="default").cited
        assert engine.context("fix the bug on Mondays").cited
