"""The tool `rag_find_tools`: tools by their meaning, also those of other MCP servers."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Final

from ragstone.engine import Engine
from ragstone.engine.system_collections import MCP_TOOLS, OWN_SERVER, SERVER_FIELD, tool_uri
from ragstone.retrieval.context.fence import reveal_hidden
from ragstone.retrieval.context.formatters import one_line
from ragstone.surfaces.present import Json
from ragstone.surfaces.tools.passages import count_fitting, fence_results
from ragstone.surfaces.tools.schemas import QUERY, count_schema, list_schema
from ragstone.surfaces.tools.tool import Tool, ToolAnswer, ToolCall, truncate
from ragstone.types import Document, Hit

_TOP_K: Final = 5
_MAX_HITS: Final = 50
"""Hits that are searched: some belong to tools that are not offered, or to the same tool."""
_MAX_CARD_TOKENS: Final = 1000
"""No description of a tool is longer in an answer."""
_MAX_DESCRIPTION: Final = 4000
_NOTHING: Final = "No tool fits."


def find_tools_tool(stored: Sequence[Tool], offered: Container[str]) -> Tool:
    """Return the tool `rag_find_tools`. It stores some tools, and finds the offered ones and those of other servers."""

    def run(call: ToolCall) -> ToolAnswer:
        store_own_tools(call.engine, stored)
        hits = call.engine.search(
            call.arguments["query"], _MAX_HITS, collection=MCP_TOOLS, merge=False
        )
        best = _best_of_each_tool(hits, offered)
        best = best[: call.arguments.get("top_k", _TOP_K)]
        results = [_result(call.engine, hit) for hit in best]
        results = results[: count_fitting(results)]
        lines = [f"{tool['server']}: {tool['tool']}\n{tool['text']}" for tool in results]
        data: Json = {"success": True, **fence_results(results)}
        return ToolAnswer("\n\n".join(lines) or _NOTHING, data)

    return Tool(
        "rag_find_tools",
        "Find tools by meaning, also of other MCP servers.",
        {"query": QUERY, "top_k": count_schema("At most.")},
        ("query",),
        run,
        list_schema("server", "tool", "text", "score"),
    )


def store_own_tools(engine: Engine, tools: Sequence[Tool]) -> None:
    """Store the descriptions of Ragstone's tools; unchanged ones stay as they are."""
    documents = [
        tool_document(OWN_SERVER, tool.name, tool.description, tool.parameters)
        for tool in tools
    ]
    engine.workspace.system.put_tools(OWN_SERVER, documents)


def tool_document(server: str, name: str, description: str, schema: Json) -> Document:
    """Return the description of a tool with its arguments as a document."""
    lines = [f"# {name}", "", description[:_MAX_DESCRIPTION], ""]
    required = schema.get("required", [])
    properties = schema.get("properties", {})
    for argument, details in properties.items() if isinstance(properties, Mapping) else ():
        about = details.get("description", "") if isinstance(details, Mapping) else ""
        mark = " (required)" if argument in required else ""
        lines.append(f"- `{argument}`{mark}: {one_line(str(about))[:_MAX_DESCRIPTION]}")
    return Document(
        tool_uri(server, name),
        "\n".join(lines),
        kind="tool",
        language="markdown",
        title=name,
        metadata={SERVER_FIELD: server, "tool": name},
    )


def _best_of_each_tool(hits: Sequence[Hit], offered: Container[str]) -> list[Hit]:
    """Return the best hit of each tool that can be called; a long description has several chunks."""
    best: dict[str, Hit] = {}
    for hit in hits:
        is_own = hit.metadata.get(SERVER_FIELD) == OWN_SERVER
        if not is_own or str(hit.metadata.get("tool")) in offered:
            best.setdefault(hit.source_doc_id, hit)
    return list(best.values())


def _result(engine: Engine, hit: Hit) -> Json:
    """Return a tool with its whole description."""
    text = engine.workspace.system.text(MCP_TOOLS, hit.source_doc_id) or hit.text
    return {
        "server": reveal_hidden(str(hit.metadata.get(SERVER_FIELD, ""))),
        "tool": reveal_hidden(str(hit.metadata.get("tool", ""))),
        "score": round(hit.score, 4),
        "text": reveal_hidden(truncate(text, _MAX_CARD_TOKENS)),
    }
