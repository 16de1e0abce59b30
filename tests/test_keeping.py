"""Keeping in step: which collections are looked at, and what several ledgers say together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ragstone import Engine
from ragstone.keeping import _together
from ragstone.types import Item, Skip, SyncReport

FAKE = {"rag.embedding_provider": "fake"}
ONE = SyncReport(3, 1, 1, (Skip("b", "binary file"),), (), 0, 4, 2, 4, 1, 0.5, notes=("look again",))


def test_no_ledger_is_none_and_one_is_itself() -> None:
    assert _together([]) is None
    assert _together([ONE]) is ONE


def test_several_ledgers_add_up_and_still_close() -> None:
    both = _together([ONE, replace(ONE, failed=(Skip("c", "vanished"),), found=4)])
    assert both is not None
    assert (both.found, both.indexed, both.pending, len(both.skipped), len(both.failed)) == (7, 2, 2, 2, 1)
    assert both.closes
    assert both.notes == ("look again",)


def test_a_file_left_out_before_is_not_read_again_until_its_stamp_changes(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("text", encoding="utf-8")
    with Engine.open(tmp_path, config=FAKE) as engine:
        writer = engine._parts.writer("default")
        items = {item.uri: item.stamp for item in engine.source().scan() if isinstance(item, Item)}
        report, left_out = writer.sync(engine.source(), left_out=items)
        assert [skip.uri for skip in report.skipped] == ["a.md"]
        assert report.closes
        assert left_out == items
        (tmp_path / "a.md").write_text("other text", encoding="utf-8")
        report, left_out = writer.sync(engine.source(), left_out=items)
        assert report.indexed == 1
        assert left_out == {}


def test_vectors_wait_where_the_time_would_make_only_a_few_of_them(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"{number}.md").write_text(f"text number {number}", encoding="utf-8")
    with Engine.open(tmp_path, config=FAKE) as engine:
        assert engine.sync(embed=0.1).embedded == 0
        assert engine.search("number", mode="words")
        assert engine.sync(embed=5.0).embedded == 30


def test_vectors_that_a_refresh_left_out_are_made_by_the_next_that_makes_any(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("the gondola crosses", encoding="utf-8")
    with Engine.open(tmp_path, config=FAKE) as engine:
        assert engine.refresh(embed=False) is not None
        assert engine.status().spaces == ()
        assert engine.refresh(embed=5.0) is None, "no file has changed"
        assert [info.coverage for info in engine.status().spaces] == [1.0]
        (tmp_path / "b.md").write_text("the lagoon lies still", encoding="utf-8")
        engine.refresh(embed=False)
        assert [info.embedded for info in engine.status().spaces] == [1]
        for number in range(300):
            (tmp_path / f"{number}.md").write_text(f"text number {number}", encoding="utf-8")
        engine.refresh(embed=False)
        engine.refresh(embed=0.1)
        assert [info.embedded for info in engine.status().spaces] == [1], "too many for so little time"
        engine.refresh(embed=60.0)
        assert [info.coverage for info in engine.status().spaces] == [1.0]
