"""A hit that is called fresh shows the text of the file, also if another process indexes at the same moment."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from ragstone import Engine, Hit
from ragstone.types import Explanation, Request
from tests.security.homes import FAKE


def write_after_each_search(
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
    page: Path,
    index_again: Callable[[], object],
    *,
    rounds: int,
) -> None:
    """Let another process index a new version of a page after each of the first searches."""
    searcher = engine.workspace.searcher
    run, count = searcher.run, 0

    def run_before_a_write(request: Request) -> Explanation:
        nonlocal count
        answer = run(request)
        if count < rounds:
            count += 1
            page.write_text(f"The quagga version {count}.", encoding="utf-8")
            index_again()
        return answer

    monkeypatch.setattr(searcher, "run", run_before_a_write)


def require_true_hits(engine: Engine, page: Path) -> list[Hit]:
    """Return the hits; each shows the text of the page, or says that it is not proven."""
    hits = engine.search("quagga version", mode="words")
    assert hits
    for hit in hits:
        is_true = hit.text == page.read_text(encoding="utf-8")
        assert is_true or hit.freshness == "unverifiable"
    return hits


@pytest.mark.parametrize("rounds", [1, 5])
def test_a_file_that_is_indexed_again_after_the_search_is_not_called_fresh_with_its_old_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rounds: int
) -> None:
    page = tmp_path / "page.md"
    page.write_text("The quagga version 0.", encoding="utf-8")
    with (
        Engine.open(tmp_path, config=FAKE) as engine,
        Engine.open(tmp_path, config=FAKE) as other,
    ):
        engine.sync()
        write_after_each_search(engine, monkeypatch, page, other.sync, rounds=rounds)
        hits = require_true_hits(engine, page)
        assert rounds > 1 or hits[0].freshness in ("fresh", "refreshed")


def test_an_added_file_that_is_read_again_after_the_search_is_not_called_fresh_with_its_old_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    page.write_text("The quagga version 0.", encoding="utf-8")
    folder = tmp_path / "project"
    folder.mkdir()
    with (
        Engine.open(folder, config=FAKE) as engine,
        Engine.open(folder, config=FAKE) as other,
    ):
        engine.external.add_files(page)
        add_again = partial(other.external.add_files, page)
        write_after_each_search(engine, monkeypatch, page, add_again, rounds=1)
        require_true_hits(engine, page)
