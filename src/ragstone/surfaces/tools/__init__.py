"""The tools for agents; the same through MCP, the bus and the adapters."""

from __future__ import annotations

from typing import Final

from ragstone.surfaces.tools.code import RAG_HISTORY, RAG_IMPACT, RAG_RELATED
from ragstone.surfaces.tools.execute import execute_tool
from ragstone.surfaces.tools.find_tools import (
    find_tools_tool,
    store_own_tools,
    tool_document,
)
from ragstone.surfaces.tools.library import (
    COLLECTION_CREATE,
    COLLECTION_DELETE,
    COLLECTION_LIST,
    DOCUMENT_ADD,
    DOCUMENT_DELETE,
    DOCUMENT_LIST,
    STATUS,
)
from ragstone.surfaces.tools.memory import (
    FORGET,
    MEMORY_ADD,
    MEMORY_GET,
    MEMORY_SEARCH,
    SESSIONS,
)
from ragstone.surfaces.tools.reading import RAG_READ
from ragstone.surfaces.tools.search import (
    CONTEXT_FOR_PROMPT,
    RAG_CONTEXT,
    RAG_RETRIEVE,
    RAG_SEARCH,
    agent_search,
    documents_tool,
    search_documents,
)
from ragstone.surfaces.tools.tool import Tool

DEFAULT_TOOLS: Final = (RAG_SEARCH, RAG_CONTEXT, RAG_READ, MEMORY_ADD, MEMORY_SEARCH)
"""The small set for coding agents; `CODE_TOOLS` join it if the project has a code graph."""
CODE_TOOLS: Final = (RAG_RELATED,)
_FURTHER: Final = (
    RAG_RETRIEVE,
    CONTEXT_FOR_PROMPT,
    RAG_IMPACT,
    RAG_HISTORY,
    MEMORY_GET,
    SESSIONS,
    FORGET,
    COLLECTION_CREATE,
    COLLECTION_LIST,
    COLLECTION_DELETE,
    DOCUMENT_ADD,
    DOCUMENT_LIST,
    DOCUMENT_DELETE,
    STATUS,
)
FOUND_TOOLS: Final[tuple[Tool, ...]] = (*DEFAULT_TOOLS, *CODE_TOOLS, *_FURTHER)
"""The tools that `rag_find_tools` finds."""
RAG_FIND_TOOLS: Final = find_tools_tool(FOUND_TOOLS, {tool.name for tool in FOUND_TOOLS})
_NAMED: Final[tuple[Tool, ...]] = (*FOUND_TOOLS, RAG_FIND_TOOLS)
ALL_TOOLS: Final[tuple[Tool, ...]] = (*_NAMED, execute_tool(_NAMED))
"""Every tool, listed on request."""

__all__ = [
    "ALL_TOOLS",
    "CODE_TOOLS",
    "DEFAULT_TOOLS",
    "FOUND_TOOLS",
    "MEMORY_ADD",
    "MEMORY_SEARCH",
    "RAG_CONTEXT",
    "RAG_FIND_TOOLS",
    "RAG_READ",
    "RAG_RELATED",
    "RAG_SEARCH",
    "agent_search",
    "documents_tool",
    "find_tools_tool",
    "search_documents",
    "store_own_tools",
    "tool_document",
]
