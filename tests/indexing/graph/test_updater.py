from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.code import symbols
from ragstone.indexing.graph import passes
from ragstone.indexing.graph.frameworks import FrameworkReader
from ragstone.indexing.graph.updater import GRAPH_OFF, GraphUpdater
from ragstone.types import CollectionKey, Document, GraphReport, Node, Scope
from ragstone.types.code import FileFacts
from tests.indexing.graph.tiny import BASE, FILES, ROUTES, SONG, TINY, documents, reader_of
from tests.support.internals import index_of

HERE = Scope("default")
C = "default"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """Return an engine that holds the tiny project as given documents."""
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        engine.add(documents(), embed=False)
        yield engine


def updater(engine: Engine) -> GraphUpdater:
    return GraphUpdater(index_of(engine), TINY)


def give(engine: Engine, uri: str, text: str) -> GraphReport:
    """Change a file and bring the graph level; return what that took."""
    engine.add(Document(uri, text), embed=False)
    return updater(engine).update(C)


def rows(report: GraphReport) -> dict[str, int]:
    """Return what changed, without what did not."""
    return {name: count for name, count in report.changed.items() if count}


def keys(engine: Engine, kind: str) -> list[str]:
    return [
        node.key for node in engine.workspace.components.store.graph.nodes(HERE, kinds=[kind])
    ]


# ── what changed is read, and nothing else ────────────────────────────────────────────────────────


def test_the_first_update_reads_every_file(engine: Engine) -> None:
    report = updater(engine).update(C)
    assert (report.files, report.read, report.frameworks) == (2, 2, ("tiny",))
    assert keys(engine, "class") == ["class:music.base.Model", "class:music.song.Song"]
    assert keys(engine, "route") == ["route:GET songs", "route:PUT songs/{song}"]
    store = engine.workspace.components.store
    (extends,) = store.graph.links(HERE, ["class:music.song.Song"], kinds=["EXTENDS"])
    assert (extends.target, extends.uri, extends.line) == (
        "class:music.base.Model",
        "music/song.py",
        6,
    )
    assert {
        link.target for link in store.graph.links(HERE, ["method:music.song.Song.play"])
    } == {"method:music.song.Song.title"}


def test_an_unchanged_project_is_not_read_or_written(engine: Engine) -> None:
    updater(engine).update(C)
    before = engine.workspace.components.store.generation(HERE)
    again = updater(engine).update(C)
    assert (again.read, again.resolved, again.changed, again.frameworks) == (0, 0, {}, ())
    assert engine.workspace.components.store.generation(HERE) == before
    assert updater(engine).is_current(C)


def test_a_document_without_code_does_not_change_the_graph(engine: Engine) -> None:
    updater(engine).update(C)
    report = give(engine, "README.md", "Sing louder!")
    assert (report.read, report.resolved, report.changed) == (0, 0, {})


def test_a_new_route_writes_exactly_that_route(engine: Engine) -> None:
    updater(engine).update(C)
    report = give(engine, "routes.toml", ROUTES + "DELETE songs/{song} music.song.Song.title\n")
    assert rows(report) == {"nodes": 1, "kind:route": 1, "links": 1, "aliases": 1}
    assert (report.read, report.rendered, report.removed) == (0, 1, 0)
    report = give(engine, "routes.toml", ROUTES)
    assert rows(report) == {"nodes": 1, "kind:route": 1, "links": 1, "aliases": 1}
    assert (report.rendered, report.removed) == (0, 1)


def test_a_changed_body_is_resolved_alone(engine: Engine) -> None:
    updater(engine).update(C)
    report = give(
        engine,
        "music/song.py",
        SONG.replace("return self.title()", "return self.title() + self.title()"),
    )
    assert (report.read, report.resolved) == (1, 1)


def test_a_changed_interface_resolves_every_file_again(engine: Engine) -> None:
    updater(engine).update(C)
    report = give(engine, "music/base.py", BASE.replace("Model", "Entity"))
    assert (report.read, report.resolved) == (1, 2)
    links = engine.workspace.components.store.graph.links(
        HERE, ["class:music.song.Song"], kinds=["EXTENDS"]
    )
    assert not any(link.target == "class:music.base.Model" for link in links)


def test_a_deleted_file_loses_its_part_of_the_graph(engine: Engine) -> None:
    updater(engine).update(C)
    engine.remove("music/song.py")
    report = updater(engine).update(C)
    assert keys(engine, "class") == ["class:music.base.Model"]
    assert (keys(engine, "route"), report.removed) == ([], 2)
    assert report.remarks == (
        "routes.toml:1: no class for music.song.Song.play",
        "routes.toml:2: no class for music.song.Song.title",
    )
    assert updater(engine).remarks(C) == report.remarks
    assert "file:music/song.py" not in engine.workspace.components.store.graph.owner_stamps(
        CollectionKey("default", C)
    )
    engine.add(Document("music/song.py", SONG), embed=False)
    assert rows(updater(engine).update(C))["kind:route"] == 2


def test_a_framework_that_is_no_longer_used_loses_its_nodes(engine: Engine) -> None:
    updater(engine).update(C)
    engine.remove("tiny.json")
    report = updater(engine).update(C)
    assert (report.frameworks, keys(engine, "route"), report.removed) == ((), [], 2)
    assert "tiny" not in engine.workspace.components.store.graph.owner_stamps(
        CollectionKey("default", C)
    )


