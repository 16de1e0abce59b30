from __future__ import annotations

import dataclasses
import logging
import os
import threading
from json import JSONDecoder
from pathlib import Path

import pytest

from ragstone.indexing.events import (
    CHUNK_INDEXED,
    NAMES,
    SEARCH_COMPLETED,
    SEARCH_STARTED,
    Event,
    EventBus,
    EventLog,
)


def test_a_subscriber_gets_all_events_in_order() -> None:
    bus, received = EventBus(), list[Event]()
    bus.subscribe(received.append)
    bus.emit(SEARCH_STARTED, query="stone")
    bus.emit(SEARCH_COMPLETED, query="stone", ids=[1])
    assert [(event.name, dict(event.data)) for event in received] == [
        (SEARCH_STARTED, {"query": "stone"}),
        (SEARCH_COMPLETED, {"query": "stone", "ids": [1]}),
    ]
    assert received[0].time <= received[1].time


def test_a_subscriber_to_some_names_gets_only_those() -> None:
    bus, received = EventBus(), list[str]()
    bus.subscribe(lambda event: received.append(event.name), names=[SEARCH_STARTED])
    for name in NAMES:
        bus.emit(name)
    assert received == [SEARCH_STARTED]


def test_a_group_of_indexed_documents_has_the_time_of_its_last_one(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "events.jsonl")
    for number in range(3):
        log.write(
            Event(CHUNK_INDEXED, {"uri": f"{number}.md", "added": 1}, 100.0 + number / 10)
        )
    log.flush()
    (record,) = log.last(10)
    assert (record["time"], record["documents"]) == (100.2, 3)


def test_a_single_name_needs_no_list() -> None:
    bus, received = EventBus(), list[str]()
    bus.subscribe(lambda event: received.append(event.name), names=SEARCH_STARTED)
    bus.emit(SEARCH_STARTED)
    assert received == [SEARCH_STARTED]


def test_unsubscribing_twice_is_harmless() -> None:
    bus, received = EventBus(), list[Event]()
    bus.subscribe(lambda event: None)
    unsubscribe = bus.subscribe(received.append)
    unsubscribe()
    unsubscribe()
    bus.emit(SEARCH_STARTED)
    assert received == []


def test_a_callback_can_be_subscribed_twice() -> None:
    bus, received = EventBus(), list[Event]()
    first = bus.subscribe(received.append)
    bus.subscribe(received.append)
    bus.emit(SEARCH_STARTED)
    first()
    bus.emit(SEARCH_STARTED)
    assert len(received) == 3


def test_a_failing_subscriber_does_not_affect_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bus, received = EventBus(), list[str]()

    def fails(event: Event) -> None:
        raise ZeroDivisionError("not mine")

    bus.subscribe(fails)
    bus.subscribe(lambda event: received.append(event.name))
    with caplog.at_level(logging.WARNING, logger="ragstone.indexing.events"):
        bus.emit(SEARCH_STARTED)
    assert received == [SEARCH_STARTED]
    assert "rag_search_started" in caplog.text and "ZeroDivisionError" in caplog.text
    assert "Traceback" not in caplog.text


def test_a_subscriber_cannot_change_the_event() -> None:
    bus, seen = EventBus(), list[object]()

    def meddles(event: Event) -> None:
        with pytest.raises(TypeError):
            event.data["query"] = "other"  # type: ignore[index]
        with pytest.raises(dataclasses.FrozenInstanceError):
            event.name = "other"  # type: ignore[misc]
        seen.append("tried")

    bus.subscribe(meddles)
    bus.subscribe(lambda event: seen.append(event.data["query"]))
    bus.emit(SEARCH_STARTED, query="stone")
    assert seen == ["tried", "stone"]


