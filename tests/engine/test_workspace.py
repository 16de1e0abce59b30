"""Engines of one process share a workspace; AsyncEngine has the same verbs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ragstone import AsyncEngine, Document, Engine, InputError, Workspace
from ragstone.embed.fake import FakeEmbedder

FAKE = {"rag.embedding_provider": "fake"}


def test_ten_engines_of_a_workspace_load_one_model_and_open_one_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    created: list[FakeEmbedder] = []
    monkeypatch.setattr(FakeEmbedder, "__init__", lambda self: created.append(self))
    with Workspace.open(tmp_path, config=FAKE) as workspace:
        engines = [
            Engine.open(tmp_path, config=FAKE, project=f"p{n}", workspace=workspace)
            for n in range(10)
        ]
        for number, engine in enumerate(engines):
            engine.add(Document(uri="note", text=f"gondola number {number}"))
        stores = {id(engine.workspace.components.store) for engine in engines}
        assert (len(created), len(stores)) == (1, 1)
        for number, engine in enumerate(engines):
            assert [hit.text for hit in engine.search("gondola")] == [
                f"gondola number {number}"
            ]


def test_closing_an_engine_leaves_the_shared_workspace_open(tmp_path: Path) -> None:
    with Workspace.open(tmp_path, config=FAKE) as workspace:
        first = Engine.open(tmp_path, config=FAKE, workspace=workspace)
        store = workspace.components.store
        first.close()
        assert workspace.components.store is store


@pytest.mark.parametrize("project", ["alpha\x1fmemory", "a\nb", "", "  "])
def test_a_project_name_with_control_characters_is_refused(
    tmp_path: Path, project: str
) -> None:
    with pytest.raises(InputError, match="project"):
        Engine.open(tmp_path, config=FAKE, project=project)


def test_a_write_to_one_collection_keeps_the_cached_answers_of_another(tmp_path: Path) -> None:
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.add(Document(uri="a", text="gondola"), collection="boats")
        engine.add(Document(uri="b", text="zeppelin"), collection="airships")
        before = engine.search("gondola", collection="boats", fresh=False)
        engine.add(Document(uri="c", text="balloon"), collection="airships")
        engine.remember("docs", "user", "hello")
        assert engine.search("gondola", collection="boats", fresh=False)[0] is before[0]


def test_dropping_a_collection_keeps_the_shown_passages_of_a_session_with_its_name(
    tmp_path: Path,
) -> None:
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.add(Document(uri="a", text="The gondola crosses the lagoon."))
        engine.add(Document(uri="b", text="zeppelin"), collection="docs")
        engine.context("gondola", session="docs")
        engine.admin.drop_collection("docs")
        assert "lagoon" not in engine.context("gondola", session="docs").text


def test_the_async_engine_gives_the_same_answers(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("The gondola crosses the lagoon.", encoding="utf-8")

    async def story() -> list[str]:
        async with await AsyncEngine.open(tmp_path, config=FAKE) as engine:
            assert await engine.is_empty()
            await engine.sync()
            assert not await engine.is_empty()
            await engine.add(Document(uri="note", text="a gondola is a boat"))
            await engine.remember("s", "user", "we saw a gondola")
            turns = await engine.recall("s", "gondola")
            context = await engine.context("gondola")
            hits = await asyncio.gather(*(engine.search("gondola") for _ in range(4)))
            assert all(answer == hits[0] for answer in hits)
            assert "lagoon" in context.text
            return [*(hit.source_doc_id for hit in hits[0]), turns[0].turn.content]

    assert sorted(asyncio.run(story())) == ["a.md", "note", "we saw a gondola"]
