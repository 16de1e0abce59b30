"""A small MCP server whose search tools answer in shapes that are not Ragstone's. The first argument is a port or `stdio`."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("library")
BOOKS = [
    ("shelf/basalt.txt", "Basalt columns form when lava cools slowly.", 0.91),
    ("shelf/chalk.txt", "Chalk cliffs are made of tiny shells.", 0.55),
    ("shelf/slate.txt", "Slate splits into thin plates.", 0.12),
]


@server.tool()
def find_books(q: str, limit: int = 10) -> dict[str, Any]:
    """Return matches with nested metadata and a distance."""
    matches = [
        {
            "document": {"text": text},
            "metadata": {"source": path, "start_line": 3, "end_line": 4, "year": 1901},
            "distance": 1 - score,
        }
        for path, text, score in BOOKS
        if len(q) > 0
    ]
    return {"count": len(matches), "matches": matches[:limit]}


@server.tool(structured_output=False)
def find_json(question: str) -> str:
    """Return a list as JSON text, with scores of any size."""
    rows = [
        {"title": path, "snippet": text, "score": 40 * score} for path, text, score in BOOKS
    ]
    return json.dumps(rows)


@server.tool(structured_output=False)
def find_plain(subject: str) -> str:
    """Return plain text."""
    return f"Nothing but words about {subject}."


@server.tool()
def find_slowly(query: str) -> dict[str, Any]:
    """Answer after a long time."""
    time.sleep(30)
    return {}


@server.tool()
def find_nothing(query: str) -> dict[str, Any]:
    """Return an empty list."""
    return {"results": []}


@server.tool()
def find_and_fail(query: str) -> dict[str, Any]:
    """Fail with a reason."""
    raise ToolError("the catalogue is closed")


@server.tool()
def find_and_die(query: str) -> dict[str, Any]:
    """End the process in the middle of the call."""
    os._exit(3)


@server.tool()
def count_books(shelf: int, row: int) -> int:
    """Take no query at all."""
    return shelf * row


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        server.run()
    else:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
