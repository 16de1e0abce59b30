"""The watcher: started, it keeps an index level with its folder until it is stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.errors import ConfigError, ProviderError
from ragstone.indexing.watcher import Watcher
from ragstone.types import SyncReport

FAKE = {"rag.embedding_provider": "fake"}


def until(true: Callable[[], object]) -> bool:
    """Return whether something came true in good time."""
    for _ in range(1000):
        if true():
            return True
        time.sleep(0.01)
    return False


@pytest.fixture
def reports() -> list[SyncReport]:
    return []


@pytest.fixture
def watched(engine: Engine, reports: list[SyncReport]) -> Iterator[tuple[Engine, Watcher]]:
    engine.sync()
    watcher = engine.admin.watcher(on_sync=reports.append)
    watcher.start()
    assert until(lambda: watcher.status().last_sync)
    yield engine, watcher
    watcher.stop()


def stored(engine: Engine) -> set[str]:
    return {document.uri for document in engine.sources()}


def test_changes_are_indexed_with_vectors_and_reported(
    watched: tuple[Engine, Watcher], reports: list[SyncReport], folder: Path
) -> None:
    engine, watcher = watched
    (folder / "new.md").write_text("zeppelin", encoding="utf-8")
    (folder / "lease.py").unlink()
    assert until(lambda: stored(engine) == {"docs/locks.md", "new.md"})
    assert until(lambda: sum(report.indexed + report.removed for report in reports) == 2)
    assert {uri for report in reports for uri in (*report.changed, *report.gone)} == {
        "new.md",
        "lease.py",
    }
    state = watcher.status()
    assert (state.running, state.indexed, state.removed, state.waiting, state.pending) == (
        True,
        1,
        1,
        0,
        0,
    )
    assert engine.status().spaces[0].coverage == 1
    assert engine.admin.last_sync() or 0 >= (state.last_sync or 0) - 60


def test_a_stopped_watcher_does_nothing_and_can_start_again(
    watched: tuple[Engine, Watcher], folder: Path
) -> None:
    engine, watcher = watched
    watcher.stop()
    assert not watcher.status().running
    (folder / "new.md").write_text("zeppelin", encoding="utf-8")
    assert "new.md" not in stored(engine)
    watcher.start()
    assert until(lambda: "new.md" in stored(engine))


def test_closing_the_engine_stops_the_watcher(watched: tuple[Engine, Watcher]) -> None:
    engine, watcher = watched
    engine.close()
    assert not watcher.status().running
    assert "ragstone-watcher" not in {thread.name for thread in threading.enumerate()}


def test_the_drift_check_finds_changes_without_events(folder: Path) -> None:
    with Engine.open(folder, config={**FAKE, "sources.drift_check_seconds": 1}) as engine:
        engine.sync()
        watcher = engine.admin.watcher()
        watcher.start()
        assert until(lambda: watcher.status().last_sync)
        engine.remove(
            "lease.py"
        )  # an index that differs from its folder, and no file that changed
        assert until(lambda: "lease.py" in stored(engine))


def test_a_watcher_by_interval_works_without_events(folder: Path) -> None:
    config = {**FAKE, "search.watch": "interval", "sources.auto_sync_interval_seconds": 1}
    with Engine.open(folder, config=config) as engine:
        engine.sync()
        watcher = engine.admin.watcher()
        watcher.start()
        (folder / "new.md").write_text("zeppelin", encoding="utf-8")
        assert until(lambda: "new.md" in stored(engine))
        assert watcher.status().way == "interval"


def test_a_watcher_reports_a_failure_and_goes_on(
    watched: tuple[Engine, Watcher], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, watcher = watched

    def fail(*_: object, **__: object) -> int:
        raise ProviderError("the model cannot be reached")

    with monkeypatch.context() as patch:
        patch.setattr("ragstone.indexing.backfill.VectorBackfill.run", fail)
        (folder / "new.md").write_text("zeppelin", encoding="utf-8")
        assert until(lambda: "cannot be reached" in watcher.status().problem)
        assert "new.md" in stored(engine)
    (folder / "newer.md").write_text("zeppelins", encoding="utf-8")
    assert until(
        lambda: watcher.status().problem == "" and engine.status().spaces[0].coverage == 1
    )


def test_searches_run_while_the_watcher_works(
    watched: tuple[Engine, Watcher], folder: Path
) -> None:
    engine, _ = watched
    for number in range(20):
        (folder / "new.md").write_text(f"zeppelin number{number}\n", encoding="utf-8")
        assert f"number{number}" in engine.search("zeppelin", top_k=1)[0].text


def test_there_is_no_watcher_if_watching_is_switched_off(folder: Path) -> None:
    with (
        Engine.open(folder, config={**FAKE, "search.watch": "off"}) as engine,
        pytest.raises(ConfigError),
    ):
        engine.admin.watcher()
