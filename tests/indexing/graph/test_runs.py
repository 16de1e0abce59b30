from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.errors import InputError
from ragstone.types import CollectionKey, Scope
from tests.indexing.graph.quarry import STONE, write

FAKE = {"rag.embedding_provider": "fake", "sources.git": False}
STONE_FILE = "app/Models/Stone.php"
CHANGES = [
    {"path": STONE_FILE, "action": "modified", "summary": "polish sets the shine of a Stone"},
    {"path": "app/Gone.php", "action": "deleted", "summary": "nobody used it"},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "app")


@pytest.fixture
def engine(folder: Path) -> Iterator[Engine]:
    with Engine.open(folder, config=FAKE) as engine:
        engine.sync(embed=False)
        yield engine


def test_a_run_is_found_by_words_and_by_its_changed_files(engine: Engine) -> None:
    report = engine.record_run("r1", "Made stones shine.", CHANGES, at=1_000.0)
    assert report.documents == 3
    (hit, *_) = engine.search(
        "made stones shine", mode="words", filters={"kind": "run_summary"}
    )
    assert (hit.source_doc_id, hit.metadata["run_id"]) == ("run:r1", "r1")
    (hit,) = engine.search(
        "nobody used it", mode="words", filters={"kind": "file_change"}, top_k=1
    )
    assert (hit.source_doc_id, hit.metadata["path"]) == ("run:r1/app/Gone.php", "app/Gone.php")
    store = engine.workspace.components.store
    links = store.graph.links(Scope("default"), [f"change:r1:{STONE_FILE}"])
    assert {(link.kind, link.target) for link in links} == {
        ("CHANGED", f"file:{STONE_FILE}"), ("MENTIONS", STONE), ("MENTIONS", "method:App\\Models\\Stone::polish"),
    }  # fmt: skip
    assert [link.target for link in store.graph.links(Scope("default"), ["run:r1"])] == [
        f"change:r1:{STONE_FILE}", "change:r1:app/Gone.php",
    ]  # fmt: skip


def test_only_exact_names_of_that_file_are_mentioned(engine: Engine) -> None:
    engine.record_run(
        "r1", "x", [{"path": STONE_FILE, "summary": "polishing stones, the Pile and its STONE"}]
    )
    links = engine.workspace.components.store.graph.links(
        Scope("default"), [f"change:r1:{STONE_FILE}"], kinds=["MENTIONS"]
    )
    assert links == []
    engine.record_run("r1", "x", [{"path": STONE_FILE, "symbols": ["Stone::polish"]}])
    links = engine.workspace.components.store.graph.links(
        Scope("default"), [f"change:r1:{STONE_FILE}"], kinds=["MENTIONS"]
    )
    assert [link.target for link in links] == [STONE, "method:App\\Models\\Stone::polish"]


def test_recording_a_run_again_replaces_it(engine: Engine) -> None:
    engine.record_run("r1", "First.", CHANGES, at=1.0)
    engine.record_run("r1/2", "Another.", [{"path": "a.php"}], at=1.0)
    engine.record_run("r1", "Second.", CHANGES[:1], at=1.0)
    store = engine.workspace.components.store
    assert sorted(store.known_files(CollectionKey("default", "default"), "run")) == [
        "run:r1", "run:r1%2F2", "run:r1%2F2/a.php", f"run:r1/{STONE_FILE}",
    ]  # fmt: skip
    keys = [node.key for node in store.graph.nodes(Scope("default"), kinds=["file_change"])]
    assert keys == ["change:r1/2:a.php", f"change:r1:{STONE_FILE}"]
    before = store.generation(Scope("default"))
    engine.record_run("r1", "Second.", CHANGES[:1], at=1.0)
    assert store.generation(Scope("default")) == before


def test_secrets_are_removed_from_a_recorded_run(engine: Engine) -> None:
    key = "ghp_" + "x9K2mQ7vR4tL8wZ1nB6c" + "D3fG5hJ0pS2aY4uE"
    engine.record_run(
        "r1", f"Used {key} to deploy.", [{"path": "a.php", "summary": f"token {key}"}]
    )
    nodes = engine.workspace.components.store.graph.nodes(
        Scope("default"), kinds=["run_summary", "file_change"]
    )
    assert len(nodes) == 2
    assert key not in repr(nodes)
    assert key not in (engine.admin.text("run:r1") or "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("", "s", []), "run_id"),
        ((3, "s", []), "run_id"),
        (("r", " ", []), "summary"),
        (("r", "s", "a.php"), "changes"),
        (("r", "s", {"path": "a"}), "changes"),
        (("r", "s", ["a.php"]), "mapping"),
        (("r", "s", [{"action": "modified"}]), "path"),
        (("r", "s", [{"path": "a", "action": "burnt"}]), "burnt"),
        (("r", "s", [{"path": "a", "colour": 1}]), "colour"),
        (("r", "s", [{"path": "../a"}]), "leads out"),
        (("r", "s", [{"path": "/etc/a"}]), "leads out"),
        (("r", "s", [{"path": "a"}, {"path": "./a"}]), "twice"),
        (("r", "s", [{"path": "a", "symbols": "x"}]), "symbols"),
        (("r", "s" * 200_001, []), "characters"),
    ],
)
def test_a_run_that_makes_no_sense_is_refused(
    engine: Engine, arguments: tuple[object, ...], message: str
) -> None:
    with pytest.raises(InputError) as error:
        engine.record_run(*arguments)  # type: ignore[arg-type]
    assert message in str(error.value)
    assert error.value.hint
    assert (
        engine.workspace.components.store.known_files(
            CollectionKey("default", "default"), "run"
        )
        == {}
    )


def test_history_lists_runs_migrations_and_commits_newest_first(
    engine: Engine, folder: Path
) -> None:
    engine.record_run("r1", "First.", CHANGES, at=1_700_000_000.0)
    engine.record_run(
        "r2", "Second.", [{"path": STONE_FILE, "summary": "spacing"}], at=1_800_000_000.0
    )
    changes = engine.graph.history(STONE_FILE, commits=False)
    assert [(change.kind, change.key, change.exact) for change in changes] == [
        ("run", f"change:r2:{STONE_FILE}", True), ("run", f"change:r1:{STONE_FILE}", True),
    ]  # fmt: skip
    changes = engine.graph.history("Stone::polish", commits=False)
    assert [(change.key.partition(":")[2][:2], change.exact) for change in changes] == [
        ("r2", False),
        ("r1", True),
    ]
    changes = engine.graph.history("stones", commits=False)
    assert [change.title for change in changes] == [
        "alters: 2024_02_01_000000_add_shine_to_stones_table", "creates: 2024_01_01_000000_create_stones_table",
    ]  # fmt: skip
    assert changes[0].when == 1_706_745_600.0
    assert [change.key for change in engine.graph.history("app/Gone.php")] == [
        "change:r1:app/Gone.php"
    ]


def test_history_lists_commits_if_there_is_a_repository(engine: Engine, folder: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@b", *words], cwd=folder, check=True,
                       capture_output=True)  # fmt: skip

    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "Keep stones")
    changes = engine.graph.history(STONE_FILE)
    assert [(change.kind, change.title.partition(" ")[2]) for change in changes] == [
        ("commit", "Keep stones")
    ]
    assert engine.graph.history(STONE_FILE, commits=False) == []
