"""The REST interface keeps the shapes of its contract."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.running_server import RunningServer

OFFICE = {"content": "The office opens at nine.", "source_doc_id": "handbook/office.md"}


def create(server: RunningServer, name: str = "handbook") -> dict[str, Any]:
    collection = server.post("/api/rag/collections", {"name": name}).json()["collection"]
    assert isinstance(collection, dict)
    return collection


# ── collections ───────────────────────────────────────────────────────────────────────────────────


def test_a_collection_is_created_listed_and_deleted(server: RunningServer) -> None:
    body = {"name": "handbook", "description": "Rules", "embedding_provider": "mock"}
    created = server.post("/api/rag/collections", body).json()
    assert created == {
        "success": True,
        "collection": {
            "uuid": created["collection"]["uuid"],
            "project_id": "default",
            "name": "handbook",
            "description": "Rules",
            "config": {"embedding_provider": "mock", "tq_bits": 10},
            "stats": {"doc_count": 0, "chunk_count": 0, "last_indexed_at": None},
        },
    }
    uuid = created["collection"]["uuid"]
    server.post(f"/api/rag/collections/{uuid}/documents", OFFICE)
    listed = server.get("/api/rag/collections").json()["collections"]
    assert [(one["uuid"], one["stats"]["doc_count"]) for one in listed] == [(uuid, 1)]
    assert server.delete(f"/api/rag/collections/{uuid}").json()["documents_removed"] == 1
    assert server.get("/api/rag/collections").json()["collections"] == []
    assert server.delete(f"/api/rag/collections/{uuid}").status_code == 404


def test_a_name_that_is_taken_is_a_conflict(server: RunningServer) -> None:
    create(server)
    assert server.post("/api/rag/collections", {"name": "handbook"}).status_code == 409


def test_an_unknown_embedder_is_wrong_input(server: RunningServer) -> None:
    body = {"name": "handbook", "embedding_provider": "crystal-ball"}
    answer = server.post("/api/rag/collections", body)
    assert answer.status_code == 400
    assert "crystal-ball" in answer.json()["error"]["message"]


# ── documents ─────────────────────────────────────────────────────────────────────────────────────


def test_a_document_is_added_once_listed_and_deleted(server: RunningServer) -> None:
    uuid = create(server)["uuid"]
    documents = f"/api/rag/collections/{uuid}/documents"
    first, second = server.post(documents, OFFICE).json(), server.post(documents, OFFICE).json()
    for answer, added, skipped in ((first, 1, 0), (second, 0, 1)):
        assert answer["success"] is True
        assert (answer["chunks_added"], answer["chunks_skipped"]) == (added, skipped)
        assert (answer["collection_id"], answer["source_doc_id"]) == (
            uuid,
            "handbook/office.md",
        )
    shown = server.get(f"{documents}/handbook/office.md").json()["document"]
    assert shown["text"] == OFFICE["content"]
    assert server.delete(f"{documents}/handbook/office.md").json()["removed"] == 1
    assert server.delete(f"{documents}/handbook/office.md").status_code == 404


def test_a_text_without_words_is_refused(server: RunningServer) -> None:
    documents = f"/api/rag/collections/{create(server)['uuid']}/documents"
    for content in ("", " \n"):
        answer = server.post(documents, {**OFFICE, "content": content})
        assert answer.status_code == 400 and "has no text" in answer.text
    assert server.get(documents).json()["documents"] == []


def test_documents_are_listed_page_by_page(server: RunningServer) -> None:
    uuid = create(server)["uuid"]
    documents = [{"content": f"Rule {n}.", "source_doc_id": f"rules/{n}"} for n in range(5)]
    server.post("/api/rag/documents", {"documents": documents, "collection": "handbook"})
    names, cursor = [], ""
    while cursor is not None:
        address = f"/api/rag/collections/{uuid}/documents?limit=2&cursor={cursor}"
        page = server.get(address).json()
        assert len(page["documents"]) <= 2
        names += [document["uri"] for document in page["documents"]]
        cursor = page["next_cursor"]
    assert names == [f"rules/{n}" for n in range(5)]


def test_a_cursor_of_another_listing_is_refused(server: RunningServer) -> None:
    uuid = create(server)["uuid"]
    answer = server.get(f"/api/rag/collections/{uuid}/documents?cursor=WzFd")
    assert answer.status_code == 400
    assert "no cursor" in answer.json()["error"]["message"]


def test_the_chunks_of_a_document_are_listed_in_order(server: RunningServer) -> None:
    uuid = create(server)["uuid"]
    sections = "".join(f"## Rule {n}\n\n{'Bring a chisel. ' * 60}\n\n" for n in range(3))
    body = {"content": sections, "source_doc_id": "rules.md", "language": "markdown"}
    server.post(f"/api/rag/collections/{uuid}/documents", body)
    address = f"/api/rag/collections/{uuid}/chunks?source_doc_id=rules.md"
    chunks = server.get(address).json()["chunks"]
    assert [chunk["chunk_index"] for chunk in chunks] == list(range(len(chunks)))
    assert len(chunks) > 2
    first = server.get(f"{address}&limit=1").json()
    rest = server.get(f"{address}&cursor={first['next_cursor']}").json()
    assert first["chunks"] + rest["chunks"] == chunks


def test_uploaded_files_become_documents_and_a_bad_one_does_not_stop_the_others(
    server: RunningServer,
) -> None:
    uuid = create(server)["uuid"]
    files = [
        ("files", ("notes.md", b"# Notes\n\nThe gate closes at ten.\n")),
        ("files", ("photo.png", b"\x89PNG\r\n\x1a\n" + bytes(100))),
        ("files", ("../../rules.txt", b"Bring a chisel.")),
    ]
    answer = server.post(f"/api/rag/collections/{uuid}/files?wait=true", files=files)
    job = answer.json()["job"]
    assert job["status"] == "done"
    result = job["result"]
    assert [document["source_doc_id"] for document in result["documents"]] == [
        "notes.md",
        "../../rules.txt",
    ]
    assert [failure["uri"] for failure in result["failed"]] == ["photo.png"]
    found = server.post(f"/api/rag/collections/{uuid}/search", {"query": "gate closes"}).json()
    assert found["results"][0]["source_doc_id"] == "notes.md"


def test_the_events_of_an_upload_tell_its_progress(server: RunningServer) -> None:
    uuid = create(server)["uuid"]
    files = [("files", (f"{n}.md", f"Rule {n}.".encode())) for n in range(3)]
    job = server.post(f"/api/rag/collections/{uuid}/files", files=files).json()["job"]
    with server.http.stream("GET", f"{server.url}/api/rag/jobs/{job['id']}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        lines = list(stream.iter_lines())
    last = json.loads(lines[-2].removeprefix("data: "))
    assert lines[-3] == "event: done"
    assert len(last["result"]["documents"]) == 3


# ── search and context ────────────────────────────────────────────────────────────────────────────


def test_a_search_of_a_collection_stays_in_it(indexed: RunningServer) -> None:
    uuid = create(indexed)["uuid"]
    indexed.post(f"/api/rag/collections/{uuid}/documents", OFFICE)
    address = f"/api/rag/collections/{uuid}/search"
    answer = indexed.post(address, {"query": "upload office", "top_k": 5, "mmr": True}).json()
    assert answer["query"] == "upload office"
    assert {hit["collection"] for hit in answer["results"]} == {"handbook"}


def test_an_empty_index_gives_an_empty_list(server: RunningServer) -> None:
    assert server.post("/api/rag/search", {"query": "anything"}).json()["results"] == []


def test_a_context_keeps_its_budget(indexed: RunningServer) -> None:
    body = {"task": "retry a failed upload", "budget": 200, "format": "markdown"}
    for name in ("context", "get_context_for_prompt"):
        context = indexed.post(f"/api/rag/{name}", body).json()
        assert context["text"].startswith("## Relevant Context (RAG)")
        assert 0 < context["tokens"] <= 200


def test_retrieve_and_explain_answer_with_their_reasons(indexed: RunningServer) -> None:
    body = {"query": "upload_with_backoff", "top_k": 3}
    assert indexed.post("/api/rag/retrieve", body).json()["debug"]["strategy"]
    assert indexed.post("/api/rag/explain", body).json()["results"][0]["trace"]["lists"]


def test_inject_returns_the_prompt_with_context(indexed: RunningServer) -> None:
    body = {"prompt_markdown": "Be brief.", "user_message": "waiting longer after a failure"}
    prompt = indexed.post("/api/rag/inject", body).json()["prompt_markdown"]
    assert prompt.startswith("Be brief.")


# ── memory ────────────────────────────────────────────────────────────────────────────────────────


def test_turns_are_added_listed_found_and_forgotten(server: RunningServer) -> None:
    for number, text in enumerate(("We deploy on Tuesdays.", "The gate is blue.")):
        answer = server.post("/api/rag/memory/team/x/add", {"role": "user", "content": text})
        assert answer.json() == {
            "success": True,
            "session_id": "team/x",
            "turn_index": number,
            "role": "user",
        }
    turns = server.get("/api/rag/memory/team/x?limit=1").json()["turns"]
    assert [turn["content"] for turn in turns] == ["The gate is blue."]
    found = server.post("/api/rag/memory/team/x/search", {"query": "deploy", "top_k": 1}).json()
    assert found["results"][0]["content"] == "We deploy on Tuesdays."
    assert [one["session_id"] for one in server.get("/api/rag/memory").json()["sessions"]] == [
        "team/x"
    ]
    assert server.delete("/api/rag/memory/team/x").json()["forgotten"] == 2


# ── projects and jobs ─────────────────────────────────────────────────────────────────────────────


def test_index_rag_reads_the_folder_again(server: RunningServer, project: Path) -> None:
    job = server.post("/api/projects/default/index-rag?wait=true").json()["job"]
    assert job["status"] == "done"
    assert job["result"]["indexed"] == 4
    status = server.get("/api/projects/default/status?count_waiting=true").json()
    assert status["files_indexed"] == 4
    assert status["last_sync"]
    assert status["waiting"] == 0
    server.post(
        "/api/rag/documents",
        {"documents": [{"source_doc_id": "note", "content": "In no file."}]},
    )
    status = server.get("/api/rag/status").json()
    assert (status["documents"], status["files_indexed"]) == (5, 4)
    (project / "new.md").write_text("A new file.")
    status = server.get("/api/rag/status?count_waiting=true").json()
    assert status["waiting"] == 1


def test_another_project_than_the_callers_does_not_exist(server: RunningServer) -> None:
    assert server.post("/api/projects/shop/index-rag").status_code == 404


def test_file_events_update_the_index(indexed: RunningServer, project: Path) -> None:
    (project / "new.md").write_text("A chisel is a tool.")
    (project / "docs" / "storage.md").unlink()
    events = [
        {"event": "created", "path": "new.md"},
        {"event": "deleted", "path": "docs/storage.md"},
    ]
    answer = indexed.post("/api/projects/default/files", {"events": events}).json()
    assert (answer["report"]["indexed"], answer["report"]["removed"]) == (1, 1)


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "a/../../b"])
def test_paths_outside_of_the_folder_are_refused(indexed: RunningServer, path: str) -> None:
    assert indexed.post("/api/rag/sync", {"paths": [path]}).status_code == 400
    events = {"events": [{"event": "created", "path": path}]}
    assert indexed.post("/api/projects/default/files", events).status_code == 400


def test_a_run_is_recorded_and_found(indexed: RunningServer) -> None:
    changes = [{"path": "src/upload.py", "action": "modified", "summary": "Wait longer."}]
    body = {"run_id": "r1", "summary": "Made uploads patient", "changes": changes}
    assert indexed.post("/api/rag/runs", body).json()["documents"] == 2
    changes = indexed.get("/api/rag/graph/history?name=src/upload.py").json()["changes"]
    assert [change["kind"] for change in changes] == ["run"]


def test_events_are_listed_and_streamed(indexed: RunningServer) -> None:
    address = f"{indexed.url}/api/rag/events/stream?names=rag_search_completed"
    with indexed.http.stream("GET", address) as stream:
        lines = stream.iter_lines()
        assert next(lines) == ": connected"
        indexed.post("/api/rag/search", {"query": "chisel"})
        event = [next(lines) for _ in range(3)]
    assert event[1] == "event: rag_search_completed"
    assert json.loads(event[2].removeprefix("data: "))["query"] == "chisel"
    listed = indexed.get("/api/rag/events?names=rag_search_completed").json()["events"]
    assert listed[-1]["query"] == "chisel"


def test_discovery_lists_the_tools(server: RunningServer) -> None:
    tools = server.get("/mcp/discovery").json()["tools"]
    assert "rag_search" in [tool["name"] for tool in tools]
    assert all(tool["inputSchema"]["type"] == "object" for tool in tools)


def test_a_context_takes_the_names_of_the_contract(indexed: RunningServer) -> None:
    task = {"task": "retry a failed upload", "project_id": "default"}
    answers = []
    for path, name in (("context", "budget"), ("get_context_for_prompt", "token_budget")):
        answer = indexed.post(f"/api/rag/{path}", {**task, name: 120})
        assert answer.status_code == 200
        answers.append(answer.json())
    assert answers[0]["budget"] == answers[1]["budget"] == 120
    assert [cited["place"] for cited in answers[0]["cited"]] == [
        cited["place"] for cited in answers[1]["cited"]
    ]
    both = indexed.post("/api/rag/context", {**task, "budget": 100, "token_budget": 100})
    assert both.status_code == 400
    assert both.json()["error"]["message"].startswith("budget and token_budget are the same")
    foreign = indexed.post("/api/rag/context", {**task, "project_id": "shop"})
    assert foreign.status_code == 404


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("search", {"query": "x", "min_score": 2}, "min_score is 2"),
        ("search", {"query": "x", "top_k": -1}, "top_k is -1"),
        ("search", {"query": "x", "top_k": "five"}, "top_k is 'five'"),
        ("context", {"task": "x", "budget": 0}, "budget is 0"),
        ("retrieve", {"query": "x", "min_score": "high"}, "min_score is 'high'"),
        ("memory/s/search", {"query": "x", "since": "soon"}, "since is 'soon'"),
    ],
)
def test_a_wrong_number_is_refused_with_its_range_and_an_example(
    server: RunningServer, path: str, body: dict[str, object], message: str
) -> None:
    response = server.post(f"/api/rag/{path}", body)
    assert response.status_code == 400
    error = response.json()["error"]
    assert error["message"] == message
    assert "for example" in error["hint"]
