"""Fresh by proof: what a hit says of its file, and what it costs to know."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragstone import Document, Engine
from ragstone.indexing.reconcile import Reconciler
from ragstone.sources import files
from ragstone.sources.folder.source import FolderSource
from ragstone.sources.in_memory import GivenDocuments
from ragstone.store.lock import FileLock
from ragstone.types import CollectionKey, Item, LoadedItem
from tests.indexing.graph.quarry import API, write
from tests.support.internals import index_of

FAKE = {"rag.embedding_provider": "fake"}
ALONE = {**FAKE, "search.watch": "off"}  # so that only the proof of hits is at work


@pytest.fixture
def proven(folder: Path) -> Iterator[Engine]:
    with Engine.open(folder, config=ALONE) as engine:
        engine.sync()
        yield engine


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that fills with what is read from disk."""
    reads: list[str] = []
    real = FolderSource.load

    def load(self: FolderSource, item: Item) -> LoadedItem:
        reads.append(item.uri)
        return real(self, item)

    monkeypatch.setattr(FolderSource, "load", load)
    return reads


def freshness_of(engine: Engine, query: str, **options: Any) -> dict[str, str]:
    hits = engine.search(query, mode="words", **options)
    return {hit.source_doc_id: hit.freshness for hit in hits}


def test_an_unchanged_file_is_fresh_and_is_not_read(folder: Path, opened: list[str]) -> None:
    old = time.time() - 100
    real, files.RACY_NS = files.RACY_NS, 0
    try:
        with Engine.open(folder, config=ALONE) as engine:
            engine.sync()
            opened.clear()
            assert freshness_of(engine, "writer lease") == {
                "docs/locks.md": "fresh",
                "lease.py": "fresh",
            }
            assert opened == []
            os.utime(folder / "lease.py", (old, old))
            time.sleep(0.02)  # a tick of the clock that files are stamped by
            assert freshness_of(engine, "acquire_lease")["lease.py"] == "fresh"
            assert opened == ["lease.py"]
            assert freshness_of(engine, "acquire_lease")["lease.py"] == "fresh"
            assert opened == ["lease.py"], "what was proven once is not read again"
    finally:
        files.RACY_NS = real


def test_a_file_too_new_for_its_stamp_is_read_each_time(
    proven: Engine, opened: list[str]
) -> None:
    for _ in range(2):
        opened.clear()
        assert freshness_of(proven, "acquire_lease")["lease.py"] == "fresh"
        assert "lease.py" in opened


def test_a_changed_file_is_read_again_and_ranked_again(proven: Engine, folder: Path) -> None:
    assert next(iter(freshness_of(proven, "take wait"))) == "lease.py"
    (folder / "lease.py").write_text("# nothing of the kind\n", encoding="utf-8")
    assert freshness_of(proven, "take wait") == {"docs/locks.md": "fresh"}
    hits = proven.search("nothing of the kind", mode="words")
    assert (hits[0].citation, hits[0].freshness) == ("lease.py:1", "fresh")


def test_a_deleted_file_is_dropped_and_others_take_its_place(
    proven: Engine, folder: Path
) -> None:
    (folder / "lease.py").unlink()
    assert freshness_of(proven, "acquire lease writer", top_k=1) == {"docs/locks.md": "fresh"}
    assert [document.uri for document in proven.sources()] == ["docs/locks.md"]


def test_given_documents_and_those_of_other_sources_are_unverifiable(proven: Engine) -> None:
    proven.add(Document("notes/lease", "Who may acquire the lease?"))
    page = GivenDocuments(
        [Document("https://example.org/lease", "acquire the lease")], name="web"
    )
    Reconciler(index_of(proven).collection("default").writer(), page).run()
    freshness = freshness_of(proven, "acquire lease")
    assert freshness["notes/lease"] == freshness["https://example.org/lease"] == "unverifiable"
    assert freshness["lease.py"] == "fresh"


def test_without_the_check_every_hit_is_unverifiable(
    proven: Engine, folder: Path, opened: list[str]
) -> None:
    (folder / "lease.py").unlink()
    assert set(freshness_of(proven, "acquire lease", fresh=False).values()) == {"unverifiable"}
    assert "lease.py" in freshness_of(proven, "acquire lease", fresh=False)
    assert opened == []


def test_an_index_moved_along_with_its_folder_still_proves(
    proven: Engine, folder: Path, tmp_path: Path
) -> None:
    proven.close()
    shutil.move(folder, tmp_path / "moved")
    with Engine.open(tmp_path / "moved", config=ALONE) as engine:
        assert freshness_of(engine, "acquire_lease")["lease.py"] == "fresh"


