"""The tools of other configured MCP servers: their list is requested, stored for `rag_find_tools`, never called."""

from __future__ import annotations

import logging
import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TextIO

import anyio
import mcp_types as types
from mcp import Client
from mcp.client import Transport
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from ragstone.engine import Engine
from ragstone.errors import ConfigError
from ragstone.surfaces.tools import FOUND_TOOLS, store_own_tools, tool_document

SECONDS: Final = 15.0
"""How long a server may take to start and to list its tools."""
MAX_TOOLS: Final = 500
_NO_FURTHER_SERVERS: Final = {"RAGSTONE_MCP_SERVERS": "[]"}
"""A server that is Ragstone itself asks no other one, so that no chain of processes starts."""
_HINT: Final = 'servers = ["files = npx -y some-server .", "wiki = http://127.0.0.1:9000/mcp"]'
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OtherServer:
    """A configured MCP server: its name, and its address or its command."""

    name: str
    url: str = ""
    command: tuple[str, ...] = ()

    @classmethod
    def parse(cls, entry: str) -> OtherServer:
        """Return the server of a setting, `NAME=COMMAND` or `NAME=URL`; `ConfigError` if it is neither."""
        name, _, target = (part.strip() for part in entry.partition("="))
        try:
            words = tuple(shlex.split(target))
        except ValueError as error:
            raise ConfigError(f"mcp.servers has {entry!r}: {error}", hint=_HINT) from error
        if not name or not words or "/" in name:
            raise ConfigError(f"mcp.servers has an entry {entry!r}", hint=_HINT)
        if target.startswith(("http://", "https://")):
            return cls(name, url=target)
        return cls(name, command=words)

    async def list_tools(self, folder: str) -> list[types.Tool]:
        """Return the tools of the server, the first few hundred of them."""
        tools: list[types.Tool] = []
        with open(os.devnull, "w", encoding="utf-8") as nowhere, anyio.fail_after(SECONDS):
            async with Client(self._transport(folder, nowhere)) as client:
                page = await client.list_tools()
                tools += page.tools
                while page.next_cursor and len(tools) < MAX_TOOLS:
                    page = await client.list_tools(cursor=page.next_cursor)
                    tools += page.tools
        return tools[:MAX_TOOLS]

    def _transport(self, folder: str, errors: TextIO) -> Transport:
        if self.url:
            return streamable_http_client(self.url)
        program = StdioServerParameters(
            command=self.command[0],
            args=list(self.command[1:]),
            env=_NO_FURTHER_SERVERS,
            cwd=folder,
        )
        return stdio_client(program, errlog=errors)


def store_tools(engine: Engine) -> list[str]:
    """Store the tools of Ragstone and of the configured servers; return why some could not be asked."""
    store_own_tools(engine, FOUND_TOOLS)
    servers = [OtherServer.parse(entry) for entry in engine.settings.mcp.servers]
    return anyio.run(_store_all, engine, servers) if servers else []


async def _store_all(engine: Engine, servers: Sequence[OtherServer]) -> list[str]:
    """Ask all servers at once and store the tools of each that answers."""
    problems: list[str] = []

    async def ask(server: OtherServer) -> None:
        try:
            tools = await server.list_tools(str(engine.folder))
        except Exception as error:  # noqa: BLE001 - a foreign program may fail in any way
            problems.append(f"the MCP server {server.name!r} lists no tools: {_reason(error)}")
            return
        documents = [
            tool_document(server.name, tool.name, tool.description or "", tool.input_schema)
            for tool in tools
        ]
        await anyio.to_thread.run_sync(
            engine.workspace.system.put_tools, server.name, documents
        )

    async with anyio.create_task_group() as tasks:
        for server in servers:
            tasks.start_soon(ask, server)
    for problem in problems:
        logger.warning("%s", problem)
    return problems


def _reason(error: BaseException) -> str:
    """Return the first cause inside groups of exceptions, in words."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"[:200]
