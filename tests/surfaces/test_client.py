"""A client answers as the engine does: the same verbs, the same types, the same errors."""

from __future__ import annotations

import asyncio
import inspect
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

import ragstone
from ragstone import (
    AsyncClient,
    Client,
    Document,
    Engine,
    Hit,
    InputError,
    NotFound,
    Overloaded,
    ProviderError,
    RagstoneError,
    Trace,
    Unauthenticated,
)
from ragstone.types import SearchOptions
from tests.support.running_server import RunningServer, running_server

QUERY = "waiting longer after a failure"
LOCAL_VERBS = {"open", "ask"}
"""`open` opens a folder, and the language model of `ask` is the caller's own."""


@pytest.fixture
def server(project: Path) -> Iterator[RunningServer]:
    with running_server(project) as running:
        yield running


@pytest.fixture
def client(server: RunningServer) -> Iterator[Client]:
    with Client(server.url) as connected:
        yield connected


@pytest.fixture
def engine(server: RunningServer) -> Engine:
    """Return the server's own engine."""
    engine = server.state.engines.own
    engine.sync()
    return engine


def shown(hits: list[Hit]) -> list[Hit]:
    """Return hits as far as a server shows them."""
    return [
        replace(hit, trace=Trace(path=hit.trace.path), header="", content_hash="")
        for hit in hits
    ]


def test_the_client_has_the_verbs_of_the_engine() -> None:
    def verbs(kind: type) -> set[str]:
        functions = inspect.getmembers(kind, callable)
        return {name for name, _ in functions if not name.startswith("_")}

    assert verbs(Engine) - LOCAL_VERBS <= verbs(Client)
    assert verbs(Client) - {"is_empty"} <= verbs(AsyncClient)


def test_searches_give_the_hits_of_the_engine(client: Client, engine: Engine) -> None:
    assert client.search(QUERY) == shown(engine.search(QUERY))
    options: SearchOptions = {
        "mode": "words",
        "filters": {"kind": ["code"]},
        "mmr": True,
        "compress": True,
    }
    assert client.search("upload", 2, **options) == shown(engine.search("upload", 2, **options))
    assert client.search("nothing-at-all-like-this", mode="words") == []


def test_an_explanation_is_the_one_of_the_engine(client: Client, engine: Engine) -> None:
    remote, local = client.explain(QUERY), engine.explain(QUERY)
    hits = tuple(replace(hit, header="", content_hash="") for hit in local.hits)
    assert replace(remote, milliseconds=0) == replace(
        local, milliseconds=0, hits=hits, terms=tuple(local.terms)
    )


def test_contexts_and_prompts_are_those_of_the_engine(client: Client, engine: Engine) -> None:
    remote, local = client.context(QUERY, 300), engine.context(QUERY, 300)
    # The fence around the text is random.
    assert replace(remote, text="", tokens=0) == replace(local, text="", tokens=0)
    prompt = client.inject("Be brief.", QUERY)
    assert prompt.startswith("Be brief.")
    assert "RETRIEVED CONTEXT" in prompt


def test_a_question_about_code_is_answered(client: Client, engine: Engine) -> None:
    remote, local = (
        client.retrieve("upload_with_backoff"),
        engine.retrieve("upload_with_backoff"),
    )
    assert list(remote.chunks) == shown(list(local.chunks))


def test_documents_are_added_listed_and_removed(client: Client, engine: Engine) -> None:
    notes = [Document(f"notes/{n}", f"Note {n} \udcff", metadata={"n": n}) for n in range(3)]
    report = client.add(notes, collection="notes")
    assert (report.documents, report.chunks_added, report.chunks_skipped) == (3, 3, 0)
    assert client.add(notes[0], collection="notes").chunks_skipped == 1
    listed = list(client.sources(collection="notes", filters={"meta.n": {"gt": 0}}))
    assert [(one.uri, one.metadata["n"]) for one in listed] == [("notes/1", 1), ("notes/2", 2)]
    assert client.remove("notes/1", collection="notes") == 1
    assert client.remove(ids=["notes/0__chunk_0", "notes/9"], collection="notes") == 1
    assert [one.uri for one in engine.sources(collection="notes")] == ["notes/2"]


def test_a_sync_returns_the_ledger(client: Client, project: Path) -> None:
    assert client.is_empty()
    report = client.sync(full=True)
    assert (report.indexed, report.failed) == (4, ())
    (project / "new.md").write_text("A new file.")
    assert client.sync(["new.md"]).indexed == 1
    status = client.status()
    assert (status.documents, status.project) == (5, "default")
    assert status.last_sync is not None


