"""Questions about recorded runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone import Engine

CODE = "def play() -> None:\n    pass\n"


@pytest.mark.parametrize("name", ["run-9", "run 9", "run#9"])
def test_a_run_that_was_not_recorded_is_not_guessed(tmp_path: Path, name: str) -> None:
    (tmp_path / "song.py").write_text(CODE, encoding="utf-8")
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        engine.sync(embed=False)
        engine.record_run("run-1", "Songs have a title.", [{"path": "song.py"}])
        answer = engine.retrieve(f"what did {name} change", 5).answer
        known = engine.retrieve("what did run-1 change", 5).answer
    asked = name.removeprefix("run ")
    assert answer is not None
    assert answer.negative
    assert answer.said == f"There is no run {asked}; the recorded runs: run-1."
    assert known is not None
    assert known.said.startswith("Run run-1 (“Songs have a title.”)")


def test_a_project_without_runs_says_that_none_is_known(tmp_path: Path) -> None:
    (tmp_path / "song.py").write_text(CODE, encoding="utf-8")
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        engine.sync(embed=False)
        retrieval = engine.retrieve("what did run-9 change", 5)
    assert retrieval.answer is None
    assert "no run at all is known here" in str(retrieval.debug["notes"])