def test_wants_returns_whether_there_is_a_subscriber() -> None:
    bus = EventBus()
    assert not bus.wants(SEARCH_STARTED)
    end = bus.subscribe(print, names=[SEARCH_STARTED])
    assert bus.wants(SEARCH_STARTED) and not bus.wants(SEARCH_COMPLETED)
    end()
    assert not bus.wants(SEARCH_STARTED)


def test_subscribing_and_emitting_from_many_threads_loses_nothing() -> None:
    bus, received = EventBus(), list[Event]()
    end_last = bus.subscribe(received.append)

    def come_and_go() -> None:
        for _ in range(200):
            end = bus.subscribe(lambda event: None)
            bus.emit(SEARCH_STARTED)
            end()

    threads = [threading.Thread(target=come_and_go) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(received) == 800
    end_last()
    assert not bus.wants(SEARCH_STARTED)


def test_the_event_names_are_those_of_the_contract() -> None:
    assert NAMES == (
        "rag_chunk_indexed",
        "rag_document_removed",
        "rag_search_started",
        "rag_search_completed",
        "ai_context_loaded",
        "audit",
    )


def test_a_stream_gives_events_from_its_opening_on() -> None:
    bus = EventBus()
    bus.emit(SEARCH_STARTED, query="before")
    with bus.stream([SEARCH_STARTED]) as stream:
        bus.emit(SEARCH_STARTED, query="one")
        bus.emit(SEARCH_COMPLETED, query="one")
        found = stream.next(timeout=1)
        assert found is not None
        assert found.data["query"] == "one"
        assert stream.next(timeout=0) is None
    bus.emit(SEARCH_STARTED, query="after")
    assert stream.next(timeout=0) is None


def test_a_slow_reader_loses_the_oldest_events_and_their_number_is_counted() -> None:
    bus = EventBus()
    with bus.stream(max_events=2) as stream:
        for number in range(5):
            bus.emit(SEARCH_STARTED, number=number)
        assert [
            event.data["number"] for _ in range(2) if (event := stream.next(timeout=0))
        ] == [
            3,
            4,
        ]
        assert stream.lost == 3


def test_an_event_wakes_a_reader_in_another_thread() -> None:
    bus = EventBus()
    with bus.stream() as stream:
        threading.Timer(0.05, bus.emit, [SEARCH_STARTED]).start()
        assert stream.next(timeout=10) is not None


def test_the_log_files_are_bounded(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "events.jsonl", max_bytes=2000)
    for number in range(200):
        log.write(Event(SEARCH_STARTED, {"query": f"question {number}"}))
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 6000
    assert [event["query"] for event in log.last(2)] == ["question 198", "question 199"]
    assert len(log.last(1000)) > 10
    assert log.last(5, [SEARCH_COMPLETED]) == []


def test_only_the_last_events_of_a_project_are_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = EventLog(tmp_path / "events.jsonl", "mine")
    others = EventLog(tmp_path / "events.jsonl", "theirs")
    for number in range(200):
        log.write(Event(SEARCH_STARTED, {"query": f"question {number}"}))
    log.write(Event(SEARCH_COMPLETED, {"query": "question 199"}))
    others.write(Event(SEARCH_STARTED, {"query": "a question of theirs"}))
    parsed: list[bytes] = []

    def count_lines(line: bytes) -> object:
        parsed.append(line)
        return JSONDecoder().decode(line.decode())

    monkeypatch.setattr("json.loads", count_lines)
    last = log.last(2, [SEARCH_STARTED])
    assert [event["query"] for event in last] == ["question 198", "question 199"]
    assert len(parsed) == 2


def test_the_log_is_private_and_skips_invalid_lines(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    log = EventLog(path)
    log.write(Event(SEARCH_STARTED, {"odd": object()}))
    path.write_text(path.read_text() + "not json\n[1]\n")
    assert [event["name"] for event in log.last(10)] == [SEARCH_STARTED]
    if os.name == "posix":
        assert path.stat().st_mode & 0o077 == 0


def test_a_log_that_cannot_be_written_raises_nothing(tmp_path: Path) -> None:
    EventLog(tmp_path / "missing" / "events.jsonl").write(Event(SEARCH_STARTED, {}))
    assert EventLog(tmp_path / "missing" / "events.jsonl").last(5) == []


def indexed(number: int) -> Event:
    return Event(
        CHUNK_INDEXED,
        {"collection": "yard", "uri": f"{number}.md", "added": 2, "kept": 1, "removed": 0},
        time=1.0,
    )


def test_consecutive_indexing_events_share_a_line(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "events.jsonl")
    for number in range(10_000):
        log.write(indexed(number))
    log.write(Event(SEARCH_STARTED, {"query": "x"}))
    records = log.last(1000)
    assert len(records) == 21
    groups = [event for event in records if event["name"] == CHUNK_INDEXED]
    assert sum(int(str(event.get("documents", 0))) for event in groups) == 10_000
    assert records[0] | {"time": 0} == {
        "time": 0,
        "name": CHUNK_INDEXED,
        "collection": "yard",
        "uri": "0.md",
        "documents": 500,
        "added": 1000,
        "kept": 500,
        "removed": 0,
    }


def test_flush_and_time_write_waiting_indexing_events(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "events.jsonl")
    log.write(indexed(7))
    assert log.last(10) == []
    log.flush()
    log.flush()
    assert [event["uri"] for event in log.last(10)] == ["7.md"]
    log.write(indexed(8))
    log.write(Event(CHUNK_INDEXED, {"uri": "9.md"}, time=60.0))  # long after: written at once
    assert [event.get("documents") for event in log.last(10)] == [None, 2]


def test_since_returns_new_events_also_after_a_rotation(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "events.jsonl", max_bytes=500)
    position = log.end()
    seen: list[object] = []
    for number in range(40):
        log.write(Event(SEARCH_STARTED, {"query": f"question {number}"}))
        if number % 3 == 0:
            news, position = log.since(position)
            seen += [event["query"] for event in news]
    news, position = log.since(position)
    seen += [event["query"] for event in news]
    assert seen == [f"question {number}" for number in range(40)]
    assert log.since(position)[0] == []
    assert log.since(log.end())[0] == []


def test_projects_share_a_log_and_read_only_their_own_events(tmp_path: Path) -> None:
    one, other = (
        EventLog(tmp_path / "events.jsonl", "one"),
        EventLog(tmp_path / "events.jsonl", "other"),
    )
    one.write(Event(SEARCH_STARTED, {"query": "mine"}))
    other.write(Event(SEARCH_STARTED, {"query": "theirs"}))
    assert [event["query"] for event in one.last(10)] == ["mine"]
    assert [event["query"] for event in other.last(10)] == ["theirs"]
    assert "project" not in one.last(10)[0]


def test_long_values_are_shortened_in_the_log(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "events.jsonl")
    log.write(Event(SEARCH_STARTED, {"query": "x" * 5_000_000, "ids": ["y" * 2000] * 5000}))
    assert (tmp_path / "events.jsonl").stat().st_size < 200_000
    assert str(log.last(1)[0]["query"]).startswith("xxx")


@pytest.mark.skipif(os.name != "posix", reason="links are of another kind there")
def test_the_log_follows_no_symbolic_link(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "home").symlink_to(elsewhere)
    EventLog(tmp_path / "home" / "events.jsonl").write(Event(SEARCH_STARTED, {}))
    assert list(elsewhere.iterdir()) == []
    target = elsewhere / "target.jsonl"
    target.write_text('{"name": "rag_search_started"}\n')
    real = tmp_path / "real"
    real.mkdir()
    (real / "events.jsonl").symlink_to(target)
    log = EventLog(real / "events.jsonl")
    log.write(Event(SEARCH_STARTED, {}))
    assert target.read_text() == '{"name": "rag_search_started"}\n'
    assert log.last(5) == []
