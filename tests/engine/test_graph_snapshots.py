"""The reads of one question about code see one state of the store, while another process writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ragstone import Engine
from ragstone.protocols import DocumentReader
from ragstone.retrieval.code import names
from ragstone.retrieval.freshness import FreshnessCheck
from ragstone.types import CodeAnswer, Explanation, Scope
from ragstone_code.questions.code_questions import CodeQuestions
from tests.indexing.graph.quarry import write

CONFIG = {"rag.embedding_provider": "fake", "sources.git": False, "search.watch": "off"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "app")


@pytest.fixture
def engine(folder: Path) -> Iterator[Engine]:
    with Engine.open(folder, config=CONFIG) as engine:
        engine.sync(embed=False)
        yield engine


def remove_everything(folder: Path) -> None:
    """Remove all documents from the index, as another process does."""
    with Engine.open(folder, config=CONFIG) as other:
        for document in list(other.sources()):
            other.remove(document.uri)
        other.graph.update()


@pytest.mark.parametrize(
    "question",
    [
        lambda engine: engine.graph.related("stones.update"),
        lambda engine: engine.graph.impact("App\\Models\\Stone"),
        lambda engine: engine.graph.history("stones"),
    ],
    ids=["related", "impact", "history"],
)
def test_a_node_and_its_links_are_of_one_state(
    engine: Engine,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    question: Callable[[Engine], object],
) -> None:
    find_node = names.find_node
    before = question(engine)
    assert before

    def find_and_write(*arguments: Any, **options: Any) -> object:
        node = find_node(*arguments, **options)
        remove_everything(folder)
        return node

    monkeypatch.setattr(names, "find_node", find_and_write)
    assert question(engine) == before


def test_an_answer_about_code_is_of_one_state(
    engine: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = CodeQuestions.answer

    def write_and_answer(
        self: CodeQuestions,
        store: DocumentReader,
        scope: Scope,
        question: str,
        hints: Mapping[str, str],
    ) -> CodeAnswer:
        store.generation(scope)
        remove_everything(folder)
        return answer(self, store, scope, question, hints)

    monkeypatch.setattr(CodeQuestions, "answer", write_and_answer)
    retrieval = engine.retrieve("which controller handles stones.update")
    assert retrieval.answer is not None
    assert retrieval.answer.facts["method"] == "update"


def test_retrieve_asks_the_graph_before_it_searches(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    answer, search = CodeQuestions.answer, FreshnessCheck.answer

    def note_answer(self: CodeQuestions, *arguments: Any) -> CodeAnswer:
        calls.append("graph")
        return answer(self, *arguments)

    def note_search(self: FreshnessCheck, *arguments: Any) -> Explanation:
        calls.append("search")
        return search(self, *arguments)

    monkeypatch.setattr(CodeQuestions, "answer", note_answer)
    monkeypatch.setattr(FreshnessCheck, "answer", note_search)
    engine.retrieve("which controller handles stones.update")
    assert calls[0] == "graph"
    assert "search" in calls