def test_facts_of_unchanged_files_are_not_parsed_again(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    updater(engine).update(C)
    parsed: list[str] = []

    def noted(text: str, uri: str) -> FileFacts | None:
        parsed.append(uri)
        return symbols.read_facts(text, uri)

    monkeypatch.setattr(passes, "parse_facts", noted)
    give(engine, "music/base.py", BASE.replace("save", "store"))
    assert parsed == ["music/base.py"]


# ── prose ─────────────────────────────────────────────────────────────────────────────────────────


def test_prose_about_nodes_is_found_by_words(engine: Engine) -> None:
    updater(engine).update(C)
    (hit, *_) = engine.search(
        "which route is handled by title", mode="words", filters={"kind": "route"}
    )
    assert hit.source_doc_id == "graph:route/PUT songs/{song}"
    assert (hit.kind, hit.metadata["file"], hit.metadata["line"]) == ("route", "routes.toml", 2)
    assert hit.metadata["key"] == "route:PUT songs/{song}"


# ── failures ──────────────────────────────────────────────────────────────────────────────────────


def test_a_failing_framework_gives_a_note_and_its_earlier_nodes_stay(engine: Engine) -> None:
    updater(engine).update(C)
    engine.add(Document("music/new.py", "class New:\n    pass\n"), embed=False)
    report = GraphUpdater(index_of(engine), reader_of("broken")).update(C)
    assert len(report.notes) == 2
    assert any("KeyError" in remark for remark in report.remarks)
    assert "class:music.new.New" in keys(engine, "class")
    assert len(keys(engine, "route")) == 2
    assert engine.search("handled by title", mode="words", filters={"kind": "route"})


def test_the_log_has_the_traceback_of_a_failed_framework(
    engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    GraphUpdater(index_of(engine), reader_of("broken")).update(C)
    warning = next(text for text in caplog.messages if text.startswith("tiny failed"))
    assert "Traceback (most recent call last)" in warning
    assert 'raise KeyError("a program it was not made for")' in warning


def test_frameworks_that_cannot_be_loaded_do_not_lose_symbols(engine: Engine) -> None:
    report = GraphUpdater(index_of(engine), FrameworkReader(["no_such_module:all"])).update(C)
    assert any("no_such_module" in remark for remark in report.remarks)
    assert keys(engine, "class") == ["class:music.base.Model", "class:music.song.Song"]


def test_a_file_that_cannot_be_parsed_does_not_stop_the_update(engine: Engine) -> None:
    engine.add(Document("music/long.py", "# la la la\n" * 100_000), embed=False)
    engine.add(Document("music/odd.py", "def broken(:\n\ud800 class ((("), embed=False)
    report = updater(engine).update(C)
    assert report.remarks == (
        "music/long.py: too long, or too unlike its language, to be read for its symbols",
    )
    assert keys(engine, "class") == ["class:music.base.Model", "class:music.song.Song"]
    assert updater(engine).is_current(C)


# ── settings, processes ───────────────────────────────────────────────────────────────────────────


def test_switching_the_graph_off_removes_it(tmp_path: Path, engine: Engine) -> None:
    updater(engine).update(C)
    engine.record_run("r1", "Sang.", [{"path": "music/song.py"}])
    with Engine.open(
        tmp_path, config={"rag.embedding_provider": "fake", "code.graph": "off"}
    ) as other:
        report = GraphUpdater(index_of(other)).update(C)
        assert report.remarks == (GRAPH_OFF,)
        nodes = other.workspace.components.store.graph.nodes(HERE)
        assert {node.kind for node in nodes} == {"run_summary", "file_change"}
        assert (
            other.workspace.components.store.known_files(CollectionKey("default", C), "graph")
            == {}
        )
        assert GraphUpdater(index_of(other)).is_current(C)


def test_two_updates_at_once_do_the_work_once(tmp_path: Path, engine: Engine) -> None:
    reports: list[GraphReport] = []

    def work() -> None:
        with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as other:
            reports.append(updater(other).update(C))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(report.read for report in reports) == [0, 0, 0, 2]
    assert len(keys(engine, "route")) == 2
    assert all(finding.ok for finding in engine.admin.check() if finding.name == "graph")


def test_any_series_of_updates_gives_the_graph_of_a_first_update(
    tmp_path: Path, engine: Engine
) -> None:
    """Steps and one leap lead to the same graph."""
    updater(engine).update(C)
    last = {
        **FILES,
        "music/base.py": BASE.replace("save", "store"),
        "routes.toml": ROUTES.splitlines()[0],
    }
    give(engine, "music/base.py", BASE.replace("Model", "Entity"))
    give(engine, "music/new.py", SONG.replace("Song", "Hymn"))
    engine.remove("music/new.py")
    for uri, text in last.items():
        give(engine, uri, text)
    with Engine.open(
        tmp_path, config={"store.path": "other", "rag.embedding_provider": "fake"}
    ) as fresh:
        fresh.add(documents(last), embed=False)
        updater(fresh).update(C)
        assert _whole(fresh) == _whole(engine)


def _whole(engine: Engine) -> tuple[object, ...]:
    store = engine.workspace.components.store
    nodes: list[Node] = store.graph.nodes(HERE)
    links = store.graph.links(HERE, [node.key for node in nodes])
    return (
        nodes,
        sorted(links, key=repr),
        store.graph.unresolved(HERE),
        sorted(store.known_files(CollectionKey("default", C), "graph")),
    )