def test_files_of_another_folder_are_not_checked_in_this_one(
    folder: Path, tmp_path: Path
) -> None:
    home = {"store.path": str(tmp_path / "home")}
    with Engine.open(folder, config={**FAKE, **home}) as engine:
        engine.sync()
    (tmp_path / "other").mkdir()
    with Engine.open(tmp_path / "other", config={**FAKE, **home}) as engine:
        assert set(freshness_of(engine, "acquire lease").values()) == {"unverifiable"}
        (tmp_path / "other/some.md").write_text("a zeppelin", encoding="utf-8")
        engine.sync(["some.md"])
        assert freshness_of(engine, "zeppelin") == {"some.md": "unverifiable"}
        assert "lease.py" in freshness_of(engine, "acquire lease")
    with Engine.open(folder, config={**FAKE, **home}) as engine:
        assert set(freshness_of(engine, "acquire lease").values()) == {"unverifiable"}
        engine.sync()
        assert set(freshness_of(engine, "acquire lease").values()) == {"fresh"}


def test_a_cached_answer_is_checked_again(proven: Engine, folder: Path) -> None:
    assert freshness_of(proven, "acquire_lease")["lease.py"] == "fresh"
    text = (folder / "lease.py").read_text(encoding="utf-8")
    (folder / "lease.py").write_text(text.replace("or wait", "or hate"), encoding="utf-8")
    [hit] = proven.search("acquire_lease", top_k=1, mode="words")
    assert "or hate" in hit.text and hit.freshness == "refreshed"
    assert freshness_of(proven, "acquire_lease")["lease.py"] == "fresh"


