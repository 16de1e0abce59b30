"""Figures of use come from the event log."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone import Document, Engine
from ragstone.engine.usage_statistics import search_stats

CONFIG = {"rag.embedding_provider": "fake", "search.watch": "off"}


def test_searches_hits_and_saved_tokens_are_counted(tmp_path: Path) -> None:
    pages = "\n\n".join(f"## Rule {n}\n\n{'Bring a chisel. ' * 50}" for n in range(20))
    with Engine.open(tmp_path, config=CONFIG) as engine:
        assert engine.admin.stats().searches == 0
        engine.add(Document("rules.md", pages, language="markdown"))
        hits = engine.search("chisel", 1, mode="words")
        assert engine.search("nothing-like-this", mode="words") == []
        stats = engine.admin.stats()
    assert (stats.searches, stats.with_hits, stats.hit_rate) == (2, 1, 0.5)
    assert stats.tokens_returned == len(hits[0].text) // 4
    assert stats.tokens_of_files == len(pages) // 4
    assert stats.tokens_saved == stats.tokens_of_files - stats.tokens_returned
    assert stats.slow_milliseconds >= stats.median_milliseconds > 0
    assert stats.since is not None


def test_a_question_to_the_code_graph_alone_is_no_search_without_hits(tmp_path: Path) -> None:
    with Engine.open(tmp_path, config=CONFIG) as engine:
        engine.add(Document("rules.md", "Bring a chisel."))
        engine.search("chisel", 1, mode="words")
        engine.retrieve("what calls chisel", 0)
        stats = engine.admin.stats()
    assert (stats.searches, stats.for_hits, stats.with_hits, stats.hit_rate) == (2, 1, 1, 1.0)


def test_a_search_of_an_older_version_counts_without_tokens() -> None:
    stats = search_stats(
        [{"time": 5.0, "ids": ["a__chunk_0"], "milliseconds": 3.0}], {"a": 400}
    )
    assert (stats.searches, stats.tokens_of_files, stats.since) == (1, 0, 5.0)
    assert stats.median_milliseconds == stats.slow_milliseconds == 3.0


def test_the_command_shows_the_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from ragstone.surfaces.cli.app import run

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAGSTONE_RAG_EMBEDDING_PROVIDER", "fake")
    assert run(["stats"]) == 4
    (tmp_path / "a.md").write_text("A chisel is a tool.")
    run(["search", "chisel"])
    capsys.readouterr()
    assert run(["stats"]) == 0
    out = capsys.readouterr().out
    assert "searches" in out and "100%" in out and "saved against that" in out
