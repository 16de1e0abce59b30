"""A hit that is called fresh shows the text of the file, also if another process indexes at the same moment."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.types import Explanation, Request
from tests.security.homes import FAKE


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
        searcher = engine.workspace.searcher
        run, count = searcher.run, 0

        def run_before_a_write(request: Request) -> Explanation:
            """Search, and then let another process index a new version of the file."""
            nonlocal count
            answer = run(request)
            if count < rounds:
                count += 1
                page.write_text(f"The quagga version {count}.", encoding="utf-8")
                other.sync()
            return answer

        monkeypatch.setattr(searcher, "run", run_before_a_write)
        hits = engine.search("quagga version", mode="words")
        assert hits
        for hit in hits:
            is_true = hit.text == page.read_text(encoding="utf-8")
            assert is_true or hit.freshness == "unverifiable"
        assert rounds > 1 or hits[0].freshness in ("fresh", "refreshed")
