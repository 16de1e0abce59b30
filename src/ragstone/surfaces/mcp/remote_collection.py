"""A collection on another MCP server: every search calls one tool of that server."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Mapping, Sequence
from typing import Final

from ragstone.config import Settings
from ragstone.config.environment import remote_depth
from ragstone.errors import ConfigError, ProviderError, RagstoneError
from ragstone.retrieval.remote.replies import read_passages
from ragstone.surfaces.mcp.remote_session import RemoteSession, ServerAddress
from ragstone.types import RemotePassage
from ragstone.vectors.service_failures import RequestGuard

_QUERY_NAMES: Final = tuple(
    "query q question search_query search text input prompt task keywords".split()
)
_COUNT_NAMES: Final = tuple(
    "top_k k limit n_results max_results num_results count size n".split()
)
_MAX_DEPTH: Final = 3
_HINT: Final = "check that rag.vector_store.mcp_server runs by itself"
_SERVER_HINT: Final = "for example 'npx -y some-server' or http://127.0.0.1:9000/mcp"


class McpCollection:
    """A `RemoteCollection` that asks a tool of an MCP server. The connection stays open between searches."""

    def __init__(self, address: ServerAddress, tool: str) -> None:
        """Take the address of the server and the name of its tool; the first search connects."""
        self._address = address
        self._tool = tool
        self._lock = threading.Lock()
        self._session: RemoteSession | None = None
        self._schema: Mapping[str, object] = {}
        self._guard = RequestGuard(f"The MCP server of the tool {tool!r}", hint=_HINT)

    def search(self, query: str, top_k: int) -> list[RemotePassage]:
        """Return the passages that the tool finds, in the tool's order; `ProviderError` if it fails."""
        # One search at a time: a server over stdio may answer one request after the other anyway.
        with self._lock:
            self._guard.check()
            try:
                session = self._connect()
                reply = session.call(self._tool, self._arguments(query, top_k))
            except RagstoneError:
                raise
            except Exception as error:
                self._disconnect()
                raise self._guard.record(error) from error
        if reply.is_error:
            reason = " ".join(" ".join(reply.texts).split())[:300] or "no reason"
            raise ProviderError(
                f"The tool {self._tool!r} of the MCP server answered with an error: {reason}",
                hint="the server is reached; its own documentation explains the error",
            )
        return read_passages(reply.structured, reply.texts)[:top_k]

    def close(self) -> None:
        """Close the connection and end the server's process."""
        with self._lock:
            self._disconnect()

    def _connect(self) -> RemoteSession:
        """Return the connection; the first call opens it and looks for the tool."""
        if self._session is None:
            session = RemoteSession(self._address)
            self._session = session
            schemas = session.tool_schemas()
            if self._tool not in schemas:
                self._disconnect()
                raise ConfigError(
                    f"The MCP server has no tool {self._tool!r} (rag.vector_store.mcp_tool).",
                    hint=f"it has: {', '.join(sorted(schemas)[:30]) or 'none'}",
                )
            self._schema = schemas[self._tool]
        return self._session

    def _disconnect(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

    def _arguments(self, query: str, top_k: int) -> dict[str, object]:
        """Return the arguments of the tool: the query, and the number of hits if the tool takes one."""
        properties = self._schema.get("properties")
        names = list(properties) if isinstance(properties, Mapping) else []
        query_name = _first_of(_QUERY_NAMES, names) or _only_text(self._schema)
        if query_name is None:
            raise ConfigError(
                f"The tool {self._tool!r} of the MCP server takes no query.",
                hint=f"its arguments are: {', '.join(names[:30]) or 'none'}",
            )
        arguments: dict[str, object] = {query_name: query}
        count_name = _first_of(_COUNT_NAMES, names)
        if count_name is not None:
            arguments[count_name] = top_k
        return arguments


def open_collection(settings: Settings) -> McpCollection:
    """Return the collection of the settings; `ConfigError` if one is missing."""
    chosen = settings.rag.vector_store
    for name, value in (("mcp_server", chosen.mcp_server), ("mcp_tool", chosen.mcp_tool)):
        if not value:
            raise ConfigError(
                f"rag.vector_store.provider is 'mcp', and rag.vector_store.{name} is not set.",
                hint=f"set RAGSTONE_RAG_VECTOR_STORE_{name.upper()}, or put it in a settings file",
            )
    if remote_depth() >= _MAX_DEPTH:
        raise ConfigError(
            "Ragstone was started as the MCP server of Ragstone several times over.",
            hint="rag.vector_store.mcp_server in the user file also holds for the server itself",
        )
    address = _parse_address(str(chosen.mcp_server), settings, chosen.api_key or "")
    return McpCollection(address, str(chosen.mcp_tool))


def _parse_address(server: str, settings: Settings, api_key: str) -> ServerAddress:
    if server.startswith(("http://", "https://")):
        return ServerAddress(url=server, api_key=api_key)
    try:
        command = shlex.split(server)
    except ValueError as error:
        message = f"rag.vector_store.mcp_server is no command line: {error}."
        raise ConfigError(message, hint=_SERVER_HINT) from error
    if not command:
        raise ConfigError("rag.vector_store.mcp_server is empty.", hint=_SERVER_HINT)
    return ServerAddress(command=command, folder=settings.root)


def _first_of(wanted_names: Sequence[str], names: Sequence[str]) -> str | None:
    for name in wanted_names:
        if name in names:
            return name
    return None


def _only_text(schema: Mapping[str, object]) -> str | None:
    """Return the only required argument, if it is a text."""
    required = schema.get("required")
    properties = schema.get("properties")
    if (
        not isinstance(required, list)
        or len(required) != 1
        or not isinstance(properties, Mapping)
    ):
        return None
    details = properties.get(required[0])
    is_text = isinstance(details, Mapping) and details.get("type") == "string"
    return str(required[0]) if is_text else None