def test_turns_are_remembered_and_recalled(client: Client, engine: Engine) -> None:
    session = "a/b?c#ü"
    assert (
        client.remember(session, "user", "We deploy on Tuesdays.", speaker="Ann", at=5.0) == 0
    )
    assert client.remember(session, "user", "The gate is blue.") == 1
    assert client.turns(session) == engine.turns(session)
    assert client.recall(session, "when do we deploy") == engine.recall(
        session, "when do we deploy"
    )


def test_a_run_is_recorded(client: Client, engine: Engine) -> None:
    changes = [{"path": "src/upload.py", "action": "modified", "summary": "Wait longer."}]
    assert client.record_run("r1", "Made uploads patient", changes).documents == 2


def test_errors_are_those_of_the_engine(client: Client, engine: Engine) -> None:
    calls: tuple[Callable[[Engine | Client], object], ...] = (
        lambda one: one.search("stone", collection="none"),
        lambda one: one.search("stone", filters={"path": {"near": 1}}),
        lambda one: one.remove(),
        lambda one: one.remember("s", "user", ""),
        lambda one: one.record_run("r", "s", [{"path": "a", "action": "eaten"}]),
    )
    both: tuple[Engine | Client, ...] = (engine, client)
    for call in calls:
        raised: list[RagstoneError] = []
        for one in both:
            with pytest.raises(RagstoneError) as caught:
                call(one)
            raised.append(caught.value)
        assert type(raised[0]) is type(raised[1])
        assert str(raised[0]) == str(raised[1])


def test_a_wrong_argument_is_one_sentence(client: Client) -> None:
    with pytest.raises(InputError, match="top_k"):
        client.search("stone", top_k=-1)
    with pytest.raises(InputError, match="no address"):
        Client("127.0.0.1")


def test_a_key_is_needed_once_there_is_one(server: RunningServer, client: Client) -> None:
    token = server.state.engines.engine("shop").admin.keys.create().token
    with pytest.raises(Unauthenticated):
        client.search("stone")
    with Client(server.url, token) as keyed:
        assert keyed.search("stone") == []
        with pytest.raises(NotFound):
            keyed.search("stone", collection="handbook")


def test_a_server_that_is_away_is_a_provider_error() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(ProviderError, match="cannot be reached") as caught:
            Client(address).search("stone")
    assert caught.value.retryable


def test_a_key_that_no_header_can_hold_is_one_sentence(server: RunningServer) -> None:
    for key in ("rag_kéy", "rag\nkey", "\ud800", " "):
        with pytest.raises(InputError, match="the key has"):
            Client(server.url, key)
    token = server.state.engines.own.admin.keys.create().token
    with Client(server.url, f" {token}\n") as keyed:
        assert keyed.is_empty()


def test_an_argument_that_is_no_json_is_one_sentence(client: Client) -> None:
    with pytest.raises(InputError, match="cannot be sent as JSON"):
        client.search("stone", filters={"kind": {"code"}})


@pytest.mark.parametrize("body", [b'{"error": "text"}', b'{"error": ["a"]}', b"{}"])
def test_a_failure_of_a_foreign_server_is_a_provider_error(body: bytes) -> None:
    class Foreign(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(500)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            """Print nothing."""

    with HTTPServer(("127.0.0.1", 0), Foreign) as foreign:
        threading.Thread(target=foreign.handle_request, daemon=True).start()
        with pytest.raises(ProviderError, match="status 500"):
            Client(f"http://127.0.0.1:{foreign.server_port}").status()


def test_an_overloaded_server_is_asked_again(project: Path) -> None:
    config = {"server.active": 1, "server.waiting": 0}
    with running_server(project, config=config) as server:
        admission = server.state.admission
        admission.present = 1  # as if another request was running
        with pytest.raises(Overloaded) as caught:
            Client(server.url, retries=0).search("stone")
        assert caught.value.retry_after == 1
        assert admission.refused == 1
        admission.present = 0
        assert Client(server.url, retries=0).search("stone") == []


def test_the_async_client_gives_the_same_answers(
    server: RunningServer, client: Client, engine: Engine
) -> None:
    async def run(url: str) -> tuple[list[Hit], list[str]]:
        async with AsyncClient(url) as remote:
            await remote.remember("s", "user", "The gate is blue.")
            turns = await remote.turns("s")
            return await remote.search(QUERY), [turn.content for turn in turns]

    hits, turns = asyncio.run(run(server.url))
    assert hits == client.search(QUERY)
    assert turns == ["The gate is blue."]


def test_the_names_are_public() -> None:
    assert ragstone.Client is Client
