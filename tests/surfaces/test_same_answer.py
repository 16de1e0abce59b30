"""Library, command line, REST, client and MCP (stdio and HTTP) give the same answers."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from ragstone import Client as RemoteClient
from ragstone import Engine
from ragstone.surfaces.present.hits import hit_json
from ragstone.surfaces.present.reports import status_json, sync_report_json
from tests.indexing.graph.quarry import write
from tests.support.running_server import RunningServer, running_server
from tests.support.stores import STORES, StoreSettings, as_environment
from tests.support.story import Story

QUERIES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("waiting longer after a failure", {}),
    ("upload_with_backoff", {"mode": "words"}),
    ("stone weight", {"mode": "vectors"}),
    ("storage durability", {"fusion": "rrf", "top_k": 2}),
    ("retries", {"filters": {"path": ["docs/*", "README.md"]}}),
    ("kilograms", {"filters": {"kind": ["code"]}, "compress": True}),
    ("upload", {"mmr": True, "top_k": 3}),
    ("nothing-at-all-like-this", {"mode": "words"}),
)
FLAGS = {"mode": "--mode", "fusion": "--fusion", "top_k": "--top-k"}


def flags(options: dict[str, Any]) -> list[str]:
    words = [
        word
        for name, value in options.items()
        if name in FLAGS
        for word in (FLAGS[name], str(value))
    ]
    words += [f"--{name}" for name in ("mmr", "compress") if options.get(name)]
    filters = options.get("filters", {})
    return words + [
        word
        for name in ("path", "kind")
        for value in filters.get(name, ())
        for word in (f"--{name}", value)
    ]


def without_times(hits: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return hits without the time of their sync: two folders are synced one after the other."""
    return [{**hit, "ingested_at": None} for hit in hits]


