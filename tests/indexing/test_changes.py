"""Following a folder: an open engine knows of every change, whoever made it and however many there were."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone import Document, Engine
from ragstone.errors import StoreBusy
from ragstone.sources.file_changes import Interval
from ragstone.store.lock import FileLock
from tests.support.internals import index_of

FAKE = {"rag.embedding_provider": "fake"}


@pytest.fixture
def followed(engine: Engine) -> Iterator[Engine]:
    engine.sync()
    yield engine


def places(engine: Engine, query: str) -> list[str]:
    return [hit.citation for hit in engine.search(query, mode="words")]


def test_an_edit_of_a_file_that_was_no_hit_is_found_by_the_next_search(
    followed: Engine, folder: Path
) -> None:
    assert places(followed, "zeppelin") == []
    (folder / "lease.py").write_text("# one\n\n# the zeppelin\n", encoding="utf-8")
    [hit] = followed.search("zeppelin", mode="words")
    assert (hit.citation, hit.freshness) == ("lease.py:1-3", "refreshed")
    [hit] = followed.search("zeppelin", mode="words")
    assert hit.freshness == "fresh"


def test_a_new_engine_scans_the_folder_once(folder: Path) -> None:
    with Engine.open(folder, config=FAKE) as first:
        first.sync()
    (folder / "new.md").write_text("zeppelin", encoding="utf-8")
    with Engine.open(folder, config=FAKE) as second:
        assert places(second, "zeppelin") == ["new.md:1"]
        assert second.admin.refresh() is None


def test_a_folder_that_was_never_synced_is_not_tracked(engine: Engine, folder: Path) -> None:
    engine.add(Document("note", "a zeppelin"))
    assert places(engine, "zeppelin") == ["note:1"]
    (folder / "new.md").write_text("zeppelin", encoding="utf-8")
    assert places(engine, "zeppelin") == ["note:1"]
    assert engine.admin.watch_method() == ""


def test_without_tracking_only_the_files_of_hits_are_checked(folder: Path) -> None:
    with Engine.open(folder, config={**FAKE, "search.watch": "off"}) as engine:
        engine.sync()
        (folder / "lease.py").write_text("zeppelin\n", encoding="utf-8")
        assert engine.search("zeppelin") == []
        assert "refreshed" in {
            hit.freshness for hit in engine.search("acquire_lease", mode="words")
        }
        assert places(engine, "zeppelin") == ["lease.py:1"]


def test_an_interval_scans_the_folder_when_it_has_passed(folder: Path) -> None:
    with Engine.open(folder, config={**FAKE, "search.watch": "interval"}) as engine:
        engine.sync()
        (folder / "new.md").write_text("zeppelin", encoding="utf-8")
        assert places(engine, "zeppelin") == []
        watch = index_of(engine).tracker._watch
        assert isinstance(watch, Interval)
        watch._last -= 3600
        assert places(engine, "zeppelin") == ["new.md:1"]


def test_two_collections_of_one_folder_both_stay_current(
    followed: Engine, folder: Path
) -> None:
    followed.sync(collection="second")
    (folder / "new.md").write_text("zeppelin", encoding="utf-8")
    followed.sync(collection="second")
    assert {hit.collection for hit in followed.search("zeppelin", collection="default")} == {
        "default"
    }
    (folder / "new.md").unlink()
    assert followed.search("zeppelin") == []


def test_very_many_changes_are_all_found_by_a_scan(
    followed: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragstone.indexing.changes._MAX_PATHS", 5)
    for number in range(20):
        (folder / f"{number}.md").write_text("zeppelin", encoding="utf-8")
    assert len(followed.search("zeppelin", top_k=30, mode="words")[0].duplicates) == 19


def test_a_search_waits_briefly_for_another_writer_and_adds_a_note(
    followed: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragstone.indexing.sync._SECONDS_FOR_WRITERS", 0.05)
    monkeypatch.setattr("ragstone.indexing.sync._RETRY_SECONDS", 0.0)
    (folder / "lease.py").write_text(
        "def acquire_lease(): return 'zeppelin'\n", encoding="utf-8"
    )
    with FileLock(followed.home / "ragstone.db.lock"):
        explanation = followed.explain("acquire_lease", mode="words")
    assert {hit.source_doc_id: hit.freshness for hit in explanation.hits} == {
        "lease.py": "unverifiable",
        "docs/locks.md": "fresh",
    }
    assert any("another process is writing" in note for note in explanation.notes)
    assert [hit.freshness for hit in followed.search("zeppelin", mode="words")] == ["refreshed"]


def test_a_timeout_of_one_thread_does_not_limit_another(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock", wait=5.0)
    entered, done = threading.Event(), threading.Event()
    failed: list[type[Exception]] = []

    def impatient() -> None:
        with lock.timeout(0.01):
            entered.set()
            try:
                lock.acquire()
            except StoreBusy:
                failed.append(StoreBusy)
        done.set()

    with lock:
        other = threading.Thread(target=impatient)
        other.start()
        entered.wait(5)
        done.wait(5)
    other.join(5)
    assert failed == [StoreBusy]
    with lock:
        pass


def test_a_missing_folder_keeps_the_stored_documents_unverifiable(
    folder: Path, tmp_path: Path
) -> None:
    with Engine.open(folder, config={**FAKE, "store.path": str(tmp_path / "home")}) as engine:
        engine.sync()
        os.rename(folder, tmp_path / "away")
        explanation = engine.explain("acquire_lease", mode="words")
        assert {hit.freshness for hit in explanation.hits} == {"unverifiable"}
        assert any("is not there" in note for note in explanation.notes)
        os.rename(tmp_path / "away", folder)
        assert {hit.freshness for hit in engine.search("acquire_lease", mode="words")} == {
            "fresh"
        }


def test_a_reopened_engine_tracks_changes_again(followed: Engine, folder: Path) -> None:
    followed.close()
    (folder / "new.md").write_text("zeppelin", encoding="utf-8")
    with Engine.open(folder, config={"rag.embedding_provider": "fake"}) as again:
        assert places(again, "zeppelin") == ["new.md:1"]


def test_several_threads_may_search_while_files_change(followed: Engine, folder: Path) -> None:
    wrong: list[str] = []

    def ask(number: int) -> None:
        for turn in range(5):
            word = f"zeppelin{number}x{turn}"
            (folder / f"{number}.md").write_text(f"the {word} lands\n", encoding="utf-8")
            hits = followed.search(word, top_k=1, mode="words")
            if not hits or word not in hits[0].text:
                wrong.append(word)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# ── anything at all ───────────────────────────────────────────────────────────────────────────────

NAMES = ("a.md", "b.md", "d/a.md", "d/e/c.md", "f/e/c.md", "g.md/h.md")
WORDS = ("granite", "basalts", "marbles")
step = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(NAMES), st.sampled_from(WORDS)),
    st.tuples(st.just("keep times"), st.sampled_from(NAMES), st.sampled_from(WORDS)),
    st.tuples(
        st.just("delete"), st.sampled_from((*NAMES, "d", "d/e", "f", "g.md")), st.just("")
    ),
    st.tuples(
        st.just("move"),
        st.sampled_from((*NAMES, "d", "d/e", "f")),
        st.sampled_from((*NAMES, "d", "f", "g.md")),
    ),
    st.tuples(st.just("search"), st.just(""), st.just("")),
)


def act(root: Path, what: str, first: str, second: str) -> None:
    """Do one thing to a folder, or nothing where it cannot be done."""
    path = root / first
    try:
        if what == "write":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"# {second}\n", encoding="utf-8")
        elif what == "keep times":
            before = path.stat()
            path.write_text(f"# {second}\n", encoding="utf-8")
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        elif what == "delete":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        elif what == "move":
            (root / second).parent.mkdir(parents=True, exist_ok=True)
            os.rename(path, root / second)
    except OSError:
        pass


@settings(max_examples=40)
@given(st.lists(step, min_size=1, max_size=25))
def test_the_next_search_knows_any_series_of_changes(
    steps: list[tuple[str, str, str]],
) -> None:
    with (
        tempfile.TemporaryDirectory() as temporary,
        Engine.open(temporary, config=FAKE) as engine,
    ):
        root = Path(temporary)
        engine.sync(embed=False)
        for what, first, second in [*steps, ("search", "", "")]:
            act(root, what, first, second)
            if what == "search":
                engine.search("granite", mode="words")
                stored = {
                    document.uri: engine.admin.text(document.uri)
                    for document in engine.sources()
                }
                assert stored == dict(_truth(root))


def _truth(root: Path) -> Iterator[tuple[str, str]]:
    for path in root.rglob("*"):
        if path.is_file() and ".ragstone" not in path.parts:
            yield path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")
