"""The system collections: Ragstone's own documents, and tools by their meaning."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client as McpClient
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult

from ragstone import ConfigError, Engine, InputError, NotFound
from ragstone.engine.own_documents import PARTS, read_reference
from ragstone.surfaces.mcp.other_servers import OtherServer, store_tools
from ragstone.surfaces.tools import ALL_TOOLS, FOUND_TOOLS, RAG_FIND_TOOLS
from tests.support.running_server import running_server

ROOT = Path(__file__).resolve().parents[2]
FAKE = {"rag.embedding_provider": "fake", "search.watch": "off"}

WEATHER = '''
from mcp.server import MCPServer

server = MCPServer("weather")


@server.tool()
def get_forecast(city: str) -> str:
    """Tell tomorrow's weather of a city: rain, sun and wind."""
    return city


@server.tool()
def list_stations() -> str:
    """List the places where barometers stand."""
    return ""


server.run()
'''


@pytest.fixture
def weather(tmp_path: Path) -> str:
    """Return the setting of a real MCP server with two tools."""
    program = tmp_path / "weather.py"
    program.write_text(WEATHER, encoding="utf-8")
    return f"weather = {sys.executable} {program}"


@pytest.fixture
def engine(project: Path) -> Iterator[Engine]:
    with Engine.open(project, config=FAKE) as engine:
        engine.sync()
        yield engine


def find(engine: Engine, query: str) -> list[tuple[str, str]]:
    answer = RAG_FIND_TOOLS(engine, {"query": query})
    return [(each["server"], each["tool"]) for each in answer.data["results"]]


# ── the reference ─────────────────────────────────────────────────────────────────────────────────


def test_the_reference_has_ragstones_own_documents(engine: Engine) -> None:
    hits = engine.search("ragstone keys create", mode="words", collection="system:reference")
    assert hits[0].source_doc_id.startswith("ragstone:docs/")
    assert {hit.collection for hit in hits} == {"system:reference"}
    alias = engine.search("ragstone keys create", mode="words", collection="system:philosophy")
    assert [hit.doc_id for hit in alias] == [hit.doc_id for hit in hits]
    context = engine.context("ragstone keys create", collection="system:reference")
    assert "ragstone:docs/" in context.text


def test_an_unchanged_reference_is_not_written_again(engine: Engine, project: Path) -> None:
    engine.search("keys", collection="system:reference")
    engine.workspace.system.embed()
    before = engine.workspace.components.store.collections("system:ragstone")
    assert [collection.name for collection in before] == ["system:reference"]
    with Engine.open(project, config=FAKE) as again:
        again.search("keys", collection="system:reference")
        assert again.workspace.components.store.collections("system:ragstone") == before


def test_the_wheel_contains_the_documents_of_the_reference() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    included = build["targets"]["wheel"]["force-include"]
    assert included == {f"docs/{part}": f"ragstone/docs/{part}" for part in PARTS}
    documents = list(read_reference())
    assert len(documents) > 20
    assert sum(len(document.text) for document in documents) < 500_000


def test_normal_searches_and_counts_never_see_system_collections(engine: Engine) -> None:
    before = engine.status()
    engine.search("keys", collection="system:reference")
    find(engine, "forget a conversation")
    after = engine.status()
    for name in ("collections", "documents", "chunks", "spaces", "generation"):
        assert getattr(after, name) == getattr(before, name), name
    assert all(
        hit.collection == "default"
        for query in ("rag_memory_forget", "ragstone keys create")
        for hit in engine.search(query, 50, mode="words")
    )
    assert engine.admin.keys.usage().collections == 1


def test_system_names_are_refused_for_users(engine: Engine, project: Path) -> None:
    for write in (
        lambda: engine.admin.create_collection("system:mine"),
        lambda: engine.add("Text.", uri="a", collection="System:reference"),
        lambda: engine.sync(collection="system:reference"),
        lambda: Engine.open(project, config=FAKE, project="system:ragstone"),
    ):
        with pytest.raises(InputError, match="reserved"):
            write()
    for read in (
        lambda: engine.search("x", collection="system:nothing"),
        lambda: engine.admin.drop_collection("system:reference"),
    ):
        with pytest.raises(NotFound):
            read()
    with pytest.raises(InputError, match="alone"):
        engine.search("x", collection=["default", "system:reference"])
    with pytest.raises(InputError, match="alone"):
        engine.search("x", collection="system:reference", memory=True)


def test_a_plan_does_not_count_system_collections(project: Path) -> None:
    config = {**FAKE, "access.plans": True, "plans.starter": ["collections=1", "chunks=5"]}
    with Engine.open(project, config=config) as engine:
        assert engine.search("keys", mode="words", collection="system:reference")
        assert find(engine, "forget a conversation")
        assert engine.add("The gate is blue.", uri="gate").documents == 1


# ── tools ─────────────────────────────────────────────────────────────────────────────────────────


def test_every_tool_is_found_by_its_own_description(engine: Engine) -> None:
    for tool in FOUND_TOOLS:
        answer = RAG_FIND_TOOLS(engine, {"query": tool.description, "top_k": 3})
        assert tool.name in [each["tool"] for each in answer.data["results"]], tool.name
    assert {tool.name for tool in ALL_TOOLS} - {tool.name for tool in FOUND_TOOLS} == {
        "rag_execute",
        "rag_find_tools",
    }


def test_a_found_tool_has_its_whole_description(engine: Engine) -> None:
    answer = RAG_FIND_TOOLS(engine, {"query": "must_include_paths", "top_k": 5})
    (card,) = [tool for tool in answer.data["results"] if tool["tool"] == "rag_retrieve"]
    (tool,) = [tool for tool in FOUND_TOOLS if tool.name == "rag_retrieve"]
    assert card["text"].startswith(f"# rag_retrieve\n\n{tool.description}")
    assert "- `query` (required)" in card["text"]
    assert all(f"`{argument}`" in card["text"] for argument in tool.properties)
    assert card["text"] in answer.text


def test_tools_are_found_by_meaning(project: Path) -> None:
    with Engine.open(project, config={"search.watch": "off"}) as engine:
        assert ("ragstone", "rag_memory_forget") in find(engine, "erase what somebody said")[:3]


def test_tools_of_another_server_are_found(project: Path, weather: str) -> None:
    config = {**FAKE, "mcp.servers": [weather, "gone = /nowhere/program"]}
    with Engine.open(project, config=config) as engine:
        problems = store_tools(engine)
        assert len(problems) == 1 and "'gone'" in problems[0]
        assert ("weather", "get_forecast") in find(engine, "tomorrow's weather of a city")
        hits = engine.search("barometers", mode="words", collection="system:mcp_tools")
        assert hits[0].metadata["tool"] == "list_stations"
    with Engine.open(project, config=FAKE) as without:
        servers = [server for server, _ in find(without, "forget the weather")]
        assert set(servers) == {"ragstone"}


def test_a_client_finds_tools_of_other_servers_over_stdio(
    project: Path, environment: dict[str, str], weather: str
) -> None:
    program = StdioServerParameters(
        command=sys.executable,
        args=["-m", "ragstone", "mcp", "-C", str(project)],
        env={**environment, "RAGSTONE_MCP_SERVERS": f'["{weather}"]'},
    )

    async def run() -> CallToolResult:
        with open(os.devnull, "w") as nowhere:
            async with McpClient(stdio_client(program, errlog=nowhere)) as client:
                names = [tool.name for tool in (await client.list_tools()).tools]
                assert "rag_find_tools" in names
                with anyio.fail_after(60):
                    while True:  # the other server is asked after the folder was indexed
                        found = await client.call_tool("rag_find_tools", {"query": "weather"})
                        if "get_forecast" in str(found):
                            return found
                        await anyio.sleep(0.1)

    found = anyio.run(run)
    assert found.structured_content["results"][0]["server"] == "weather"
    assert "`city` (required)" in str(found.content[0])


def test_a_project_file_may_name_servers_only_after_trust(
    project: Path, quick: Callable[..., Any]
) -> None:
    text = '[mcp]\nservers = ["evil = touch hacked"]\n'
    (project / "ragstone.toml").write_text(text, encoding="utf-8")
    refused = quick("search", "stone")
    assert refused.code == 2
    assert "ragstone trust" in refused.err
    assert quick("trust", "--yes").code == 0
    shown = quick("config", "--json").json["settings"]["mcp.servers"]
    assert shown["value"] == ["evil = touch hacked"]
    (project / "ragstone.toml").write_text(text.replace("hacked", "worse"), encoding="utf-8")
    assert quick("search", "stone").code == 2


@pytest.mark.parametrize("entry", ["x", "= ls", "a/b = ls", 'a = "open', "a ="])
def test_a_wrong_entry_is_one_sentence(entry: str) -> None:
    with pytest.raises(ConfigError, match="mcp.servers"):
        OtherServer.parse(entry)


# ── over REST ─────────────────────────────────────────────────────────────────────────────────────


def test_other_projects_of_a_server_see_no_tools_of_its_owner(
    project: Path, weather: str
) -> None:
    with running_server(project, config={"mcp.servers": [weather]}) as server:
        store_tools(server.state.engines.own)
        shop = server.state.engines.engine("shop").admin.keys.create(scopes=["read"]).token
        own = server.state.engines.own.admin.keys.create(scopes=["read"]).token
        address = "/api/rag/collections/system:mcp_tools/search"
        body = {"query": "weather forecast barometers", "mode": "words"}
        assert "get_forecast" in server.post(address, body, key=own).text
        foreign = server.post(address, body, key=shop)
        assert foreign.status_code == 200
        assert "get_forecast" not in foreign.text
        reference = {"query": "keys", "collection": "system:reference", "mode": "words"}
        found = server.post("/api/rag/search", reference, key=shop).json()["results"]
        assert found[0]["source_doc_id"].startswith("ragstone:docs/")
