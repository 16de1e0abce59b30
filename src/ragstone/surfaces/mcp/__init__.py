"""The MCP server: tools, documents as resources, and prompts, over stdio or any other transport."""

from __future__ import annotations

from ragstone.surfaces.mcp.server import create_server
from ragstone.surfaces.mcp.session import McpSession
from ragstone.surfaces.mcp.stdio import serve

__all__ = ["McpSession", "create_server", "serve"]
