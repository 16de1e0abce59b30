"""A forgotten turn leaves nothing of itself in the turns that stay: no quoted reason, no neighbouring words."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone import Engine

CONFIG = {"rag.embedding_provider": "fake"}


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine.open(tmp_path, config=CONFIG)


def test_a_turn_is_not_found_by_the_words_of_a_forgotten_turn_before_it(engine: Engine) -> None:
    for content in ("The vault opens with quuxly.", "Noted.", "The ferry leaves.", "Bye."):
        engine.remember("s", "user", content)
    assert len(engine.recall("s", "quuxly", top_k=5)) > 1
    assert engine.memory.forget("s", turn=0) == 1
    assert engine.recall("s", "quuxly", top_k=5) == []
    assert engine.explain("quuxly", memory=True, mode="words").hits == ()
    assert [turn.content for turn in engine.turns("s")] == [
        "Noted.",
        "The ferry leaves.",
        "Bye.",
    ]
    assert engine.recall("s", "ferry", top_k=1)[0].turn.index == 2
    engine.close()


def test_turns_before_a_time_are_forgotten_with_their_words(engine: Engine) -> None:
    for number, content in enumerate(("quuxly one", "quuxly two", "three", "four")):
        engine.remember("s", "user", content, at=1_700_000_000 + number)
    assert engine.memory.forget("s", before=1_700_000_002) == 2
    assert engine.recall("s", "quuxly", top_k=5) == []
    assert [turn.content for turn in engine.turns("s")] == ["three", "four"]
    engine.close()


def test_the_reason_of_a_change_does_not_quote_a_forgotten_turn(engine: Engine) -> None:
    engine.remember("s", "user", "The report is sent weekly.")
    engine.remember("s", "user", "The report is now sent monthly.")
    assert engine.turns("s")[1].supersedes == (0,)
    engine.memory.forget("s", turn=0)
    (left,) = engine.turns("s")
    assert (left.supersedes, left.because) == ((), "")
    assert not any("weekly" in line for line in engine.memory.export("s"))
    engine.close()


def test_a_reason_is_kept_for_the_turns_that_stay(engine: Engine) -> None:
    engine.remember("s", "user", "The report is sent weekly.")
    engine.remember("s", "user", "The report is sent weekly.")
    engine.remember("s", "user", "The report is now sent monthly.")
    assert engine.turns("s")[2].supersedes == (0, 1)
    engine.memory.forget("s", turn=0)
    assert engine.turns("s")[-1].supersedes == (1,)
    assert "monthly" in engine.turns("s")[-1].because
    engine.close()


def test_a_compacted_file_has_no_byte_of_a_forgotten_turn(
    tmp_path: Path, engine: Engine
) -> None:
    engine.remember("s", "user", "The code is Zwölfboxkämpfer weekly.")
    engine.remember("s", "user", "Noted.")
    engine.memory.forget("s", turn=0)
    engine.admin.compact(secure=True)
    engine.close()
    with Engine.open(tmp_path, config=CONFIG) as again:
        assert again.explain("Zwölfboxkämpfer", memory="s", mode="words").hits == ()
    for file in (tmp_path / ".ragstone").rglob("*"):
        if file.is_file():
            assert "Zwölfboxkämpfer".encode() not in file.read_bytes(), file.name
