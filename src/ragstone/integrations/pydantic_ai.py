"""Tools for a Pydantic AI agent: `Agent(model, tools=tools(engine))`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

try:
    from pydantic_ai import Tool
except ImportError as error:
    from ragstone.errors import MissingExtra

    raise MissingExtra(
        "Pydantic AI is not installed", hint="pip install 'ragstone[pydantic-ai]'"
    ) from error

from ragstone.engine import Engine
from ragstone.surfaces.tools import DEFAULT_TOOLS
from ragstone.surfaces.tools import tool as ragstone_tool


def tools(
    engine: Engine, chosen: Sequence[ragstone_tool.Tool] = DEFAULT_TOOLS
) -> list[Tool[Any]]:
    """Return an engine's tools as tools of Pydantic AI."""
    functions = ragstone_tool.bind_tools(engine, chosen)
    return [
        Tool.from_schema(functions[tool.name], tool.name, tool.description, tool.parameters)
        for tool in chosen
    ]