def test_a_file_that_changes_all_the_time_does_not_block_a_search(
    proven: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = proven.workspace.searcher.run
    turns: list[int] = []

    def run(request: object) -> object:
        turns.append(len(turns))
        (folder / "lease.py").write_text(
            f"def acquire_lease(): return {turns}\n", encoding="utf-8"
        )
        return real(request)  # type: ignore[arg-type]  # a request

    monkeypatch.setattr(proven.workspace.searcher, "run", run)
    assert freshness_of(proven, "acquire_lease")["lease.py"] == "unverifiable"
    assert len(turns) <= 3


@pytest.mark.parametrize("change", ["secret", "large"])
def test_a_file_that_is_now_ignored_is_dropped(folder: Path, change: str) -> None:
    config = {**ALONE, "sources.max_file_bytes": 1000}
    with Engine.open(folder, config=config) as engine:
        engine.sync()
        if change == "large":
            (folder / "lease.py").write_text("acquire_lease\n" * 1000, encoding="utf-8")
        else:
            os.rename(folder / "lease.py", folder / ".env")
        assert "lease.py" not in freshness_of(engine, "acquire_lease")


def test_an_unreadable_file_stays_and_is_unverifiable(proven: Engine, folder: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("nothing is unreadable to root")
    (folder / "lease.py").chmod(0)
    assert freshness_of(proven, "acquire_lease")["lease.py"] == "unverifiable"


def test_a_folder_that_comes_back_is_checked_again(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "home").mkdir()
    file, link = tmp_path / "real" / "lease.py", tmp_path / "link"
    file.write_text("acquire_lease once\n", encoding="utf-8")
    link.symlink_to(tmp_path / "real", target_is_directory=True)
    config = {**ALONE, "sources.base": str(link)}
    with Engine.open(tmp_path / "home", config=config) as engine:
        engine.sync()
    link.unlink()
    with Engine.open(tmp_path / "home", config=config) as engine:
        assert freshness_of(engine, "acquire_lease") == {"lease.py": "unverifiable"}
        link.symlink_to(tmp_path / "real", target_is_directory=True)
        assert freshness_of(engine, "acquire_lease") == {"lease.py": "fresh"}
        file.write_text("acquire_lease twice and again\n", encoding="utf-8")
        assert freshness_of(engine, "acquire_lease") == {"lease.py": "refreshed"}


def test_changed_text_gets_its_vectors_if_that_is_quick(folder: Path) -> None:
    with Engine.open(folder, config=FAKE) as engine:
        engine.sync()
        (folder / "lease.py").write_text("the zeppelin lands on the meadow\n", encoding="utf-8")
        [hit] = engine.search("zeppelin meadow", mode="vectors", top_k=1)
        assert (hit.source_doc_id, hit.freshness) == ("lease.py", "refreshed")
        assert engine.explain("zeppelin").coverage == {"fake": 1.0}


def test_a_search_by_words_makes_no_vectors_and_a_later_one_by_meaning_does(
    folder: Path,
) -> None:
    with Engine.open(folder, config=FAKE) as engine:
        engine.sync()
        (folder / "lease.py").write_text("the zeppelin lands on the meadow\n", encoding="utf-8")
        assert engine.search("zeppelin", mode="words")
        assert engine.status().spaces[0].coverage < 1
        assert (
            engine.search("zeppelin meadow", mode="vectors", top_k=1)[0].source_doc_id
            == "lease.py"
        )
        assert engine.status().spaces[0].coverage == 1


def test_no_vectors_are_made_if_the_time_is_far_too_short(folder: Path) -> None:
    with Engine.open(folder, config={**FAKE, "search.refresh_ms": 100}) as engine:
        engine.sync()
        engine.add(
            [Document(f"n{number}", f"number {number}") for number in range(50)], embed=False
        )
        before = engine.status().spaces[0].embedded
        (folder / "lease.py").write_text("the zeppelin lands\n", encoding="utf-8")
        assert engine.search("zeppelin")[0].freshness == "refreshed"
        assert engine.status().spaces[0].embedded <= before


def test_a_read_only_store_answers_with_unverifiable_hits_and_a_note(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Engine.open(folder, config=ALONE) as engine:
        engine.sync()
        monkeypatch.setattr(engine.workspace.components.store._database, "read_only", True)  # type: ignore[attr-defined]  # of SQLite's
        assert freshness_of(engine, "acquire_lease")["lease.py"] == "fresh"
        (folder / "lease.py").write_text("def acquire_lease(): 'anew'\n", encoding="utf-8")
        explanation = engine.explain("acquire_lease", mode="words")
        assert {hit.source_doc_id: hit.freshness for hit in explanation.hits}[
            "lease.py"
        ] == "unverifiable"
        assert any("can only be read" in note for note in explanation.notes)


def test_count_waiting_counts_only_changed_files(folder: Path) -> None:
    with Engine.open(folder, config=ALONE) as engine:
        engine.sync()
        (folder / "bytes.txt").write_bytes(bytes(100))
        engine.sync()
        assert engine.admin.count_waiting() == 0
        os.utime(folder / "lease.py", (1, 1))
        assert engine.admin.count_waiting() == 0
        (folder / "lease.py").write_text("other", encoding="utf-8")
        (folder / "new.md").write_text("new", encoding="utf-8")
        (folder / "docs/locks.md").unlink()
        assert engine.admin.count_waiting() == 3
        engine.sync()
        assert engine.admin.count_waiting() == 0


# ── prose about code ──────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def routed(tmp_path: Path) -> Iterator[Engine]:
    """Return an engine over a small application whose routes are told in prose."""
    with Engine.open(write(tmp_path / "app"), config={**ALONE, "sources.git": False}) as engine:
        engine.sync(embed=False)
        yield engine


def route_freshness(engine: Engine, word: str) -> dict[str, str]:
    """Return the routes that prose with a word in it tells of."""
    return freshness_of(engine, f"{word} stones", filters={"kind": "route"}, top_k=20)


def test_a_description_of_an_unchanged_file_is_fresh(routed: Engine) -> None:
    assert route_freshness(routed, "update")["graph:route/PUT api/stones/{stone}"] == "fresh"


def test_a_description_of_a_changed_file_is_updated_if_that_is_quick(routed: Engine) -> None:
    path = routed.folder / API
    path.write_text(
        path.read_text("utf-8").replace("stones/{stone}", "stones/{stone}/shine"),
        encoding="utf-8",
    )
    freshness = route_freshness(routed, "update")
    assert freshness["graph:route/PUT api/stones/{stone}/shine"] == "fresh"
    assert "graph:route/PUT api/stones/{stone}" not in freshness


def test_a_description_that_is_slow_to_update_is_unverifiable(routed: Engine) -> None:
    routed.workspace.components.store.state.update_collection_state(
        CollectionKey("default", "default"), graph_seconds=9.0
    )
    path = routed.folder / API
    path.write_text(
        path.read_text("utf-8").replace("stones/{stone}", "stones/{stone}/shine"),
        encoding="utf-8",
    )
    freshness = route_freshness(routed, "update")
    assert freshness["graph:route/PUT api/stones/{stone}"] == "unverifiable"


def test_a_search_does_not_wait_for_another_graph_update(routed: Engine) -> None:
    routes = routed.settings.base / "routes" / "api.php"
    routes.write_text(
        routes.read_text(encoding="utf-8").replace("stones/{stone}", "rocks/{stone}"),
        encoding="utf-8",
    )
    with FileLock(routed.home / "graph.lock"):
        assert (
            route_freshness(routed, "update")["graph:route/PUT api/stones/{stone}"]
            == "unverifiable"
        )
    assert "graph:route/PUT api/stones/{stone}" not in route_freshness(routed, "update")


def test_a_description_of_a_deleted_file_is_dropped(routed: Engine) -> None:
    routed.workspace.components.store.state.update_collection_state(
        CollectionKey("default", "default"), graph_seconds=9.0
    )
    (routed.folder / API).unlink()
    assert [uri for uri in route_freshness(routed, "update") if "stones" in uri] == []
