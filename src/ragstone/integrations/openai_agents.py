"""Tools for the OpenAI Agents SDK: `Agent(name="…", tools=tools(engine))`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

try:
    from agents import FunctionTool
    from agents.tool_context import ToolContext
except ImportError as error:
    from ragstone.errors import MissingExtra

    raise MissingExtra(
        "the OpenAI Agents SDK is not installed", hint="pip install 'ragstone[openai-agents]'"
    ) from error

from ragstone.engine import Engine
from ragstone.surfaces.tools import DEFAULT_TOOLS
from ragstone.surfaces.tools.tool import Tool


def tools(engine: Engine, chosen: Sequence[Tool] = DEFAULT_TOOLS) -> list[FunctionTool]:
    """Return an engine's tools as tools of the SDK."""
    return [
        FunctionTool(
            name=tool.name,
            description=tool.description,
            params_json_schema=tool.parameters,
            on_invoke_tool=_invoker(engine, tool),
            strict_json_schema=False,  # strict mode does not allow optional arguments
        )
        for tool in chosen
    ]


def _invoker(engine: Engine, tool: Tool) -> Callable[[ToolContext[Any], str], Awaitable[str]]:
    async def invoke(context: ToolContext[Any], arguments: str) -> str:
        try:
            values = json.loads(arguments or "{}")
        except ValueError:
            return f"{tool.name}: the arguments are not JSON"
        if not isinstance(values, dict):
            return f"{tool.name}: the arguments are not a JSON object"
        answer = await asyncio.to_thread(tool, engine, values)
        return answer.text

    return invoke
