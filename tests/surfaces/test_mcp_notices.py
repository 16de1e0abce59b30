"""What an agent is told beside an answer: where the index is, and what a certainty means."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.surfaces.mcp import McpSession
from ragstone.surfaces.tools import ALL_TOOLS

CONFIG = {"rag.embedding_provider": "fake"}
TOOLS = {tool.name: tool for tool in ALL_TOOLS}
CODE = "def moor() -> None:\n    tie()\n\n\ndef tie() -> None:\n    pass\n"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    (tmp_path / "pier.py").write_text(CODE, encoding="utf-8")
    with Engine.open(tmp_path, config=CONFIG) as engine:
        engine.sync()
        yield engine


@pytest.mark.parametrize("tool", ["rag_related", "rag_impact"])
def test_a_certainty_is_explained_where_it_is_used(engine: Engine, tool: str) -> None:
    answer = TOOLS[tool](engine, {"name": "tie"})
    assert "declared" in answer.text
    assert answer.text.endswith("(declared: written in the source)")
    assert answer.data["confidences"] == {"declared": "written in the source"}


def test_the_certainty_of_an_answer_about_code_is_explained(engine: Engine) -> None:
    answer = TOOLS["rag_retrieve"](engine, {"query": "what calls tie"})
    assert answer.data["answer"]["confidence"] == "declared"
    assert answer.data["answer"]["confidence_means"] == "written in the source"


def test_an_agent_is_told_once_that_the_index_is_in_the_cache_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "pier.py").write_text(CODE, encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("ragstone.config.settings.Settings.is_home_in_cache", True)
    session = McpSession.open(project, config=CONFIG)
    try:
        session.start()
        first, second = (
            session.answer(TOOLS["rag_search"], {"query": "moor"}) for _ in range(2)
        )
    finally:
        session.close()
    notice = "this folder can only be read: index and memories are stored in "
    assert notice in first.text
    assert notice in first.data["index"]
    assert notice not in second.text


def test_an_agent_is_told_how_many_vectors_are_missing_and_when_to_ask_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pier.py").write_text(CODE, encoding="utf-8")
    is_told = threading.Event()
    monkeypatch.setattr(McpSession, "_make_vectors", lambda self: is_told.wait(30))
    session = McpSession.open(tmp_path, config=CONFIG)
    try:
        session.start()
        answers = [
            session.answer(TOOLS[name], {argument: "moor"})
            for name, argument in (
                ("rag_search", "query"),
                ("rag_context", "task"),
                ("rag_retrieve", "query"),
            )
        ]
        is_told.set()
        assert session.wait_until_current(30)
    finally:
        session.close()
    note = "no text has a vector yet; ask again in about 5 s for answers by meaning"
    for answer in answers:
        assert answer.data["index"] == note
        assert answer.text.endswith(f"({note})")
    assert session.note == ""


def test_a_path_may_be_absolute(engine: Engine, tmp_path: Path) -> None:
    for path in (f"{tmp_path}/**", f"{tmp_path}/pier.py", "pier.py", "/pier.py"):
        answer = TOOLS["rag_search"](engine, {"query": "moor", "path": path})
        assert [result["path"] for result in answer.data["results"]] == ["pier.py"], path
    other = TOOLS["rag_search"](engine, {"query": "moor", "path": f"{tmp_path}/docs/**"})
    assert other.data["results"] == []


def test_a_number_may_be_written_as_text(engine: Engine) -> None:
    answer = TOOLS["rag_search"](engine, {"query": "moor", "top_k": "1"})
    assert len(answer.data["results"]) == 1
    for wrong in ("many", "1.5", "0"):
        refused = TOOLS["rag_search"](engine, {"query": "moor", "top_k": wrong})
        assert refused.failed and "give a whole number" in refused.text


def test_an_unknown_name_gets_no_command_that_an_agent_cannot_call(engine: Engine) -> None:
    refused = TOOLS["rag_related"](engine, {"name": "zzzzqq"})
    assert refused.failed
    assert "it has names of these kinds: " in refused.text
    assert "function" in refused.text and "ragstone" not in refused.text
