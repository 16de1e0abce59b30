"""A connection to another MCP server, for callers that are not asynchronous.

The connection lives in its own thread. Closing it ends the server's process, with all processes that the server
started. The program's exit closes a connection that its owner forgot.
"""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import anyio
import httpx2
from mcp import Client
from mcp.client import Transport
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from ragstone.config.environment import remote_environment

T = TypeVar("T")
START_SECONDS: Final = 20.0
"""How long a server may take to start and to answer its first request."""
CALL_SECONDS: Final = 30.0
_CLOSE_SECONDS: Final = 10.0
"""The SDK waits 2 s for the process, then sends SIGTERM, and SIGKILL after 2 s more."""


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """A command line or a URL, the folder that the command runs in, and a key for the URL."""

    url: str = ""
    command: Sequence[str] = ()
    folder: Path | None = None
    api_key: str = ""


@dataclass(frozen=True, slots=True)
class ToolReply:
    """The reply of a tool: its data, its blocks of text, and whether the tool failed."""

    structured: object
    texts: Sequence[str]
    is_error: bool


class RemoteSession:
    """An open connection. All methods block; any exception of a call leaves the connection unusable."""

    def __init__(self, address: ServerAddress) -> None:
        """Start the server or connect to it; raise `TimeoutError` or any error of the SDK."""
        self._loop = asyncio.new_event_loop()
        self._wake: Future[asyncio.Event] = Future()
        self._client: Future[Client] = Future()
        self._thread = threading.Thread(
            target=_serve,
            args=(self._loop, address, self._wake, self._client),
            name="ragstone-mcp-client",
            daemon=True,
        )
        self._thread.start()
        self._finalizer = weakref.finalize(
            self, _close_thread, self._loop, self._wake, self._thread
        )
        try:
            self._client.result(START_SECONDS)
        except (FutureTimeout, CancelledError) as error:
            self.close()
            raise TimeoutError(f"it did not start in {START_SECONDS:.0f} s") from error
        except BaseException:
            self.close()
            raise

    def tool_schemas(self) -> dict[str, Mapping[str, object]]:
        """Return the input schema of each tool by name, of the first pages."""
        client = self._client.result(0)
        page = self._run(client.list_tools())
        tools = list(page.tools)
        while page.next_cursor and len(tools) < 500:
            page = self._run(client.list_tools(cursor=page.next_cursor))
            tools += page.tools
        return {tool.name: tool.input_schema or {} for tool in tools}

    def call(self, tool: str, arguments: dict[str, object]) -> ToolReply:
        """Call a tool and return its reply; raise `TimeoutError` if it takes too long."""
        client = self._client.result(0)
        result = self._run(client.call_tool(tool, arguments))
        texts = [text for block in result.content if (text := _block_text(block))]
        return ToolReply(result.structured_content, texts, bool(result.is_error))

    def close(self) -> None:
        """Close the connection and end the server's process."""
        self._finalizer()

    def _run(self, awaitable: Awaitable[T]) -> T:
        async def within_limit() -> T:
            with anyio.fail_after(CALL_SECONDS):
                return await awaitable

        future = asyncio.run_coroutine_threadsafe(within_limit(), self._loop)
        try:
            return future.result(CALL_SECONDS + 1.0)
        except (FutureTimeout, CancelledError) as error:
            raise TimeoutError(f"it did not answer in {CALL_SECONDS:.0f} s") from error


def _block_text(block: object) -> str:
    """Return the text of a block of content; empty for pictures and links."""
    text = getattr(block, "text", None)
    if text is None:
        text = getattr(getattr(block, "resource", None), "text", None)
    return text if isinstance(text, str) else ""


def _serve(
    loop: asyncio.AbstractEventLoop,
    address: ServerAddress,
    wake: Future[asyncio.Event],
    client: Future[Client],
) -> None:
    """Hold the connection open in this thread until the event is set."""
    asyncio.set_event_loop(loop)
    try:
        loop.run_until_complete(_hold(address, wake, client))
    except BaseException as error:  # noqa: BLE001 - the thread that waits gets it
        if not client.done():
            client.set_exception(_first_cause(error))
    finally:
        if not client.done():
            client.cancel()
        loop.close()


async def _hold(
    address: ServerAddress, wake: Future[asyncio.Event], client: Future[Client]
) -> None:
    stop = asyncio.Event()
    wake.set_result(stop)

    async def connect() -> None:
        async with AsyncExitStack() as stack:
            client.set_result(await stack.enter_async_context(_open_client(address, stack)))
            await anyio.sleep_forever()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(connect)
        await stop.wait()
        tasks.cancel_scope.cancel()


def _open_client(address: ServerAddress, stack: AsyncExitStack) -> Client:
    transport: Transport
    if address.url:
        headers = {"Authorization": f"Bearer {address.api_key}"} if address.api_key else {}
        timeout = httpx2.Timeout(CALL_SECONDS)
        http_client = httpx2.AsyncClient(headers=headers, timeout=timeout)
        transport = streamable_http_client(address.url, http_client=http_client)
    else:
        # The messages of the server would appear among those of the program.
        errors = stack.enter_context(open(os.devnull, "w", encoding="utf-8"))
        program = StdioServerParameters(
            command=address.command[0],
            args=list(address.command[1:]),
            env=remote_environment(),
            cwd=address.folder,
        )
        transport = stdio_client(program, errlog=errors)
    return Client(transport)


def _close_thread(
    loop: asyncio.AbstractEventLoop, wake: Future[asyncio.Event], thread: threading.Thread
) -> None:
    """Set the event in its loop and wait for the thread."""
    stop = wake.result(_CLOSE_SECONDS)
    if not loop.is_closed():
        _call_in_loop(loop, stop.set)
    thread.join(_CLOSE_SECONDS)


def _call_in_loop(loop: asyncio.AbstractEventLoop, function: Callable[[], None]) -> None:
    try:
        loop.call_soon_threadsafe(function)
    except RuntimeError:  # the loop was closed at this moment
        return


def _first_cause(error: BaseException) -> BaseException:
    """Return the first exception inside groups of exceptions."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
