"""The graph uses the facts that a sync has read for the chunks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.code.symbols import read_facts
from ragstone.indexing.graph.updater import GraphUpdater
from ragstone.indexing.reconcile import ParsedFile
from ragstone.types import KnownFile
from ragstone.types.code import FileFacts
from tests.support.internals import index_of


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    (tmp_path / "song.py").write_text("def play():\n    sing()\n", encoding="utf-8")
    (tmp_path / "choir.py").write_text("def sing():\n    pass\n", encoding="utf-8")
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as opened:
        yield opened


def functions(engine: Engine) -> list[str]:
    return sorted(node.name for node in engine.graph.nodes(kinds=["function"]))


def test_a_sync_parses_each_code_file_once(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []

    def count(
        text: str, uri: str, language: str = "", *, definitions_only: bool = False
    ) -> FileFacts | None:
        parsed.append(uri)
        return read_facts(text, uri, language, definitions_only=definitions_only)

    monkeypatch.setattr("ragstone.indexing.parser_process.read_facts", count)
    report = engine.sync()
    assert report.graph is not None
    assert report.graph.read == 2
    assert sorted(parsed) == ["choir.py", "song.py"]
    assert functions(engine) == ["play", "sing"]


def test_facts_of_another_text_than_the_stored_one_are_not_used(engine: Engine) -> None:
    engine.admin.refresh()  # stores the files without a graph
    other = read_facts("def older(): pass\n", "song.py")
    assert other is not None
    parsed = {"song.py": ParsedFile(KnownFile("hash of another text", None, ""), other)}
    GraphUpdater(index_of(engine)).update("default", parsed=parsed)
    assert functions(engine) == ["play", "sing"]
