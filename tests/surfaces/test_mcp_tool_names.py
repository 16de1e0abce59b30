"""The MCP server names only tools that its clients can call."""

from __future__ import annotations

from pathlib import Path

import anyio
from mcp import Client
from mcp_types import TextContent

from ragstone import Engine
from ragstone.surfaces.mcp import McpSession, create_server

CONFIG = {"rag.embedding_provider": "fake"}


def test_only_tools_that_can_be_called_are_named(tmp_path: Path) -> None:
    async def named(session: McpSession) -> tuple[set[str], set[str], str]:
        async with Client(create_server(session)) as client:
            listed = {tool.name for tool in (await client.list_tools()).tools}
            refused = await client.call_tool("rag_retrieve", {"query": "gondola"})
            assert refused.is_error
            assert isinstance(refused.content[0], TextContent)
            found = await client.call_tool("rag_find_tools", {"query": "route of code"})
            names = {
                tool["tool"] for tool in (found.structured_content or {}).get("results", [])
            }
            return listed, names, refused.content[0].text

    (tmp_path / "pier.py").write_text("def moor(boat: str) -> str:\n    return boat\n")
    with Engine.open(tmp_path, config=CONFIG) as engine:
        engine.sync()
    for servers in ([], ["gone = /nowhere/program"]):
        session = McpSession.open(tmp_path, config={**CONFIG, "mcp.servers": servers})
        listed, found, refusal = anyio.run(named, session)
        session.close()
        words = refusal.replace(",", " ").rstrip(")").split()
        assert {word for word in words if word.startswith("rag_")} == listed
        assert found <= listed
        assert bool(found) == bool(servers)