@pytest.fixture(params=sorted(STORES), autouse=True)
def twin_settings(
    request: pytest.FixtureRequest,
    project: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[StoreSettings]:
    """Give the project a store through the environment, and return the settings of a second store."""
    open_store = STORES[request.param]
    with open_store(project) as settings, open_store(tmp_path / "twin") as twin:
        for variable, value in as_environment(settings).items():
            monkeypatch.setenv(variable, value)
        yield twin


@pytest.fixture
def engine(project: Path, tmp_path: Path, twin_settings: StoreSettings) -> Engine:
    """Return an engine over a copy of the project, driven by the library alone."""
    twin = tmp_path / "twin"
    shutil.copytree(project, twin)
    return Engine.open(twin, config={"rag.embedding_provider": "fake", **twin_settings})


def test_the_library_and_the_command_give_the_same_hits(
    engine: Engine, quick: Callable[..., Any]
) -> None:
    engine.sync()
    assert quick("sync").code == 0
    for query, options in QUERIES:
        through_library = [hit_json(hit) for hit in engine.search(query, **options)]
        through_command = quick("search", query, *flags(options), "--json").json["results"]
        assert without_times(through_command) == without_times(through_library), query
    engine.close()


def test_sync_sources_and_status_are_the_same_in_library_and_command(
    engine: Engine, project: Path, quick: Callable[..., Any]
) -> None:
    report = engine.sync()
    ledger = quick("sync", "--json").json
    assert {**ledger, "seconds": 0} == {**sync_report_json(report), "seconds": 0}

    for folder in (engine.folder, project):
        (folder / "docs" / "storage.md").unlink()
        (folder / "README.md").write_text(
            "# Quarry\n\nUploads stones, and nothing else.\n", encoding="utf-8"
        )
    again, ledger = engine.sync(), quick("sync", "--json").json
    assert (ledger["removed"], ledger["indexed"], ledger["unchanged"]) == (1, 1, 2)
    assert {**ledger, "seconds": 0} == {**sync_report_json(again), "seconds": 0}

    listed = quick("sources", "--json").json["documents"]
    assert [one["uri"] for one in listed] == [one.uri for one in engine.sources()]
    shown = quick("status", "--json").json
    state = status_json(engine.status())
    for key in ("documents", "chunks", "empty"):
        assert shown[key] == state[key]
    assert [space["coverage"] for space in shown["spaces"]] == [
        space["coverage"] for space in state["spaces"]
    ]
    engine.close()


def test_library_and_command_see_each_others_writes(
    project: Path, quick: Callable[..., Any]
) -> None:
    quick("sync")
    with Engine.open(project, config={"rag.embedding_provider": "fake"}) as engine:
        assert (
            engine.search("upload_with_backoff", mode="words")[0].source_doc_id
            == "src/upload.py"
        )
        (project / "note.txt").write_text("The chisel is blunt.\n", encoding="utf-8")
        assert quick("add", "note.txt").out == "note.txt: 1 chunk\n"
        assert engine.search("chisel", mode="words")[0].source_doc_id == "note.txt"
        assert engine.remove("note.txt") == 1
    assert (
        quick("search", "chisel", "--mode", "words", "--no-sync", "--json").json["results"]
        == []
    )


def test_hits_context_and_memory_are_the_same_in_library_command_and_mcp(
    engine: Engine, project: Path, environment: dict[str, str], quick: Callable[..., Any]
) -> None:
    engine.sync()
    quick("sync")
    query, turns = (
        "waiting longer after a failure",
        ("The quarry opens at nine.", "Bring a chisel."),
    )
    library = [hit.doc_id for hit in engine.search(query)]
    block = engine.context(query, 500)
    for turn in turns:
        engine.remember("s", "user", turn)
    recalled = [
        (recalled.turn.index, recalled.turn.content)
        for recalled in engine.recall("s", "when does it open")
    ]

    assert [
        result["doc_id"] for result in quick("search", query, "--json").json["results"]
    ] == library
    command = quick("context", query, "--budget", "500", "--json").json
    assert [passage["place"] for passage in command["cited"]] == [
        passage.citation for passage in block.cited
    ]
    assert [
        (recalled["turn_index"], recalled["content"])
        for recalled in _through_the_command(quick, turns)
    ] == recalled

    found, cited, turns_found = anyio.run(_through_a_client, project, environment, query)
    assert found == library
    assert cited == [passage.citation for passage in block.cited]
    assert turns_found == recalled
    engine.close()


def _through_the_command(
    quick: Callable[..., Any], turns: tuple[str, ...]
) -> list[dict[str, Any]]:
    for turn in turns:
        quick("remember", turn, "--session", "s")
    found: list[dict[str, Any]] = quick(
        "recall", "when does it open", "--session", "s", "--json"
    ).json["results"]
    return found


async def _through_a_client(
    project: Path, environment: dict[str, str], query: str
) -> tuple[list[str], list[str], list[tuple[int, str]]]:
    """Return what the SDK's own client hears of the server over stdio: hits, citations and turns."""
    program = StdioServerParameters(
        command=sys.executable,
        args=["-m", "ragstone", "mcp", "-C", str(project)],
        env=environment,
    )
    with open(os.devnull, "w") as nowhere:
        async with Client(stdio_client(program, errlog=nowhere)) as client:
            found = await client.call_tool("rag_search", {"query": query})
            cited = await client.call_tool("rag_context", {"task": query, "token_budget": 500})
            turns_found = await client.call_tool(
                "rag_memory_search", {"session_id": "s", "query": "when does it open"}
            )
    return (
        [result["doc_id"] for result in found.structured_content["results"]],
        [result["citation"] for result in cited.structured_content["results"]],
        [
            (result["turn_index"], result["content"])
            for result in turns_found.structured_content["results"]
        ],
    )


def test_related_nodes_are_the_same_in_library_command_and_mcp(
    project: Path, environment: dict[str, str], quick: Callable[..., Any]
) -> None:
    write(project)
    quick("sync", "--no-embed")
    with Engine.open(project, config={"rag.embedding_provider": "fake"}) as engine:
        library = [
            (related.node.key, related.confidence)
            for related in engine.graph.related("stones.update")
        ]
    command = quick("related", "stones.update", "--json").json["related"]
    assert [(one["key"], one["confidence"]) for one in command] == library
    assert anyio.run(_related_through_a_client, project, environment) == library


async def _related_through_a_client(
    project: Path, environment: dict[str, str]
) -> list[tuple[str, str]]:
    """Return what the SDK's own client hears of the graph; the tool is offered because there is one."""
    program = StdioServerParameters(
        command=sys.executable,
        args=["-m", "ragstone", "mcp", "-C", str(project)],
        env=environment,
    )
    with open(os.devnull, "w") as nowhere:
        async with Client(stdio_client(program, errlog=nowhere)) as client:
            assert "rag_related" in [tool.name for tool in (await client.list_tools()).tools]
            found = await client.call_tool("rag_related", {"name": "stones.update"})
    return [
        (result["key"], result["confidence"]) for result in found.structured_content["results"]
    ]


# ── one story through every surface ───────────────────────────────────────────────────────────────


@pytest.fixture
def server(project: Path) -> Iterator[RunningServer]:
    """Return a server of the project, which the commands use too."""
    with running_server(project) as running:
        yield running


def test_every_search_gives_the_same_hits_over_rest_and_through_the_client(
    engine: Engine, server: RunningServer
) -> None:
    engine.sync()
    with RemoteClient(server.url) as client:
        assert client.sync().indexed == 4
        for query, options in QUERIES:
            library = [hit_json(hit) for hit in engine.search(query, **options)]
            rest = server.post("/api/rag/search", {"query": query, **options}).json()
            through_client = [hit_json(hit) for hit in client.search(query, **options)]
            assert without_times(rest["results"]) == without_times(library), query
            assert without_times(through_client) == without_times(library), query
    engine.close()


def test_a_misspelt_query_gets_the_same_suggestion_everywhere(
    engine: Engine,
    server: RunningServer,
    environment: dict[str, str],
    project: Path,
    quick: Callable[..., Any],
) -> None:
    engine.sync()
    query, note = "upload_with_bakcoff", "Did you mean: upload_with_backoff?"
    answer_notes = engine.explain(query).notes
    assert answer_notes[-1] == note
    assert note in engine.context(query).notes
    with RemoteClient(server.url) as client:
        client.sync()
        explanation = client.explain(query)
    assert (explanation.suggestion, explanation.notes) == ("upload_with_backoff", answer_notes)
    rest = server.post("/api/rag/search", {"query": query}).json()
    assert (rest["suggestion"], rest["notes"]) == ("upload_with_backoff", list(answer_notes))
    assert quick("search", query, "--json").json["notes"] == list(answer_notes)
    assert f"({note})" in quick("search", query).err
    text, notes = anyio.run(_suggestion_through_a_client, project, environment, query)
    assert note in text
    assert notes == list(answer_notes)
    engine.close()


async def _suggestion_through_a_client(
    project: Path, environment: dict[str, str], query: str
) -> tuple[str, list[str]]:
    """Return the text and the notes that an MCP client gets."""
    program = StdioServerParameters(
        command=sys.executable,
        args=["-m", "ragstone", "mcp", "-C", str(project)],
        env=environment,
    )
    with open(os.devnull, "w") as nowhere:
        async with Client(stdio_client(program, errlog=nowhere)) as client:
            answer = await client.call_tool("rag_search", {"query": query})
    text = answer.content[0]
    assert isinstance(text, TextContent)
    return text.text, answer.structured_content["notes"]


def test_one_story_is_told_the_same_way_through_every_surface(
    engine: Engine,
    server: RunningServer,
    environment: dict[str, str],
    project: Path,
    quick: Callable[..., Any],
) -> None:
    story = Story(engine, server)
    library = story.through_library()
    assert library.hits and library.citations and library.turns
    assert [code for code, _ in library.errors] == ["not_found", "input"]
    assert story.through_rest() == library
    assert story.through_client() == library
    assert anyio.run(story.through_async_client) == library
    assert story.through_command(quick) == library
    stdio = StdioServerParameters(
        command=sys.executable,
        args=["-m", "ragstone", "mcp", "--tools", "all", "-C", str(project)],
        env=environment,
    )
    with open(os.devnull, "w") as nowhere:
        over_stdio = stdio_client(stdio, errlog=nowhere)
        assert anyio.run(story.through_mcp, over_stdio, "stdio") == library
    over_http = streamable_http_client(f"{server.url}/mcp/all")
    assert anyio.run(story.through_mcp, over_http, "http") == library
    engine.close()
