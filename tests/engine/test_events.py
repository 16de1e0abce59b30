"""What an engine keeps of what happened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ragstone import Document, Engine, Event, InputError

FAKE = {"rag.embedding_provider": "fake"}


def names(engine: Engine) -> list[object]:
    return [event["name"] for event in engine.admin.log.last(100)]


def test_events_are_written_to_the_home_folder_and_read_by_the_next_engine(
    tmp_path: Path,
) -> None:
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.add(Document("gondola.md", "The gondola is black."))
        engine.search("gondola")
        engine.context("gondola")
        engine.context("gondola", rag_enabled=False)
    with Engine.open(tmp_path, config=FAKE) as engine:
        events = engine.admin.log.last(100)
    assert [event["name"] for event in events] == [
        "rag_chunk_indexed",
        "rag_search_started",
        "rag_search_completed",
        "rag_search_started",
        "rag_search_completed",
        "ai_context_loaded",
        "ai_context_loaded",
    ]
    assert events[2]["ids"] == events[5]["ids"] == ["gondola.md__chunk_0"]
    assert (events[2]["chosen"], events[4]["chosen"]) == ([], ["gondola.md__chunk_0"])
    assert (events[4]["query"], len(events[4]["scores"])) == ("gondola", 1)  # type: ignore[arg-type]
    assert (events[5]["rag"], events[6]["rag"]) == (True, False)
    if os.name == "posix":
        assert (tmp_path / ".ragstone" / "events.jsonl").stat().st_mode & 0o077 == 0


def test_a_sync_of_many_files_is_a_few_lines(tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / f"{number}.md").write_text(f"Page {number}.\n")
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.sync(embed=False)
        engine.admin.log.flush()
        events = engine.admin.log.last(1000)
    assert len(events) <= 3
    assert sum(int(str(event.get("documents", 1))) for event in events) == 300


@pytest.mark.parametrize(
    "config",
    [{"rag.enabled": False}, {"events.log": False}, {"rag.vector_store.provider": "memory"}],
)
def test_no_event_is_written_if_the_log_is_off(
    tmp_path: Path, config: dict[str, object]
) -> None:
    (tmp_path / ".ragstone").mkdir()
    with Engine.open(tmp_path, config={**FAKE, **config}) as engine:
        engine.add(Document("gondola.md", "The gondola is black."))
        engine.search("gondola")
        engine.context("gondola", rag_enabled=False)
    assert not (tmp_path / ".ragstone" / "events.jsonl").exists()


def test_an_event_makes_no_folder(tmp_path: Path) -> None:
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.context("gondola", rag_enabled=False)
    assert not (tmp_path / ".ragstone").exists()


def test_searches_of_an_agent_are_events_of_its_project(tmp_path: Path) -> None:
    (tmp_path / "agents.yaml").write_text("a: {docs: {sources: ['*.md']}}\n")
    (tmp_path / "x.md").write_text("The gondola is black.\n")
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.agents.ensure_index("a")
        engine.agents.corpus("a").search("gondola")
        assert names(engine)[-1] == "rag_search_completed"
    with Engine.open(tmp_path, config=FAKE, project="other") as other:
        assert names(other) == []


def test_secrets_in_queries_are_not_written_to_the_log(tmp_path: Path) -> None:
    token = "gl" + "pat-Zx81kQpL02mVnRt7WsYa"
    password = "Or" + "chid88!x"
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.add(Document("gondola.md", "The gondola is black."))
        engine.search(f"where is {token} used")
        engine.context(f'why does password = "{password}" fail')
        engine.search("the Password is x7Rt9k, so why does it fail")
        assert engine.explain(token).query == token
        queries = [event["query"] for event in engine.admin.log.last(100) if "query" in event]
    written = (tmp_path / ".ragstone" / "events.jsonl").read_text(encoding="utf-8")
    assert token not in written
    assert password not in written
    assert "x7Rt9k" not in written
    assert "where is [SECRET:gitlab-token] used" in queries


def test_one_retrieve_is_one_search_with_the_ids_that_it_returned(tmp_path: Path) -> None:
    (tmp_path / "boats.py").write_text("def gondola():\n    return 'black'\n")
    (tmp_path / "boats.md").write_text("The gondola is black.\n")
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.sync()
        events: list[Event] = []
        engine.events.subscribe(events.append)
        chunks = engine.retrieve("gondola black", min_score=0).chunks
    assert [event.name for event in events] == ["rag_search_started", "rag_search_completed"]
    assert len(chunks) == 2
    assert events[1].data["ids"] == [chunk.doc_id for chunk in chunks]


def test_removed_documents_are_events_whoever_removed_them(tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text(f"The gondola of {name}.\n")
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.sync()
        events: list[Event] = []
        engine.events.subscribe(events.append, ["rag_document_removed"])
        (tmp_path / "a.md").unlink()
        engine.sync()
        engine.remove("b.md")
        engine.remove("never-there.md")
        engine.add(Document("note", "A note."), collection="notes")
        engine.admin.drop_collection("notes")
    assert [dict(event.data) for event in events] == [
        {"collection": "default", "uris": ["a.md"], "documents": 1},
        {"collection": "default", "uris": ["b.md"], "documents": 1},
        {"collection": "notes", "uris": [], "documents": 1},
    ]


@pytest.mark.parametrize("names", ["rag_serch_started", ["rag_search_started", "bogus"], [5]])
def test_a_subscription_to_an_event_that_there_is_not_is_refused(
    tmp_path: Path, names: list[str]
) -> None:
    with Engine.open(tmp_path, config=FAKE) as engine:
        with pytest.raises(InputError, match="there is no event") as caught:
            engine.events.subscribe(print, names)
        assert "rag_search_started, rag_search_completed" in caught.value.hint
        with pytest.raises(InputError, match="there is no event"):
            engine.admin.log.last(5, names)


def test_a_secure_compaction_overwrites_queries_and_keeps_the_figures(tmp_path: Path) -> None:
    log = tmp_path / ".ragstone" / "events.jsonl"
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.add(Document("gondola.md", "The gondola is black."))
        engine.search("gondola für Ada")
        end = engine.admin.log.end()
        size = log.stat().st_size
        os.replace(log, log.with_suffix(".1.jsonl"))
        engine.search("Ada's oar")
        before, stats = engine.admin.log.last(100), engine.admin.stats()
        engine.admin.compact()
        assert b"Ada" in log.read_bytes()
        engine.admin.compact(secure=True)
        after = engine.admin.log.last(100)
        assert engine.admin.stats() == stats
        assert engine.admin.log.since(end)[0] == after[-2:]
    for path in (log, log.with_suffix(".1.jsonl")):
        assert b"Ada" not in path.read_bytes()
    assert log.with_suffix(".1.jsonl").stat().st_size == size
    assert [event | {"query": ""} for event in before if "query" in event] == [
        event for event in after if "query" in event
    ]
    assert len(before) == len(after)
