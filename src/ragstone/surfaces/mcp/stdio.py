"""The MCP server on stdin and stdout."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import AsyncIterable, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Protocol, TypeAlias

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from ragstone.surfaces.mcp.server import create_server, server_options
from ragstone.surfaces.mcp.session import Lifespan, McpSession
from ragstone.surfaces.present.failures import INTERRUPTED
from ragstone.surfaces.tools import DEFAULT_TOOLS
from ragstone.surfaces.tools.tool import Tool

_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_REPLACEMENT: Final = "\ufffd"

Incoming: TypeAlias = SessionMessage | Exception


class MessageSink(Protocol):
    """Takes messages for the client."""

    async def send(self, message: SessionMessage, /) -> None:
        """Write a message."""


def serve(folder: Path, *, project: str, tools: Sequence[Tool] = DEFAULT_TOOLS) -> None:
    """Answer on stdin and stdout until the client disconnects."""
    session = McpSession.open(folder, project=project)

    def exit_on_interrupt(number: int, frame: object) -> None:
        # The thread that reads stdin cannot be interrupted: a normal exit would wait for the client.
        session.close()
        os._exit(INTERRUPTED)

    signal.signal(signal.SIGINT, exit_on_interrupt)
    session.start()
    try:
        anyio.run(_run_stdio, create_server(session, tools))
    finally:
        session.close()


async def _run_stdio(server: Server[Lifespan]) -> None:
    async with stdio_server() as (incoming, outgoing):
        async with _answer_broken(incoming, outgoing) as messages:
            await server.run(messages, outgoing, server_options(server))


@asynccontextmanager
async def _answer_broken(
    incoming: AsyncIterable[Incoming], outgoing: MessageSink
) -> AsyncIterator[MemoryObjectReceiveStream[Incoming]]:
    """Give the messages that can be read, and answer the others with an error: a client waits for every answer."""
    send, receive = anyio.create_memory_object_stream[Incoming](0)

    async def forward() -> None:
        async with send:
            async for message in incoming:
                if not isinstance(message, ValidationError):
                    await send.send(message)
                    continue
                repaired = repair_message(message)
                if isinstance(repaired, types.JSONRPCError):
                    await outgoing.send(SessionMessage(repaired))
                elif repaired is not None:
                    await send.send(SessionMessage(repaired))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(forward)
        yield receive
        tasks.cancel_scope.cancel()


def repair_message(refusal: ValidationError) -> types.JSONRPCMessage | None:
    """Return the message that the protocol's parser refused, or the error to answer it with; None for an empty line.

    Half of a surrogate pair, which JSON can write and UTF-8 cannot, becomes the replacement character.
    """
    line, value = _refused_input(refusal)
    if line is not None:
        if not line.strip():
            return None
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return _error(None, types.PARSE_ERROR, "the message is not valid JSON")
        text = _LONE_SURROGATE.sub(_REPLACEMENT, json.dumps(value, ensure_ascii=False))
        try:
            return types.jsonrpc_message_adapter.validate_json(text, by_name=False)
        except ValidationError:
            pass
    request_id = value.get("id") if isinstance(value, dict) else None
    if isinstance(request_id, bool) or not isinstance(request_id, str | int):
        request_id = None
    return _error(request_id, types.INVALID_REQUEST, "the message is no JSON-RPC request")


def _refused_input(refusal: ValidationError) -> tuple[str | None, object]:
    """Return the line if it is no JSON, or else the value in it, as far as the parser says."""
    for detail in refusal.errors(include_url=False, include_context=False):
        if detail["type"] == "json_invalid":
            return str(detail["input"]), None
        if detail["type"] == "missing" or len(detail["loc"]) == 1:
            return None, detail["input"]
    return None, None


def _error(request_id: str | int | None, code: int, message: str) -> types.JSONRPCError:
    return types.JSONRPCError(
        jsonrpc="2.0", id=request_id, error=types.ErrorData(code=code, message=message)
    )
