"""The size of an index over time: recorded after writes, read back without damaged lines, and kept small."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.indexing import size_history
from ragstone.indexing.events import CHUNK_INDEXED, Event
from ragstone.indexing.size_history import SizeHistory
from ragstone.types import SizePoint


def history_of(path: Path, project: str = "default") -> SizeHistory:
    return SizeHistory(path, project, lambda: SizePoint(time.time(), 1, 2, 3))


def write_one(history: SizeHistory) -> None:
    """Record a write, as after a minute."""
    history.take_event(Event(CHUNK_INDEXED, {}))
    history.take_event(Event(CHUNK_INDEXED, {}))
    history.flush()


def test_a_write_is_recorded_at_most_once_a_minute_and_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "sizes.jsonl"
    history = history_of(path)
    for _ in range(100):
        history.take_event(Event(CHUNK_INDEXED, {}))
    assert len(path.read_text().splitlines()) == 1
    history.flush()
    history.flush()
    assert len(path.read_text().splitlines()) == 2
    assert [point.chunks for point in history.points()] == [2, 2, 2]


def test_lines_of_other_projects_and_damaged_lines_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "sizes.jsonl"
    write_one(history_of(path, "other"))
    with path.open("a") as file:
        file.write('no json\n[1]\n{"project": "default", "unknown": 1}\n')
    assert len(history_of(path).points()) == 1  # the present size alone


def test_a_long_history_is_thinned_and_keeps_its_newest_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "sizes.jsonl"
    monkeypatch.setattr(size_history, "_MAX_BYTES", 5_000)
    history = history_of(path)
    for number in range(500):
        line = {"project": "default", "time": number, "documents": 1, "chunks": 2, "bytes": 3}
        with path.open("a") as file:
            file.write(json.dumps(line) + "\n")
        if number % 50 == 49:
            write_one(history)
    times = [point.time for point in history.points() if point.time < 1_000]
    assert path.stat().st_size < 15_000  # all lines are 36,000 bytes
    assert times == sorted(times) and times[-1] == 499 and times[0] == 0
    assert set(range(480, 500)) <= set(times)


def test_a_link_in_the_place_of_the_file_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("")
    link = tmp_path / "sizes.jsonl"
    link.symlink_to(target)
    write_one(history_of(link))
    assert target.read_text() == ""


def test_an_engine_records_its_size_when_it_is_closed(folder: Path) -> None:
    config = {"rag.embedding_provider": "fake", "search.watch": "off"}
    with Engine.open(folder, config=config) as engine:
        engine.sync()
        chunks = engine.status().chunks
    lines = (folder / ".ragstone/sizes.jsonl").read_text().splitlines()
    assert json.loads(lines[-1])["chunks"] == chunks


def test_nothing_is_recorded_without_an_event_log(folder: Path) -> None:
    config = {"rag.embedding_provider": "fake", "events.log": False}
    with Engine.open(folder, config=config) as engine:
        engine.sync()
    assert not (folder / ".ragstone/sizes.jsonl").exists()
