"""The parts: found by name, opened when needed, let go of together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ragstone import Document, Engine, Workspace
from ragstone.errors import ConfigError, InputError


def test_opening_an_engine_touches_nothing(tmp_path: Path) -> None:
    with Engine.open(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_the_home_folder_is_private_and_ignored_by_git(tmp_path: Path) -> None:
    with Engine.open(tmp_path, config={"rag.embedding_provider": "fake"}) as engine:
        engine.add(Document(uri="a", text="text"))
    home = tmp_path / ".ragstone"
    assert (home / ".gitignore").read_text(encoding="utf-8").endswith("*\n")
    assert home.stat().st_mode & 0o077 == 0
    assert (home / "ragstone.db").stat().st_mode & 0o077 == 0


def _closed_calls(engine: Engine) -> list[Callable[[], object]]:
    admin, memory = engine.admin, engine.memory
    return [
        lambda: engine.search("gondola"),
        lambda: engine.add(Document(uri="b", text="gondola")),
        lambda: engine.sync(),
        lambda: engine.remember("s", "user", "hello"),
        lambda: engine.memory.turns("s"),
        lambda: engine.context("gondola"),
        lambda: engine.status(),
        lambda: list(engine.sources()),
        lambda: engine.graph.update(),
        lambda: admin.collections(),
        lambda: memory.recall("s", "hello"),
    ]


@pytest.mark.parametrize("is_shared", [False, True])
def test_a_closed_engine_raises_instead_of_opening_its_files_again(
    tmp_path: Path, is_shared: bool
) -> None:
    config = {"rag.embedding_provider": "fake"}
    with Workspace.open(tmp_path, config=config) as workspace:
        shared = workspace if is_shared else None
        engine = Engine.open(tmp_path, config=config, workspace=shared)
        engine.add(Document(uri="a", text="gondola"))
        engine.search("gondola")
        calls = _closed_calls(engine)
        engine.close()
        engine.close()
        for call in calls:
            with pytest.raises(InputError, match="is closed"):
                call()
    with Engine.open(tmp_path, config=config) as again:
        assert again.search("gondola")[0].source_doc_id == "a"


def test_memory_leaves_nothing_on_disk(tmp_path: Path) -> None:
    config = {"rag.embedding_provider": "fake", "rag.vector_store.provider": "memory"}
    with Engine.open(tmp_path, config=config) as engine:
        engine.add(Document(uri="a", text="gondola"))
        assert engine.search("gondola")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["mock", "fake"])
def test_the_designs_names_of_embedders_are_known(tmp_path: Path, name: str) -> None:
    with Engine.open(tmp_path, config={"rag.embedding_provider": name}) as engine:
        engine.add(Document(uri="a", text="gondola"))
        assert engine.status().spaces[0].space.embedder == "fake"


def test_an_unknown_embedder_is_an_error_that_lists_the_known_ones(tmp_path: Path) -> None:
    with Engine.open(tmp_path, config={"rag.embedding_provider": "minillm"}) as engine:
        with pytest.raises(ConfigError, match="minilm"):
            engine.add(Document(uri="a", text="gondola"))
        assert engine.admin.text("a") == "gondola"
